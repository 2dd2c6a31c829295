// lgamma, digamma and trigamma. For 0 < x < 1 by the recurrence from 1 + x, where the quotients of polynomials are
// fitted; from 3 or 4 on the asymptotic series (DLMF 5.11); x < 0 by reflection in a block of its own.
#pragma once
#include "runtime/elementary/logarithm.h"

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

// a - n for the integer n nearest to a >= 0, exactly; NaN for infinity.
template <class V>
V to_nearest_integer(V a) {
  V rest = a - trunc(a);
  return select(V(0.5) < rest, rest - V(1), rest);
}
// 1/a as a sum of two numbers, the second one 0 where that overflows.
template <class V>
Pair<V> reciprocal(V a) {
  V inverse = V(1) / a;
  return {inverse, select(abs(inverse) < V(infinity), fma(-inverse, a, V(1)) * inverse, V(0))};
}

// ---- lgamma ------------------------------------------------------------------------------
// The logarithm of gamma(a), or for a < 1 of gamma(1 + a), and log a. Below 3 v (v - 1) times a quotient in
// v = a - 1 (or a), which keeps the zeros at 1 and 2; beyond (a - 1/2)(log a - 1) + (log(2 pi) - 1)/2 + s(1/a^2)/a.
template <class V>
struct GammaAndLog {
  Pair<V> gamma, log;
};
template <class V>
GammaAndLog<V> lgamma_of_size(V a) {
  using F = fit<V>;
  Pair<V> log = log_sum(a);
  V v = select(a < V(1), a, a - V(1));
  auto [t, t_low] = two_product(v, v - V(1));
  auto [q, q_low] = fast_two_sum(V(F::lgamma_offset), quotient(v, F::lgamma_near_n, F::lgamma_near_d));
  auto [near, near_error] = two_product(t, q);
  V near_low = fma(t, q_low, fma(t_low, q, near_error));

  V shifted = a - V(0.5), inverse = V(1) / a;
  V shifted_low = (a - shifted) - V(0.5);
  V slope = log.high - V(1);
  auto [product, product_error] = two_product(shifted, slope);
  auto [far, far_error] = two_sum(product, V(F::half_log_two_pi[0]) - V(0.5));
  V series = fma(inverse, short_polynomial(inverse * inverse, F::lgamma_far), V(F::half_log_two_pi[1]));
  V far_low = far_error + (fma(shifted, log.low, fma(shifted_low, slope, product_error)) + series);
  mask<V> is_near = a < V(3);
  far_low = select(far < V(infinity), far_low, V(0));
  return {{select(is_near, near, far), select(is_near, near_low, far_low)}, log};
}
// For x = -a: lgamma(x) = -log(a |r|) - log(sin(pi r)/(pi r)) - lgamma(a), r the distance to the nearest integer; for
// a < 1 the a in the first term and lgamma(1 + a) cancel.
template <class V>
ANVIL_RARE V lgamma_below_zero(V a, Pair<V> gamma) {
  V r = to_nearest_integer(a), z = r * r;
  auto [u, u_low] = two_product(abs(r), select(a < V(1), V(1), a));
  Pair<V> log = log_sum(u);
  V sinc = z * polynomial(z, fit<V>::log_sinc);
  auto [sum, sum_low] = two_sum(log.high, gamma.high);
  auto [total, total_low] = two_sum(sum, sinc);
  V low = (sum_low + total_low) + (log.low + gamma.low + u_low / u);
  return select(r == V(0), V(infinity), -(total + low));
}
// Largest error: for x > 0 f32 1.48 ulp at 0x1.623d94p+1, f64 1.56 ulp at 0x1.0f14b835ff9ep+0; for x < 0, where the
// zeros are not kept, 1.00 and 1.09 times the spacing at the result or at 1 if that is larger.
template <class V>
V lgamma(V x) {
  V a = abs(x);
  auto [gamma, log] = lgamma_of_size(a);
  mask<V> below_1 = a < V(1);
  auto [high, low] = fast_two_sum(select(below_1, -log.high, gamma.high), select(below_1, gamma.high, V(0)));
  V result = select(high < V(infinity), high + (low + (gamma.low - select(below_1, log.low, V(0)))), high);
  mask<V> negative = x < V(0);
  if (any(negative)) result = select(negative, lgamma_below_zero(a, gamma), result);
  result = select(x == V(0), V(infinity), result);
  return select(a < V(infinity), result, a);
}

// ---- digamma -----------------------------------------------------------------------------
// digamma(a), or for a < 1 digamma(1 + a), as a sum of two numbers, and 1/a. Below 4 the distance to the zero times a
// quotient, which keeps the zero; beyond log a - 1/(2 a) + s(1/a^2)/a^2.
template <class V>
struct DigammaAndInverse {
  Pair<V> digamma, inverse;
};
template <class V>
DigammaAndInverse<V> digamma_of_size(V a) {
  using F = fit<V>;
  V v = select(a < V(1), a, a - V(1));
  auto [distance, distance_error] = two_sum(v, V(-F::digamma_root[0]));
  V distance_low = distance_error - V(F::digamma_root[1]);
  V rest = horner(v, F::digamma_near_n) / horner(v, F::digamma_near_d);  // Horner rounds least for small v
  auto [q, q_low] = fast_two_sum(V(F::digamma_offset), rest);
  auto [near, near_error] = two_product(distance, q);
  V near_low = fma(distance, q_low, fma(distance_low, q, near_error));

  Pair<V> log = log_sum(a), inverse = reciprocal(a);
  V z = inverse.high * inverse.high;
  auto [far, far_error] = fast_two_sum(log.high, V(-0.5) * inverse.high);
  V far_low = far_error + fma(z, short_polynomial(z, F::digamma_far), log.low);
  mask<V> is_near = a < V(4);
  return {{select(is_near, near, far), select(is_near, near_low, far_low)}, inverse};
}
// For x = -a: digamma(x) = digamma(1 + a) + pi cot(pi a), and digamma(1 + a) = digamma(a) + 1/a.
template <class V>
ANVIL_RARE V digamma_below_zero(V a, Pair<V> digamma, V inverse) {
  using F = fit<V>;
  V r = to_nearest_integer(a), z = r * r;
  Pair<V> pole = reciprocal(r);
  auto [first, first_low] = two_product(r, V(F::cot_rest_first[0]));
  auto [sum, sum_low] = two_sum(pole.high, digamma.high);
  auto [total, total_low] = two_sum(sum, first);
  V rest = fma(r * z, polynomial_from<1>(z, F::cot_rest), fma(r, V(F::cot_rest_first[1]), first_low));
  auto [shifted, shifted_low] = two_sum(total, select(a < V(1), V(0), inverse));
  return shifted + ((shifted_low + total_low + sum_low) + (pole.low + digamma.low + rest));
}
// Largest error: for x > 0 f32 1.75 ulp at 0x1.fde8ccp+1, f64 1.63 ulp at 0x1.e742d64d0b088p+1; for x < 0, where the
// zeros are not kept, 1.78 and 1.43 times the spacing at the result or at 1 if that is larger.
template <class V>
V digamma(V x) {
  V a = abs(x);
  auto [digamma, inverse] = digamma_of_size(a);
  mask<V> below_1 = a < V(1);
  auto [high, low] = fast_two_sum(select(below_1, -inverse.high, digamma.high), select(below_1, digamma.high, V(0)));
  V result = high + (low + (digamma.low - select(below_1, inverse.low, V(0))));
  mask<V> negative = x < V(0);
  if (any(negative)) result = select(negative, digamma_below_zero(a, digamma, inverse.high), result);
  result = select(a < V(layout<V>::digamma_low), negate_where(-inverse.high, sign_of(x)), result);
  result = select(x == V(0), V(nan), result);
  return select(a < V(infinity), result, select(x == V(-infinity), V(nan), x));
}

// ---- trigamma ----------------------------------------------------------------------------
// For x = -a: (pi/sin(pi a))^2 - trigamma(1 + a), trigamma(1 + a) = trigamma(a) - 1/a^2.
template <class V>
ANVIL_RARE V trigamma_below_zero(V a, V trigamma, V square) {
  V r = to_nearest_integer(a), z = r * r;
  auto [inverse, inverse_low] = reciprocal(r);
  auto [pole, pole_low] = two_product(inverse, inverse);
  V rest = last_steps_apart(z, fit<V>::square_rest) - trigamma + select(a < V(1), V(0), square);
  V result = pole + (fma(inverse + inverse, inverse_low, pole_low) + rest);
  return select(pole < V(infinity), result, pole);
}
// Below 4 1/(a - 7/16 + q(a)) with a small quotient q, beyond 1/a + 1/(2 a^2) + s(1/a^2)/a^3.
// Largest error: among 70 million floats f32 1.53 ulp at -0x1.c293p+1; f64 1.55 ulp at -0x1.27a91bfd30d2ap+4.
template <class V>
V trigamma(V x) {
  using F = fit<V>;
  V a = abs(x);
  mask<V> below_1 = a < V(1);
  V v = select(below_1, a, a - V(1));
  auto [most, most_low] = two_sum(v, V(1 + F::trigamma_offset));
  auto [d, d_low] = fast_two_sum(most, quotient(v, F::trigamma_near_n, F::trigamma_near_d));
  V near = V(1) / d;
  near = fma(fma(-near, d, V(1)) - near * (d_low + most_low), near, near);
  auto [inverse, inverse_low] = reciprocal(a);
  auto [square, square_error] = two_product(inverse, inverse);
  V far = inverse + fma(square * inverse, short_polynomial(square, F::trigamma_far), V(0.5) * square + inverse_low);
  V trigamma = select(a < V(4), near, far);
  V shifted = square + (trigamma + fma(inverse + inverse, inverse_low, square_error));
  V result = select(below_1, select(square < V(infinity), shifted, square), trigamma);
  mask<V> negative = x < V(0);
  if (any(negative)) result = select(negative, trigamma_below_zero(a, trigamma, square), result);
  return select(a < V(infinity), result, select(x == V(infinity), V(0), select(x == V(-infinity), V(nan), x)));
}

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
