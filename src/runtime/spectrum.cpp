// Eigenvalues and singular values of one dense matrix, by LAPACK's divide and conquer. The signs of vectors, which LAPACK
// leaves open, are chosen here.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/interrupt.h"
#include "runtime/elements.h"
#include "runtime/factorise.h"
#include "runtime/own_thread.h"

// Fortran's functions get the lengths of strings behind the other arguments.
extern "C" {
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work,
             const int* lwork, int* iwork, const int* liwork, int* info, size_t, size_t);
void dgesdd_(const char* jobz, const int* m, const int* n, double* a, const int* lda, double* s, double* u,
             const int* ldu, double* vt, const int* ldvt, double* work, const int* lwork, int* iwork, int* info,
             size_t);
}

namespace anvil::runtime {
namespace {

// A size as LAPACK counts, which is also told the length of its work space in an int.
int lapack_size(double x) {
  if (x > 2147483647.0) throw Error("memory", "The matrix is larger than LAPACK can count.");
  return static_cast<int>(x);
}

// Whether the element of largest magnitude, the first of several, is negative.
bool points_down(const double* x, int64_t count) {
  const double* best = std::max_element(x, x + count, [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  return *best < 0;
}

void negate(double* x, int64_t count, int64_t stride) {
  for (int64_t i = 0; i < count; ++i) x[i * stride] = -x[i * stride];
}

// LAPACK asks nobody whether the user wants to stop: what takes longer than a moment is done on a thread of its own, on
// numbers of its own.
template <class Problem>
void solve(const std::shared_ptr<Problem>& problem, double operations) {
  constexpr double moment = 3e7;
  if (operations < moment || interrupt_check() == nullptr)
    problem->solve();
  else
    call_on_own_thread([problem] { problem->solve(); });
}

// Values and, if they are asked for, vectors of the symmetric matrix whose lower triangle is in `vectors`; whether LAPACK
// found them.
struct Eigenproblem {
  int n;
  const char* job;  // "V" or "N"
  std::vector<double> vectors, values;
  bool found = false;

  void solve() {
    const int own = -1;
    int info = 0, integers = 0;
    double doubles = 0;
    dsyevd_(job, "L", &n, vectors.data(), &n, values.data(), &doubles, &own, &integers, &own, &info, 1, 1);
    const int size = lapack_size(doubles);
    std::vector<double> work(static_cast<size_t>(size));
    std::vector<int> more(static_cast<size_t>(integers));
    dsyevd_(job, "L", &n, vectors.data(), &n, values.data(), work.data(), &size, more.data(), &integers, &info, 1, 1);
    found = info == 0;
  }
};

// U, the singular values and V' of an m x n matrix a, which is lost; without U and V' if these are not asked for.
struct Singular {
  int m, n;
  const char* job;  // "S" or "N"
  std::vector<double> a, u, s, vt;
  bool found = false;

  void solve() {
    const int own = -1, k = std::min(m, n);
    int info = 0;
    double doubles = 0;
    std::vector<int> more(8 * static_cast<size_t>(k));
    dgesdd_(job, &m, &n, a.data(), &m, s.data(), u.data(), &m, vt.data(), &k, &doubles, &own, more.data(), &info, 1);
    const int size = lapack_size(doubles);
    std::vector<double> work(static_cast<size_t>(size));
    dgesdd_(job, &m, &n, a.data(), &m, s.data(), u.data(), &m, vt.data(), &k, work.data(), &size, more.data(), &info,
            1);
    found = info == 0;
  }
};

}  // namespace

template <>
void eigh(double* values, double* vectors, const double* a, int64_t n) {
  if (n == 0) return;
  const auto size = static_cast<size_t>(n);
  lapack_size(1 + 6.0 * double(n) + 2.0 * double(n) * double(n));
  const auto problem = std::make_shared<Eigenproblem>();
  *problem = {static_cast<int>(n), vectors ? "V" : "N", std::vector<double>(size * size), std::vector<double>(size)};
  std::vector<double>& v = problem->vectors;
  // what stands above the diagonal is not read, so it may be NaN
  for (int64_t j = 0; j < n; ++j) std::copy(a + n * j + j, a + n * (j + 1), v.begin() + n * j + j);
  if (all_finite(v.data(), n * n)) solve(problem, 4.0 * double(n) * double(n) * double(n));
  if (problem->found) {
    std::copy(problem->values.begin(), problem->values.end(), values);
    for (int64_t j = 0; vectors && j < n; ++j)
      if (points_down(v.data() + n * j, n)) negate(v.data() + n * j, n, 1);
    if (vectors) std::copy(v.begin(), v.end(), vectors);
  } else {
    fill_nan(values, n);
    if (vectors) fill_nan(vectors, n * n);
  }
  worked(n * n * n);
}

template <>
void svd(double* u, double* s, double* vt, const double* a, int64_t m, int64_t n) {
  const int64_t k = std::min(m, n);
  if (k == 0) return;
  const auto least = double(k);
  const int64_t kept = u ? k : 0;
  lapack_size(std::max({4 * least * least + 7 * least, double(m), double(n)}));
  const auto problem = std::make_shared<Singular>();
  *problem = {static_cast<int>(m),
              static_cast<int>(n),
              u ? "S" : "N",
              std::vector<double>(a, a + m * n),
              std::vector<double>(static_cast<size_t>(m * kept)),
              std::vector<double>(static_cast<size_t>(k)),
              std::vector<double>(static_cast<size_t>(kept * n))};
  if (all_finite(a, m * n)) solve(problem, 6.0 * double(m) * double(n) * least);
  if (problem->found) {
    double *const left = problem->u.data(), *const right = problem->vt.data();
    for (int64_t j = 0; j < kept; ++j)
      if (points_down(left + m * j, m)) {
        negate(left + m * j, m, 1);
        negate(right + j, n, k);
      }
    std::copy(problem->s.begin(), problem->s.end(), s);
    std::copy(left, left + m * kept, u);
    std::copy(right, right + kept * n, vt);
  } else {
    fill_nan(s, k);
    fill_nan(u, m * kept);
    fill_nan(vt, kept * n);
  }
  worked(m * n * k);
}

// Singles by way of doubles, rounded once.
template <>
void eigh(float* values, float* vectors, const float* a, int64_t n) {
  const std::vector<double> wide(a, a + n * n);
  std::vector<double> w(static_cast<size_t>(n)), v(vectors ? wide.size() : 0);
  eigh(w.data(), vectors ? v.data() : nullptr, wide.data(), n);
  std::copy(w.begin(), w.end(), values);
  std::copy(v.begin(), v.end(), vectors);
}
template <>
void svd(float* u, float* s, float* vt, const float* a, int64_t m, int64_t n) {
  const int64_t k = std::min(m, n), kept = u ? k : 0;
  const std::vector<double> wide(a, a + m * n);
  std::vector<double> left(static_cast<size_t>(m * kept)), values(static_cast<size_t>(k)),
      right(static_cast<size_t>(kept * n));
  svd(u ? left.data() : nullptr, values.data(), u ? right.data() : nullptr, wide.data(), m, n);
  std::copy(left.begin(), left.end(), u);
  std::copy(values.begin(), values.end(), s);
  std::copy(right.begin(), right.end(), vt);
}

}  // namespace anvil::runtime
