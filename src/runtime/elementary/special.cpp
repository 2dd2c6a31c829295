// Those of the functions of special.h that are near to gamma and to erf, and I_1.
#include "runtime/elementary/special_tools.h"

namespace anvil::elementary::special {
namespace {

bool is_pole(double x) { return x <= 0 && x == std::floor(x); }
// At a pole of even order, where both sides go to Inf.
double at_pole(double x) { return x == -infinity ? nan : infinity; }

}  // namespace

double fmod(double x, double y) { return std::fmod(x, y); }

double lgamma(double x) {
#if defined(_WIN32)
  return std::lgamma(x);
#else
  int sign;  // std::lgamma would write the global signgam
  return ::lgamma_r(x, &sign);
#endif
}

// ---- the inverse of erf ------------------------------------------------------------
// The quantile of the normal distribution (Wichura 1988, AS 241, PPND16) at (1 + x)/2,
// over sqrt 2, and one step of Newton, with erf or, where that is close to 1, erfc:
// 1 - |x| is exact, and so is the residual to an ulp of erfc.
double erf_inv(double x) {
  static constexpr double near_n[] = {3.387132872796366608,  133.14166789178437745, 1971.5909503065514427,
                                      13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
                                      33430.575583588128105, 2509.0809287301226727};
  static constexpr double near_d[] = {1,
                                      42.313330701600911252,
                                      687.1870074920579083,
                                      5394.1960214247511077,
                                      21213.794301586595867,
                                      39307.89580009271061,
                                      28729.085735721942674,
                                      5226.495278852545925};
  static constexpr double middle_n[] = {1.42343711074968357734,  4.6303378461565452959,   5.7694972214606914055,
                                        3.64784832476320460504,  1.27045825245236838258,  .24178072517745061177,
                                        .0227238449892691845833, 7.7454501427834140764e-4};
  static constexpr double middle_d[] = {1,
                                        2.05319162663775882187,
                                        1.6763848301838038494,
                                        .68976733498510000455,
                                        .14810397642748007459,
                                        .0151986665636164571966,
                                        5.475938084995344946e-4,
                                        1.05075007164441684324e-9};
  static constexpr double far_n[] = {6.6579046435011037772,     5.4637849111641143699,    1.7848265399172913358,
                                     .29656057182650489123,     .026532189526576123093,   .0012426609473880784386,
                                     2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double far_d[] = {1,
                                     .59983220655588793769,
                                     .13692988092273580531,
                                     .0148753612908506148525,
                                     7.868691311456132591e-4,
                                     1.8463183175100546818e-5,
                                     1.4215117583164458887e-7,
                                     2.04426310338993978564e-15};
  constexpr double inverse_root_2 = 0.70710678118654752440, half_root_pi = 0.88622692545275801365;
  if (!(std::fabs(x) < 1)) return x == 1 ? infinity : x == -1 ? -infinity : x != x ? x + x : nan;
  if (std::fabs(x) < 1e-9) return x * half_root_pi;
  double rest = 1 - std::fabs(x), y;
  if (std::fabs(x) <= 0.85) {
    double half = 0.5 * x, r = 0.180625 - half * half;
    y = half * polynomial(r, near_n) / polynomial(r, near_d) * inverse_root_2;
  } else {
    double r = std::sqrt(-std::log(0.5 * rest));
    double q = r <= 5 ? polynomial(r - 1.6, middle_n) / polynomial(r - 1.6, middle_d)
                      : polynomial(r - 5, far_n) / polynomial(r - 5, far_d);
    y = std::copysign(q * inverse_root_2, x);
  }
  double residual = std::fabs(x) <= 0.5 ? std::erf(y) - x : std::copysign(1, x) * (rest - std::erfc(std::fabs(y)));
  return y - residual * half_root_pi * std::exp(y * y);
}

// ---- digamma -------------------------------------------------------------------------
// Next to its positive zero the series there, which keeps the relative error small;
// else psi(x) = psi(x + m) - sum 1/(x + k) and the asymptotic series (DLMF 5.11.2);
// psi(1 - x) - psi(x) = pi cot(pi x) for negative x.
double digamma(double x) {
  static constexpr double zero = 0x1.762d86356be3fp+0, zero_low = 0x1.b86a722197829p-54;
  static constexpr double taylor[] = {
      0x1.ef72bc8ee38acp-1, -0x1.c563b54aa1a35p-2, 0x1.08b4294d50381p-2, -0x1.4fc1317257da8p-3,
      0x1.b9a5b6370f3abp-4, -0x1.27baba261cc2cp-4, 0x1.8fce02b239ca7p-5, -0x1.0fa7ec36a7d8fp-5,
      0x1.723d6807edcc0p-6, -0x1.f970508e1b6a2p-7, 0x1.5955caaa962f3p-7, -0x1.d828079282eb8p-8,
      0x1.42e1acf81d8dcp-8, -0x1.b9afc7cee8a14p-9, 0x1.2e23345f79aafp-9, -0x1.9d626f71d1f7ap-10};
  static constexpr double asymptotic[] = {1. / 12,  -1. / 120,     1. / 252, -1. / 240,
                                          1. / 132, -691. / 32760, 1. / 12};  // B[2j]/(2j)
  if (x != x) return x + x;
  if (is_pole(x)) return nan;
  if (x < 0) return digamma(1 - x) - pi / std::tan(pi * (x - std::nearbyint(x)));
  double h = (x - zero) - zero_low;
  if (std::fabs(h) < 0.125) return h * polynomial(h, taylor);
  if (x == infinity) return x;
  double sum = 0;
  for (; x < 10; x += 1) sum += 1 / x;
  double z = 1 / x, z2 = z * z;
  return (std::log(x) - 0.5 * z - z2 * polynomial(z2, asymptotic)) - sum;
}

// ---- trigamma ------------------------------------------------------------------------
// The same way (DLMF 5.15.8): psi_1(1 - x) + psi_1(x) = (pi / sin(pi x))^2.
double trigamma(double x) {
  static constexpr double bernoulli[] = {1. / 6,       -1. / 30, 1. / 42,      -1. / 30,    5. / 66,
                                         -691. / 2730, 7. / 6,   -3617. / 510, 43867. / 798};
  if (x != x) return x + x;
  if (is_pole(x)) return at_pole(x);
  if (x < 0) {
    double root = pi / std::sin(pi * (x - std::nearbyint(x)));
    return root * root - trigamma(1 - x);
  }
  if (x == infinity) return 0;
  double sum = 0;
  for (; x < 10; x += 1) sum += 1 / x / x;
  double z = 1 / x, z2 = z * z;
  return z + (0.5 * z2 + z * z2 * polynomial(z2, bernoulli)) + sum;
}

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
  if (n > 170) return std::exp(lgamma(s) - n * std::log(a)) * sum;
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
  if (n == 1) return trigamma(x);
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
