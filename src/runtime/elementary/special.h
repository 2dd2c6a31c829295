// The functions without a formula over vectors: fmod, lgamma, the inverse of erf
// and the polygamma functions, all in double; floats are computed in double and rounded.
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
// 1e-13 except next to the zeros at negative x, where it is absolute. NaN at the
// poles 0, -1, -2, ..., and for an order that is negative or no integer.
ANVIL_SPECIAL_ONE(digamma)
ANVIL_SPECIAL_ONE(trigamma)
ANVIL_SPECIAL_TWO(polygamma)

#undef ANVIL_SPECIAL_ONE
#undef ANVIL_SPECIAL_TWO

}  // namespace anvil::elementary::special
