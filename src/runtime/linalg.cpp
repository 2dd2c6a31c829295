// Contractions, Cholesky factors and triangular systems for generated code. Many small matrices are worked on several at a time.
#include "runtime/linalg.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "base/interrupt.h"
#include "runtime/elements.h"
#include "runtime/interleaved/interleaved.h"
#include "runtime/pool.h"
#include "runtime/product/product.h"
#include "runtime/run.h"
#include "runtime/threads.h"
#include "runtime/triangular.h"

namespace anvil::runtime {
namespace {

using interleaved::System;
using product::Place;

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

// Its elements are those of a lower triangle.
template <class T>
Place<T> triangle(T* data, int64_t n, bool lower) {
  return lower ? Place<T>{data, 1, n} : Place<T>{data, n, 1};
}
// f(a column's number, its first element in the triangle, the one after its last), by several threads.
template <class F>
void each_column(int64_t n, bool lower, const F& f) {
  share_ranges(n, nanoseconds_of_element * double(n), [&](int64_t j, int64_t end) {
    worked((end - j) * n);
    for (; j < end; ++j) lower ? f(j, n * j + j, n * j + n) : f(j, n * j, n * j + j + 1);
  });
}
template <class T>
void copy_triangle(T* to, const T* from, int64_t n, bool lower) {
  each_column(n, lower, [=](int64_t, int64_t first, int64_t end) { std::copy(from + first, from + end, to + first); });
}
template <class T>
void clear_other_triangle(T* data, int64_t n, bool lower) {
  each_column(n, lower, [=](int64_t j, int64_t first, int64_t end) {
    std::fill(data + n * j, data + first, T(0));
    std::fill(data + end, data + n * j + n, T(0));
  });
}

template <class T>
void cholesky_dense(T* l, const T* a, int64_t n, bool lower) {
  copy_triangle(l, a, n, lower);
  if (!factorise<T>(triangle(l, n, lower), n, n)) std::fill(l, l + n * n, std::numeric_limits<T>::quiet_NaN());
  clear_other_triangle(l, n, lower);
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

template <class T>
int32_t call_cholesky_reverse(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const int64_t n = d[0], batch = d[2];
    const bool lower = d[1] != 0;
    T* out = static_cast<T*>(p[0]);
    const T *l = static_cast<const T*>(p[1]), *g = static_cast<const T*>(p[2]);
    if (n == 0 || batch == 0) return;
    if (n <= interleaved::largest && batch >= interleaved::several)
      return interleaved::cholesky_reverse(out, l, g, n, lower, batch);
    one_by_one<T>(batch, n, out, n * n, l, n * n, g, n * n, [&](T* to, const T* factor, const T* from) {
      copy_triangle(to, from, n, lower);
      reverse_factor<T>(triangle(factor, n, lower), triangle(to, n, lower), n);
      clear_other_triangle(to, n, lower);
    });
  });
}

template <class T>
void solve_dense(const System& s, T* x, const T* a, const T* b) {
  copy_elements(x, b, s.n * s.m);
  solve_rows<T>(s.flipped() ? Place<const T>{a, s.n, 1} : Place<const T>{a, 1, s.n}, s.n, s.forward(), s.unit,
                s.left ? Place<T>{x, s.n, 1} : Place<T>{x, 1, s.m}, s.m);
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
  solve_rows<double>({l, n, 1}, n, false, false, {x, 1, m}, m);
}
void solve_factored(const double* l, int64_t n, double* x, int64_t m) {
  solve_rows<double>({l, 1, n}, n, true, false, {x, n, 1}, m);
  solve_rows<double>({l, n, 1}, n, false, false, {x, n, 1}, m);
}

int32_t contract(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const auto dtype = static_cast<DType>(d[0]);
    const bool weighted = d[1] != 0;
    const product::Update update = {d[2] != 0 ? product::Into::add : product::Into::set,
                                    static_cast<product::Elements>(d[3]), d[4]};
    const auto others = static_cast<size_t>(d[5]);
    const int64_t* next = d + 6;
    // how many axes, where some arrays begin, then f(extent and steps) for each axis
    const auto read = [&](std::span<char*> arrays, auto&& f) {
      const int64_t axes = *next++;
      for (char*& x : arrays) x = static_cast<char*>(*p++) + *next++ * static_cast<int64_t>(size_of(dtype));
      for (int64_t k = 0; k < axes; ++k, next += 1 + arrays.size()) f(next);
    };
    std::array<char*, 4> first{};
    std::vector<product::Axis> axes;
    read(std::span(first).first(weighted ? 4 : 3), [&](const int64_t* x) {
      axes.push_back({x[0], x[1], x[2], x[3], weighted ? x[4] : 0});
    });
    std::vector<product::Beside> beside;
    while (beside.size() < others) {
      std::array<char*, 2> both{};
      std::vector<product::Axis> columns;
      read(both, [&](const int64_t* x) { columns.push_back({x[0], x[1], 0, x[2]}); });
      beside.push_back({both[0], both[1], std::move(columns)});
    }
    product::contract(dtype, first[0], first[1], first[2], first[3], axes, update, elementary::detected_isa(), beside);
  });
}
int32_t cholesky_f32(Run* run, void* const* p, const int64_t* d) { return call_cholesky<float>(run, p, d); }
int32_t cholesky_f64(Run* run, void* const* p, const int64_t* d) { return call_cholesky<double>(run, p, d); }
int32_t cholesky_reverse_f32(Run* run, void* const* p, const int64_t* d) {
  return call_cholesky_reverse<float>(run, p, d);
}
int32_t cholesky_reverse_f64(Run* run, void* const* p, const int64_t* d) {
  return call_cholesky_reverse<double>(run, p, d);
}
int32_t triangular_solve_f32(Run* run, void* const* p, const int64_t* d) { return call_solve<float>(run, p, d); }
int32_t triangular_solve_f64(Run* run, void* const* p, const int64_t* d) { return call_solve<double>(run, p, d); }

}  // namespace anvil::runtime
