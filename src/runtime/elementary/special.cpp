// fmod, those of the functions of special.h that are near to the polygamma functions, and I_1.
#include "runtime/elementary/special_tools.h"

namespace anvil::elementary::special {
namespace {

bool is_pole(double x) { return x <= 0 && x == std::floor(x); }
// At a pole of even order, where both sides go to Inf.
double at_pole(double x) { return x == -infinity ? nan : infinity; }

}  // namespace

double fmod(double x, double y) { return std::fmod(x, y); }

// ---- further derivatives, Hurwitz' zeta function --------------------------------------------
namespace {

// (a/(a + k))^s; through log1p the error stays small however large s is.
double relative_term(double a, double k, double s) { return std::exp(-s * std::log1p(k / a)); }

// a^s zeta(s, a), s > 1, a > 0, by Euler and Maclaurin (DLMF 25.11.5): with all terms
// relative to the first, (1/a)^s, nothing overflows before the result.
double relative_zeta(double s, double a) {
  static constexpr double bernoulli[] = {1. / 6,       -1. / 30,       1. / 42,       -1. / 30,
                                         5. / 66,      -691. / 2730,   7. / 6,        -3617. / 510,
                                         43867. / 798, -174611. / 330, 854513. / 138, -236364091. / 2730};
  double sum = 0, k = 0, term = 1;
  for (; a + k < s + 10 && term > 1e-18; k += 1) {
    term = relative_term(a, k, s);
    sum += term;
  }
  if (!(term > 1e-18)) return sum;
  double b = a + k, factor = s / (2 * b);  // factor: s (s + 1) ... b^(1 - 2j) / (2j)!
  double tail = b / (s - 1) + 0.5;
  for (int j = 1; j <= 12; ++j) {
    tail += bernoulli[j - 1] * factor;
    factor *= (s + 2 * j - 1) / b * ((s + 2 * j) / b) / ((2 * j + 1) * (2 * j + 2));
  }
  return sum + relative_term(a, k, s) * tail;
}

// zeta(s, a) and (s - 1)! zeta(s, a)
double plain_zeta(double s, double a) {
  if (a == infinity) return 0;
  if (s == infinity) return a < 1 ? infinity : a == 1;
  double half = std::pow(a, -0.5 * s);  // its square may overflow or underflow where the sum does not
  return half * relative_zeta(s, a) * half;
}
double factorial_zeta(double s, double a) {
  if (a == infinity) return 0;
  double sum = relative_zeta(s, a) / a, n = s - 1;
  if (n > 170) return std::exp(call(Function::lgamma, s) - n * std::log(a)) * sum;
  double half = std::pow(a, -0.5 * n);
  return std::tgamma(s) * half * half * sum;
}

// Either of them for whole s and a negative a = -m - y, 0 < y < 1: the terms with a + k > 0
// are zeta(s, 1 - y), and those with a + k < 0 zeta(s, y) - zeta(s, 1 - a), with the sign (-1)^s.
double below_zero(double (*scaled)(double, double), double s, double a) {
  double y = std::ceil(a) - a, below = scaled(s, y) - scaled(s, 1 - a);
  return scaled(s, 1 - y) + (std::fmod(s, 2) == 0 ? below : -below);
}

}  // namespace

double zeta(double s, double a) {
  if (s == 1) return infinity;  // the pole, whatever a is
  if (s != s || a != a) return s + a;
  if (s < 1) return nan;
  if (a > 0) return plain_zeta(s, a);
  if (s != std::floor(s) || s == infinity) return nan;
  if (is_pole(a)) return std::fmod(s, 2) == 0 ? at_pole(a) : nan;
  return below_zero(plain_zeta, s, a);
}

// psi_n(x) = (-1)^(n+1) n! zeta(n + 1, x).
double polygamma(double n, double x) {
  if (n != n || x != x) return n + x;
  if (n < 0 || n != std::floor(n) || n == infinity) return nan;
  if (n == 0) return digamma(x);
  if (n == 1) return call(Function::trigamma, x);
  bool odd = std::fmod(n, 2) == 1;
  if (is_pole(x)) return odd ? at_pole(x) : nan;
  double size = x > 0 ? factorial_zeta(n + 1, x) : below_zero(factorial_zeta, n + 1, x);
  return odd ? size : -size;
}

// ---- Bessel ------------------------------------------------------------------------------------
// The power series (DLMF 10.25.2), whose terms are all positive, and Hankel's expansion (10.40.1).
double bessel_i1e(double x) {
  double a = std::fabs(x), sum = 1, term = 1;
  if (a < 24) {
    double z = 0.25 * a * a;
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= z / (k * (k + 1.));
    return 0.5 * x * sum * std::exp(-a);
  }
  for (int k = 1; std::fabs(term) > 1e-17; ++k) sum += term *= ((2 * k - 1.) * (2 * k - 1) - 4) / (8 * k * a);
  return std::copysign(sum / std::sqrt(2 * pi * a), x);
}

}  // namespace anvil::elementary::special
