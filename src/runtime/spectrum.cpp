// Eigenvalues and singular values of one dense matrix, by LAPACK's divide and conquer. The signs of vectors, which LAPACK
// leaves open, are chosen here.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/interrupt.h"
#include "runtime/factorise.h"
#include "runtime/finite.h"

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

// values and vectors of the matrix in `vectors`; whether LAPACK found them.
bool eigen_in_place(double* values, double* vectors, int n) {
  const int own = -1;
  int info = 0, integers = 0;
  double doubles = 0;
  dsyevd_("V", "L", &n, vectors, &n, values, &doubles, &own, &integers, &own, &info, 1, 1);
  const int size = lapack_size(doubles);
  std::vector<double> work(static_cast<size_t>(size));
  std::vector<int> more(static_cast<size_t>(integers));
  dsyevd_("V", "L", &n, vectors, &n, values, work.data(), &size, more.data(), &integers, &info, 1, 1);
  return info == 0;
}

bool singular(double* u, double* s, double* vt, double* a, int m, int n) {
  const int own = -1, k = std::min(m, n);
  int info = 0;
  double doubles = 0;
  std::vector<int> more(8 * static_cast<size_t>(k));
  dgesdd_("S", &m, &n, a, &m, s, u, &m, vt, &k, &doubles, &own, more.data(), &info, 1);
  const int size = lapack_size(doubles);
  std::vector<double> work(static_cast<size_t>(size));
  dgesdd_("S", &m, &n, a, &m, s, u, &m, vt, &k, work.data(), &size, more.data(), &info, 1);
  return info == 0;
}

}  // namespace

template <>
void eigh(double* values, double* vectors, const double* a, int64_t n) {
  if (n == 0) return;
  // what stands above the diagonal is not read, so it may be NaN
  for (int64_t j = 0; j < n; ++j) {
    std::fill(vectors + n * j, vectors + n * j + j, 0.0);
    std::copy(a + n * j + j, a + n * (j + 1), vectors + n * j + j);
  }
  lapack_size(1 + 6.0 * double(n) + 2.0 * double(n) * double(n));
  if (all_finite(vectors, n * n) && eigen_in_place(values, vectors, static_cast<int>(n))) {
    for (int64_t j = 0; j < n; ++j)
      if (points_down(vectors + n * j, n)) negate(vectors + n * j, n, 1);
  } else {
    fill_nan(values, n);
    fill_nan(vectors, n * n);
  }
  worked(n * n * n);
}

template <>
void svd(double* u, double* s, double* vt, const double* a, int64_t m, int64_t n) {
  const int64_t k = std::min(m, n);
  if (k == 0) return;
  const auto least = double(k);
  lapack_size(std::max({4 * least * least + 7 * least, double(m), double(n)}));
  std::vector<double> copy(a, a + m * n);
  if (all_finite(a, m * n) && singular(u, s, vt, copy.data(), static_cast<int>(m), static_cast<int>(n))) {
    for (int64_t j = 0; j < k; ++j)
      if (points_down(u + m * j, m)) {
        negate(u + m * j, m, 1);
        negate(vt + j, n, k);
      }
  } else {
    fill_nan(u, m * k);
    fill_nan(s, k);
    fill_nan(vt, k * n);
  }
  worked(m * n * k);
}

// Singles by way of doubles, rounded once.
template <>
void eigh(float* values, float* vectors, const float* a, int64_t n) {
  const std::vector<double> wide(a, a + n * n);
  std::vector<double> w(static_cast<size_t>(n)), v(wide.size());
  eigh(w.data(), v.data(), wide.data(), n);
  std::copy(w.begin(), w.end(), values);
  std::copy(v.begin(), v.end(), vectors);
}
template <>
void svd(float* u, float* s, float* vt, const float* a, int64_t m, int64_t n) {
  const int64_t k = std::min(m, n);
  const std::vector<double> wide(a, a + m * n);
  std::vector<double> left(static_cast<size_t>(m * k)), values(static_cast<size_t>(k)),
      right(static_cast<size_t>(k * n));
  svd(left.data(), values.data(), right.data(), wide.data(), m, n);
  std::copy(left.begin(), left.end(), u);
  std::copy(values.begin(), values.end(), s);
  std::copy(right.begin(), right.end(), vt);
}

}  // namespace anvil::runtime
