// LU of one dense matrix, halved down to a few columns, with our own products between.
#include "runtime/factorise.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "base/interrupt.h"
#include "runtime/elements.h"
#include "runtime/interleaved/interleaved.h"
#include "runtime/matrix.h"
#include "runtime/product/product.h"
#include "runtime/threads.h"
#include "runtime/triangular.h"

namespace anvil::runtime {
namespace {

constexpr int64_t by_column = 8;  // columns that are factorised one after the other

// Rows i and pivots[i] of the columns [first, end) change places, for i from `row` to `last`.
template <class T>
void exchange_rows(T* a, const int32_t* pivots, int64_t m, int64_t row, int64_t last, int64_t first, int64_t end) {
  constexpr int64_t at_once = 4;
  constexpr double nanoseconds_of_exchange = 1;
  const auto exchange = [=](int64_t j, int64_t columns) {
    for (int64_t i = row; i < last; ++i)
      for (int64_t c = j; c < j + columns; ++c) std::swap(a[i + m * c], a[pivots[i] + m * c]);
  };
  share_ranges(end - first, nanoseconds_of_exchange * double(last - row), [&](int64_t j, int64_t stop) {
    for (j += first, stop += first; stop - j >= at_once; j += at_once) exchange(j, at_once);
    exchange(j, stop - j);
    worked((last - row) * (stop - j));
  });
}

// Columns [first, end) of a, from row `first` on, one after the other, as far as there are rows.
template <class T>
void factorise_by_column(T* a, int32_t* pivots, int64_t m, int64_t first, int64_t end) {
  for (int64_t k = first; k < std::min(end, m); ++k) {
    T* const column = a + m * k;
    int64_t best = k;
    for (int64_t i = k + 1; i < m; ++i)
      if (std::fabs(column[i]) > std::fabs(column[best])) best = i;
    pivots[k] = static_cast<int32_t>(best);
    if (best != k)
      for (int64_t j = first; j < end; ++j) std::swap(a[k + m * j], a[best + m * j]);
    const T pivot = column[k];
    const auto below = [&](int64_t j) { return MatrixMap<T>(a + k + 1 + m * j, m - k - 1, 1).array(); };
    if (pivot != T(0)) below(k) /= pivot;
    for (int64_t j = k + 1; j < end; ++j) below(j) -= below(k) * a[k + m * j];
    worked((m - k) * (end - k));
  }
}

// What the factors of columns [k, first) make of the columns [first, end), from row k on: U's rows, and what is left
// below.
template <class T>
void follow(T* a, const int32_t* pivots, int64_t m, int64_t k, int64_t first, int64_t end) {
  const int64_t w = first - k, count = end - first;
  exchange_rows(a, pivots, m, k, first, first, end);
  const Place<T> l{a + k + m * k, 1, m}, u{a + k + m * first, 1, m};
  solve_rows<T>({l.data, 1, m}, w, true, true, u.transposed(), count);
  product::subtract<T>(&u.at(w, 0), 1, m, l.from(w, 0).view(), u.view(), m - first, count, w);
}

// Columns [first, end) of a, from row `first` on: half of them, what those make of the others, and these (Toledo,
// Locality of reference in LU decomposition with partial pivoting, 1997).
template <class T>
void factorise_columns(T* a, int32_t* pivots, int64_t m, int64_t first, int64_t end) {
  if (end - first <= by_column) return factorise_by_column(a, pivots, m, first, end);
  const int64_t split = first + ((end - first) / 2 + by_column - 1) / by_column * by_column;
  factorise_columns(a, pivots, m, first, split);
  follow(a, pivots, m, first, split, end);
  factorise_columns(a, pivots, m, split, end);
  exchange_rows(a, pivots, m, split, end, first, split);
}

}  // namespace

template <class T>
void lu(T* packed, int32_t* pivots, int32_t* permutation, const T* a, int64_t m, int64_t n) {
  const int64_t k = std::min(m, n);
  std::iota(pivots, pivots + k, 0);
  std::iota(permutation, permutation + m, 0);
  if (k == 0) return;
  if (!all_finite(a, m * n)) return fill_nan(packed, m * n);
  copy_elements(packed, a, m * n);
  if (std::max(m, n) <= interleaved::largest) {  // the same numbers as in a batch
    factorise_by_column(packed, pivots, m, 0, n);
  } else {
    factorise_columns(packed, pivots, m, 0, k);
    if (n > k) follow(packed, pivots, m, 0, k, n);
  }
  for (int64_t i = 0; i < k; ++i) std::swap(permutation[i], permutation[pivots[i]]);
}

template void lu(float*, int32_t*, int32_t*, const float*, int64_t, int64_t);
template void lu(double*, int32_t*, int32_t*, const double*, int64_t, int64_t);

}  // namespace anvil::runtime
