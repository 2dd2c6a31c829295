// The incomplete beta function I_x(a, b), its density and its derivatives by a and b.
#include <algorithm>
#include <type_traits>

#include "runtime/elementary/special_tools.h"

namespace anvil::elementary::special {
namespace {

constexpr double large_order = 500;

// The arguments, and what would cancel: y = 1 - x and difference = (a + b) x - a = b - (a + b) y.
template <class T>
struct Beta {
  T a, b;
  double x, y;
  T difference;
  Beta mirrored() const { return {b, a, y, x, -difference}; }  // I_y(b, a) = 1 - I_x(a, b)
};

// The product a x exactly: high + low.
struct Product {
  double high, low;
  Product(double a, double x) : high(a * x), low(std::fma(a, x, -high)) {}
};
double difference(double a, double b, double x) {
  const Product p(a, x), q(b, x);
  const double below = p.high - a, lost = p.high - (below + a), sum = below + q.high;  // each sum with what it lost
  const double part = sum - below, rest = (below - (sum - part)) + (q.high - part);
  return sum + (rest + lost + (p.low + q.low));
}
Beta<double> beta(double a, double b, double x) { return {a, b, x, 1 - x, difference(a, b, x)}; }
Beta<Dual> beta(Dual a, Dual b, double x) {
  return {a, b, x, 1 - x, Dual(difference(a.value, b.value, x), x * b.slope - (1 - x) * a.slope)};
}

// x^a y^b / B(a, b), with Stirling's formula for all three gamma functions.
template <class T>
T beta_weight(const Beta<T>& p) {
  const T exponent =
      divergence(p.a, p.difference, p.x * (p.a + p.b)) + divergence(p.b, -p.difference, p.y * (p.a + p.b));
  const bool order = value(p.a) < value(p.b);  // the same for both tails
  const T factor = kept(order ? p.a : p.b, order ? p.b : p.a, [](auto a, auto b) {
    constexpr double root = 0.398942280401432677940;  // 1 / sqrt(2 pi)
    const auto sum = a + b;
    return root * sqrt(a * (b / sum)) * (scaled_gamma(sum) / (scaled_gamma(a) * scaled_gamma(b)));
  });
  return factor * exp(-exponent);
}

// I / weight: the even part of DLMF 8.17.22, which converges for x < (a + 1) / (a + b + 2).
template <class T>
T beta_fraction(const Beta<T>& p) {
  struct Step {
    T a, b;
  };
  const T sum = p.a + p.b;
  T inverse = 1.0 / (p.a + 1.0);  // of a + 2 m + 1
  const T first = p.a * inverse * (1.0 - p.difference);
  return inverse_fraction(first, [&](int n) {
    const double m = n;
    const T before = p.x * inverse, product = m * (p.b - m);
    const T a = (p.a + (m - 1)) * before * ((sum + (m - 1)) * before) * product;
    inverse = 1.0 / (p.a + (2 * m + 1));
    return Step{a, m + product * before + (p.a + m) * inverse * (1 + m * (1 + p.y) - p.difference)};
  });
}

// 1 - I / weight: the integral of the density of log(x / y) above it.
template <class T>
T upper_integral(const Beta<T>& p) {
  // log(1 + x (e^s - 1)) - x s, by the smaller one of x and y
  const bool left = p.x <= 0.5;
  const double small = left ? p.x : p.y, sign = left ? 1 : -1;
  auto rest = [=](double s) {
    const double t = sign * s, part = exp_rest(t), z = small * (t + part);
    return small * part - (std::fabs(z) <= 0.4 ? log_rest(z) : z - std::log1p(z));
  };
  auto series = [=](double s) {
    const double t = sign * s, part = exp_series(t);
    return small * part - log_rest(small * (t + part));
  };
  return integral_of_decay(p.difference, p.a + p.b, p.x * p.y, rest, series);
}

// I for a small b, where 1 - I is next to 1 (DLMF 8.17.7): 1 - y^b Gamma(a + b) / (Gamma(a) Gamma(b + 1)) (1 + sum).
template <class T>
T small_second(const Beta<T>& p) {
  const T ratio = kept(p.a, p.b, [](T a, T b) { return log_gamma_ratio(a, b) - log_gamma_ratio(T(1), b); });
  const T exponent = p.b * std::log(p.y) + ratio;
  T power = 1, term = 1, sum = 0;
  for (int k = 1; k < 100000 && !negligible(term, sum); ++k) {
    power = power * ((double(k) - p.a) * (p.y / k));
    term = power / (p.b + double(k));
    sum = sum + term;
  }
  return -expm1(exponent) - exp(exponent) * p.b * sum;
}

// I for 0 < x < 1.
template <class T>
T lower_part(const Beta<T>& p) {
  const double a = value(p.a), b = value(p.b), d = value(p.difference);
  const bool both_large = a >= large_order && b >= large_order, above = both_large ? d > 0 : d + 2 * p.x > 1;
  // there the fraction takes many steps
  const bool central = both_large && d * d < 16 * (a + b) * p.x * p.y;
  if (above && b < 0.5) return small_second(p);
  constexpr double small_first = std::is_same_v<T, Dual> ? 0.5 : 1e-9;  // a slope cancels sooner
  if (!above && a < small_first) return 1.0 - small_second(p.mirrored());
  const T weight = beta_weight(p);
  if (value(weight) == 0) return above ? 1 : 0;
  if (above) return 1.0 - weight * (central ? upper_integral(p) : beta_fraction(p.mirrored()));
  return weight * (central ? upper_integral(p.mirrored()) : beta_fraction(p));
}
// The derivatives by a and by b tend to those at 0: next to it, they are those a little above.
Dual next_to_zero(double a, double other, double slope) { return {std::max(a, 1e-30 * std::min(other, 1.)), slope}; }

// At the ends: I, of a NaN or outside a, b >= 0, 0 <= x <= 1 NaN; -1 inside.
double at_end(double a, double b, double x) {
  if (a != a || b != b || x != x) return a + b + x;
  if (a < 0 || b < 0 || x < 0 || x > 1 || (a == 0 && b == 0) || (a == infinity && b == infinity)) return nan;
  if ((a == 0 && x == 0) || (b == 0 && x == 1)) return nan;
  if (x == 0 || b == 0 || a == infinity) return x == 1;
  return x == 1 || a == 0 || b == infinity ? 1 : -1;
}

}  // namespace

double betainc(double a, double b, double x) {
  const double end = at_end(a, b, x);
  return end == -1 ? lower_part(beta(a, b, x)) : end;
}

double betaincc(double a, double b, double x) {
  const double end = at_end(a, b, x);
  return end == -1 ? lower_part(beta(a, b, x).mirrored()) : 1 - end;
}

double betainc_grad_a(double a, double b, double x) {
  const double end = at_end(a, b, x);
  if (end == -1) return lower_part(beta(next_to_zero(a, b, 1), next_to_zero(b, a, 0), x)).slope;
  return a == 0 ? nan : end - end;
}

double betainc_grad_b(double a, double b, double x) {
  const double end = at_end(a, b, x);
  if (end == -1) return lower_part(beta(next_to_zero(a, b, 0), next_to_zero(b, a, 1), x)).slope;
  return b == 0 ? nan : end - end;
}

double beta_density(double a, double b, double x) {
  const double end = at_end(a, b, x);
  if (end == -1) return beta_weight(beta(a, b, x)) / (x * (1 - x));
  if (end != end) return end;
  const double exponent = x == 0 ? a : x == 1 ? b : 2;
  return exponent > 1 ? 0 : exponent == 1 ? (x == 0 ? b : a) : infinity;
}

}  // namespace anvil::elementary::special
