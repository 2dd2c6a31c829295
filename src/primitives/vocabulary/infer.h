// Checks that type inference shares: axes, permutations, dtypes and shapes of operands.
// Each throws Error with the argument's name, what it got and 1-based numbers.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/tensor.h"

namespace anvil::primitives {

using graph::TensorType;
using Ints = std::vector<int64_t>;

std::string one_based(const Ints& axes);  // "1, 3"

// `of`: whose dimensions they are, for the message.
void check_axis(const char* argument, int64_t axis, int64_t rank, const char* of = "`operand`");
void check_axes(const char* argument, const Ints& axes, int64_t rank, const char* of = "`operand`");  // each once
void check_permutation(const char* argument, const Ints& permutation, int64_t rank, const char* of = "`operand`");
void check_length(const char* argument, const Ints& values, int64_t rank, const char* of = "operand");
void check_shape(const Shape& shape, const char* argument = "shape");  // no negative sizes
void check_has_shape(const char* argument, const TensorType&, const Shape& shape);
void check_counts_in_i32(const std::string& what, int64_t size);  // of a dimension whose indices are results
void check_has_dtype(const char* argument, const TensorType&, DType);
void check_same_dtype(const char* a_name, const TensorType& a, const char* b_name, const TensorType& b);

bool contains(const Ints&, int64_t);
Ints all_axes(size_t rank);                                       // 0, 1, ..., rank - 1
Ints other_axes(size_t rank, const Ints& a, const Ints& b = {});  // those in neither, ascending
Ints inverse(const Ints& permutation);
template <class T>
std::vector<T> take(const std::vector<T>& from, const Ints& positions) {
  std::vector<T> taken;
  taken.reserve(positions.size());
  for (int64_t p : positions) taken.push_back(from[static_cast<size_t>(p)]);
  return taken;
}

// When each dimension of `from` is one dimension of `to`, or several with the first of them
// fastest: those dimensions, for each of `from`. Extents of 1 may come and go.
std::optional<std::vector<Ints>> splits(const Shape& from, const Shape& to);

}  // namespace anvil::primitives
