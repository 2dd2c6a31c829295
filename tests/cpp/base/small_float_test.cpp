// Small floats: what is stored comes back, and rounding gives the nearest of all numbers that
// there are, of two the even one.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/scalar.h"

namespace anvil {
namespace {

template <class T>
class SmallFloats : public testing::Test {
 protected:
  static T of_bits(uint16_t bits) { return std::bit_cast<T>(bits); }
  static uint16_t bits(T x) { return std::bit_cast<uint16_t>(x); }
};
using Types = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(SmallFloats, Types);

TYPED_TEST(SmallFloats, AFloatHoldsEachOfThem) {
  for (uint32_t b = 0; b <= 0xffff; ++b) {
    const TypeParam x = this->of_bits(static_cast<uint16_t>(b));
    const float wide = x;
    if (wide != wide) {
      EXPECT_NE(static_cast<float>(TypeParam(wide)), static_cast<float>(TypeParam(wide)));
      continue;
    }
    ASSERT_EQ(this->bits(TypeParam(wide)), b);
    ASSERT_EQ(this->bits(TypeParam(static_cast<double>(wide))), b);
    // by the definition: (-1)^sign 2^(exponent - bias) (1 + mantissa / 2^m)
    const int m = TypeParam::mantissa, bias = (1 << (TypeParam::exponent - 1)) - 1;
    const int exponent = static_cast<int>((b & 0x7fff) >> m), mantissa = static_cast<int>(b) & ((1 << m) - 1);
    if (exponent == (1 << TypeParam::exponent) - 1) {
      ASSERT_TRUE(std::isinf(wide));
      continue;
    }
    const double size =
        exponent == 0 ? std::ldexp(mantissa, 1 - bias - m) : std::ldexp(mantissa + (1 << m), exponent - bias - m);
    ASSERT_EQ(wide, b & 0x8000 ? -size : size);
  }
}

// Of all finite numbers and the two beyond them, as which the largest ones round to infinity.
template <class T>
double nearest(double x, const std::vector<double>& numbers) {
  const auto above = std::lower_bound(numbers.begin(), numbers.end(), x);
  if (above == numbers.begin()) return -INFINITY;
  if (above == numbers.end()) return INFINITY;
  const double high = *above, low = above[-1];
  if (high == x) return x;
  const long double to_low = static_cast<long double>(x) - low, to_high = static_cast<long double>(high) - x;
  const auto last_bit = (above - numbers.begin()) & 1;  // 0 stands at an even place
  const auto even = (numbers.size() / 2) & 1;
  if (to_low != to_high) return to_low < to_high ? low : high;
  return last_bit == static_cast<std::ptrdiff_t>(even) ? high : low;
}

TYPED_TEST(SmallFloats, RoundToTheNearestOnce) {
  std::vector<double> numbers;
  const int largest = ((1 << TypeParam::exponent) - 1) << TypeParam::mantissa;  // infinity
  const double beyond = std::ldexp(1.0, 1 << (TypeParam::exponent - 1));
  for (int b = 0; b < largest; ++b) numbers.push_back(this->of_bits(static_cast<uint16_t>(b)));
  numbers.push_back(beyond);
  for (size_t k = 1, n = numbers.size(); k < n; ++k) numbers.push_back(-numbers[k]);
  std::sort(numbers.begin(), numbers.end());
  const auto check = [&](double x) {
    double expected = nearest<TypeParam>(x, numbers);
    if (std::fabs(expected) >= beyond) expected = x < 0 ? -INFINITY : INFINITY;
    const auto got = static_cast<float>(TypeParam(x));
    EXPECT_EQ(got, expected) << x;
    if (static_cast<float>(x) == x) {
      EXPECT_EQ(static_cast<float>(TypeParam(static_cast<float>(x))), expected) << x;
    }
  };
  for (size_t k = 1; k < numbers.size(); ++k) {
    const double middle = numbers[k - 1] / 2 + numbers[k] / 2;
    for (const double x : {middle, std::nextafter(middle, 1e300), std::nextafter(middle, -1e300)}) check(x);
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (x == x && !std::isinf(x)) check(x);
  }
}

TYPED_TEST(SmallFloats, IntegersAreRoundedOnce) {
  const int64_t x = (int64_t(1) << 25) + (int64_t(1) << (24 - TypeParam::mantissa)) + 1;  // above the middle
  const double unit = std::ldexp(1.0, 25 - TypeParam::mantissa);
  const double expected = TypeParam::exponent == 8 ? std::ldexp(1.0, 25) + unit : INFINITY;
  EXPECT_EQ(static_cast<float>(TypeParam(x)), expected);
  EXPECT_EQ(static_cast<float>(convert_number<TypeParam>(static_cast<int32_t>(x))), expected);
  EXPECT_EQ(convert_number<int32_t>(TypeParam(-2.75)), -2);
  EXPECT_EQ(convert_number<uint8_t>(TypeParam(300.0)), 255);
  EXPECT_EQ(convert_number<int8_t>(TypeParam(NAN)), 0);
}

TEST(SmallFloat, TextIsTheShortestThatReadsBack) {
  EXPECT_EQ(Scalar(0.1).text(DType::f16), "0.1");
  EXPECT_EQ(Scalar(65504).text(DType::f16), "65504");
  EXPECT_EQ(Scalar(1e6).text(DType::f16), "Inf");
  EXPECT_EQ(Scalar(1.0 / 3).text(DType::f16), "0.3333");
}

}  // namespace
}  // namespace anvil
