// sin, cos and tan. Arguments of any size are reduced as exactly as they need;
// the large ones in a block of its own that ordinary arguments never enter.
#pragma once
#include "runtime/elementary/building_blocks.h"

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

// ---- sin, cos ------------------------------------------------------------------
// x = k pi/2 + (r + r_low), |r| <= pi/4.
template <class V>
struct Angle {
  V k, r, r_low;
};

// pi/2 in three parts (Cody and Waite 1980), for |x| <= 2^15 (f32), 2^26 (f64).
// x - k part[0] is exact with fma; the second product and difference are taken
// exactly, because they may cancel.
template <class V>
Angle<V> reduce_angle(V x) {
  using T = table<V>;
  V k = nearest(x, T::two_over_pi, 0).value;
  V a = fma(k, V(-T::half_pi[0]), x);
  auto [product, product_low] = two_product(k, V(-T::half_pi[1]));
  auto [r, error] = two_sum(a, product);
  return {k, r, fma(k, V(-T::half_pi[2]), error + product_low)};
}

// Any larger |x| (Payne and Hanek 1983): |x| = y 2^(w q), w the digit size, times
// the digits of 2/pi from the one that contributes less than 4 quarter turns on.
// Each product is taken exactly and modulo 4; a cascade of two-sums keeps three
// numbers, enough for the arguments nearest to a multiple of pi/2.
template <class V>
ANVIL_RARE Angle<V> reduce_large_angle(V x) {
  using T = table<V>;
  using L = layout<V>;
  using B = bits<V>;
  constexpr int w = single<V> ? 12 : 24, zeros = single<V> ? 2 : 3, digits = single<V> ? 9 : 10;
  V ax = abs(x);
  ax = select((V(L::angle_high) < ax) & (ax < V(infinity)), ax, V(1));  // keeps the index in the table
  V exponent = as_number((as_bits(ax) >> L::fraction) | B(as_bits(L::integers))) -
               V(L::integers + L::bias + L::fraction - w * (zeros - 1));
  V q = trunc((exponent + V(0.5)) * V(1.0 / w));
  B index = as_bits(q + V(L::integers)) & B(0xff);
  V down = power_of_two<V>(as_bits(V(L::integers + L::bias + w * (zeros - 1)) - q * V(w)));
  V y = ax * down;
  V sum = V(0), sum2 = V(0), sum3 = V(0);
  number<V> weight = 1;
  for (int i = 0; i < digits; ++i) {
    V digit = lookup(T::two_over_pi_digits, index + B(i)) * V(weight);
    weight /= number<V>(1 << w);
    auto [high, low] = two_product(y, digit);
    high = fma(trunc(high * V(0.25)), V(-4), high);
    low = fma(trunc(low * V(0.25)), V(-4), low);
    const V terms[] = {high, low};
    for (V term : terms) {
      auto first = two_sum(sum, term);
      auto second = two_sum(sum2, first.low);
      sum = first.high;
      sum2 = second.high;
      sum3 = sum3 + second.low;
    }
  }
  V k = nearest(sum, number<V>(1), 0).value;
  auto top = two_sum(sum - k, sum2);
  auto tail = two_sum(top.low, sum3);
  auto turns = two_sum(top.high, tail.high);  // in quarter turns
  V turns_low = turns.low + tail.low;
  auto [r, r_error] = two_product(turns.high, V(T::half_pi[0]));
  V r_low = fma(turns.high, V(T::half_pi[1]), fma(turns_low, V(T::half_pi[0]), r_error));
  V sign = sign_of(x);
  V valid = select(abs(x) < V(infinity), r, V(nan));
  return {negate_where(k, sign), negate_where(valid, sign), negate_where(r_low, sign)};
}

template <class V>
Angle<V> reduce_any_angle(V x) {
  Angle<V> angle = reduce_angle(x);
  mask<V> large = V(layout<V>::angle_high) < abs(x);
  if (any(large)) {
    Angle<V> other = reduce_large_angle(x);
    angle = {select(large, other.k, angle.k), select(large, other.r, angle.r), select(large, other.r_low, angle.r_low)};
  }
  return angle;
}

// sin(r) = r + r^3 p(r^2), cos(r) = 1 - r^2/2 + r^4 q(r^2), degrees 9 and 8 (f32; errors
// 2^-32 and 2^-33) or 13 and 14 (f64; 2^-58 and 2^-64); r_low enters both once.
template <class V>
V sin_or_cos(V x, int quarter) {
  using T = table<V>;
  using L = layout<V>;
  using B = bits<V>;
  auto [k, r, r_low] = reduce_any_angle(x);
  B quadrant = as_bits(k + V(L::shifter + quarter));
  V z = r * r;
  V sine = r + fma(r * z, horner(z, T::sin), r_low);
  V half_square = V(0.5) * z;
  V most = V(1) - half_square;
  V cosine = most + (((V(1) - most) - half_square) + fma(z * z, horner(z, T::cos), -(r * r_low)));
  mask<V> odd = (quadrant & B(1)) == B(1);
  B sign = (quadrant & B(2)) << (L::fraction == 23 ? 30 : 62);
  return as_number(as_bits(select(odd, cosine, sine)) ^ sign);
}
// Largest error: f32 1.03 ulp at -0x1.41e124p+92; f64 1.02 ulp at -0x1.435d3fa9bff3cp+385.
template <class V>
V sin(V x) {
  return select(x == V(0), x, sin_or_cos(x, 0));
}
// Largest error: f32 1.05 ulp at 0x1.0c6e1cp+52; f64 1.03 ulp at 0x1.e28e985e6e793p+930.
template <class V>
V cos(V x) {
  return sin_or_cos(x, 1);
}

// ---- tan ---------------------------------------------------------------------------
// t = tan(r) = r + r^3 p(r^2) as a sum of two numbers, degree 17 (f32) or 31 (f64); in odd quadrants -1/t with a
// correction. r_low enters with about the slope of tan, the
// rounding error of r^2 with about p.
// Largest error: f32 1.09 ulp at 0x1.997516p+41; f64 0.95 ulp at 0x1.610f31fa7bcb8p+554.
template <class V>
V tan(V x) {
  using B = bits<V>;
  auto [k, r, r_low] = reduce_any_angle(x);
  B quadrant = as_bits(k + V(layout<V>::shifter));
  V z = r * r;
  V low = fma(r * fma(r, r, -z), V(0.4f), fma(r_low, z * fma(z, V(0.7f), V(1)), r_low));
  V tail = fma(r * z, last_steps_apart(z, fit<V>::tan), low);
  auto [t, t_low] = fast_two_sum(r, tail);
  V inverse = V(-1) / t;
  V rest = fma(inverse, t, V(1)) + inverse * t_low;
  mask<V> odd = (quadrant & B(1)) == B(1);
  return select(x == V(0), x, select(odd, fma(rest, inverse, inverse), t + t_low));
}

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
