// Sizes of tensors. A shape is a list of sizes, dimension 0 varies fastest in memory
// (column-major, as in R); the empty list is a scalar.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace anvil {

using Shape = std::vector<int64_t>;

int64_t elements(const Shape&);              // product of the sizes; fails when it passes 2^62
std::vector<int64_t> strides(const Shape&);  // column-major, in elements
// "2x3" with separator "x", "(2,3)" for messages.
std::string join(const Shape&, const char* separator);
std::string in_parentheses(const Shape&);

// Steps an index of a column-major walk over `shape`; false after the last one.
bool next_index(std::vector<int64_t>& index, const Shape& shape);

}  // namespace anvil
