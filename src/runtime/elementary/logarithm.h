// log, log1p, log2 and log10, and the logarithm as a sum of two numbers.
#pragma once
#include "runtime/elementary/building_blocks.h"

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

// x = 2^k m for x > 0, with low <= m < 2 low, `low` given by its bits.
template <class V>
struct BinaryParts {
  V k, m;
};
template <class V>
BinaryParts<V> binary_parts(V x, decltype(bits_of_one<V>) low) {
  using L = layout<V>;
  using B = bits<V>;
  mask<V> subnormal = x < V(L::smallest_normal);
  B code = as_bits(select(subnormal, x * V(L::integers), x)) + B(bits_of_one<V> - low);
  V biased = as_number((code >> L::fraction) | B(as_bits(L::integers)));
  V k = biased - select(subnormal, V(L::integers + L::bias + L::fraction), V(L::integers + L::bias));
  return {k, as_number((code & B(L::fraction_mask)) + B(low))};
}

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
  auto [k, m] = binary_parts(x, log_low<V>);
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

// The logarithm of 2^k (1 + f) as a sum of two numbers, with an error of about 2^-28 (f32) or
// 2^-56 (f64) and, where k is 0, a relative one of little more than half an ulp of the high one.
template <class V>
Pair<V> log_sum(V k, V f) {
  using T = table<V>;
  auto [high, error] = fast_two_sum(k * V(T::ln2_short[0]), f);
  if constexpr (single<V>) {
    V p = fma(polynomial(f, T::log), f, V(-0.5));
    return fast_two_sum(high, fma(f * f, p, fma(k, V(T::ln2_short[1]), error)));
  } else {
    V s = f / (V(2) + f);
    V z = s * s;
    V half_square = V(0.5) * f * f;
    V rest = z * polynomial(z, T::log);
    return fast_two_sum(high, error + (fma(s, half_square + rest, k * V(T::ln2_short[1])) - half_square));
  }
}
template <class V>
Pair<V> log_sum(V x) {
  auto [k, m] = binary_parts(x, log_low<V>);
  return log_sum(k, m - V(1));
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
  auto [k, m] = binary_parts(x, log_low<V>);
  V f = m - V(1);
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

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
