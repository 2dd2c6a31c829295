// What generated code may call by name, besides the elementary functions: products,
// factorisations, tapes, polling. Each has one signature; buffers are outputs first, the
// meaning of the numbers stands at each function's definition.
#pragma once
#include <cstdint>
#include <span>

namespace anvil::runtime {

struct Run;

// 0 = go on, 1 = stop: failed or interrupted.
using Function = int32_t (*)(Run*, void* const* buffers, const int64_t* numbers);
struct NamedFunction {
  const char* name;
  Function function;
};
std::span<const NamedFunction> functions();
//   contract                        C, A, B, weights, of each product beside it C and B   dtype, whether there are
//     weights, whether it adds to C, which elements of C and their shift, products beside it; how many axes, offsets of
//     the arrays, for each axis its extent and its steps in them; of each product beside it the same for its columns:
//     see product/product.h
//   cholesky_f32, cholesky_f64      L, A              n lower batch
//     L L' = A (lower) or L' L = A; only that triangle of A is read, the other one of L is
//     0; where A is not positive definite L is NaN
//   cholesky_reverse_f32, _f64      A', L, L'         n lower batch: A' and L' are cotangents, of that triangle
//   triangular_solve_f32, _f64      X, A, B           n m batch left lower unit_diagonal transpose_a
//     op(A) X = B (left, B is n x m) or X op(A) = B (B is m x n); A is n x n
//   lu_f32, lu_f64                  packed, pivots (i32), permutation (i32), A   m n batch
//   qr_f32, qr_f64                  Q, R, A           m n batch
//   geqrf_f32, geqrf_f64            packed, taus, A   m n batch
//   householder_product_f32, _f64   Q, packed, taus   m n taus batch
//   eigh_f32, eigh_f64              values, vectors, A  n n batch
//   svd_f32, svd_f64                U, s, V', A       m n batch
//   eigh_values_f32, eigh_values_f64  values, A       n n batch
//   svd_values_f32, svd_values_f64  s, A              m n batch
//     of m x n matrices, as factorise.h says
//   Element (i, j) of matrix b of a batch with r rows stands at b + batch * (i + r * j).
//   sort                            results, operands how many, keys, descending, n, inner, outer, dtype of each
//     along a dimension of n elements with `inner` lines before and `outer` ones after it, by
//     the first of the operands; see sort.h
//   top_k                           values, indices, X  n k lines dtype: along the last dimension, of n elements
//   tape_new                        handle            bytes of one record, how many handles of tapes it has, where each
//   tape_push                       handle, parts...  count, then bytes of each part
//   tape_read                       parts..., handle  record, count, then bytes of each part
//   tape_length                     length (i64), handle
//   profile_begin, profile_end                        nest: see profile.h
//   print, check                    tensors           these as described(), and text: see their definitions
//   custom_call                     results, operands    as custom.cpp says

// Integer powers, for generated code: as scalar::power.
int64_t power_i64(int64_t base, int64_t exponent);
uint64_t power_ui64(uint64_t base, uint64_t exponent);

}  // namespace anvil::runtime
