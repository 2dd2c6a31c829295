// Blocking, packing and the edges of C.
#include "runtime/product/product.h"

#include <algorithm>

#include "base/interrupt.h"
#include "runtime/pool.h"

namespace anvil::product {
namespace {

constexpr int64_t depth = 384;                        // of a block of the sum: panels of B stay in the first cache
constexpr int64_t block_bytes = 384 << 10;            // of a block of A, for the second cache
constexpr int64_t wide = 3072;                        // columns of a block of B, for the third
constexpr int64_t most_rows = 32, most_columns = 12;  // of a tile

Kernels kernels_of(elementary::Isa isa) {
#if defined(__x86_64__)
  if (isa == elementary::Isa::avx512) return avx512::kernels();
  if (isa == elementary::Isa::avx2) return avx2::kernels();
#endif
  (void)isa;
  return baseline::kernels();
}
template <class T>
Kernel<T> kernel_of(const Kernels& k) {
  if constexpr (sizeof(T) == 4)
    return k.f32;
  else
    return k.f64;
}

// `count` rows of x by `k` columns, in panels of `height` rows, each panel column by
// column; the last panel is filled up with zeros.
template <class T>
void pack(T* to, View<T> x, int64_t count, int64_t k, int64_t height) {
  for (int64_t first = 0; first < count; first += height, to += height * k) {
    const int64_t rows = std::min(height, count - first);
    const T* from = x.data + first * x.row;
    if (rows < height) std::fill(to, to + height * k, T(0));
    if (x.row == 1) {
      for (int64_t p = 0; p < k; ++p) std::copy(from + p * x.column, from + p * x.column + rows, to + p * height);
      continue;
    }
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t p = 0; p < k; ++p) to[p * height + i] = from[i * x.row + p * x.column];
  }
}

}  // namespace

template <class T>
void multiply(T* c, View<T> a, View<T> b, int64_t m, int64_t n, int64_t k, elementary::Isa isa) {
  const Kernel<T> kernel = kernel_of<T>(kernels_of(isa));
  const int64_t rows = kernel.rows, columns = kernel.columns;
  if (k == 0) std::fill(c, c + m * n, T(0));
  const int64_t k_block = std::min(k, depth), n_block = std::min((n + columns - 1) / columns, wide / columns) * columns;
  const int64_t m_block =
      std::min((m + rows - 1) / rows, std::max<int64_t>(1, block_bytes / int64_t(sizeof(T)) / depth / rows)) * rows;
  const runtime::Block memory(size_t((m_block + n_block) * k_block) * sizeof(T) + 64);
  T* const packed_a = reinterpret_cast<T*>(memory.data());
  T* const packed_b = packed_a + m_block * k_block;
  alignas(64) T edge[most_rows * most_columns];
  for (int64_t j0 = 0; j0 < n; j0 += n_block) {
    const int64_t nj = std::min(n_block, n - j0);
    for (int64_t p0 = 0; p0 < k; p0 += depth) {
      const int64_t kp = std::min(depth, k - p0);
      pack<T>(packed_b, {b.data + p0 * b.row + j0 * b.column, b.column, b.row}, nj, kp, columns);
      for (int64_t i0 = 0; i0 < m; i0 += m_block) {
        const int64_t mi = std::min(m_block, m - i0);
        poll();
        pack<T>(packed_a, {a.data + i0 * a.row + p0 * a.column, a.row, a.column}, mi, kp, rows);
        for (int64_t j = 0; j < nj; j += columns)
          for (int64_t i = 0; i < mi; i += rows) {
            T* to = c + (i0 + i) + (j0 + j) * m;
            const T *x = packed_a + i * kp, *y = packed_b + j * kp;
            if (i + rows <= mi && j + columns <= nj) {
              kernel.run(kp, x, y, to, m, p0 > 0);
              continue;
            }
            kernel.run(kp, x, y, edge, rows, false);
            const int64_t height = std::min(rows, mi - i), width = std::min(columns, nj - j);
            for (int64_t q = 0; q < width; ++q)
              for (int64_t r = 0; r < height; ++r) to[r + q * m] = (p0 > 0 ? to[r + q * m] : T(0)) + edge[r + q * rows];
          }
      }
    }
  }
}

template void multiply(float*, View<float>, View<float>, int64_t, int64_t, int64_t, elementary::Isa);
template void multiply(double*, View<double>, View<double>, int64_t, int64_t, int64_t, elementary::Isa);

}  // namespace anvil::product
