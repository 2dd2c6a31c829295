// What rules for stacks of matrices say: the last two dimensions are the matrix, the ones before
// count matrices that are treated side by side.
#pragma once
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {

void check_matrix(const char* argument, const TensorType&);  // at least 2 dimensions
void check_square(const char* argument, const TensorType&);
// Of a X = b, or X a = b where `left` is false.
Types infer_system(const Types&, bool left);

inline int64_t matrices(const Shape& shape) { return elements(Shape(shape.begin(), shape.end() - 2)); }
inline int64_t row_axis(const Var& x) { return static_cast<int64_t>(x.shape().size()) - 2; }
inline int64_t column_axis(const Var& x) { return row_axis(x) + 1; }
inline int64_t rows(const Var& x) { return x.shape()[static_cast<size_t>(row_axis(x))]; }
inline int64_t columns(const Var& x) { return x.shape().back(); }

// The product over axis i of each a and axis j of each b (0 rows, 1 columns).
inline Var product(const Var& a, int64_t i, const Var& b, int64_t j) {
  Ints batch = all_axes(a.shape().size() - 2);
  return dot_general(a, b, {row_axis(a) + i}, {row_axis(b) + j}, batch, batch);
}
inline Var transposed(const Var& x) {
  Ints permutation = all_axes(x.shape().size());
  std::swap(permutation[static_cast<size_t>(row_axis(x))], permutation[static_cast<size_t>(column_axis(x))]);
  return transpose(x, permutation);
}
inline Var row_numbers(const Var& x) { return iota(*x.graph, row_axis(x), DType::i32, x.shape()); }
inline Var column_numbers(const Var& x) { return iota(*x.graph, column_axis(x), DType::i32, x.shape()); }

}  // namespace anvil::primitives
