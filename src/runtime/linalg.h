// The linear algebra that generated code calls; what buffers and numbers mean stands in
// runtime/functions.h.
#pragma once
#include <cstdint>

namespace anvil::runtime {

struct Run;

int32_t contract(Run*, void* const* buffers, const int64_t* numbers);
int32_t cholesky_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t cholesky_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t cholesky_reverse_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t cholesky_reverse_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t triangular_solve_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t triangular_solve_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t lu_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t lu_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t geqrf_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t geqrf_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t householder_product_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t householder_product_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t qr_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t qr_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t eigh_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t eigh_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t svd_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t svd_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t eigh_values_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t eigh_values_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t svd_values_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t svd_values_f64(Run*, void* const* buffers, const int64_t* numbers);

// Of a matrix of n columns and m >= n rows, stored by columns `apart` from each other, the upper square becomes its Cholesky
// factor L, by its lower triangle, and what is below it is multiplied by L'^-1; false where the square is not positive definite.
bool factorise_panel(double* a, int64_t m, int64_t n, int64_t apart);
// Solves in place, for a dense lower triangle L of order n: X L = B of m rows, and L L' X = B of m columns.
void solve_lower_rows(const double* l, int64_t n, double* x, int64_t m);
void solve_factored(const double* l, int64_t n, double* x, int64_t m);

}  // namespace anvil::runtime
