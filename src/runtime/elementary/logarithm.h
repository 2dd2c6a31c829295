// log, log1p and log2, and pow = exp(y log x) with a logarithm of two numbers; 1/sqrt(x).
#pragma once
#include "runtime/elementary/building_blocks.h"

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

// ---- log, log1p ----------------------------------------------------------------
// log(2^k (1 + f)), 1 + f in [3/4, 3/2). f32: polynomial of degree 11. f64:
// log(1 + f) = 2 atanh(s), s = f/(2 + f), with f - f^2/2 kept apart and only the
// small rest in s (Tang 1990; the arrangement of fdlibm's e_log.c).
template <class V>
V log_of_parts(V k, V f) {
  using T = table<V>;
  if constexpr (single<V>) {
    V q = polynomial(f, T::log);
    V p = fma(q, f, V(-0.5));
    return fma(k, V(T::ln2[0]), fma(f * f, p, f));
  } else {
    V s = f / (V(2) + f);
    V z = s * s;
    V half_square = V(0.5) * f * f;
    V rest = z * polynomial(z, T::log);
    V low = half_square - fma(s, half_square + rest, k * V(T::ln2_short[1]));
    return fma(k, V(T::ln2_short[0]), f - low);
  }
}
// Largest error: f32 0.94 ulp at 0x1.7c410cp-2; f64 0.92 ulp at 0x1.7f31d74423b19p+0.
template <class V>
V log(V x) {
  using L = layout<V>;
  using B = bits<V>;
  mask<V> subnormal = x < V(L::smallest_normal);
  V normal = select(subnormal, x * V(L::integers), x);
  B code = as_bits(normal) + B(bits_of_one<V> - log_low<V>);
  V biased = as_number((code >> L::fraction) | B(as_bits(L::integers)));
  V k = biased - select(subnormal, V(L::integers + L::bias + L::fraction), V(L::integers + L::bias));
  V m = as_number((code & B(L::fraction_mask)) + B(log_low<V>));
  V result = log_of_parts(k, m - V(1));
  result = select(x < V(infinity), result, x);  // +inf and NaN stay
  result = select(x == V(0), V(-infinity), result);
  return select(x < V(0), V(nan), result);
}

// log1p(x) = log(2^k (1 + f)) with k from the exponent of 1 + x and
// f = x 2^-k + (2^-k - 1), which is exact wherever its error could be seen.
// Largest error: f32 0.94 ulp at -0x1.41df7ap-1; f64 0.92 ulp at 0x1.fa6dc685a99b4p-2.
template <class V>
V log1p(V x) {
  using L = layout<V>;
  using B = bits<V>;
  V sum = lesser(V(1) + x, fma(x, V(1 - 0x1p-20), V(1)));  // just below 1/2 it must not round up to 3/2
  B code = as_bits(sum) + B(bits_of_one<V> - log_low<V>);
  V k = as_number((code >> L::fraction) | B(as_bits(L::integers))) - V(L::integers + L::bias);
  B shift = (code & B(L::exponent_mask)) - B(bits_of_one<V>);
  V scaled = as_number(as_bits(x) - shift);
  V four = as_number(B(as_bits(number<V>(4))) - shift);  // 4 2^-k: normal for every k
  V result = log_of_parts(k, scaled + fma(four, V(0.25), V(-1)));
  result = select(x < V(infinity), result, x);
  result = select(x == V(-1), V(-infinity), result);
  result = select(x < V(-1), V(nan), result);
  return with_sign(result, x);  // for -0
}

// ---- log2, log10 ---------------------------------------------------------------
// k log(2) + log(1 + f) log(e), logarithms to the base 2 or 10, with log(1 + f) and the
// product as sums of two numbers. k times the first part of log10(2) is exact.
template <class V>
struct base_10;
template <>
struct base_10<float> {
  static constexpr float log_2[] = {0x1.344p-2f, 0x1.3509f8p-18f}, log_e[] = {0x1.bcb7b2p-2f, -0x1.5b235ep-27f};
};
template <>
struct base_10<double> {
  static constexpr double log_2[] = {0x1.34413509f8p-2, -0x1.80433b83b532ap-44},
                          log_e[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
};
template <int base, class V>
V log_to_base(V x) {
  using T = table<V>;
  using L = layout<V>;
  using B = bits<V>;
  mask<V> subnormal = x < V(L::smallest_normal);
  V normal = select(subnormal, x * V(L::integers), x);
  B code = as_bits(normal) + B(bits_of_one<V> - log_low<V>);
  V biased = as_number((code >> L::fraction) | B(as_bits(L::integers)));
  V k = biased - select(subnormal, V(L::integers + L::bias + L::fraction), V(L::integers + L::bias));
  V f = as_number((code & B(L::fraction_mask)) + B(log_low<V>)) - V(1);
  V rest;
  if constexpr (single<V>) {
    rest = f * f * fma(polynomial(f, T::log), f, V(-0.5));
  } else {
    V s = f / (V(2) + f);
    V z = s * s;
    V half_square = V(0.5) * f * f;
    rest = fma(s, fma(z, polynomial(z, T::log), half_square), -half_square);
  }
  auto [high, low] = fast_two_sum(f, rest);
  const auto& log_e = base == 2 ? T::log2e_parts : base_10<number<V>>::log_e;
  auto [product, error] = two_product(high, V(log_e[0]));
  V product_low = fma(high, V(log_e[1]), fma(low, V(log_e[0]), error));
  if constexpr (base == 10) {
    product_low = fma(k, V(base_10<number<V>>::log_2[1]), product_low);
    k = k * V(base_10<number<V>>::log_2[0]);
  }
  auto [sum, sum_low] = fast_two_sum(k, product);
  V result = sum + (sum_low + product_low);
  result = select(x < V(infinity), result, x);
  result = select(x == V(0), V(-infinity), result);
  return select(x < V(0), V(nan), result);
}
// Largest error: f32 1.03 ulp at 0x1.7ed73p-1; f64 0.98 ulp at 0x1.7e531ed472b87p-1.
template <class V>
V log2(V x) {
  return log_to_base<2>(x);
}
// Largest error among 3 million: f32 1.00 ulp, f64 0.75 ulp; exact at powers of ten.
template <class V>
V log10(V x) {
  return log_to_base<10>(x);
}

// ---- pow -----------------------------------------------------------------------
// |x|^y = exp(y log|x|) with log|x| as a sum of two numbers (relative error about
// 2^-36 in f32, 2^-65 in f64): log(2^k (1 + f)) = k ln2 + 2 atanh(s), s = f/(2 + f).
template <class V>
Pair<V> log_in_two(V x) {
  using T = table<V>;
  using L = layout<V>;
  using B = bits<V>;
  mask<V> subnormal = x < V(L::smallest_normal);
  V normal = select(subnormal, x * V(L::integers), x);
  constexpr auto low_bits = as_bits(number<V>(0.70710678118654752));
  B code = as_bits(normal) + B(bits_of_one<V> - low_bits);
  V k = as_number((code >> L::fraction) | B(as_bits(L::integers))) -
        select(subnormal, V(L::integers + L::bias + L::fraction), V(L::integers + L::bias));
  V m = as_number((code & B(L::fraction_mask)) + B(low_bits));
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
  auto [k, code] = nearest(product, T::log2e, 2 * L::bias);
  V r = fma(k, V(-T::ln2[1]), fma(k, V(-T::ln2[0]), product)) + product_low;
  V p = fma(fma(polynomial(r, T::exp), r, V(1)), r, V(1));
  V result = scale(p, code);

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

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
