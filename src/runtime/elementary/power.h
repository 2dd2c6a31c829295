// pow = exp(y log x) with a logarithm of two numbers, 1/sqrt and the cube root.
#pragma once
#include "runtime/elementary/logarithm.h"

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

// ---- pow -----------------------------------------------------------------------
// |x|^y = exp(y log|x|) with log|x| as a sum of two numbers (relative error about
// 2^-36 in f32, 2^-65 in f64): log(2^k (1 + f)) = k ln2 + 2 atanh(s), s = f/(2 + f).
template <class V>
Pair<V> log_in_two(V x) {
  using T = table<V>;
  auto [k, m] = binary_parts(x, as_bits(number<V>(0.70710678118654752)));
  V f = m - V(1);
  V d = V(2) + f;
  V d_low = f - (d - V(2));
  V inverse = V(1) / d;
  V s = f * inverse;
  V s_low = fma(-s, d_low, fma(-s, d, f)) * inverse;
  auto [z, z_error] = two_product(s, s);
  V z_low = fma(s + s, s_low, z_error);
  // atanh(s) = s + s z u, u = 1/3 + z q
  V zq = z * polynomial(z, T::pow_log);
  V u = V(T::third[0]) + zq;
  V u_low = (V(T::third[0]) - u) + zq + V(T::third[1]);
  auto [zu, zu_error] = two_product(z, u);
  V zu_low = fma(z, u_low, fma(z_low, u, zu_error));
  auto [szu, szu_error] = two_product(s, zu);
  V szu_low = fma(s, zu_low, fma(s_low, zu, szu_error));
  Pair<V> a = fast_two_sum(s, szu);
  V a_low = a.low + (s_low + szu_low);
  Pair<V> sum = fast_two_sum(k * V(T::ln2_short[0]), a.high + a.high);
  V sum_low = fma(k, V(T::ln2_short[1]), fma(a_low, V(2), sum.low));
  return fast_two_sum(sum.high, sum_low);
}

// Largest error: f32 1.10 ulp at 0x1.52fdaap+39, -1.789066; f64 1.06 ulp at 0x1.ff7da0711d139p-1, 0x1.d26ca9e0877d7p+16.
template <class V>
V pow(V x, V y) {
  using T = table<V>;
  using L = layout<V>;
  V ax = abs(x);
  auto [log_high, log_low] = log_in_two(ax);
  log_high = select(ax == V(0), V(-infinity), select(ax < V(infinity), log_high, V(infinity)));
  V product = y * log_high;
  mask<V> moderate = abs(product) < V(2 * L::exp_high);
  V product_low = select(moderate, fma(y, log_low, fma(y, log_high, -product)), V(0));
  product = lesser(V(L::exp_high), greater(V(L::exp_low), product));
  Rounded<V> k = nearest(product, T::log2e, 2 * L::bias);
  V r = fma(k.value, V(-T::ln2[1]), fma(k.value, V(-T::ln2[0]), product)) + product_low;
  V p = fma(fma(polynomial(r, T::exp), r, V(1)), r, V(1));
  V result = scale(p, k);

  mask<V> integer = trunc(y) == y;
  V half_y = V(0.5) * y;
  mask<V> odd = integer & (trunc(half_y) != half_y);
  result = as_number(as_bits(result) | select(odd, as_bits(sign_of(x)), bits<V>(0)));
  result = select((x < V(0)) & (V(-infinity) < x) & !integer, V(nan), result);
  result = select((x != x) | (y != y), x + y, result);
  mask<V> minus_one = (x == V(-1)) & (abs(y) == V(infinity));
  return select((y == V(0)) | (x == V(1)) | minus_one, V(1), result);
}

// ---- square roots ----------------------------------------------------------------
// 1/sqrt(x): the errors of the root and of the division are both corrected; small
// arguments are scaled, or the correction would underflow.
// Largest error: f32 0.50 ulp at 0x1.13e07p-129; f64 0.50 ulp at 0x1.0786f00d3818dp-16.
template <class V>
V rsqrt(V x) {
  mask<V> small = x < V(layout<V>::rsqrt_low);
  V y = select(small, x * V(layout<V>::rsqrt_scale * layout<V>::rsqrt_scale), x);
  V root = sqrt(y);
  V inverse = V(1) / root;
  V rest = fma(-inverse, root, V(1));                      // of the division
  V root_rest = fma(-root, root, y) * (inverse * V(0.5));  // of the root
  V corrected = fma(inverse, fma(-root_rest, inverse, rest), inverse);
  V result = select((V(0) < y) & (y < V(infinity)), corrected, inverse);
  return select(small, result * V(layout<V>::rsqrt_scale), result);
}

// ---- cbrt ----------------------------------------------------------------------------
// x = 2^(3 q) z, z in [1/2, 4): a cubic (error 0.5%), Halley's step once or twice, and one
// step of Newton with the exact residual.
// Largest error: f32 0.51 ulp; f64 0.51 ulp.
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
