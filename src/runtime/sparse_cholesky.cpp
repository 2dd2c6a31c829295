#include "runtime/sparse_cholesky.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "runtime/sparse_panels.h"

namespace anvil::runtime {
namespace {

// ---- numbers with a part that moves -------------------------------------------------------------

// a + b e, where e^2 = 0: with nested ones b.b is the second derivative in two directions.
template <class T>
struct Dual {
  T a{}, b{};
};
template <class T>
Dual<T> operator+(const Dual<T>& x, const Dual<T>& y) {
  return {x.a + y.a, x.b + y.b};
}
template <class T>
Dual<T> operator-(const Dual<T>& x, const Dual<T>& y) {
  return {x.a - y.a, x.b - y.b};
}
template <class T>
Dual<T> operator*(const Dual<T>& x, const Dual<T>& y) {
  return {x.a * y.a, x.a * y.b + x.b * y.a};
}
double inverse(double x) { return 1 / x; }
template <class T>
Dual<T> inverse(const Dual<T>& x) {
  const T y = inverse(x.a);
  return {y, T{} - y * y * x.b};
}
double root(double x) { return std::sqrt(x); }
template <class T>
Dual<T> root(const Dual<T>& x) {
  const T y = root(x.a);
  return {y, x.b * inverse(y + y)};
}
double value(double x) { return x; }
template <class T>
double value(const Dual<T>& x) {
  return value(x.a);
}
double last(double x) { return x; }
template <class T>
double last(const Dual<T>& x) {
  return last(x.b);
}

template <class T>
struct Make {
  static T constant(double x) { return x; }
  static T element(std::span<const double* const> parts, size_t e) { return parts[0][e]; }
};
template <class T>
struct Make<Dual<T>> {
  static Dual<T> constant(double x) { return {Make<T>::constant(x), T{}}; }
  static Dual<T> element(std::span<const double* const> parts, size_t e) {
    return {Make<T>::element(parts.first(parts.size() - 1), e), Make<T>::constant(parts.back()[e])};
  }
};

// ---- the recurrences ----------------------------------------------------------------------------

// Column by column, each of those before that reach it subtracted from it ("left-looking"). `list` links the columns
// whose next row, at `next`, is the one that is being made.
template <class T>
bool factorise(const SparsePattern& p, std::vector<T>& x) {
  const size_t n = p.columns.size() - 1;
  constexpr int32_t none = -1;
  std::vector<T> column(n);
  std::vector<int32_t> list(n, none), following(n, none), next(n);
  const auto enlist = [&](int32_t k) {
    const auto at = static_cast<size_t>(next[static_cast<size_t>(k)]);
    if (next[static_cast<size_t>(k)] == p.columns[static_cast<size_t>(k) + 1]) return;
    int32_t& first = list[static_cast<size_t>(p.rows[at])];
    following[static_cast<size_t>(k)] = first;
    first = k;
  };
  for (size_t j = 0; j < n; ++j) {
    const auto begin = static_cast<size_t>(p.columns[j]), end = static_cast<size_t>(p.columns[j + 1]);
    for (size_t t = begin; t < end; ++t) column[static_cast<size_t>(p.rows[t])] = x[t];
    for (int32_t k = list[j]; k != none;) {
      const auto at = static_cast<size_t>(next[static_cast<size_t>(k)]);
      const auto stop = static_cast<size_t>(p.columns[static_cast<size_t>(k) + 1]);
      const T factor = x[at];
      for (size_t t = at; t < stop; ++t) {
        T& c = column[static_cast<size_t>(p.rows[t])];
        c = c - x[t] * factor;
      }
      const int32_t after = following[static_cast<size_t>(k)];
      ++next[static_cast<size_t>(k)];
      enlist(k);
      k = after;
    }
    if (!(value(column[j]) > 0)) return false;
    const T pivot = root(column[j]), scale = inverse(pivot);
    x[begin] = pivot;
    for (size_t t = begin + 1; t < end; ++t) x[t] = column[static_cast<size_t>(p.rows[t])] * scale;
    next[j] = static_cast<int32_t>(begin + 1);
    enlist(static_cast<int32_t>(j));
  }
  return true;
}

// Takahashi, Fagan and Chin (1973): Z = A^-1 has Z L = L'^-1, which is known on and below the diagonal, so that each column
// follows from those behind it: Z_ij = -sum_k Z_ik L_kj / L_jj, and Z_jj = (1 / L_jj - sum_k Z_jk L_kj) / L_jj,
// with k > j on the pattern.
template <class T>
std::vector<T> inverse_on_pattern(const SparsePattern& p, const std::vector<T>& x) {
  const size_t n = p.columns.size() - 1;
  std::vector<T> z(x.size()), column(n), sum(n);
  for (size_t j = n; j-- > 0;) {
    const auto begin = static_cast<size_t>(p.columns[j]), end = static_cast<size_t>(p.columns[j + 1]);
    for (size_t t = begin + 1; t < end; ++t) {
      const auto r = static_cast<size_t>(p.rows[t]);
      column[r] = x[t];
      sum[r] = T{};
    }
    for (size_t t = begin + 1; t < end; ++t) {  // sums of rows that are not in this column are not read
      const auto r = static_cast<size_t>(p.rows[t]);
      const auto first = static_cast<size_t>(p.columns[r]), stop = static_cast<size_t>(p.columns[r + 1]);
      const T factor = x[t];
      T own = z[first] * factor;
      for (size_t u = first + 1; u < stop; ++u) {
        const auto i = static_cast<size_t>(p.rows[u]);
        own = own + z[u] * column[i];
        sum[i] = sum[i] + z[u] * factor;
      }
      sum[r] = sum[r] + own;
    }
    const T scale = inverse(x[begin]);
    T diagonal = scale;
    for (size_t t = begin + 1; t < end; ++t) {
      const auto r = static_cast<size_t>(p.rows[t]);
      z[t] = T{} - sum[r] * scale;
      diagonal = diagonal - z[t] * x[t];
      column[r] = T{};
    }
    z[begin] = diagonal * scale;
  }
  return z;
}

template <class T>
std::vector<T> factor_of(const SparsePattern& p, const SparseElements& a) {
  std::vector<T> x(p.rows.size());
  for (size_t e = 0; e < a.place.size(); ++e) x[static_cast<size_t>(a.place[e])] = Make<T>::element(a.parts, e);
  if (!factorise(p, x)) std::fill(x.begin(), x.end(), Make<T>::constant(std::numeric_limits<double>::quiet_NaN()));
  return x;
}

template <class T>
void derivative(const SparsePattern& p, const SparseElements& a, double* to) {
  const std::vector<T> z = inverse_on_pattern(p, factor_of<T>(p, a));
  for (size_t e = 0; e < a.place.size(); ++e) to[e] = last(z[static_cast<size_t>(a.place[e])]);
}

}  // namespace

// ---- what is called --------------------------------------------------------------------------------

void check_pattern(const SparsePattern& p, std::span<const int32_t> place) {
  const auto demand = [](bool holds) {
    if (!holds) throw Error("argument", "This is no pattern of a sparse factor.");
  };
  demand(!p.columns.empty() && p.columns.front() == 0 && p.columns.back() == static_cast<int64_t>(p.rows.size()));
  for (size_t j = 0; j + 1 < p.columns.size(); ++j) {
    demand(p.columns[j] < p.columns[j + 1] && p.columns[j + 1] <= p.columns.back());
    const auto begin = static_cast<size_t>(p.columns[j]), end = static_cast<size_t>(p.columns[j + 1]);
    demand(p.rows[begin] == static_cast<int64_t>(j) && p.rows[end - 1] < p.size());
    for (size_t t = begin + 1; t < end; ++t) demand(p.rows[t - 1] < p.rows[t]);
  }
  for (int32_t e : place) demand(e >= 0 && e < static_cast<int64_t>(p.rows.size()));
}

// Numbers alone go by panels, where there are any.
void sparse_factor(const SparsePattern& p, const SparseElements& a, double* factor) {
  const SparsePanels panels(p);
  if (!panels.pay()) {
    std::ranges::copy(factor_of<double>(p, a), factor);
    return;
  }
  const size_t n = p.rows.size();
  std::fill_n(factor, n, 0.0);
  for (size_t e = 0; e < a.place.size(); ++e) factor[a.place[e]] = a.parts[0][e];
  if (!panels.factorise(factor)) std::fill_n(factor, n, std::numeric_limits<double>::quiet_NaN());
}

void sparse_solve(const SparsePattern& p, const double* factor, double* x) {
  const size_t n = p.columns.size() - 1;
  for (size_t j = 0; j < n; ++j) {
    const auto begin = static_cast<size_t>(p.columns[j]), end = static_cast<size_t>(p.columns[j + 1]);
    const double by = x[j] /= factor[begin];
    for (size_t t = begin + 1; t < end; ++t) x[static_cast<size_t>(p.rows[t])] -= factor[t] * by;
  }
  for (size_t j = n; j-- > 0;) {
    const auto begin = static_cast<size_t>(p.columns[j]), end = static_cast<size_t>(p.columns[j + 1]);
    double sum = x[j];
    for (size_t t = begin + 1; t < end; ++t) sum -= factor[t] * x[static_cast<size_t>(p.rows[t])];
    x[j] = sum / factor[begin];
  }
}

void sparse_inverse(const SparsePattern& p, const double* factor, std::span<const int32_t> place, double* elements) {
  const SparsePanels panels(p);
  std::vector<double> z(p.rows.size());
  if (panels.pay())
    panels.invert(factor, z.data());
  else
    z = inverse_on_pattern(p, std::vector<double>(factor, factor + p.rows.size()));
  for (size_t e = 0; e < place.size(); ++e) elements[e] = z[static_cast<size_t>(place[e])];
}

void sparse_inverse_derivative(const SparsePattern& p, const SparseElements& a, double* elements) {
  using First = Dual<double>;
  using Second = Dual<First>;
  static_assert(most_directions == 3);
  switch (a.parts.size()) {
    case 1: return derivative<double>(p, a, elements);
    case 2: return derivative<First>(p, a, elements);
    case 3: return derivative<Second>(p, a, elements);
    case 4: return derivative<Dual<Second>>(p, a, elements);
    default:
      throw Error("gradient", "The logarithm of the determinant of a sparse matrix has derivatives up to order " +
                                  std::to_string(most_directions + 1) + ".");
  }
}

}  // namespace anvil::runtime
