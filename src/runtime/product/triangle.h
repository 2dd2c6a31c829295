// Triangular systems and Cholesky factors of squares that fit in the second cache, in the tiles of products. Larger
// ones are made of these and of products (runtime/linalg.cpp).
#pragma once
#include <type_traits>

#include "runtime/product/product.h"

namespace anvil::product {

constexpr int64_t largest_triangle = 192;

// A matrix in memory that is changed: element (i, j) at data[i * row + j * column], also backwards.
template <class T>
struct Place {
  T* data;
  int64_t row, column;
  T& at(int64_t i, int64_t j) const { return data[i * row + j * column]; }
  Place from(int64_t i, int64_t j) const { return {&at(i, j), row, column}; }
  View<std::remove_const_t<T>> view() const { return {data, row, column}; }
  Place transposed() const { return {data, column, row}; }
};

// X L' = B in place of B, m x n, for the lower triangle L of order n; its diagonal is taken as 1 if `unit`.
template <class T>
void solve_rows(View<T> l, int64_t n, bool unit, Place<T> x, int64_t m,
                elementary::Isa isa = elementary::detected_isa());

// L L' = A in place of the lower triangle of A, of order n; false where A is not positive definite.
template <class T>
bool factorise_square(Place<T> a, int64_t n, elementary::Isa isa = elementary::detected_isa());

}  // namespace anvil::product
