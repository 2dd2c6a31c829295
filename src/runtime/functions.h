// What generated code may call by name, besides the elementary functions: products,
// factorisations, tapes, polling. Each has one signature; buffers are outputs first, the
// meaning of the numbers stands at each function's definition.
#pragma once
#include <cstdint>
#include <span>

namespace anvil::runtime {

struct Run;

// 0 = go on, 1 = interrupted, 2 = failed.
using Function = int32_t (*)(Run*, void* const* buffers, const int64_t* numbers);
struct NamedFunction {
  const char* name;
  Function function;
};
std::span<const NamedFunction> functions();
//   gemm_f32, gemm_f64              C, A, B           m n k transpose_a transpose_b   (C = op(A) op(B), column-major, dense)
//   cholesky_f32, cholesky_f64      L, A              n lower batch     (the other triangle zero; NaN where A is not positive definite)
//   triangular_solve_f32, _f64      X, A, B           n m batch left lower unit_diagonal transpose_a   (A n x n; B n x m, or m x n when right)
//     batch dimensions lead: element (i, j) of matrix k is at k + batch * (i + rows * j)
//   tape_new                        handle            bytes of one record
//   tape_push                       handle, parts...  count, then bytes of each part
//   tape_read                       parts..., handle  record, count, then bytes of each part
//   tape_length                     length (i64), handle

// R's BLAS and LAPACK, set by the package's start-up; without them Eigen serves.
struct Blas {
  void (*dgemm)(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
                const double*, const int*, const double*, double*, const int*) = nullptr;
  void (*sgemm)(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
                const float*, const int*, const float*, float*, const int*) = nullptr;
  void (*dpotrf)(const char*, const int*, double*, const int*, int*) = nullptr;
  void (*dtrsm)(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
                const int*, double*, const int*) = nullptr;
};
void set_blas(const Blas&);
const Blas& blas();

}  // namespace anvil::runtime
