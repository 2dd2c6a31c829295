// exp, expm1, tanh and logistic: reduction to a multiple of ln2 and a polynomial.
#pragma once
#include "runtime/elementary/building_blocks.h"

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

// ---- exp -----------------------------------------------------------------------
// Reduction: k = round(x/ln2), r = x - k ln2 in two parts (Cody and Waite 1980);
// with fma the first step is exact. exp(r) = 1 + r + r^2 q(r), degree 6 (f32,
// error 2^-28) or 11 (f64, error 2^-58).
// Largest error: f32 0.89 ulp at -0x1.765026p+2; f64 1.00 ulp at -0x1.61fa0e3234608p+9.
template <class V>
V exp(V x) {
  using T = table<V>;
  using L = layout<V>;
  x = lesser(V(L::exp_high), greater(V(L::exp_low), x));
  Rounded<V> k = nearest(x, T::log2e, 2 * L::bias);
  V r = fma(k.value, V(-T::ln2[1]), fma(k.value, V(-T::ln2[0]), x));
  V q = short_polynomial(r, T::exp);
  V p = fma(fma(q, r, V(1)), r, V(1));
  return scale(p, k);
}

// exp(x + x_low) = 2^k (p + p_low), 0 <= p_low < 0.07 with an error of about 2^-28 or 2^-57 and k for
// scale(). x lies between exp_low and exp_high.
template <class V>
struct ExpInTwo {
  V p, p_low;
  Rounded<V> k;
};
template <class V>
ExpInTwo<V> exp_in_two(V x, V x_low) {
  using T = table<V>;
  Rounded<V> k = nearest(x, T::log2e, 2 * layout<V>::bias);
  auto [r, r_low] = fast_two_sum(fma(k.value, V(-T::ln2[0]), x), fma(k.value, V(-T::ln2[1]), x_low));
  auto [p, error] = fast_two_sum(V(1), r);
  return {p, fma(r * r, polynomial(r, T::exp), fma(r, r_low, r_low) + error), k};
}

// ---- expm1 ---------------------------------------------------------------------
// Reduction: k = x/ln2 rounded, but towards zero up to 5/8: where |k| is 1,
// r = x - k ln2 then is at most 0.26 on the side where 2^k expm1(r) + (2^k - 1)
// would cancel. Polynomial for |r| <= 0.4335 of degree 7 (f32) or 14 (f64).
// Largest error: f32 1.08 ulp at 0x1.9af3fep-2; f64 1.07 ulp at 0x1.9b36a751dd434p-2.
template <class V>
V expm1(V x) {
  using T = table<V>;
  using L = layout<V>;
  V y = lesser(V(L::exp_high), greater(V(L::expm1_low), x));
  V k = trunc(fma(y, V(T::log2e), with_sign(V(0.375), y)));
  V half_power = power_of_two<V>(as_bits(k + V(L::shifter + L::bias - 1)));
  V r_high = fma(k, V(-T::ln2[0]), y), r_low = k * V(-T::ln2[1]);
  V r = r_high + r_low;
  V most = half_power - V(0.5);
  V lost = (half_power - most) - V(0.5);  // of the -1, for large k
  V inverse = as_number(bits<V>(2 * bits_of_one<V>) - as_bits(half_power));
  V p = r_high + fma(r * r, halves(r, T::expm1), fma(lost, inverse, r_low));
  V result = fma(half_power, p, most) * V(2);
  return select(abs(x) < V(L::expm1_same), x, result);  // and -0
}

// ---- tanh, logistic ------------------------------------------------------------
// Both are a quotient n/d of sums whose rounding errors are kept, so that one
// division and one correction give little more than the final rounding error.
// d lies in [1, 2], where a line is a good enough reciprocal for the correction.
template <class V>
V corrected_quotient(V n, V n_low, V d, V d_low) {
  V q = n / d;
  V rest = fma(-q, d, n) + fma(-q, d_low, n_low);
  V inverse = fma(d, V(-0.4706), V(1.4118));
  return fma(rest, inverse, q);
}

// tanh(x) = -expm1(-2|x|) / (2 + expm1(-2|x|)), -2|x| = -k ln2 + 2r with
// -ln2/2 <= r <= 0, so that 1 - 2^-k and -2^-k expm1(2r) are both positive.
// Polynomial of degree 7 (f32, error 2^-31) or 12 (f64, 2^-62).
// Largest error: f32 1.00 ulp at 0x1.154246p+3; f64 1.05 ulp at -0x1.620b0ca25cb19p-2.
template <class V>
V tanh(V x) {
  using T = table<V>;
  using L = layout<V>;
  V ax = lesser(V(L::tanh_high), abs(x));
  V k = trunc(ax * V(T::two_log2e));
  V power = power_of_two<V>(as_bits(V(L::shifter + L::bias + 1) - k));  // 2^(1-k)
  V r = fma(k, V(T::half_ln2[1]), fma(k, V(T::half_ln2[0]), -ax));
  auto [r2, r2_error] = two_product(r, r);
  V tail = r2 + fma(r2 * r, polynomial(r, T::tanh), r2_error);
  V p = r + tail;  // expm1(2r)/2
  V p_low = power * ((r - p) + tail);
  V a = fma(power, V(-0.5), V(1));
  V n = fma(-power, p, a);  // -expm1(-2|x|), and the denominator is 2 minus that
  V n_low = fma(-power, p, a - n) - p_low;
  V d = V(2) - n;
  V d_low = ((V(2) - d) - n) - n_low;
  return with_sign(corrected_quotient(n, n_low, d, d_low), x);
}

// logistic(x) = 1/(1 + e) for x >= 0 and e/(1 + e) for x < 0, e = exp(-|x|) kept
// as a sum of two numbers; exp as above.
// Largest error: f32 1.07 ulp at -0x1.76c36cp+2; f64 1.07 ulp at -0x1.9fc35a12b2084p+4.
template <class V>
V logistic(V x) {
  using T = table<V>;
  using L = layout<V>;
  V y = greater(V(L::exp_low), -abs(x));
  Rounded<V> k = nearest(y, T::log2e, 2 * L::bias);
  V r = fma(k.value, V(-T::ln2[1]), fma(k.value, V(-T::ln2[0]), y));
  V tail = fma(r * r, polynomial(r, T::exp), r);
  V p = V(1) + tail;
  V p_low = tail - (p - V(1));
  V power = scale(V(1), k);
  V d = fma(power, p, V(1));
  V d_low = fma(power, p_low, fma(power, p, V(1) - d));
  mask<V> negative = x < V(0);
  V q = corrected_quotient(select(negative, p, V(1)), select(negative, p_low, V(0)), d, d_low);
  return select(negative, scale(q, k), q);
}

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
