// The functions made of other formulas, and cbrt. Largest errors among 3 million arguments
// (elementary_test's; f32, f64): sinh 1.56 1.51, cosh 1.35 1.27, asinh 1.72 1.64, acosh
// 1.84 1.88, atanh 1.92 1.82, asin 2.21 2.31, acos 1.93 1.81, atan2 0.99 0.99, cbrt 0.50 0.50.
#pragma once
#include "runtime/elementary/exponential.h"
#include "runtime/elementary/logarithm.h"
#include "runtime/elementary/trigonometric.h"

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

// What the compositions need beyond coefficients.h.
constexpr double ln2 = 0.69314718055994531;
template <class T>
struct composed_limits;
template <>
struct composed_limits<float> {
  static constexpr float large = 0x1p60f, same = 0x1p-13f, scale_low = 0x1p-70f, scale = 0x1p24f;
};
template <>
struct composed_limits<double> {
  static constexpr double large = 0x1p500, same = 0x1p-28, scale_low = 0x1p-900, scale = 0x1p54;
};
template <class V>
using limits = composed_limits<number<V>>;

// ---- sinh, cosh --------------------------------------------------------------------
// h = exp(|x|)/2, which overflows where they do, and 1/(4 h). sinh below 1 is its series.
template <class V>
V half_exp(V ax) {
  return exp_with_exponent(ax, layout<V>::exp_high + 1, -1);
}

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
  V near;
  if constexpr (single<V>)
    near = fma(first_of<5>(z, series) * z, x, x);
  else
    near = fma(first_of<9>(z, series) * z, x, x);
  V h = half_exp(ax);
  return select(ax < V(1), near, with_sign(h - V(0.25) / h, x));
}
template <class V>
V cosh(V x) {
  V h = half_exp(abs(x));
  return h + V(0.25) / h;
}

// ---- asinh, acosh, atanh -------------------------------------------------------------
// log1p of what the logarithm's argument is above 1; for very large x, log(x) + ln2.
template <class V>
V asinh(V x) {
  V ax = abs(x), square = ax * ax;
  V t = ax + square / (V(1) + sqrt(square + V(1)));
  mask<V> large = V(limits<V>::large) < ax;
  return with_sign(log1p(select(large, ax, t)) + select(large, V(ln2), V(0)), x);
}
template <class V>
V acosh(V x) {
  V d = x - V(1);
  V t = d + sqrt(fma(d, d, d + d));
  mask<V> large = V(limits<V>::large) < x;
  V result = log1p(select(large, x, t)) + select(large, V(ln2), V(0));
  return select(x < V(1), V(nan), result);
}
template <class V>
V atanh(V x) {
  V ax = abs(x);
  return with_sign(V(0.5) * log1p((ax + ax) / (V(1) - ax)), x);
}

// ---- asin, acos, atan2 -----------------------------------------------------------------
template <class V>
V asin(V x) {
  V result = V(2) * atan(x / (V(1) + sqrt(fma(-x, x, V(1)))));
  return select(abs(x) < V(limits<V>::same), x, result);
}
template <class V>
V acos(V x) {
  return V(2) * atan(sqrt((V(1) - x) / (V(1) + x)));
}

// The angle of (|x|, |y|) is that of the smaller over the larger, kept as a sum of two
// numbers, or pi/2 minus that; then pi minus that for negative x.
template <class V>
V atan2(V y, V x) {
  using T = table<V>;
  V ax = abs(x), ay = abs(y);
  mask<V> steep = ax < ay;
  V n = select(steep, ax, ay), d = select(steep, ay, ax);
  mask<V> small = d < V(limits<V>::scale_low);  // there the remainder of n/d would underflow
  n = select(small, n * V(limits<V>::scale), n);
  d = select(small, d * V(limits<V>::scale), d);
  V q = n / d;
  V q_low = fma(-q, d, n) / d;
  q = select(d == V(0), V(0), select(n == V(infinity), V(1), q));
  q_low = select((V(0) < d) & (d < V(infinity)), q_low, V(0));
  V z = q * q;
  V rest = fma(q * z, horner(z, T::atan), q_low * (V(1) - V(0.5) * z));
  // base + sign (q + rest), base a multiple of pi/2
  mask<V> left = with_sign(V(1), x) < V(0);
  V quarter = select(steep, V(1), select(left, V(2), V(0)));
  mask<V> minus = !(steep == left);
  V sign = select(minus, V(-0.0), V(0));
  auto [high, low] = fast_two_sum(quarter * V(T::half_pi[0]), negate_where(q, sign));
  V result = high + (low + fma(quarter, V(T::half_pi[1]), negate_where(rest, sign)));
  result = with_sign(abs(result), y);
  return select((x != x) | (y != y), x + y, result);
}

// ---- cbrt ----------------------------------------------------------------------------
// x = 2^(3 q) z, z in [1/2, 4): a cubic (error 0.5%), Halley's step once or twice, and one
// step of Newton with the exact residual.
template <class V>
V cbrt(V x) {
  using L = layout<V>;
  using B = bits<V>;
  static constexpr number<V> start[] = {number<V>(0.5410528043), number<V>(0.5786525236), number<V>(-0.1375011588),
                                        number<V>(0.01468805011)};
  V ax = abs(x);
  mask<V> subnormal = ax < V(L::smallest_normal);
  B code = as_bits(select(subnormal, ax * V(L::integers), ax));
  V k = as_number((code >> L::fraction) | B(as_bits(L::integers))) -
        select(subnormal, V(L::integers + L::bias + L::fraction), V(L::integers + L::bias));
  auto [q, power] = nearest(k, number<V>(1. / 3), L::bias);
  V third = power_of_two<V>(as_bits(fma(q, V(-3), k) + V(L::shifter + L::bias)));
  V z = as_number((code & B(L::fraction_mask)) | B(bits_of_one<V>)) * third;
  V inverse = V(1. / 3) / z;
  V y = horner(z, start);
  for (int step = 0; step < (single<V> ? 1 : 2); ++step) {
    V cube = y * y * y;
    y = y * (cube + (z + z)) / (cube + cube + z);
  }
  auto [square, square_low] = two_product(y, y);
  V residual = fma(square, y, -z) + square_low * y;
  V result = with_sign(fma(-residual * inverse, y, y) * power_of_two<V>(power), x);
  return select((x != V(0)) & (ax < V(infinity)), result, x + x);
}

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
