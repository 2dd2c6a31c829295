// Triangular systems and Cholesky factors of any size, and what comes back through a factor.
#pragma once
#include "runtime/product/triangle.h"

namespace anvil::runtime {

using product::Place;

// X M' = B of m rows in place of B, where M of order n is lower and solved from its first row on (`forward`), or
// upper, from its last.
template <class T>
void solve_rows(Place<const T> a, int64_t n, bool forward, bool unit, Place<T> x, int64_t m);

// L L' = A in the lower triangle of x, with m - n further rows below, which are multiplied by L'^-1; false where A is
// not positive definite. What is above the diagonal changes.
template <class T>
bool factorise(Place<T> x, int64_t n, int64_t m);

// For the factor L of A and what is to be had of a sum by each element of L's lower triangle: the same by each
// element of A's, in place. What is above the diagonal changes.
template <class T>
void reverse_factor(Place<const T> l, Place<T> g, int64_t n);

}  // namespace anvil::runtime
