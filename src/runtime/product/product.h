// Products of matrices: C = op(A) op(B), column-major. Blocks of A and B are packed so that
// an inner kernel, which keeps a tile of C in registers, reads both in order (Goto and van
// de Geijn, Anatomy of high-performance matrix multiplication, 2008). The same numbers at
// every size of the machine: one thread, a fixed order of sums.
#pragma once
#include <cstdint>

#include "runtime/elementary/table.h"

namespace anvil::product {

// A matrix in memory: element (i, j) at data[i * row + j * column].
template <class T>
struct View {
  const T* data;
  int64_t row, column;
};

// c is m x n and dense. Any instruction set that the processor has may be asked for.
template <class T>
void multiply(T* c, View<T> a, View<T> b, int64_t m, int64_t n, int64_t k,
              elementary::Isa isa = elementary::detected_isa());

// The inner kernels of one instruction set: c (rows x columns, leading dimension ldc) =
// or += a b, where a has k columns of `rows` and b has k rows of `columns`, packed.
template <class T>
struct Kernel {
  int64_t rows, columns;
  void (*run)(int64_t k, const T* a, const T* b, T* c, int64_t ldc, bool add);
};
struct Kernels {
  Kernel<float> f32;
  Kernel<double> f64;
};
namespace baseline {
Kernels kernels();
}
#if defined(__x86_64__)
namespace avx2 {
Kernels kernels();
}
namespace avx512 {
Kernels kernels();
}
#endif

}  // namespace anvil::product
