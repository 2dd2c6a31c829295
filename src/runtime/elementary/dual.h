// Numbers with the derivative by a parameter, a + b eps with eps^2 = 0: a series or a continued fraction that is
// computed in them gives its derivative too. Functions of special_tools.h take either these or doubles.
#pragma once
#include <cmath>

namespace anvil::elementary::special {

struct Dual {
  double value, slope;
  Dual(double v, double s = 0) : value(v), slope(s) {}
  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator-(Dual a) { return {-a.value, -a.slope}; }
  friend Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
  friend Dual operator/(Dual a, Dual b) {
    const double y = a.value / b.value;
    return {y, (a.slope - y * b.slope) / b.value};
  }
};

inline double value(double x) { return x; }
inline double value(Dual x) { return x.value; }
inline double exp(double x) { return std::exp(x); }
inline double expm1(double x) { return std::expm1(x); }
inline double log(double x) { return std::log(x); }
inline double log1p(double x) { return std::log1p(x); }
inline double sqrt(double x) { return std::sqrt(x); }
inline Dual exp(Dual x) {
  const double y = std::exp(x.value);
  return {y, x.slope == 0 || y == 0 ? 0 : y * x.slope};
}
inline Dual expm1(Dual x) { return {std::expm1(x.value), std::exp(x.value) * x.slope}; }
inline Dual log(Dual x) { return {std::log(x.value), x.slope / x.value}; }
inline Dual log1p(Dual x) { return {std::log1p(x.value), x.slope / (1 + x.value)}; }
inline Dual sqrt(Dual x) {
  const double y = std::sqrt(x.value);
  return {y, x.slope == 0 ? 0 : x.slope / (2 * y)};
}

// Whether a sum stays what it is when `term` is added, with all that may follow it; so does one that is NaN.
inline bool negligible(double term, double sum) { return !(std::fabs(term) > 1e-17 * std::fabs(sum)); }
inline bool negligible(Dual term, Dual sum) {
  return negligible(term.value, sum.value) &&
         !(std::fabs(term.slope) > 1e-17 * (std::fabs(sum.slope) + std::fabs(sum.value)));
}

}  // namespace anvil::elementary::special
