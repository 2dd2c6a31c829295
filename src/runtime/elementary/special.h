// The functions without a formula over vectors: fmod, the polygamma and zeta functions, the incomplete gamma and beta
// functions and Bessel functions, all in double; floats are computed in double and rounded. Compiled once, so that
// every instruction set gets the same bits.
#pragma once

namespace anvil::elementary::special {

#define ANVIL_SPECIAL_ONE(name) \
  double name(double x);        \
  inline float name(float x) { return float(name(double(x))); }
#define ANVIL_SPECIAL_TWO(name)    \
  double name(double x, double y); \
  inline float name(float x, float y) { return float(name(double(x), double(y))); }
#define ANVIL_SPECIAL_THREE(name)            \
  double name(double x, double y, double z); \
  inline float name(float x, float y, float z) { return float(name(double(x), double(y), double(z))); }

ANVIL_SPECIAL_TWO(fmod)

// The n-th derivative of digamma. Relative error about 1e-13. At the poles 0, -1, -2, ... odd orders are Inf, even
// ones NaN; so is an order that is negative or no integer.
ANVIL_SPECIAL_TWO(polygamma)

// Hurwitz' zeta function zeta(s, a), the sum over k >= 0 of (a + k)^-s: Inf for s = 1, NaN for
// s < 1. For a < 0 there is one for whole s only; at the poles a = 0, -1, ... even s give Inf, odd NaN.
ANVIL_SPECIAL_TWO(zeta)

// The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), the derivatives of P by a and by x.
// For a >= 0 and x >= 0 with the limits at the ends, else NaN, as where both are 0 or both are Inf.
ANVIL_SPECIAL_TWO(igamma)
ANVIL_SPECIAL_TWO(igammac)
ANVIL_SPECIAL_TWO(igamma_grad_a)
ANVIL_SPECIAL_TWO(gamma_density)

// The regularised incomplete beta function I_x(a, b), arguments a, b, x, 1 - I_x(a, b), and the derivatives of I by a,
// by b and by x.
// For a >= 0, b >= 0 and 0 <= x <= 1, likewise.
ANVIL_SPECIAL_THREE(betainc)
ANVIL_SPECIAL_THREE(betaincc)
ANVIL_SPECIAL_THREE(betainc_grad_a)
ANVIL_SPECIAL_THREE(betainc_grad_b)
ANVIL_SPECIAL_THREE(beta_density)

// The modified Bessel function I_1(x) e^-|x|; relative error about 1e-15.
ANVIL_SPECIAL_ONE(bessel_i1e)
inline constexpr double largest_order = 1e5;
// Bessel functions of real order, at most this one, arguments nu, x: J, Y, I, K, and I(x) e^-|x|, K(x) e^x. For
// x < 0 whole orders have J and I only, other orders none: NaN. At x = 0 the limit from the right.
ANVIL_SPECIAL_TWO(bessel_j)
ANVIL_SPECIAL_TWO(bessel_y)
ANVIL_SPECIAL_TWO(bessel_i)
ANVIL_SPECIAL_TWO(bessel_k)
ANVIL_SPECIAL_TWO(bessel_ie)
ANVIL_SPECIAL_TWO(bessel_ke)

#undef ANVIL_SPECIAL_ONE
#undef ANVIL_SPECIAL_TWO
#undef ANVIL_SPECIAL_THREE

}  // namespace anvil::elementary::special
