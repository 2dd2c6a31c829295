// Floats of 16 bits: stored, never computed with. A number of theirs is a float at once where
// it is read (exact), and a float or double is rounded once, to even, where it becomes one.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace anvil {

template <int exponent_bits, int mantissa_bits>
class SmallFloat {
 public:
  static constexpr int exponent = exponent_bits, mantissa = mantissa_bits;

  SmallFloat() = default;
  constexpr SmallFloat(float x) : bits_(rounded(x)) {}
  constexpr SmallFloat(double x) : SmallFloat(odd(x)) {}
  template <class I>
  requires std::is_integral_v<I>
  constexpr SmallFloat(I x) : SmallFloat(static_cast<double>(x)) {}

  constexpr operator float() const {
    const uint32_t sign = uint32_t(bits_ & 0x8000u) << 16, size = uint32_t(bits_ & 0x7fffu) << shift;
    if (size >= infinity) return std::bit_cast<float>(sign | (size - infinity) | 0x7f800000u);
    if (size >= unit) return std::bit_cast<float>(sign | (size + (bias << 23)));
    const float subnormal = std::bit_cast<float>(size + least_normal) - std::bit_cast<float>(least_normal);
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
  }

 private:
  static constexpr int shift = 23 - mantissa_bits;
  static constexpr uint32_t bias = 128 - (1u << (exponent_bits - 1));      // of a float less that of this type
  static constexpr uint32_t unit = 1u << 23;                               // the exponent of a float counts from here
  static constexpr uint32_t infinity = ((1u << exponent_bits) - 1) << 23;  // as the shifted bits have it
  static constexpr uint32_t least_normal = (bias + 1) << 23, beyond = infinity + (bias << 23);  // as floats
  static constexpr uint32_t ulp_of_subnormals = (bias + 1 + shift) << 23;  // a float whose last bit is theirs

  static constexpr uint16_t rounded(float x) {
    const auto all = std::bit_cast<uint32_t>(x);
    const uint32_t sign = (all & 0x80000000u) >> 16, size = all & 0x7fffffffu;
    const auto with_sign = [sign](uint32_t bits) { return static_cast<uint16_t>(sign | bits); };
    if (size > 0x7f800000u)  // a NaN keeps the upper bits of its payload and is quiet
      return with_sign((infinity | (size & 0x007fffffu) | 0x00400000u) >> shift);
    if (size < least_normal) {
      const float sum = std::bit_cast<float>(size) + std::bit_cast<float>(ulp_of_subnormals);
      return with_sign(std::bit_cast<uint32_t>(sum) - ulp_of_subnormals);
    }
    const uint32_t even = size + ((1u << (shift - 1)) - 1) + (size >> shift & 1);
    return with_sign((even >= beyond ? infinity : even - (bias << 23)) >> shift);
  }

  // A float whose last bit is odd when it is not exact: rounded again, it gives what `x` itself
  // would (Boldo and Melquiond, 2008).
  static constexpr float odd(double x) {
    const auto near = static_cast<float>(x);
    const auto bits = std::bit_cast<uint32_t>(near);
    if (static_cast<double>(near) == x || x != x || (bits & 1)) return near;
    const bool too_large = (x < 0 ? -static_cast<double>(near) : static_cast<double>(near)) > (x < 0 ? -x : x);
    return std::bit_cast<float>(too_large ? bits - 1 : bits + 1);
  }

  uint16_t bits_;
};

using Float16 = SmallFloat<5, 10>;
using BFloat16 = SmallFloat<8, 7>;

template <class T>
inline constexpr bool is_small_float = false;
template <int e, int m>
inline constexpr bool is_small_float<SmallFloat<e, m>> = true;
template <class T>
inline constexpr bool is_real_number = std::is_floating_point_v<T> || is_small_float<T>;

// What is computed with where T is stored.
template <class T>
using Compute = std::conditional_t<is_small_float<T>, float, T>;

// The unsigned integer of as many bytes.
template <class T>
using Unsigned = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

}  // namespace anvil

template <int e, int m>
class std::numeric_limits<anvil::SmallFloat<e, m>> {
 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true;
  static constexpr int digits = m + 1;
};
