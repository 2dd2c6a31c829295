// What the formulas are built from: the layout of floats and doubles, polynomial
// schemes, exact sums and products (Knuth, Dekker), and the bits of exponents.
#pragma once
#include <limits>
#include "runtime/elementary/coefficients.h"
#include "runtime/elementary/fitted_coefficients.h"
#include "runtime/elementary/lanes.h"

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

template <class V>
using number = typename lane<V>::number;
template <class V>
using bits = typename lane<V>::bits;
template <class V>
using mask = typename lane<V>::mask;
template <class V>
constexpr bool single = std::is_same_v<number<V>, float>;
template <class V>
using table = coefficients<number<V>>;
template <class V>
using fit = fitted<number<V>>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The layout of a number, and the arguments beyond which results are constant. exp_low is -2 bias ln2, where the powers
// of two that scale() multiplies by are zeros: processors take up to a hundred cycles for a product that is subnormal or
// less, none for zeros.
template <class T>
struct format;
template <>
struct format<float> {
  static constexpr int fraction = 23, bias = 127;
  static constexpr uint32_t sign = 0x80000000, fraction_mask = 0x007fffff;
  static constexpr float smallest_normal = 0x1p-126f;
  static constexpr float integers = 0x1p23f;   // numbers from here on are integers,
  static constexpr float shifter = 0x1.8p23f;  // adding this rounds to an integer
  static constexpr uint32_t exponent_mask = 0xff800000;
  static constexpr float exp_low = -176.06, exp_high = 89, expm1_low = -18, expm1_same = 0x1p-30f, tanh_high = 10;
  static constexpr float erf_high = 4.1, erfc_square_high = 110, erfc_high = 11, angle_high = 0x1p15f,
                         rsqrt_low = 0x1p-100f, rsqrt_scale = 0x1p24f, quotient_low = 0x1p-70f, digamma_low = 0x1p-40f,
                         square_high = 0x1p60f;
};
template <>
struct format<double> {
  static constexpr int fraction = 52, bias = 1023;
  static constexpr uint64_t sign = 0x8000000000000000, fraction_mask = 0x000fffffffffffff;
  static constexpr double smallest_normal = 0x1p-1022;
  static constexpr double integers = 0x1p52;
  static constexpr double shifter = 0x1.8p52;
  static constexpr uint64_t exponent_mask = 0xfff0000000000000;
  static constexpr double exp_low = -1418.18, exp_high = 710, expm1_low = -38, expm1_same = 0x1p-60, tanh_high = 20;
  static constexpr double erf_high = 6, erfc_square_high = 750, erfc_high = 28, angle_high = 0x1p26,
                          rsqrt_low = 0x1p-960, rsqrt_scale = 0x1p54, quotient_low = 0x1p-900, digamma_low = 0x1p-70,
                          square_high = 0x1p500;
};
template <class V>
using layout = format<number<V>>;
template <class V>
constexpr auto bits_of_one = as_bits(number<V>(1));
// The fraction of a logarithm starts at 3/4, because then f is exact in log1p.
template <class V>
constexpr auto log_low = as_bits(number<V>(0.75));

// ---- polynomials ---------------------------------------------------------------
// c[0] + c[1] x + ...: Horner has the fewest instructions.
template <class V, class T, size_t n>
V horner(V x, const T (&c)[n]) {
  V sum = V(c[n - 1]);
  for (size_t i = n - 1; i-- > 0;) sum = fma(sum, x, V(c[i]));
  return sum;
}
// Its first m coefficients only.
template <size_t m, class V, class T, size_t n>
V first_of(V x, const T (&c)[n]) {
  V sum = V(c[m - 1]);
  for (size_t i = m - 1; i-- > 0;) sum = fma(sum, x, V(c[i]));
  return sum;
}
// Estrin's scheme: a few multiplications more, but a short chain.
template <class V, class T, size_t n>
V estrin(V x, const T (&c)[n]) {
  V term[(n + 1) / 2];
  for (size_t i = 0; i < n / 2; ++i) term[i] = fma(V(c[2 * i + 1]), x, V(c[2 * i]));
  if (n % 2) term[n / 2] = V(c[n - 1]);
  for (size_t count = (n + 1) / 2; count > 1; count = (count + 1) / 2) {
    x = x * x;
    for (size_t i = 0; i < count / 2; ++i) term[i] = fma(term[2 * i + 1], x, term[2 * i]);
    if (count % 2) term[count / 2] = term[count - 1];
  }
  return term[0];
}
// Even and odd halves by Horner in x^2: one multiplication more, half the chain.
template <class V, class T, size_t n>
V halves(V x, const T (&c)[n]) {
  static_assert(n >= 3);
  V x2 = x * x, last = V(c[n - 1]), other = V(c[n - 2]);
  for (size_t i = n - 2; i-- > 0;) {
    V next = fma(last, x2, V(c[i]));
    last = other;
    other = next;
  }
  return fma(last, x, other);
}

// What the formulas use: halves for the short polynomials of floats, Estrin for
// doubles; in a formula that is little more than its polynomial, Horner for floats.
template <class V, class T, size_t n>
V polynomial(V x, const T (&c)[n]) {
  if constexpr (single<V>)
    return halves(x, c);
  else
    return estrin(x, c);
}
template <class V, class T, size_t n>
V short_polynomial(V x, const T (&c)[n]) {
  if constexpr (single<V>)
    return horner(x, c);
  else
    return estrin(x, c);
}
// c[first] + c[first + 1] x + ..., as above.
template <size_t first, class V, class T, size_t n>
V polynomial_from(V x, const T (&c)[n]) {
  T rest[n - first];
  for (size_t i = first; i < n; ++i) rest[i - first] = c[i];
  return polynomial(x, rest);
}
// The last two steps of Horner's scheme after the rest: where the first coefficients
// are the largest, it rounds fewer large sums.
template <class V, class T, size_t n>
V last_steps_apart(V x, const T (&c)[n]) {
  T rest[n - 2];
  for (size_t i = 2; i < n; ++i) rest[i - 2] = c[i];
  return fma(fma(halves(x, rest), x, V(c[1])), x, V(c[0]));
}

// P/Q
template <class V, class T, size_t n, size_t m>
V quotient(V x, const T (&p)[n], const T (&q)[m]) {
  return short_polynomial(x, p) / short_polynomial(x, q);
}

// ---- exact sums and products ------------------------------------------------------
// a + b exactly, as the rounded sum and its error (Knuth).
template <class V>
struct Pair {
  V high, low;
};
template <class V>
Pair<V> two_sum(V a, V b) {
  V sum = a + b;
  V b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}
// The same for |a| >= |b| (Dekker).
template <class V>
Pair<V> fast_two_sum(V a, V b) {
  V sum = a + b;
  return {sum, b - (sum - a)};
}
template <class V>
Pair<V> two_product(V a, V b) {
  V product = a * b;
  return {product, fma(a, b, -product)};
}

// ---- bits ----------------------------------------------------------------------
template <class V>
V sign_of(V x) {
  return as_number(as_bits(x) & bits<V>(layout<V>::sign));
}
template <class V>
V with_sign(V magnitude, V x) {
  return as_number(as_bits(magnitude) | as_bits(sign_of(x)));
}
template <class V>
V negate_where(V x, V sign) {
  return as_number(as_bits(x) ^ as_bits(sign));
}

// The integer nearest to x * scale: adding a large number leaves the integer, plus
// an offset of our choice, in the low bits of the sum.
template <class V>
struct Rounded {
  V value;
  bits<V> code;
};
template <class V>
Rounded<V> nearest(V x, number<V> scale, int offset) {
  V shifter = V(layout<V>::shifter + offset);
  V sum = fma(x, V(scale), shifter);
  return {sum - shifter, as_bits(sum)};
}
// 2^k from a code with offset bias; k in the range of normal exponents.
template <class V>
V power_of_two(bits<V> code) {
  return as_number(code << layout<V>::fraction);
}
// x 2^k in two steps from a code with offset 2 bias, so that k may lie anywhere
// between the smallest subnormal and overflow, and the result is rounded once.
template <class V>
V scale_in_two(V x, Rounded<V> k) {
  bits<V> half = k.code >> 1;
  return x * power_of_two<V>(half) * power_of_two<V>(k.code - half);
}
// In one step where there is an instruction for it, with the same bits.
template <class V>
V scale(V x, Rounded<V> k) {
  return scale_in_two(x, k);
}
#if defined(ANVIL_ELEMENTARY_AVX512)
#define ANVIL_SCALE(T, N, scaled) \
  ANVIL_INLINE Lanes<T, N> scale(Lanes<T, N> x, Rounded<Lanes<T, N>> k) { return {scaled}; }
ANVIL_SCALE(float, 8, _mm256_maskz_scalef_ps(0xff, x.v, k.value.v))
ANVIL_SCALE(float, 16, _mm512_maskz_scalef_ps(0xffff, x.v, k.value.v))
ANVIL_SCALE(double, 4, _mm256_maskz_scalef_pd(0xf, x.v, k.value.v))
ANVIL_SCALE(double, 8, _mm512_maskz_scalef_pd(0xff, x.v, k.value.v))
#undef ANVIL_SCALE
#endif

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
