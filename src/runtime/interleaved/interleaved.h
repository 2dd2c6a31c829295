// Factorisations and triangular systems of many small matrices at once. A batch is interleaved: the
// same element of neighbouring matrices lies side by side, element e of matrix b at [b + batch * e],
// so that a register holds that element of several matrices, and every matrix takes the same steps.
#pragma once
#include <cstdint>

#include "runtime/elementary/instruction_sets.h"

namespace anvil::interleaved {

// Batches of at least `several` matrices of at most `largest` rows and columns are worth it.
constexpr int64_t largest = 32, several = 4;

// M x = b for each of m right-hand sides, where M is op(A), or its transpose when A is on the right.
struct System {
  int64_t n, m;
  bool left, lower, unit, transposed;
  bool flipped() const { return transposed == left; }  // M(i, k) = A(k, i)
  bool forward() const { return lower != flipped(); }
};

// The same numbers, to the last bit, as lu() of factorise.h, whatever the instruction set.
template <class T>
void lu(T* packed, int32_t* pivots, int32_t* permutation, const T* a, int64_t m, int64_t n, int64_t batch,
        elementary::Isa isa = elementary::detected_isa());
// L, or L' if not `lower`; NaN in the triangle of a matrix that is not positive definite.
template <class T>
void cholesky(T* l, const T* a, int64_t n, bool lower, int64_t batch, elementary::Isa isa = elementary::detected_isa());
// The cotangent of A of the factor's, by the elements of the triangle that is read.
template <class T>
void cholesky_reverse(T* out, const T* l, const T* cotangent, int64_t n, bool lower, int64_t batch,
                      elementary::Isa isa = elementary::detected_isa());
template <class T>
void solve(const System& system, T* x, const T* a, const T* b, int64_t batch,
           elementary::Isa isa = elementary::detected_isa());

// The same for as many matrices as a register has numbers, with the instructions of one set.
template <class T>
struct Kernel {
  int64_t width;
  void (*lu)(T* packed, int32_t* pivots, int32_t* permutation, const T* a, int64_t m, int64_t n, int64_t batch,
             void* scratch);
  void (*cholesky)(T* l, const T* a, int64_t n, bool lower, int64_t batch, void* scratch);
  void (*cholesky_reverse)(T* out, const T* l, const T* cotangent, int64_t n, bool lower, int64_t batch, void* scratch);
  void (*solve)(const System& system, T* x, const T* a, const T* b, int64_t batch, void* scratch);
};
struct Kernels {
  Kernel<float> f32;
  Kernel<double> f64;
};
constexpr int64_t scratch_bytes = 2 * 64 * largest * largest;
ANVIL_KERNELS_OF_SETS(Kernels)

}  // namespace anvil::interleaved
