// Contractions, Cholesky factors and triangular systems. Factors and systems are blocked over our own
// products, so that their speed depends on no other library and no step takes long; Eigen serves
// within the blocks. Many small matrices are worked on several at a time.
#include "runtime/linalg.h"

#include <algorithm>
#include <Eigen/Cholesky>
#include <limits>
#include <vector>

#include "base/interrupt.h"
#include "runtime/interleaved/interleaved.h"
#include "runtime/matrix.h"
#include "runtime/pool.h"
#include "runtime/product/product.h"
#include "runtime/run.h"
#include "runtime/threads.h"

namespace anvil::runtime {
namespace {

using interleaved::System;

// ---- one matrix at a time --------------------------------------------------------------

// Copies matrix b of a batch to dense memory, and back.
template <class T>
void gather(T* to, const T* from, int64_t count, int64_t batch) {
  for (int64_t e = 0; e < count; ++e) to[e] = from[e * batch];
}
template <class T>
void scatter(T* to, const T* from, int64_t count, int64_t batch) {
  for (int64_t e = 0; e < count; ++e) to[e * batch] = from[e];
}

// f(inputs of matrix b, output of matrix b), dense; copies only where a batch is interleaved. The matrices
// have n rows.
template <class T, class F>
void one_by_one(int64_t batch, int64_t n, T* out, int64_t out_size, const T* a, int64_t a_size, const T* b,
                int64_t b_size, F&& f) {
  if (batch == 1) {
    f(out, a, b);
    return;
  }
  share_ranges(batch, 0.1 * double(n) * double(a_size), [&](int64_t first, int64_t end) {
    const Block scratch(size_t(out_size + a_size + b_size) * sizeof(T));
    T* const o = reinterpret_cast<T*>(scratch.data());
    T* const x = o + out_size;
    T* const y = x + a_size;
    for (int64_t i = first; i < end; ++i) {
      gather(x, a + i, a_size, batch);
      if (b) gather(y, b + i, b_size, batch);
      f(o, x, y);
      scatter(out + i, o, out_size, batch);
      worked(10 * (out_size + a_size + b_size));
    }
  });
}

// A triangular matrix in memory: element (i, j) at data[i * row + j * column], so that the
// transpose of an upper one is a lower one.
template <class T>
struct Square {
  T* data;
  int64_t row, column;
  T* at(int64_t i, int64_t j) const { return data + i * row + j * column; }
};

constexpr int64_t block = 64;             // columns of a factor, or rows of a system, that are found at once
constexpr int64_t at_a_time = 1 << 12;    // rows of a factor that follow at once
constexpr int64_t vectors_at_once = 256;  // right-hand sides of a system

template <class T>
Matrix<T> copy_of(const Square<T>& x, int64_t first, int64_t n) {
  Matrix<T> m(n, n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) m(i, j) = *x.at(first + i, first + j);
  return m;
}

// L L' = A in the lower triangle of x, with m - n further rows below; false where A is not positive definite. From some
// columns what those before make of them is taken, their square is factorised, the rest solved for.
template <class T>
bool factorise(const Square<T>& x, int64_t n, int64_t m) {
  const Block memory(size_t(std::min(m, at_a_time) * block) * sizeof(T));
  T* const product = reinterpret_cast<T*>(memory.data());
  for (int64_t j = 0; j < n; j += block) {
    const int64_t w = std::min(block, n - j);
    for (int64_t i = j; i < m && j > 0; i += at_a_time) {
      const int64_t h = std::min(at_a_time, m - i);
      product::multiply<T>(product, {x.at(i, 0), x.row, x.column}, {x.at(j, 0), x.column, x.row}, h, w, j);
      for (int64_t c = 0; c < w; ++c)
        for (int64_t r = 0; r < h; ++r) *x.at(i + r, j + c) -= product[r + h * c];
    }
    Matrix<T> square = copy_of(x, j, w);
    if (Eigen::LLT<Eigen::Ref<Matrix<T>>, Eigen::Lower>(square).info() != Eigen::Success) return false;
    for (int64_t c = 0; c < w; ++c)
      for (int64_t r = c; r < w; ++r) *x.at(j + r, j + c) = square(r, c);
    const int64_t below = m - j - w, blocks = (below + block - 1) / block;
    share_each(blocks, 0.2 * double(below * w * w), [&](int64_t k) {
      const int64_t i = j + w + k * block, h = std::min(block, m - i);
      Matrix<T> rest(h, w);
      for (int64_t c = 0; c < w; ++c)
        for (int64_t r = 0; r < h; ++r) rest(r, c) = *x.at(i + r, j + c);
      square.transpose().template triangularView<Eigen::Upper>().template solveInPlace<Eigen::OnTheRight>(rest);
      for (int64_t c = 0; c < w; ++c)
        for (int64_t r = 0; r < h; ++r) *x.at(i + r, j + c) = rest(r, c);
      worked(h * w * w);
    });
  }
  return true;
}

template <class T>
void cholesky_dense(T* l, const T* a, int64_t n, bool lower) {
  in_pieces(n * n, 1, [&](int64_t first, int64_t end) { std::copy(a + first, a + end, l + first); });
  const bool sound = factorise<T>(lower ? Square<T>{l, 1, n} : Square<T>{l, n, 1}, n, n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) {
      if (lower ? i < j : i > j)
        l[i + n * j] = 0;
      else if (!sound)
        l[i + n * j] = std::numeric_limits<T>::quiet_NaN();
    }
}

template <class T>
int32_t call_cholesky(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t n = d[0], batch = d[2];
    const bool lower = d[1] != 0;
    T* out = static_cast<T*>(p[0]);
    const T* in = static_cast<const T*>(p[1]);
    if (n == 0 || batch == 0) return;
    if (n <= interleaved::largest && batch >= interleaved::several)
      return interleaved::cholesky(out, in, n, lower, batch);
    one_by_one<T>(batch, n, out, n * n, in, n * n, nullptr, 0,
                  [&](T* l, const T* a, const T*) { cholesky_dense(l, a, n, lower); });
  });
}

// M x = b for `count` right-hand sides, in place of them: vector c at data + c * column. From some
// rows what those before make of them is taken, then their square is solved for.
template <class T>
void solve_in_place(const System& s, const T* a, const Square<T>& x, int64_t count, T* product) {
  const Square<const T> m = s.flipped() ? Square<const T>{a, s.n, 1} : Square<const T>{a, 1, s.n};
  for (int64_t done = 0; done < s.n; done += block) {
    const int64_t w = std::min(block, s.n - done), first = s.forward() ? done : s.n - done - w;
    const int64_t known = s.forward() ? 0 : first + w;
    if (done > 0)
      product::multiply<T>(product, {m.at(first, known), m.row, m.column}, {x.at(known, 0), x.row, x.column}, w, count,
                           done);
    Matrix<T> rows(w, count), square(w, w);
    for (int64_t c = 0; c < w; ++c)
      for (int64_t r = 0; r < w; ++r) square(r, c) = *m.at(first + r, first + c);
    for (int64_t c = 0; c < count; ++c)
      for (int64_t r = 0; r < w; ++r) rows(r, c) = *x.at(first + r, c) - (done > 0 ? product[r + w * c] : T(0));
    if (s.forward())
      s.unit ? square.template triangularView<Eigen::UnitLower>().solveInPlace(rows)
             : square.template triangularView<Eigen::Lower>().solveInPlace(rows);
    else
      s.unit ? square.template triangularView<Eigen::UnitUpper>().solveInPlace(rows)
             : square.template triangularView<Eigen::Upper>().solveInPlace(rows);
    for (int64_t c = 0; c < count; ++c)
      for (int64_t r = 0; r < w; ++r) *x.at(first + r, c) = rows(r, c);
    worked(w * w * count);
  }
}

template <class T>
void solve_shared(const System& s, const T* a, const Square<T>& x) {
  const int64_t parts = (s.m + vectors_at_once - 1) / vectors_at_once;
  share_each(parts, 0.1 * double(s.n) * double(s.n) * double(s.m), [&](int64_t k) {
    const int64_t c = k * vectors_at_once, count = std::min(vectors_at_once, s.m - c);
    const Block memory(size_t(block * count) * sizeof(T));
    solve_in_place<T>(s, a, {x.at(0, c), x.row, x.column}, count, reinterpret_cast<T*>(memory.data()));
  });
}

template <class T>
void solve_dense(const System& s, T* x, const T* a, const T* b) {
  in_pieces(s.n * s.m, 1, [&](int64_t first, int64_t end) { std::copy(b + first, b + end, x + first); });
  solve_shared<T>(s, a, s.left ? Square<T>{x, 1, s.n} : Square<T>{x, s.m, 1});
}

template <class T>
int32_t call_solve(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t batch = d[2];
    const System s{d[0], d[1], d[3] != 0, d[4] != 0, d[5] != 0, d[6] != 0};
    T* x = static_cast<T*>(p[0]);
    const T *a = static_cast<const T*>(p[1]), *b = static_cast<const T*>(p[2]);
    if (s.n == 0 || s.m == 0 || batch == 0) return;
    if (s.n <= interleaved::largest && batch >= interleaved::several) return interleaved::solve(s, x, a, b, batch);
    one_by_one<T>(batch, s.n, x, s.n * s.m, a, s.n * s.n, b, s.n * s.m,
                  [&](T* out, const T* matrix, const T* rhs) { solve_dense(s, out, matrix, rhs); });
  });
}

}  // namespace

bool factorise_panel(double* a, int64_t m, int64_t n, int64_t apart) { return factorise<double>({a, 1, apart}, n, m); }
void solve_lower_rows(const double* l, int64_t n, double* x, int64_t m) {
  solve_shared<double>({n, m, /*left=*/false, /*lower=*/true, /*unit=*/false, /*transposed=*/false}, l, {x, m, 1});
}
void solve_factored(const double* l, int64_t n, double* x, int64_t m) {
  for (const bool transposed : {false, true})
    solve_shared<double>({n, m, /*left=*/true, /*lower=*/true, /*unit=*/false, transposed}, l, {x, 1, n});
}

int32_t contract(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const auto dtype = static_cast<DType>(d[0]);
    const auto count = static_cast<size_t>(d[1]), bytes = size_of(dtype);
    std::vector<product::Axis> axes;
    for (const int64_t* x = d + 5; axes.size() < count; x += 4) axes.push_back({x[0], x[1], x[2], x[3]});
    const auto at = [&](size_t k) { return static_cast<char*>(p[k]) + d[2 + k] * static_cast<int64_t>(bytes); };
    product::contract(dtype, at(0), at(1), at(2), axes);
  });
}
int32_t cholesky_f32(Run* run, void* const* p, const int64_t* d) { return call_cholesky<float>(run, p, d); }
int32_t cholesky_f64(Run* run, void* const* p, const int64_t* d) { return call_cholesky<double>(run, p, d); }
int32_t triangular_solve_f32(Run* run, void* const* p, const int64_t* d) { return call_solve<float>(run, p, d); }
int32_t triangular_solve_f64(Run* run, void* const* p, const int64_t* d) { return call_solve<double>(run, p, d); }

}  // namespace anvil::runtime
