// Systems, one strip of as many rows as a tile has after the other; factors, as many columns as a tile has after
// the other.
#include "runtime/product/triangle.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/interrupt.h"
#include "runtime/pool.h"
#include "runtime/product/pack.h"
#include "runtime/threads.h"

namespace anvil::product {
namespace {

constexpr double nanoseconds_of_step = 0.03;  // of a row, by a column, by an earlier one

int64_t whole(int64_t n, int64_t size) { return (n + size - 1) / size * size; }

// The lines [j, j + columns) of L up to their diagonal, packed: where there are none, the last `columns` steps
// are those of a triangle of ones.
template <class T>
void pack_lines_of(T* to, View<T> l, int64_t n, int64_t j, int64_t columns, bool unit) {
  const Places lines{nullptr, std::min(columns, n - j), j * l.row, l.row};
  const Places depth{nullptr, j + lines.count, 0, l.column};
  std::fill(to, to + columns * (j + columns), T(0));
  pack_panel(to, columns, l.data, lines, depth);
  for (int64_t c = 0; c < columns; ++c)
    if (unit || c >= lines.count) to[(j + c) * columns + c] = 1;
}

// The packed lines of a triangle, one panel after the other.
template <class T>
struct Panels {
  int64_t columns, count;
  runtime::Block memory;
  Panels(View<T> l, int64_t n, bool unit, int64_t width)
      : columns(width), count(whole(n, width) / width), memory(size_t(columns * start(count)) * sizeof(T)) {
    for (int64_t k = 0; k < count; ++k) pack_lines_of(data() + columns * start(k), l, n, k * columns, columns, unit);
  }
  const T* panel(int64_t k) const { return data() + columns * start(k); }

 private:
  int64_t start(int64_t k) const { return columns * k * (k + 1) / 2; }  // in steps
  T* data() const { return reinterpret_cast<T*>(memory.data()); }
};

// to[p * x.column + i * x.row] = strip[i + rows * p]: x is filled with h rows and n columns.
template <class T>
void put_strip(const Place<T>& x, int64_t h, int64_t n, const T* strip, int64_t rows) {
  if (x.row == 1) return pack_panel(x.data, x.column, strip, {nullptr, h, 0, 1}, {nullptr, n, 0, rows});
  if (x.column == 1) return pack_panel(x.data, x.row, strip, {nullptr, n, 0, rows}, {nullptr, h, 0, 1});
  if (x.column == -1)
    return pack_panel(x.data - (n - 1), x.row, strip + rows * (n - 1), {nullptr, n, 0, -rows}, {nullptr, h, 0, 1});
  for (int64_t p = 0; p < n; ++p)
    for (int64_t i = 0; i < h; ++i) x.at(i, p) = strip[i + rows * p];
}

// x' = L^-1 x' for m lines of x, a strip at a time.
template <class T>
void solve_by_panels(const Panels<T>& panels, const Place<T>& x, int64_t n, int64_t m, const Kernel<T>& kernel) {
  const int64_t rows = kernel.rows, room = rows * panels.columns * panels.count;
  runtime::share_ranges((m + rows - 1) / rows, nanoseconds_of_step * double(rows * n * n), [&](int64_t k, int64_t end) {
    const runtime::Block memory(size_t(room) * sizeof(T));
    T* const strip = reinterpret_cast<T*>(memory.data());
    std::fill(strip, strip + room, T(0));
    for (; k < end; ++k) {
      const int64_t h = std::min(rows, m - k * rows);
      const Place<T> here = x.from(k * rows, 0);
      pack_panel(strip, rows, here.data, {nullptr, h, 0, x.row}, {nullptr, n, 0, x.column});
      for (int64_t p = 0; p < panels.count; ++p) kernel.solve(p * panels.columns, strip, rows, panels.panel(p));
      put_strip(here, h, n, strip, rows);
      worked(rows * n * n / 8);
    }
  });
}

// L L' = A column by column, in place; false where a pivot is not positive.
template <class T>
bool factorise_few(T* a, int64_t n, int64_t ld) {
  for (int64_t j = 0; j < n; ++j) {
    if (!(a[j + ld * j] > 0)) return false;
    const T pivot = a[j + ld * j] = std::sqrt(a[j + ld * j]);
    for (int64_t i = j + 1; i < n; ++i) a[i + ld * j] /= pivot;
    for (int64_t k = j + 1; k < n; ++k)
      for (int64_t i = k; i < n; ++i) a[i + ld * k] -= a[i + ld * j] * a[k + ld * j];
  }
  return true;
}

// The same for a matrix that has `kernel.rows` more rows than it shows.
template <class T>
bool factorise_dense(T* a, int64_t n, int64_t ld, const Kernel<T>& kernel) {
  const int64_t columns = kernel.columns, rows = kernel.rows;
  const runtime::Block memory(size_t(columns * (n + columns)) * sizeof(T));
  T* const panel = reinterpret_cast<T*>(memory.data());
  alignas(64) T made[most_rows * most_columns];
  const std::vector<int64_t> steps = even_steps(n, ld);
  for (int64_t j = 0; j < n; j += columns) {
    const int64_t w = std::min(columns, n - j);
    T* const square = a + j + ld * j;
    pack_lines_of(panel, View<T>{a, 1, ld}, n, j, columns, false);
    for (int64_t i = 0; i < w; i += rows) {
      const T* const lines = a + j + i;
      kernel.together[1][columns / kernel.narrow - 1](j, lines, steps.data(), panel, columns, {lines, steps.data()},
                                                      made, rows, Into::set);
      for (int64_t c = 0; c < w; ++c)
        for (int64_t r = i; r < std::min(w, i + rows); ++r) square[r + ld * c] -= made[r - i + rows * c];
    }
    if (!factorise_few(square, w, ld)) return false;
    for (int64_t c = 0; c < w; ++c)
      for (int64_t r = c; r < w; ++r) panel[(j + c) * columns + r] = square[r + ld * c];
    for (int64_t i = j + columns; i < n; i += rows) kernel.solve(j, a + i, ld, panel);
  }
  return true;
}

}  // namespace

template <class T>
void solve_rows(View<T> l, int64_t n, bool unit, Place<T> x, int64_t m, elementary::Isa isa) {
  if (m == 0 || n == 0) return;
  const Kernel<T> kernel = elementary::of_type<T>(kernels_of(isa));
  solve_by_panels(Panels<T>(l, n, unit, kernel.columns), x, n, m, kernel);
}

template <class T>
bool factorise_square(Place<T> a, int64_t n, elementary::Isa isa) {
  const Kernel<T> kernel = elementary::of_type<T>(kernels_of(isa));
  constexpr int64_t line = 64 / sizeof(T);
  const int64_t ld = (((n + kernel.rows) / line) | 1) * line + line * 2;  // no power of 2
  const runtime::Block memory(size_t(ld * n) * sizeof(T));
  T* const own = reinterpret_cast<T*>(memory.data());
  std::fill(own, own + ld * n, T(0));
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) own[i + ld * j] = a.at(i, j);
  const bool sound = factorise_dense(own, n, ld, kernel);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) a.at(i, j) = own[i + ld * j];
  worked(n * n * n / 8);
  return sound;
}

template void solve_rows(View<float>, int64_t, bool, Place<float>, int64_t, elementary::Isa);
template void solve_rows(View<double>, int64_t, bool, Place<double>, int64_t, elementary::Isa);
template bool factorise_square(Place<float>, int64_t, elementary::Isa);
template bool factorise_square(Place<double>, int64_t, elementary::Isa);

}  // namespace anvil::product
