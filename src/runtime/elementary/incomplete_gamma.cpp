// The incomplete gamma functions P(a, x), Q(a, x), their density and their derivative by a. Each formula is used
// where it gives the smaller of P and Q, or either, without cancellation.
#include <algorithm>

#include "runtime/elementary/special_tools.h"

namespace anvil::elementary::special {
namespace {

constexpr double large_order = 40;

// x^a e^-x / Gamma(a), from (x / a)^a e^(a - x) and Stirling's formula.
template <class T>
T gamma_weight(T a, double x) {
  constexpr double root = 0.398942280401432677940;  // 1 / sqrt(2 pi)
  return root * sqrt(a) / scaled_gamma(a) * exp(-divergence(a, x - a, T(x)));
}

// P / weight (DLMF 8.11.4).
template <class T>
T power_series(T a, double x) {
  T term = 1.0 / a, sum = term;
  for (int k = 1; !negligible(term, sum); ++k) {
    term = term * (x / (a + double(k)));
    sum = sum + term;
  }
  return sum;
}

// Q / weight (DLMF 8.9.2).
template <class T>
T fraction(T a, double x) {
  struct Step {
    T a, b;
  };
  const T first = x + 1 - a;
  return inverse_fraction(first, [&](int n) { return Step{double(n) * (a - double(n)), first + 2.0 * n}; });
}

// Either of them / weight is the integral of exp(-(x (e^t - 1) - a t)) over t > 0 or t < 0 (DLMF 8.2.2 with
// x e^t for t).
template <class T>
T tail_integral(T a, double x, double side) {
  const T first = x - a;
  return integral_of_decay<T>(std::fabs(value(first)), x, [&](double s) {
    const double t = side * s;
    return x * exp_rest(t) + first * t;
  });
}

// Q for small a and x, where P is next to 1 (DLMF 8.7.1): 1 - x^a / Gamma(a + 1) (1 + sum), sum = O(a).
template <class T>
T small_order(T a, double x) {
  const T exponent = a * std::log(x) - log_gamma_ratio(T(1), a);
  double power = 1;
  T sum = 0, term = 1;
  for (int k = 1; !negligible(term, sum); ++k) {
    power *= -x / k;
    term = power / (a + double(k));
    sum = sum + term;
  }
  return -expm1(exponent) - exp(exponent) * a * sum;
}

// P or Q for a > 0, x > 0.
template <class T>
T part(T a, double x, bool upper) {
  const double order = value(a);
  const bool near_one = order < 0.5 && x < 1.1 && (upper || order < 1e-9);  // P is
  const bool above = near_one || (order >= large_order ? x > order : x >= 1.1 && x > order);
  const T weight = gamma_weight(a, x);
  T found = 0;
  if (near_one) {
    found = small_order(a, x);
  } else if (value(weight) != 0) {
    found = weight * (order >= large_order ? tail_integral(a, x, above ? 1 : -1)
                      : above              ? fraction(a, x)
                                           : power_series(a, x));
  }
  return above == upper ? found : 1.0 - found;
}

// At the ends: P, of a NaN or outside a >= 0, x >= 0 NaN; -1 inside.
double at_end(double a, double x) {
  if (a != a || x != x) return a + x;
  if (a < 0 || x < 0 || (a == 0 && x == 0) || (a == infinity && x == infinity)) return nan;
  if (x == 0 || a == infinity) return 0;
  return a == 0 || x == infinity ? 1 : -1;
}

}  // namespace

double igamma(double a, double x) {
  const double end = at_end(a, x);
  return end == -1 ? part(a, x, false) : end;
}

double igammac(double a, double x) {
  const double end = at_end(a, x);
  return end == -1 ? part(a, x, true) : 1 - end;
}

double igamma_grad_a(double a, double x) {
  const double end = at_end(a, x);
  if (end == -1) return -part(Dual(std::max(a, 1e-100), 1), x, true).slope;  // below it is that at 0
  return a == 0 ? nan : end - end;
}

double gamma_density(double a, double x) {
  const double end = at_end(a, x);
  if (end == -1) return gamma_weight(a, x) / x;
  if (x == 0 && a <= 1 && a > 0) return a == 1 ? 1 : infinity;
  return end != end ? end : 0;
}

}  // namespace anvil::elementary::special
