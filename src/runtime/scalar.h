// The meaning of every scalar operation of the loop language (loops::Op) for numbers of
// each dtype: what evaluators compute, and what generated code must compute to the bit.
// Integers wrap, nothing traps, and every function is defined for every argument. bool is
// the number 0 or 1 with `or` for add and maximum, `and` for mul and minimum.
#pragma once
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/scalar.h"
#include "runtime/elementary/table.h"

namespace anvil::scalar {

template <class T>
inline constexpr bool is_bool = std::is_same_v<T, bool>;
template <class T>
concept Float = std::floating_point<T>;
template <class T>
concept Integer = std::integral<T> && !std::is_same_v<T, bool>;
template <class T>
concept Bits = std::integral<T>;  // integers and bool

namespace detail {
// Wide enough that neither promotion to int nor overflow can be undefined.
template <Integer T>
using Modular = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <Bits T>
constexpr int width() {
  if constexpr (is_bool<T>)
    return 1;
  else
    return std::numeric_limits<std::make_unsigned_t<T>>::digits;
}
// A shift count as the hardware-independent meaning has it: unsigned.
template <Bits T>
constexpr uint64_t count(T n) {
  if constexpr (is_bool<T>)
    return n;
  else
    return static_cast<std::make_unsigned_t<T>>(n);
}
}  // namespace detail

// ---- arithmetic ------------------------------------------------------------------
template <class T>
constexpr T add(T a, T b) {
  if constexpr (is_bool<T>)
    return a || b;
  else if constexpr (Float<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<detail::Modular<T>>(a) + static_cast<detail::Modular<T>>(b));
}
template <class T>
constexpr T mul(T a, T b) {
  if constexpr (is_bool<T>)
    return a && b;
  else if constexpr (Float<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<detail::Modular<T>>(a) * static_cast<detail::Modular<T>>(b));
}
template <class T>
constexpr T sub(T a, T b) {
  if constexpr (Float<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<detail::Modular<T>>(a) - static_cast<detail::Modular<T>>(b));
}
template <class T>
constexpr T negate(T x) {
  if constexpr (Float<T>)
    return -x;
  else
    return sub(T(0), x);
}
// Integers: towards zero, x / 0 is all ones, MIN / -1 is MIN.
template <class T>
constexpr T divide(T a, T b) {
  if constexpr (Float<T>)
    return a / b;
  else {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return negate(a);
    return static_cast<T>(a / b);
  }
}
// The sign of the dividend. Integers: x rem 0 is x, MIN rem -1 is 0.
template <class T>
constexpr T remainder(T a, T b) {
  if constexpr (Float<T>)
    return elementary::call(elementary::Function::fmod, a, b);
  else {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
}
// Floats: a^1 and a^2 are exactly a and a * a. Integers: by squaring; a negative exponent
// gives what 1 / a^-b rounds to, and 0 for a = 0.
template <class T>
constexpr T power(T a, T b) {
  if constexpr (Float<T>)
    return b == T(2) ? a * a : b == T(1) ? a : elementary::call(elementary::Function::pow, a, b);
  else {
    if constexpr (std::is_signed_v<T>)
      if (b < 0) return a == 1 ? T(1) : a == -1 ? (b % 2 == 0 ? T(1) : T(-1)) : T(0);
    T result = 1;
    for (auto n = static_cast<std::make_unsigned_t<T>>(b); n != 0; n = static_cast<std::make_unsigned_t<T>>(n >> 1)) {
      if (n & 1) result = mul(result, a);
      a = mul(a, a);
    }
    return result;
  }
}
// The maximum and minimum of IEEE 754: NaN when an operand is NaN, -0 is less than 0. Of equal
// operands the bits differ in the sign of zero only.
template <class T>
constexpr T maximum(T a, T b) {
  if constexpr (Float<T>) {
    if (a != a) return a;
    if (a == b) return std::bit_cast<T>(std::bit_cast<Unsigned<T>>(a) & std::bit_cast<Unsigned<T>>(b));
  }
  return a > b ? a : b;
}
template <class T>
constexpr T minimum(T a, T b) {
  if constexpr (Float<T>) {
    if (a != a) return a;
    if (a == b) return std::bit_cast<T>(std::bit_cast<Unsigned<T>>(a) | std::bit_cast<Unsigned<T>>(b));
  }
  return a < b ? a : b;
}
template <class T>
constexpr T abs(T x) {
  if constexpr (Float<T>)
    return std::fabs(x);
  else if constexpr (std::is_signed_v<T>)
    return x < 0 ? negate(x) : x;  // MIN stays MIN
  else
    return x;
}
// NaN, 0 and -0 stay what they are.
template <class T>
constexpr T sign(T x) {
  return x > T(0) ? T(1) : x < T(0) ? static_cast<T>(-1) : x;
}

// ---- bits ------------------------------------------------------------------------
template <Bits T>
constexpr T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <Bits T>
constexpr T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <Bits T>
constexpr T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <Bits T>
constexpr T bit_not(T x) {
  if constexpr (is_bool<T>)
    return !x;
  else
    return static_cast<T>(~x);
}
template <Integer T>
constexpr T popcnt(T x) {
  return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
}
// Counts are unsigned; from the width on, nothing of x is left but, for arithmetic
// shifts, its top bit.
template <Bits T>
constexpr T shift_left(T x, T n) {
  if (detail::count(n) >= static_cast<uint64_t>(detail::width<T>())) return T(0);
  return static_cast<T>(static_cast<uint64_t>(x) << detail::count(n));
}
template <Bits T>
constexpr T shift_right_logical(T x, T n) {
  if (detail::count(n) >= static_cast<uint64_t>(detail::width<T>())) return T(0);
  return static_cast<T>(detail::count(x) >> detail::count(n));
}
template <Bits T>
constexpr T shift_right_arithmetic(T x, T n) {
  if constexpr (is_bool<T>)
    return x;
  else {
    constexpr uint64_t most = detail::width<T>() - 1;
    return static_cast<T>(static_cast<std::make_signed_t<T>>(x) >> (detail::count(n) < most ? detail::count(n) : most));
  }
}

// ---- comparisons: NaN differs from everything and is neither less nor greater ------
template <class T>
constexpr bool eq(T a, T b) {
  return a == b;
}
template <class T>
constexpr bool ne(T a, T b) {
  return a != b;
}
template <class T>
constexpr bool lt(T a, T b) {
  return a < b;
}
template <class T>
constexpr bool le(T a, T b) {
  return a <= b;
}
template <class T>
constexpr bool gt(T a, T b) {
  return a > b;
}
template <class T>
constexpr bool ge(T a, T b) {
  return a >= b;
}
template <Float T>
constexpr bool is_finite(T x) {
  return x - x == T(0);
}

// ---- rounding ----------------------------------------------------------------------
template <Float T>
T sqrt(T x) {
  return std::sqrt(x);
}
template <Float T>
T floor(T x) {
  return std::floor(x);
}
template <Float T>
T ceil(T x) {
  return std::ceil(x);
}
template <Float T>
T trunc(T x) {
  return std::trunc(x);
}
template <Float T>
T round_even(T x) {
  return std::nearbyint(x);
}
template <Float T>
T round_away(T x) {
  return std::round(x);
}
template <Float T>
T fma(T a, T b, T c) {
  return std::fma(a, b, c);
}

// ---- the rest ----------------------------------------------------------------------
template <class T>
constexpr T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}
template <class To, class From>
constexpr To convert(From x) {
  return convert_number<To>(x);
}
template <class To, class From>
constexpr To bitcast(From x) {
  return std::bit_cast<To>(x);
}

}  // namespace anvil::scalar
