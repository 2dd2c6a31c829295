// Factorisations of one dense matrix stored by columns, for generated code and the evaluator alike.
// Every result is NaN, and rows keep their order, where an element of A is NaN or infinite. What the
// results are is said in primitives/families/factorisations.cpp.
#pragma once
#include <cstdint>

namespace anvil::runtime {

// L U = P A, packed, for an m x n matrix A. As LAPACK's getrf, of equal candidates for a pivot the
// first is taken; a pivot of 0 leaves zeros in its column of L.
template <class T>
void lu(T* packed, int32_t* pivots, int32_t* permutation, const T* a, int64_t m, int64_t n);

// A = Q R for an m x n matrix A, where Q is the product of k = min(m, n) reflections H = 1 - tau v v', packed as
// LAPACK's geqrf: R on and above the diagonal, v_j below it in column j, without the 1 that stands there.
template <class T>
void geqrf(T* packed, T* taus, const T* a, int64_t m, int64_t n);
// The first n columns, k <= n <= m, of H_0 ... H_(k-1): LAPACK's orgqr.
template <class T>
void householder_product(T* q, const T* packed, const T* taus, int64_t m, int64_t n, int64_t k);

// Q R = A with k = min(m, n) columns of Q. The signs are those of LAPACK's geqrf: a diagonal
// element of R has the sign opposite to that of what is reflected on it.
template <class T>
void qr(T* q, T* r, const T* a, int64_t m, int64_t n);

// V diag(w) V' = A of which the lower triangle is read, w ascending. The element of largest
// magnitude, the first of several, of each column of V is positive. V may be null: w alone takes less.
template <class T>
void eigh(T* values, T* vectors, const T* a, int64_t n);

// U diag(s) V' = A, s descending. The sign of U's columns is that of eigh's vectors. U and V' may both be null.
template <class T>
void svd(T* u, T* s, T* vt, const T* a, int64_t m, int64_t n);

}  // namespace anvil::runtime
