// LU of one dense matrix, blocked over our own products.
#include "runtime/factorise.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "base/interrupt.h"
#include "runtime/finite.h"
#include "runtime/matrix.h"
#include "runtime/pool.h"
#include "runtime/product/product.h"
#include "runtime/threads.h"

namespace anvil::runtime {
namespace {

template <class T>
using StridedMap = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;

// ---- LU ---------------------------------------------------------------------------------

constexpr int64_t panel = 32;   // columns that are factorised before the rest follows
constexpr int64_t strip = 256;  // columns of the rest that follow at once

template <class T>
void exchange_rows(T* a, int64_t m, int64_t i, int64_t k, int64_t first, int64_t end) {
  if (i == k) return;
  for (int64_t j = first; j < end; ++j) std::swap(a[i + m * j], a[k + m * j]);
}

// Columns [first, end) of a, from row `first` on, column by column.
template <class T>
void lu_panel(T* a, int32_t* pivots, int64_t m, int64_t first, int64_t end) {
  for (int64_t k = first; k < std::min(end, m); ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < m; ++i)
      if (std::fabs(a[i + m * k]) > std::fabs(a[best + m * k])) best = i;
    pivots[k] = static_cast<int32_t>(best);
    exchange_rows(a, m, k, best, first, end);
    const T pivot = a[k + m * k];
    if (pivot != T(0))
      for (int64_t i = k + 1; i < m; ++i) a[i + m * k] /= pivot;
    for (int64_t j = k + 1; j < end; ++j) {
      const T x = a[k + m * j];
      for (int64_t i = k + 1; i < m; ++i) a[i + m * j] -= a[i + m * k] * x;
    }
    worked((m - k) * (end - k));
  }
}

// What a panel makes of columns [first, end): U's rows, and what is left below.
template <class T>
void lu_follow(T* a, int64_t m, int64_t k, int64_t w, int64_t first, int64_t end, T* product) {
  const Eigen::OuterStride<> stride(m);
  const StridedMap<T> l(a + k + m * k, w, w, stride);
  StridedMap<T> u(a + k + m * first, w, end - first, stride);
  l.template triangularView<Eigen::UnitLower>().solveInPlace(u);
  const int64_t below = m - k - w, count = end - first;
  if (below == 0) return;
  product::multiply<T>(product, {a + k + w + m * k, 1, m}, {a + k + m * first, 1, m}, below, count, w);
  StridedMap<T>(a + k + w + m * first, below, count, stride) -= MatrixMap<T>(product, below, count);
  worked(below * count);
}

}  // namespace

template <class T>
void lu(T* packed, int32_t* pivots, int32_t* permutation, const T* a, int64_t m, int64_t n) {
  const int64_t k = std::min(m, n);
  std::iota(pivots, pivots + k, 0);
  std::iota(permutation, permutation + m, 0);
  if (k == 0) return;
  if (!all_finite(a, m * n)) return fill_nan(packed, m * n);
  in_pieces(m * n, 1, [&](int64_t first, int64_t end) { std::copy(a + first, a + end, packed + first); });
  // up to one panel, the columns to its right are done with it
  for (int64_t j = 0; j < k; j += panel) {
    const int64_t w = std::min(panel, k - j), end = k <= panel ? n : j + w;
    lu_panel(packed, pivots, m, j, end);
    for (int64_t i = j; i < j + w; ++i) {
      exchange_rows(packed, m, i, pivots[i], 0, j);
      exchange_rows(packed, m, i, pivots[i], end, n);
    }
    share_each((n - end + strip - 1) / strip, 0.05 * double(m - j) * double(w) * double(n - end), [&](int64_t part) {
      const int64_t c = end + part * strip;
      const Block memory(size_t((m - j) * strip) * sizeof(T));
      lu_follow(packed, m, j, w, c, std::min(n, c + strip), reinterpret_cast<T*>(memory.data()));
    });
  }
  for (int64_t i = 0; i < k; ++i) std::swap(permutation[i], permutation[pivots[i]]);
}

template void lu(float*, int32_t*, int32_t*, const float*, int64_t, int64_t);
template void lu(double*, int32_t*, int32_t*, const double*, int64_t, int64_t);

}  // namespace anvil::runtime
