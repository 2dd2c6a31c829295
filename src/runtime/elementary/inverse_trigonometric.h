// atan, asin, acos and atan2.
#pragma once
#include "runtime/elementary/building_blocks.h"

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

// ---- atan --------------------------------------------------------------------------
// atan(x) = pi/2 - atan(1/x) for |x| > 1; polynomial of degree 19 (f32)
// or 45 (f64).
// Largest error: f32 1.02 ulp at 0x1.fcfb0ap-1; f64 1.09 ulp at -0x1.024d7f8ba5e4p+0.
template <class V>
V atan(V x) {
  using T = table<V>;
  V ax = lesser(V(0x1p60), abs(x));
  mask<V> steep = V(1) < ax;
  V y = select(steep, V(-1) / ax, ax);
  V y_low = V(0.6) * y * fma(y, ax, V(1));  // error of the division, by about the slope of atan
  V base = select(steep, V(T::half_pi[0]), V(0)), base_low = select(steep, V(T::half_pi[1]) + y_low, V(0));
  V z = y * y;
  V rest = fma(y * z, horner(z, T::atan), base_low);  // alternating: Horner rounds least
  auto [high, low] = fast_two_sum(base, y);
  return with_sign(high + (low + rest), x);
}

// ---- asin, acos ------------------------------------------------------------------------
// asin(s) = s + s z p(z), z = s^2, |s| <= 1/2; beyond, asin(|x|) = pi/2 - 2 asin(s) with z = (1 - |x|)/2, which is
// exact, and the rounding error of s = sqrt(z).
template <class V>
struct Arc {
  mask<V> far;
  V s, rest;  // the sum is asin(s)
};
template <class V>
Arc<V> arc(V ax) {
  mask<V> far = V(0.5) < ax;
  V z = select(far, fma(V(-0.5), ax, V(0.5)), ax * ax), root = sqrt(z), s = select(far, root, ax);
  V s_low = select(far & (V(0) < s), fma(-root, root, z) * (V(0.5) / root), V(0));
  return {far, s, fma(s * z, polynomial(z, fit<V>::asin), s_low)};
}
// base + factor (s + rest), base a number of quarter turns.
template <class V>
V arc_sum(V quarters, V factor, V s, V rest) {
  using T = table<V>;
  auto [high, low] = fast_two_sum(quarters * V(T::half_pi[0]), factor * s);
  return high + (low + fma(factor, rest, quarters * V(T::half_pi[1])));
}
// Largest error: f32 0.64 ulp at 0x1.115c9ep-1; f64 0.65 ulp at 0x1.0c913b0f8534cp-1.
template <class V>
V asin(V x) {
  auto [far, s, rest] = arc(abs(x));
  V result = arc_sum(select(far, V(1), V(0)), select(far, V(-2), V(1)), s, rest);
  return select(x == x, with_sign(result, x), x);
}
// Largest error: f32 0.62 ulp at 0x1.1e106cp-1; f64 0.64 ulp at 0x1.1a5013075c1a4p-1.
template <class V>
V acos(V x) {
  auto [far, s, rest] = arc(abs(x));
  V quarters = select(far, select(x < V(0), V(2), V(0)), V(1));
  V factor = negate_where(select(far, V(2), V(-1)), sign_of(x));
  return select(x == x, arc_sum(quarters, factor, s, rest), x);
}

// ---- atan2 -----------------------------------------------------------------------------
// The angle of (|x|, |y|) is that of the smaller over the larger, kept as a sum of two
// numbers, or pi/2 minus that; then pi minus that for negative x.
// Largest error among 3 million: f32 0.99 ulp, f64 0.99 ulp.
template <class V>
V atan2(V y, V x) {
  using T = table<V>;
  V ax = abs(x), ay = abs(y);
  mask<V> steep = ax < ay;
  V n = select(steep, ax, ay), d = select(steep, ay, ax);
  mask<V> small = d < V(layout<V>::quotient_low);  // there the remainder of n/d would underflow
  n = select(small, n * V(layout<V>::rsqrt_scale), n);
  d = select(small, d * V(layout<V>::rsqrt_scale), d);
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

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
