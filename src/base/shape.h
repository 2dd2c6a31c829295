// Sizes of tensors. A shape is a list of sizes, dimension 0 varies fastest in memory
// (column-major, as in R); the empty list is a scalar.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace anvil {

using Shape = std::vector<int64_t>;

// Arithmetic on sizes, for inference: Error("shape") naming the dimension (0-based) where the
// result passes 2^62 in either direction.
int64_t add_sizes(int64_t a, int64_t b, size_t dimension);
int64_t multiply_sizes(int64_t a, int64_t b, size_t dimension);

int64_t elements(const Shape&);              // product of the sizes; Error("shape") when it passes 2^62
std::vector<int64_t> strides(const Shape&);  // column-major, in elements
Shape reversed(const Shape&);
std::vector<int64_t> reversal(size_t rank);  // the permutation n-1, ..., 0
// Where an axis is once all are in reverse order.
inline int64_t mirrored_axis(int64_t axis, size_t rank) { return static_cast<int64_t>(rank) - 1 - axis; }
// "2x3" with separator "x", "(2,3)" for messages.
std::string join(const Shape&, const char* separator);
std::string in_parentheses(const Shape&);

// Steps an index of a column-major walk over `shape`; false after the last one.
bool next_index(std::vector<int64_t>& index, const Shape& shape);

}  // namespace anvil
