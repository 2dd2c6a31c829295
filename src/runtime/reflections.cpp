// QR of one dense matrix by reflections H = 1 - tau v v' (Golub and Van Loan, Matrix Computations, 5.1). Those of
// several columns are applied as one, H_0 H_1 ... = 1 - V T V' with an upper triangle T (Schreiber and Van Loan, A
// storage-efficient WY representation for products of Householder transformations, 1989), which is made of our own
// products. The columns of a panel are halved until few are left (Elmroth and Gustavson, Applying recursion to serial
// and parallel QR factorization leads to better performance, 2000).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt.h"
#include "runtime/elements.h"
#include "runtime/factorise.h"
#include "runtime/matrix.h"
#include "runtime/pool.h"
#include "runtime/product/product.h"
#include "runtime/threads.h"

namespace anvil::runtime {
namespace {

constexpr int64_t columns_of_panel = 32;  // columns whose reflections are applied as one to those behind them
constexpr int64_t few_columns = 8;        // columns that are reflected one by one

template <class T>
using VectorMap = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;

// The reflection of x to (beta, 0, ..., 0), 1 for none: x[0] becomes beta, the others v's elements behind its first one,
// which is 1. Gives tau.
template <class T>
T reflect_vector(T* x, int64_t size) {
  using Limits = std::numeric_limits<T>;
  constexpr T small = Limits::min() / Limits::epsilon();
  VectorMap<T> below(x + 1, size - 1);
  T norm = std::sqrt(below.squaredNorm());
  if (!(norm > std::sqrt(Limits::min()) / Limits::epsilon())) norm = below.stableNorm();
  if (norm == T(0)) return T(0);
  const T alpha = x[0], root = std::hypot(alpha, norm), beta = alpha < T(0) ? root : -root;
  if (root < small) {  // as LAPACK's larfg does: of subnormal numbers v would have a few bits
    VectorMap<T>(x, size) /= small;
    const T tau = reflect_vector(x, size);
    x[0] *= small;
    return tau;
  }
  below /= alpha - beta;
  x[0] = beta;
  return (beta - alpha) / beta;
}

// Reflections of `count` columns of a packed matrix of m rows, from row and column `first` on.
template <class T>
class Together {
 public:
  Together(const T* packed, const T* taus, int64_t m, int64_t first, int64_t count)
      : rows_(m - first), count_(count), memory_(size_t((rows_ + count) * count) * sizeof(T)) {
    T *const v = reinterpret_cast<T*>(memory_.data()), *const t = v + rows_ * count;
    for (int64_t j = 0; j < count; ++j) {
      T* const column = v + rows_ * j;
      std::fill(column, column + j, T(0));
      column[j] = T(1);
      const T* const from = packed + first + m * (first + j);
      std::copy(from + j + 1, from + rows_, column + j + 1);
    }
    // column j of T is -tau_j T V' v_j above its diagonal, which is tau_j
    product::multiply<T>(t, {v, rows_, 1}, {v, 1, rows_}, count, count, rows_);
    for (int64_t j = 0; j < count; ++j) {
      T* const column = t + count * j;
      for (int64_t i = 0; i < j; ++i) {
        T sum = 0;
        for (int64_t k = i; k < j; ++k) sum += t[i + count * k] * column[k];
        column[i] = -taus[first + j] * sum;
      }
      column[j] = taus[first + j];
      std::fill(column + j + 1, column + count, T(0));
    }
  }

  // n columns of c become H_0 H_1 ... c, or with the last one first; c starts with the row that they start with.
  void apply(T* c, int64_t apart, int64_t n, bool last_first) const {
    if (n == 0) return;
    const T *const v = reinterpret_cast<const T*>(memory_.data()), *const t = v + rows_ * count_;
    const Block scratch(size_t(2 * count_ * n) * sizeof(T));
    T *const dots = reinterpret_cast<T*>(scratch.data()), *const weights = dots + count_ * n;
    product::multiply<T>(dots, {v, rows_, 1}, {c, 1, apart}, count_, n, rows_);
    product::multiply<T>(weights, {t, last_first ? count_ : 1, last_first ? 1 : count_}, {dots, 1, count_}, count_, n,
                         count_);
    product::subtract<T>(c, 1, apart, {v, 1, rows_}, {weights, 1, count_}, rows_, n, count_);
    worked(rows_ * n);
  }

 private:
  const int64_t rows_, count_;
  const Block memory_;
};

template <class T>
void reflect_columns(T* a, T* taus, int64_t m, int64_t first, int64_t end) {
  if (end - first > few_columns) {
    const int64_t middle = first + (end - first) / 2;
    reflect_columns(a, taus, m, first, middle);
    Together<T>(a, taus, m, first, middle - first).apply(a + first + m * middle, m, end - middle, true);
    return reflect_columns(a, taus, m, middle, end);
  }
  for (int64_t k = first; k < end; ++k) {
    T* const x = a + k + m * k;
    taus[k] = reflect_vector(x, m - k);
    const VectorMap<T> v(x + 1, m - k - 1);
    for (int64_t j = k + 1; j < end; ++j) {
      T* const y = a + k + m * j;
      VectorMap<T> below(y + 1, m - k - 1);
      const T by = taus[k] * (y[0] + v.dot(below));
      y[0] -= by;
      below -= by * v;
    }
  }
  worked((m - first) * (end - first));
}

}  // namespace

// A is scaled by a power of 2, so that no square overflows.
template <class T>
void geqrf(T* packed, T* taus, const T* a, int64_t m, int64_t n) {
  const int64_t k = std::min(m, n);
  if (k == 0) return;
  if (!all_finite(a, m * n)) {
    fill_nan(packed, m * n);
    return fill_nan(taus, k);
  }
  const T largest = ConstMatrixMap<T>(a, m, n).cwiseAbs().maxCoeff();
  constexpr int most = std::numeric_limits<T>::max_exponent - 2;
  const int exponent = largest > 0 ? std::clamp(std::ilogb(largest), -most, most) : 0;
  MatrixMap<T>(packed, m, n) = ConstMatrixMap<T>(a, m, n) * std::ldexp(T(1), -exponent);
  for (int64_t j = 0; j < k; j += columns_of_panel) {
    const int64_t end = std::min(j + columns_of_panel, k);
    reflect_columns(packed, taus, m, j, end);
    if (end < n) Together<T>(packed, taus, m, j, end - j).apply(packed + j + m * end, m, n - end, true);
  }
  const T unit = std::ldexp(T(1), exponent);
  for (int64_t j = 0; j < n; ++j) VectorMap<T>(packed + m * j, std::min(j + 1, m)) *= unit;
}

template <class T>
void householder_product(T* q, const T* packed, const T* taus, int64_t m, int64_t n, int64_t k) {
  MatrixMap<T>(q, m, n).setIdentity();
  for (int64_t j = (k - 1) / columns_of_panel * columns_of_panel; j >= 0 && k > 0; j -= columns_of_panel)
    Together<T>(packed, taus, m, j, std::min(columns_of_panel, k - j)).apply(q + j + m * j, m, n - j, false);
}

template <class T>
void qr(T* q, T* r, const T* a, int64_t m, int64_t n) {
  const int64_t k = std::min(m, n);
  if (k == 0) return;
  const Block memory(size_t(m * n + k) * sizeof(T));
  T *const packed = reinterpret_cast<T*>(memory.data()), *const taus = packed + m * n;
  geqrf(packed, taus, a, m, n);
  if (std::isnan(taus[0])) {
    fill_nan(q, m * k);
    return fill_nan(r, k * n);
  }
  householder_product(q, packed, taus, m, k, k);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < k; ++i) r[i + k * j] = i <= j ? packed[i + m * j] : T(0);
}

#define ANVIL_REFLECTIONS(T)                                                            \
  template void geqrf(T*, T*, const T*, int64_t, int64_t);                              \
  template void householder_product(T*, const T*, const T*, int64_t, int64_t, int64_t); \
  template void qr(T*, T*, const T*, int64_t, int64_t);
ANVIL_REFLECTIONS(float)
ANVIL_REFLECTIONS(double)
#undef ANVIL_REFLECTIONS

}  // namespace anvil::runtime
