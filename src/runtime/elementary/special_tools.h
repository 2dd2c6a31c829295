// What the sources of special.h share: constants, and parts of the incomplete gamma and beta functions, of doubles
// or Duals, with a small relative error also where a plain formula cancels.
#pragma once
#include <initializer_list>
#include <limits>

#include "runtime/elementary/dual.h"
#include "runtime/elementary/fitted_coefficients.h"
#include "runtime/elementary/special.h"
#include "runtime/elementary/table.h"

namespace anvil::elementary::special {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double pi = 3.14159265358979323846;

// c[0] + c[1] x + ..., even and odd powers by themselves, which do not wait for each other. Loops of it are
// vectorised where it has none.
template <class T, int n>
T polynomial(T x, const double (&c)[n]) {
  const T square = x * x;
  T last = c[n - 1], other = c[n - 2];
#pragma GCC unroll 16
  for (int i = n - 3; i >= 0; --i) {
    const T next = last * square + c[i];
    last = other;
    other = next;
  }
  return other + x * last;
}

// log(p / q), also where the quotient is no normal number.
template <class T>
T log_quotient(T p, T q) {
  const T quotient = p / q;
  return std::isnormal(value(quotient)) ? log(quotient) : log(p) - log(q);
}

// e - log(1 + e) for -0.4 <= e <= 0.6: log(1 + e) is 2 artanh(w), w = e / (2 + e).
template <class T>
[[gnu::always_inline]] inline T log_rest(T e) {
  static constexpr double odd[] = {1. / 3,  1. / 5,  1. / 7,  1. / 9,  1. / 11, 1. / 13, 1. / 15,
                                   1. / 17, 1. / 19, 1. / 21, 1. / 23, 1. / 25, 1. / 27};
  const T w = e / (2.0 + e), z = w * w;
  return w * (e - 2.0 * z * polynomial(z, odd));
}

// q (e - log(1 + e)) >= 0, for e = d / q and 1 + e = p / q.
template <class T>
T divergence(T q, T d, T p) {
  const T e = d / q;
  return std::fabs(value(e)) <= 0.4 ? q * log_rest(e) : d - q * log_quotient(p, q);
}

// exp(t) - 1 - t, for |t| <= near by its series.
inline constexpr double near = 0.65;
inline double exp_series(double t) {
  static constexpr double taylor[] = {
      1. / 2,      1. / 6,       1. / 24,       1. / 120,       1. / 720,        1. / 5040,        1. / 40320,
      1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800, 1. / 87178291200, 1. / 1307674368000};
  return t * t * polynomial(t, taylor);
}
inline double exp_rest(double t) { return std::fabs(t) <= near ? exp_series(t) : std::expm1(t) - t; }

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
  if (z >= 3) {
    const double inverse = 1 / z;
    return std::exp(inverse * polynomial(inverse * inverse, fitted<double>::lgamma_far));
  }
  constexpr double half_log = 0.918938533204672741780;  // log(2 pi) / 2
  const double log_z = std::log(z);
  if (z >= 1) return std::exp(call(Function::lgamma, z) - (z - 0.5) * log_z + (z - half_log));
  return std::exp(call(Function::lgamma, z + 1) - z * log_z + (z - half_log)) / std::sqrt(z);
}
inline Dual scaled_gamma(Dual z) {
  if (z.value >= 10) return exp(log_scaled_gamma(z));
  const double y = scaled_gamma(z.value);
  return {y, z.slope == 0 ? 0 : y * z.slope * (digamma(z.value) - std::log(z.value) + 0.5 / z.value)};
}

// f(a, b), kept by each thread for its next call: elements mostly have the parameters of those before them.
template <class F>
double kept(double a, double b, F f) {
  struct Call {
    double a = nan, b = nan, value = nan;
  };
  static thread_local constinit Call last;
  if (last.a != a || last.b != b) last = {a, b, f(a, b)};
  return last.value;
}
template <class F>
Dual kept(Dual a, Dual b, F f) {
  return f(a, b);
}

// log(Gamma(a + b) / Gamma(a)), b not large: its relative error stays small as b tends to 0.
template <class T>
T log_gamma_ratio(T a, T b) {
  T factors = 0;  // their product, less 1
  for (; value(a) < 10; a = a + 1.0) factors = factors + b / a + factors * (b / a);
  const T growth = log1p(b / a), inverse = 1.0 / a;
  T power = inverse, sum = (a - 0.5) * growth + b * log(a + b) - b - log1p(factors);
  // (1 + b / a)^-n - 1 for n = 1, 3, 5 ... from that of n = 2
  T change = -b / (a + b);
  const T further = change * (2.0 + change);
  for (const double c : stirling) {
    sum = sum + c * power * change;
    power = power * inverse * inverse;
    change = change + further + change * further;
  }
  return sum;
}

// exp(-exponent), whose value is known.
inline double decayed(double value, double) { return value; }
inline Dual decayed(double value, Dual exponent) { return {value, -value * exponent.slope}; }

// The integral of exp(-(scale rest(s) + slope s)) over s > 0, for a convex rest that starts with curvature s^2 / 2:
// where it is not negligible, by Gauss and Legendre (DLMF 3.5.15) with 24 points. All terms are positive. series(s) is
// rest(s) up to near, without branches.
template <class T, class F, class Series>
T integral_of_decay(T slope, T scale, double curvature, F rest, Series series) {
  static constexpr struct {
    double node, weight;
  } rule[] = {{0.0640568928626056261, 0.127938195346752157}, {0.191118867473616309, 0.125837456346828296},
              {0.315042679696163374, 0.121670472927803391},  {0.433793507626045138, 0.115505668053725601},
              {0.545421471388839536, 0.107444270115965635},  {0.648093651936975569, 0.0976186521041138883},
              {0.740124191578554364, 0.0861901615319532759}, {0.820001985973902922, 0.0733464814110803057},
              {0.886415527004401034, 0.0592985849154367807}, {0.938274552002732759, 0.0442774388174198062},
              {0.974728555971309498, 0.0285313886289336632}, {0.99518721999702136, 0.0123412297999871995}};
  constexpr int half = 12, points = 2 * half;
  constexpr double enough = 38;  // exp(-38) is negligible
  const double start = value(slope), size = value(scale);
  const double steepness = start / size, least = 2 * enough / size;
  double end = least / (steepness + std::sqrt(steepness * steepness + least * curvature));
  for (int k = 0; k < 100 && size * rest(end) + start * end < enough; ++k) end *= 1.25;
  double s[points], r[points], e[points];
  for (int i = 0; i < half; ++i) {
    s[i] = 0.5 * end * (1 - rule[i].node);
    s[half + i] = 0.5 * end * (1 + rule[i].node);
  }
  if (end <= near) {
    for (int i = 0; i < points; ++i) r[i] = series(s[i]);
  } else {
    for (int i = 0; i < points; ++i) r[i] = rest(s[i]);
  }
  for (int i = 0; i < points; ++i) e[i] = -(size * r[i] + start * s[i]);
  apply(Function::exp, {e}, e, points);
  auto term = [&](int i) { return decayed(e[i], scale * r[i] + slope * s[i]); };
  T sum = 0;
  for (int i = 0; i < half; ++i) sum = sum + rule[i].weight * (term(i) + term(half + i));
  return 0.5 * end * sum;
}

// Whether p / q is what it was before: up to rounding, so is its change.
inline bool settled(double p, double q, double p_before, double q_before) {
  const double now = p * q_before;
  return !(std::fabs(now - p_before * q) > 4e-16 * std::fabs(now));
}
inline bool settled(Dual p, Dual q, Dual p_before, Dual q_before) {
  if (!settled(p.value, q.value, p_before.value, q_before.value)) return false;
  const Dual now = p / q, change = now - p_before / q_before;
  return !(std::fabs(change.slope) > 4e-16 * (std::fabs(now.slope) + std::fabs(now.value)));
}

// b0 + a1 / (b1 + a2 / (b2 + ...)), its inverse; step(n) gives a and b. Numerators and denominators of its convergents
// follow from those before (DLMF 3.10(ii)), here with all b made 1: no step waits for a quotient.
template <class T, class Step>
T inverse_fraction(T b0, Step step) {
  T inverse = 1.0 / b0, p_before = 0, p = inverse, q_before = 1, q = 1;
  for (int n = 1; n < 100000; ++n) {
    const auto [a, b] = step(n);
    const T next = 1.0 / b, factor = a * inverse * next;
    const T p_next = p + factor * p_before, q_next = q + factor * q_before;
    p_before = p, q_before = q, p = p_next, q = q_next, inverse = next;
    if (settled(p, q, p_before, q_before)) break;
    const double size = std::fabs(value(q));
    if (size < 1e-150 || size > 1e150) {
      const double unit = 1 / size;
      p = unit * p, q = unit * q, p_before = unit * p_before, q_before = unit * q_before;
    }
  }
  return p / q;
}

}  // namespace anvil::elementary::special
