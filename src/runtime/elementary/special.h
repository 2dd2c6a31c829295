// The functions without a formula over vectors: fmod, lgamma, the inverse of erf, the
// polygamma and zeta functions and a Bessel function, all in double; floats are computed in double and rounded.
// Compiled once, so that every instruction set gets the same bits.
#pragma once

namespace anvil::elementary::special {

#define ANVIL_SPECIAL_ONE(name) \
  double name(double x);        \
  inline float name(float x) { return float(name(double(x))); }
#define ANVIL_SPECIAL_TWO(name)    \
  double name(double x, double y); \
  inline float name(float x, float y) { return float(name(double(x), double(y))); }

ANVIL_SPECIAL_TWO(fmod)
ANVIL_SPECIAL_ONE(lgamma)  // log |gamma(x)|; touches no signgam

// The inverse of erf: about 1.5 ulp; +-inf at +-1, NaN beyond.
ANVIL_SPECIAL_ONE(erf_inv)

// The logarithmic derivative of gamma, and the n-th derivative of that. Relative error about
// 1e-13 except next to the zeros at negative x, where it is absolute. At the poles 0, -1,
// -2, ... odd orders are Inf, even ones NaN; so is an order that is negative or no integer.
ANVIL_SPECIAL_ONE(digamma)
ANVIL_SPECIAL_ONE(trigamma)
ANVIL_SPECIAL_TWO(polygamma)

// Hurwitz' zeta function zeta(s, a), the sum over k >= 0 of (a + k)^-s: Inf for s = 1, NaN for
// s < 1. For a < 0 there is one for whole s only; at the poles a = 0, -1, ... even s give Inf, odd NaN.
ANVIL_SPECIAL_TWO(zeta)

// The modified Bessel function I_1(x) e^-|x|; relative error about 1e-15.
ANVIL_SPECIAL_ONE(bessel_i1e)

#undef ANVIL_SPECIAL_ONE
#undef ANVIL_SPECIAL_TWO

}  // namespace anvil::elementary::special
