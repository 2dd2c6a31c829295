// What the sources of special.h share: constants, and parts of the incomplete gamma and beta functions, of doubles
// or Duals, with a small relative error also where a plain formula cancels.
#pragma once
#include <initializer_list>
#include <limits>

#include "runtime/elementary/dual.h"
#include "runtime/elementary/special.h"
#include "runtime/elementary/table.h"

namespace anvil::elementary::special {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double pi = 3.14159265358979323846;

// c[0] + c[1] x + ...
template <class T, int n>
T polynomial(T x, const double (&c)[n]) {
  T sum = c[n - 1];
  for (int i = n - 1; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// log(p / q), also where the quotient is no normal number.
template <class T>
T log_quotient(T p, T q) {
  const T quotient = p / q;
  return std::isnormal(value(quotient)) ? log(quotient) : log(p) - log(q);
}

// q (e - log(1 + e)) >= 0, for e = d / q and 1 + e = p / q. Next to 0 log(1 + e) is 2 artanh(w), w = e / (2 + e).
template <class T>
T divergence(T q, T d, T p) {
  const T e = d / q;
  if (!(std::fabs(value(e)) <= 0.4)) return d - q * log_quotient(p, q);
  const T w = e / (2.0 + e), z = w * w;
  T sum = 0;
  for (int k = 14; k > 0; --k) sum = sum * z + 1 / (2 * k + 1.);
  return q * w * (e - 2 * z * sum);
}

// exp(t) - 1 - t.
inline double exp_rest(double t) {
  static constexpr double taylor[] = {1. / 2,         1. / 6,          1. / 24,         1. / 120,     1. / 720,
                                      1. / 5040,      1. / 40320,      1. / 362880,     1. / 3628800, 1. / 39916800,
                                      1. / 479001600, 1. / 6227020800, 1. / 87178291200};
  return std::fabs(t) > 0.5 ? std::expm1(t) - t : t * t * polynomial(t, taylor);
}

inline double digamma(double x) { return call(Function::digamma, x); }

// The logarithm of scaled_gamma(z) for z >= 10 (DLMF 5.11.1): B[2k] / (2k (2k - 1) z^(2k - 1)).
inline constexpr double stirling[] = {1. / 12,        -1. / 360, 1. / 1260,       -1. / 1680,     1. / 1188,
                                      -691. / 360360, 1. / 156,  -3617. / 122400, 43867. / 244188};
template <class T>
T log_scaled_gamma(T z) {
  const T inverse = 1.0 / z;
  return inverse * polynomial(inverse * inverse, stirling);
}

// Gamma(z) sqrt(z / (2 pi)) (e / z)^z, which tends to 1.
inline double scaled_gamma(double z) {
  if (z >= 10) return std::exp(log_scaled_gamma(z));
  constexpr double root = 0.398942280401432677940;  // 1 / sqrt(2 pi)
  const double factor = root * std::exp(z);
  return z < 1 ? factor * std::tgamma(z + 1) * std::pow(z, -0.5 - z) : factor * std::tgamma(z) * std::pow(z, 0.5 - z);
}
inline Dual scaled_gamma(Dual z) {
  if (z.value >= 10) return exp(log_scaled_gamma(z));
  const double y = scaled_gamma(z.value);
  return {y, z.slope == 0 ? 0 : y * z.slope * (digamma(z.value) - std::log(z.value) + 0.5 / z.value)};
}

// log(Gamma(a + b) / Gamma(a)), b not large: its relative error stays small as b tends to 0.
template <class T>
T log_gamma_ratio(T a, T b) {
  T sum = 0;
  for (; value(a) < 10; a = a + 1.0) sum = sum - log1p(b / a);
  const T growth = log1p(b / a), inverse = 1.0 / a;
  T power = inverse;
  sum = sum + (a - 0.5) * growth + b * log(a + b) - b;
  for (int k = 0; k < 9; ++k, power = power * inverse * inverse)
    sum = sum + stirling[k] * power * expm1(-(2 * k + 1) * growth);
  return sum;
}

// The integral of exp(-f(s)) over s > 0, for a convex f with f(0) = 0 that starts with f'(0) and f''(0): where it
// is not negligible, by Gauss and Legendre (DLMF 3.5.15) with 20 points in either half. All terms are positive.
template <class T, class F>
T integral_of_decay(double slope, double curvature, F f) {
  static constexpr struct {
    double node, weight;
  } rule[] = {{0.993128599185094925, 0.0176140071391521183}, {0.963971927277913791, 0.0406014298003869413},
              {0.912234428251325906, 0.0626720483341090636}, {0.839116971822218823, 0.0832767415767047487},
              {0.746331906460150793, 0.101930119817240435},  {0.636053680726515025, 0.118194531961518417},
              {0.510867001950827098, 0.131688638449176627},  {0.373706088715419561, 0.142096109318382051},
              {0.227785851141645078, 0.149172986472603747},  {0.0765265211334973338, 0.152753387130725851}};
  constexpr double enough = 40;  // exp(-40) is negligible
  double end = 2 * enough / (slope + std::hypot(slope, std::sqrt(2 * curvature * enough)));
  for (int k = 0; k < 100 && value(f(end)) < enough; ++k) end *= 1.25;
  const double half = end / 4;  // of the length of a part
  T sum = 0;
  for (const double middle : {half, 3 * half})
    for (const auto& [node, weight] : rule)
      sum = sum + weight * (exp(-f(middle - half * node)) + exp(-f(middle + half * node)));
  return half * sum;
}

// b0 + a1 / (b1 + a2 / (b2 + ...)), its inverse, by Steed's algorithm (DLMF 3.10(iii)); step(n) gives a and b.
template <class T, class Step>
T inverse_fraction(T b0, Step step) {
  T d = 1.0 / b0, change = d, sum = d;
  for (int n = 1; n < 100000 && !negligible(change, sum); ++n) {
    const auto [a, b] = step(n);
    d = 1.0 / (a * d + b);
    change = (b * d - 1.0) * change;
    sum = sum + change;
  }
  return sum;
}

}  // namespace anvil::elementary::special
