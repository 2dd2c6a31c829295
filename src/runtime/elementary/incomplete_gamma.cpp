// The incomplete gamma functions P(a, x), Q(a, x), their density and their derivative by a. Each formula is used
// where it gives the smaller of P and Q, or either, without cancellation.
#include <algorithm>
#include <type_traits>

#include "runtime/elementary/special_tools.h"

namespace anvil::elementary::special {
namespace {

constexpr double large_order = 200;

// x^a e^-x / Gamma(a), from (x / a)^a e^(a - x) and Stirling's formula.
template <class T>
T gamma_weight(T a, double x) {
  const T factor = kept(a, T(0), [](T order, T) {
    constexpr double root = 0.398942280401432677940;  // 1 / sqrt(2 pi)
    return root * sqrt(order) / scaled_gamma(order);
  });
  return factor * exp(-divergence(a, x - a, T(x)));
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
  return integral_of_decay(
      side * (x - a), T(x), 1, [=](double s) { return exp_rest(side * s); },
      [=](double s) { return exp_series(side * s); });
}

// Q for small a and x, where P is next to 1 (DLMF 8.7.1): 1 - x^a / Gamma(a + 1) (1 + sum), sum = O(a).
template <class T>
T small_order(T a, double x) {
  const T exponent = a * std::log(x) - kept(a, T(0), [](T order, T) { return log_gamma_ratio(T(1), order); });
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
  constexpr bool dual = std::is_same_v<T, Dual>;  // a slope cancels sooner
  const double order = value(a), first = order < 0.5 && !dual ? 2 : 1.1;
  const double beyond = dual || order >= large_order ? order : order + std::sqrt(order);
  const bool near_one = order < 0.5 && x < first && (upper || order < 1e-9);  // P is
  const bool above = near_one || (x >= first && x > beyond);
  // there the series and the fraction take many steps
  const bool central = order >= large_order && (above ? (x - order) * (x - order) < 16 * x : x > 0.7 * order);
  const T weight = gamma_weight(a, x);
  T found = 0;
  if (near_one) {
    found = small_order(a, x);
  } else if (value(weight) != 0) {
    found = weight * (central ? tail_integral(a, x, above ? 1 : -1) : above ? fraction(a, x) : power_series(a, x));
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
