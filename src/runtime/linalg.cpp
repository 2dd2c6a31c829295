// Products, Cholesky factors and triangular systems. Products are our own; factors and
// systems are R's LAPACK and BLAS for large f64 and Eigen otherwise; many small matrices
// are worked on several at a time, which batch-first storage makes contiguous.
#include "runtime/linalg.h"

#include <algorithm>
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <limits>
#include <vector>

#include "runtime/functions.h"
#include "runtime/pool.h"
#include "runtime/product/product.h"
#include "runtime/run.h"

namespace anvil::runtime {
namespace {

template <class T>
using Matrix = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>;
template <class T>
using ConstMatrix = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>;

constexpr int64_t large = 48;  // from here on LAPACK is worth its calls
constexpr int64_t small = 32,
                  several = 4;  // matrices up to `small`, at least `several` of them: side by side

bool fits_int(int64_t x) { return x <= std::numeric_limits<int>::max(); }

// ---- products ----------------------------------------------------------------------

template <class T>
int32_t call_gemm(Run* run, void* const* p, const int64_t* d) {
  int32_t asked = done;
  struct Question {
    Run* run;
    int32_t* answer;
  } question{run, &asked};
  const auto ask = [](void* q) {
    const auto* it = static_cast<Question*>(q);
    return (*it->answer = poll(it->run)) != done;
  };
  const int64_t m = d[0], n = d[1], k = d[2];
  const bool transpose_a = d[3] != 0, transpose_b = d[4] != 0;
  const int32_t status = guarded(run, [&] {
    const auto *a = static_cast<const T*>(p[1]), *b = static_cast<const T*>(p[2]);
    product::multiply<T>(static_cast<T*>(p[0]), transpose_a ? product::View<T>{a, k, 1} : product::View<T>{a, 1, m},
                         transpose_b ? product::View<T>{b, n, 1} : product::View<T>{b, 1, k}, m, n, k, ask, &question);
  });
  return status != done ? status : asked;
}

// ---- several small matrices at a time ------------------------------------------------

// Element e of matrices b, b + 1, ... of a batch, as many as a cache line holds.
template <class T>
using Lanes = Eigen::Array<T, 64 / sizeof(T), 1>;
template <class T>
constexpr int64_t width = 64 / sizeof(T);

template <class T>
Lanes<T> load(const T* p, int64_t count) {
  if (count == width<T>) return Eigen::Map<const Lanes<T>>(p);
  Lanes<T> x = Lanes<T>::Constant(p[0]);
  std::copy(p, p + count, x.data());
  return x;
}
template <class T>
void store(T* p, const Lanes<T>& x, int64_t count) {
  if (count == width<T>)
    Eigen::Map<Lanes<T>>{p} = x;
  else
    std::copy(x.data(), x.data() + count, p);
}

template <class T>
void cholesky_lanes(T* out, const T* in, int64_t n, bool lower, int64_t batch, int64_t count, Lanes<T>* l) {
  // row i, column j of the lower factor; the upper one is its transpose
  const auto at = [&](int64_t i, int64_t j) { return batch * (lower ? i + n * j : j + n * i); };
  Lanes<T> sound = Lanes<T>::Zero();  // becomes NaN where a pivot is not positive
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      Lanes<T> sum = load(in + at(i, j), count);
      for (int64_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      if (i != j) {
        l[i * n + j] = sum / l[j * n + j];
        continue;
      }
      l[i * n + i] = sum.sqrt();
      sound += (sum > T(0)).select(Lanes<T>::Zero(), Lanes<T>::Constant(std::numeric_limits<T>::quiet_NaN()));
    }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      store<T>(out + at(i, j), j <= i ? Lanes<T>(l[i * n + j] + sound) : Lanes<T>(Lanes<T>::Zero()), count);
}

// M x = b for each of m right-hand sides, where M is op(A), or its transpose when A is on
// the right.
struct System {
  int64_t n, m, batch;
  bool left, lower, unit, transposed;
  bool flipped() const { return transposed == left; }  // M(i, k) = A(k, i)
  bool forward() const { return lower != flipped(); }
  int64_t a(int64_t i, int64_t k) const { return batch * (flipped() ? k + n * i : i + n * k); }
  int64_t b(int64_t i, int64_t c) const { return batch * (left ? i + n * c : c + m * i); }
};

template <class T>
void solve_lanes(const System& s, T* x, const T* a, const T* b, int64_t count, Lanes<T>* matrix, Lanes<T>* column) {
  for (int64_t i = 0; i < s.n; ++i)
    for (int64_t k = 0; k < s.n; ++k)
      if (s.forward() ? k <= i : k >= i) matrix[i * s.n + k] = load(a + s.a(i, k), count);
  for (int64_t c = 0; c < s.m; ++c)
    for (int64_t step = 0; step < s.n; ++step) {
      const int64_t i = s.forward() ? step : s.n - 1 - step;
      Lanes<T> sum = load(b + s.b(i, c), count);
      for (int64_t k = s.forward() ? 0 : i + 1; k < (s.forward() ? i : s.n); ++k)
        sum -= matrix[i * s.n + k] * column[k];
      column[i] = s.unit ? sum : Lanes<T>(sum / matrix[i * s.n + i]);
      store(x + s.b(i, c), column[i], count);
    }
}

// f(first, count) for each group of matrices.
template <class T, class F>
void in_groups(int64_t batch, F&& f) {
  for (int64_t first = 0; first < batch; first += width<T>) f(first, std::min(width<T>, batch - first));
}

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

// f(inputs of matrix b, output of matrix b), dense; copies only where a batch is interleaved.
template <class T, class F>
void one_by_one(int64_t batch, T* out, int64_t out_size, const T* a, int64_t a_size, const T* b, int64_t b_size,
                F&& f) {
  if (batch == 1) {
    f(out, a, b);
    return;
  }
  const Block scratch(size_t(out_size + a_size + b_size) * sizeof(T));
  T* const o = reinterpret_cast<T*>(scratch.data());
  T* const x = o + out_size;
  T* const y = x + a_size;
  for (int64_t i = 0; i < batch; ++i) {
    gather(x, a + i, a_size, batch);
    if (b) gather(y, b + i, b_size, batch);
    f(o, x, y);
    scatter(out + i, o, out_size, batch);
  }
}

template <class T, unsigned triangle>
bool factorise(Matrix<T>& m) {
  using Dense = Eigen::Ref<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>;
  return Eigen::LLT<Dense, triangle>(m).info() == Eigen::Success;
}

template <class T>
void cholesky_dense(T* l, const T* a, int64_t n, bool lower) {
  Matrix<T> out(l, n, n);
  out = ConstMatrix<T>(a, n, n);
  bool ok = false;
  if constexpr (std::is_same_v<T, double>) {
    if (blas().dpotrf && n >= large && fits_int(n)) {
      int size = int(n), info = 0;
      blas().dpotrf(lower ? "L" : "U", &size, l, &size, &info);
      ok = info == 0;
    } else {
      ok = lower ? factorise<T, Eigen::Lower>(out) : factorise<T, Eigen::Upper>(out);
    }
  } else {
    ok = lower ? factorise<T, Eigen::Lower>(out) : factorise<T, Eigen::Upper>(out);
  }
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) {
      if (lower ? i < j : i > j)
        out(i, j) = 0;
      else if (!ok)
        out(i, j) = std::numeric_limits<T>::quiet_NaN();
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
    if (n <= small && batch >= several) {
      const Block scratch(size_t(n * n) * sizeof(Lanes<T>));
      auto* l = reinterpret_cast<Lanes<T>*>(scratch.data());
      in_groups<T>(batch, [&](int64_t first, int64_t count) {
        cholesky_lanes(out + first, in + first, n, lower, batch, count, l);
      });
      return;
    }
    one_by_one<T>(batch, out, n * n, in, n * n, nullptr, 0,
                  [&](T* l, const T* a, const T*) { cholesky_dense(l, a, n, lower); });
  });
}

template <class T, unsigned triangle>
void solve_with(const ConstMatrix<T>& a, Matrix<T>& x, bool left, bool transposed) {
  constexpr unsigned other = (triangle & Eigen::UnitDiag) | (triangle & Eigen::Lower ? Eigen::Upper : Eigen::Lower);
  const auto view = a.template triangularView<triangle>();
  const auto flipped = a.transpose().template triangularView<other>();
  if (left && transposed)
    flipped.template solveInPlace<Eigen::OnTheLeft>(x);
  else if (left)
    view.template solveInPlace<Eigen::OnTheLeft>(x);
  else if (transposed)
    flipped.template solveInPlace<Eigen::OnTheRight>(x);
  else
    view.template solveInPlace<Eigen::OnTheRight>(x);
}

template <class T>
void solve_dense(const System& s, T* x, const T* a, const T* b) {
  const int64_t rows = s.left ? s.n : s.m, columns = s.left ? s.m : s.n;
  if (x != b) std::copy(b, b + rows * columns, x);
  if constexpr (std::is_same_v<T, double>) {
    if (blas().dtrsm && s.n >= large && fits_int(std::max(s.n, s.m))) {
      const int m = int(rows), n = int(columns), lda = int(s.n);
      const double one = 1;
      blas().dtrsm(s.left ? "L" : "R", s.lower ? "L" : "U", s.transposed ? "T" : "N", s.unit ? "U" : "N", &m, &n, &one,
                   a, &lda, x, &m);
      return;
    }
  }
  const ConstMatrix<T> matrix(a, s.n, s.n);
  Matrix<T> out(x, rows, columns);
  if (s.lower && s.unit)
    solve_with<T, Eigen::UnitLower>(matrix, out, s.left, s.transposed);
  else if (s.lower)
    solve_with<T, Eigen::Lower>(matrix, out, s.left, s.transposed);
  else if (s.unit)
    solve_with<T, Eigen::UnitUpper>(matrix, out, s.left, s.transposed);
  else
    solve_with<T, Eigen::Upper>(matrix, out, s.left, s.transposed);
}

template <class T>
int32_t call_solve(Run* run, void* const* p, const int64_t* d) {
  return guarded(run, [&] {
    const System s{d[0], d[1], d[2], d[3] != 0, d[4] != 0, d[5] != 0, d[6] != 0};
    T* x = static_cast<T*>(p[0]);
    const T *a = static_cast<const T*>(p[1]), *b = static_cast<const T*>(p[2]);
    if (s.n == 0 || s.m == 0 || s.batch == 0) return;
    if (s.n <= small && s.batch >= several) {
      const Block scratch(size_t(s.n * s.n + s.n) * sizeof(Lanes<T>));
      auto* matrix = reinterpret_cast<Lanes<T>*>(scratch.data());
      in_groups<T>(s.batch, [&](int64_t first, int64_t count) {
        solve_lanes(s, x + first, a + first, b + first, count, matrix, matrix + s.n * s.n);
      });
      return;
    }
    one_by_one<T>(s.batch, x, s.n * s.m, a, s.n * s.n, b, s.n * s.m,
                  [&](T* out, const T* matrix, const T* rhs) { solve_dense(s, out, matrix, rhs); });
  });
}

}  // namespace

int32_t gemm_f32(Run* run, void* const* p, const int64_t* d) { return call_gemm<float>(run, p, d); }
int32_t gemm_f64(Run* run, void* const* p, const int64_t* d) { return call_gemm<double>(run, p, d); }
int32_t cholesky_f32(Run* run, void* const* p, const int64_t* d) { return call_cholesky<float>(run, p, d); }
int32_t cholesky_f64(Run* run, void* const* p, const int64_t* d) { return call_cholesky<double>(run, p, d); }
int32_t triangular_solve_f32(Run* run, void* const* p, const int64_t* d) { return call_solve<float>(run, p, d); }
int32_t triangular_solve_f64(Run* run, void* const* p, const int64_t* d) { return call_solve<double>(run, p, d); }

}  // namespace anvil::runtime
