// sinh, cosh, asinh, acosh and atanh.
#pragma once
#include "runtime/elementary/exponential.h"
#include "runtime/elementary/logarithm.h"

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

// ---- sinh, cosh --------------------------------------------------------------------
// (e^|x| + sign e^-|x|)/2 for the signs 1 and -1: 2 (h + sign/(16 h)), h = e^|x|/4 = 2^(k - 2) p, with p as a sum of
// two numbers.
template <class V>
V half_sum_of_exps(V ax, int sign) {
  using T = table<V>;
  using L = layout<V>;
  ax = lesser(V(L::exp_high + 0.5f), ax);
  auto [k, code] = nearest(ax, T::log2e, L::bias - 2);
  V r = fma(k, V(-T::ln2[1]), fma(k, V(-T::ln2[0]), ax));
  auto [p, p_low] = fast_two_sum(V(1), fma(r * r, short_polynomial(r, T::exp), r));
  V power = power_of_two<V>(code), h = power * p;
  V result = h + fma(power, p_low, V(sign * 0.0625f) / h);
  return result + result;
}

// Below 1 the series. Largest error: f32 1.02 ulp at 0x1.15afa6p+0; f64 1.03 ulp at -0x1.10eceba5d8a98p+0.
template <class V>
V sinh(V x) {
  static constexpr number<V> series[] = {1. / 6,
                                         1. / 120,
                                         1. / 5040,
                                         1. / 362880,
                                         1. / 39916800,
                                         1. / 6227020800,
                                         1. / 1307674368000,
                                         1. / 355687428096000,
                                         1. / 121645100408832000};  // 1/(2k + 3)!
  V ax = abs(x), z = x * x;
  constexpr size_t terms = single<V> ? 5 : 9;
  V near = fma(first_of<terms>(z, series) * z, x, x);
  return select(ax < V(1), near, with_sign(half_sum_of_exps(ax, -1), x));
}
// Largest error: f32 1.01 ulp at 0x1.aba87cp+4; f64 1.00 ulp at -0x1.ec5f891469cacp+1.
template <class V>
V cosh(V x) {
  return half_sum_of_exps(abs(x), 1);
}

// ---- asinh, acosh --------------------------------------------------------------------
// log(x + root), root = sqrt(x^2 + 1) or sqrt(x^2 - 1), root_low its rounding error if that counts; of 1/(x + root) the
// corrections need few digits, and beyond 64 they do not count.
template <class V>
V log_of_sum(V x, V root, V root_low, V inverse) {
  mask<V> large = V(layout<V>::square_high) < x;
  auto [sum, sum_low] = two_sum(x, root);
  auto [k, m] = binary_parts(select(large, x, sum), log_low<V>);
  auto [log, low] = log_sum(select(large, k + V(1), k), m - V(1));
  return log + (low + select(x < V(64), inverse * (sum_low + root_low), V(0)));
}

// Below 0.53 x + x^3 p(x^2); 1/(x + root) = root - x, and a line is a good enough 1/(2 root).
// Largest error: f32 0.81 ulp at 0x1.0f6b46p-1; f64 0.78 ulp at -0x1.181d157463954p-1.
template <class V>
V asinh(V x) {
  V ax = abs(x);
  auto [square, square_low] = two_product(x, x);
  V near = fma(ax * square, polynomial(square, fit<V>::asinh), ax);
  V root = sqrt(square + V(1)), inverse = root - ax;
  auto [back, back_low] = two_product(root, root);
  V residual = ((square - back) + V(1)) + (square_low - back_low);
  V root_low = residual * inverse * fma(V(-0.75), inverse * inverse, V(1));
  V result = with_sign(select(ax <= V(0.53), near, log_of_sum(ax, root, root_low, inverse)), x);
  return select(ax < V(infinity), result, x);
}
// Below 1.55 the root of 2 d + d^2 p(d), d = x - 1: acosh^2 is analytic there.
// Largest error: f32 0.91 ulp at 0x1.447372p+0; f64 0.87 ulp at 0x1.109e3b66b9daap+0.
template <class V>
V acosh(V x) {
  mask<V> is_near = x <= V(1.55);
  V d = x - V(1);
  V near = sqrt(fma(d * d, polynomial(d, fit<V>::acosh_square), d + d));
  V root = sqrt(fma(x, x, V(-1)));
  V result = select(is_near, near, log_of_sum(x, root, V(0), x - root));
  return select(x < V(infinity), result, x);
}

// ---- atanh -------------------------------------------------------------------------------
// Below 1/2 s + s^3 p(s^2) with s = x. Else 1 - |x| = 2^-j d with d from 5/4 to 5/2, exactly, and
// atanh(x) = j log(2)/2 + atanh(s), s = (n - d)/(n + d), n = 1 + |x|, |s| < 0.23, with its rounding errors; a line is a
// good enough reciprocal of n + d.
// Largest error: f32 0.73 ulp at 0x1.d29bcp-2; f64 0.76 ulp at -0x1.c031ef2c2c8d4p-2.
template <class V>
V atanh(V x) {
  using T = table<V>;
  V ax = abs(x);
  auto [k, d] = binary_parts(V(1) - ax, as_bits(number<V>(1.25)));
  V n = V(1) + ax, sum = n + d;
  V n_low = ax - (n - V(1)), sum_low = n - (sum - d);
  V q = (n - d) / sum;
  V rest = fma(-q, sum, n - d) + fma(-q, n_low + sum_low, n_low);
  V q_low = rest * fma(sum, V(-0.0889f), V(0.62f));
  mask<V> near = ax < V(0.5);
  V s = select(near, ax, q), j = select(near, V(0), k * V(-0.5)), z = s * s;
  V tail = fma(s * z, polynomial(z, fit<V>::atanh), fma(j, V(T::ln2_short[1]), select(near, V(0), q_low)));
  auto [high, low] = fast_two_sum(j * V(T::ln2_short[0]), s);
  V result = with_sign(high + (low + tail), x);
  result = select(ax == V(1), with_sign(V(infinity), x), result);
  return select(V(1) < ax, V(nan), result);
}

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
