// Systems and factors are halved down to what product/triangle.h makes, with products between, so that their speed
// depends on no other library and no step takes long.
#include "runtime/triangular.h"

#include <algorithm>

#include "base/interrupt.h"
#include "runtime/cholesky_reverse.h"
#include "runtime/pool.h"
#include "runtime/threads.h"

namespace anvil::runtime {
namespace {

constexpr int64_t at_once = 128;    // right-hand sides of a system, for any number of threads: sums follow from it
constexpr int64_t by_columns = 24;  // columns of a factor that is differentiated without products

// About half of n > by_columns, in whole panels.
int64_t half(int64_t n) { return (n / 2 + by_columns - 1) / by_columns * by_columns; }

// Solves X M' = B of m rows in place, where M is lower and solved from its first row on, or upper, from its last: of
// some columns, then of the others without what those make of them.
template <class T>
void solve_in_place(Place<const T> a, int64_t n, bool forward, bool unit, Place<T> x, int64_t m) {
  if (n <= product::largest_triangle) {
    if (!forward) a = {&a.at(n - 1, n - 1), -a.row, -a.column}, x = {&x.at(0, n - 1), x.row, -x.column};
    return product::solve_rows<T>({a.data, a.row, a.column}, n, unit, x, m);
  }
  const int64_t split = half(n), known = forward ? 0 : split, rest = forward ? split : 0;
  const int64_t n_known = forward ? split : n - split, n_rest = n - n_known;
  solve_in_place<T>(a.from(known, known), n_known, forward, unit, x.from(0, known), m);
  const Place<const T> between = a.from(rest, known);
  product::subtract<T>(&x.at(0, rest), x.row, x.column, {&x.at(0, known), x.row, x.column},
                       {between.data, between.column, between.row}, m, n_rest, n_known);
  solve_in_place<T>(a.from(rest, rest), n_rest, forward, unit, x.from(0, rest), m);
}

// M = G + G' of the lower triangle G.
template <class T>
void add_transposed(T* m, const Place<T>& g, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) m[i + n * j] = m[j + n * i] = i == j ? 2 * g.at(i, i) : g.at(i, j);
  worked(n * n);
}

}  // namespace

template <class T>
void solve_rows(Place<const T> a, int64_t n, bool forward, bool unit, Place<T> x, int64_t m) {
  if (n <= product::largest_triangle) return solve_in_place<T>(a, n, forward, unit, x, m);
  share_each((m + at_once - 1) / at_once, 0.03 * double(n) * double(n) * double(m), [&](int64_t k) {
    const int64_t first = k * at_once;
    solve_in_place<T>(a, n, forward, unit, x.from(first, 0), std::min(at_once, m - first));
  });
}

// From what is to the right of some columns what those make of it is taken.
template <class T>
bool factorise(Place<T> x, int64_t n, int64_t m) {
  constexpr int64_t largest_square = 128;
  if (n <= largest_square) {
    if (!product::factorise_square<T>(x, n)) return false;
    solve_rows<T>({x.data, x.row, x.column}, n, true, false, x.from(n, 0), m - n);
    return true;
  }
  const int64_t split = half(n);
  if (!factorise(x, split, m)) return false;
  const Place<T> left = x.from(split, 0), right = x.from(split, split);
  product::subtract<T>(right.data, x.row, x.column, {left.data, x.row, x.column}, {left.data, x.column, x.row},
                       m - split, n - split, split, product::Elements::lower);
  return factorise(right, n - split, m - split);
}

// L22 is the factor of A22 - L21 L21', and L21 is A21 L11'^-1 (Murray, Differentiation of the Cholesky
// decomposition, 2016).
template <class T>
void reverse_factor(Place<const T> l, Place<T> g, int64_t n) {
  if (n <= by_columns)
    return reverse_few<T>(
        n, [&](int64_t i, int64_t j) { return l.at(i, j); }, [&](int64_t i, int64_t j) -> T& { return g.at(i, j); });
  const int64_t split = half(n), rest = n - split;
  const Place<const T> l21 = l.from(split, 0);
  const Place<T> g21 = g.from(split, 0), g22 = g.from(split, split);
  reverse_factor<T>(l.from(split, split), g22, rest);
  {
    const Block memory(size_t(rest * rest) * sizeof(T));
    T* const m = reinterpret_cast<T*>(memory.data());
    add_transposed(m, g22, rest);
    product::subtract<T>(g21.data, g.row, g.column, {m, 1, rest}, l21.view(), rest, split, rest);
  }
  solve_rows<T>(l.transposed(), split, false, false, g21, rest);
  product::subtract<T>(g.data, g.row, g.column, {g21.data, g.column, g.row}, l21.view(), split, split, rest,
                       product::Elements::lower);
  reverse_factor<T>(l, g, split);
}

#define ANVIL_TRIANGULAR(T)                                                         \
  template void solve_rows(Place<const T>, int64_t, bool, bool, Place<T>, int64_t); \
  template bool factorise(Place<T>, int64_t, int64_t);                              \
  template void reverse_factor(Place<const T>, Place<T>, int64_t);
ANVIL_TRIANGULAR(float)
ANVIL_TRIANGULAR(double)
#undef ANVIL_TRIANGULAR

}  // namespace anvil::runtime
