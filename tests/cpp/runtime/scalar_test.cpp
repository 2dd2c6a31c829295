// The scalar operations at their edges: overflow, division by zero, shifts, NaN, -0.
#include "runtime/scalar.h"

#include <gtest/gtest.h>

namespace anvil::scalar {
namespace {

template <class T>
constexpr T lowest_of = std::numeric_limits<T>::min();
template <class T>
constexpr T highest_of = std::numeric_limits<T>::max();
constexpr double inf = INFINITY, nan = NAN;

template <class T>
class Integers : public testing::Test {};
using AllIntegers = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(Integers, AllIntegers);
template <class T>
class SignedIntegers : public testing::Test {};
using AllSigned = testing::Types<int8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(SignedIntegers, AllSigned);
template <class T>
class Floats : public testing::Test {};
using AllFloats = testing::Types<float, double>;
TYPED_TEST_SUITE(Floats, AllFloats);

TYPED_TEST(Integers, Wrap) {
  using T = TypeParam;
  constexpr T low = lowest_of<T>, high = highest_of<T>;
  EXPECT_EQ(add(high, T(1)), low);
  EXPECT_EQ(sub(low, T(1)), high);
  EXPECT_EQ(mul(high, high), T(1));
  EXPECT_EQ(negate(T(1)), static_cast<T>(-1));
  EXPECT_EQ(power(T(2), T(5)), T(32));
  EXPECT_EQ(power(T(2), T(8 * sizeof(T))), T(0));
  EXPECT_EQ(power(T(0), T(0)), T(1));
  EXPECT_EQ(power(T(3), high), power(T(3), high));  // ends
}
TYPED_TEST(Integers, DivideWithoutTrap) {
  using T = TypeParam;
  EXPECT_EQ(divide(T(5), T(0)), static_cast<T>(-1));
  EXPECT_EQ(remainder(T(5), T(0)), T(5));
  EXPECT_EQ(divide(T(7), T(2)), T(3));
  EXPECT_EQ(remainder(T(7), T(2)), T(1));
}
TYPED_TEST(SignedIntegers, Signs) {
  using T = TypeParam;
  constexpr T low = lowest_of<T>;
  EXPECT_EQ(divide(low, T(-1)), low);
  EXPECT_EQ(remainder(low, T(-1)), T(0));
  EXPECT_EQ(divide(T(-7), T(2)), T(-3));
  EXPECT_EQ(remainder(T(-7), T(2)), T(-1));
  EXPECT_EQ(remainder(T(7), T(-2)), T(1));
  EXPECT_EQ(abs(low), low);
  EXPECT_EQ(abs(T(-3)), T(3));
  EXPECT_EQ(sign(low), T(-1));
  EXPECT_EQ(sign(T(0)), T(0));
  EXPECT_EQ(power(T(1), T(-3)), T(1));
  EXPECT_EQ(power(T(-1), T(-3)), T(-1));
  EXPECT_EQ(power(T(-1), T(-4)), T(1));
  EXPECT_EQ(power(T(-1), low), T(1));
  EXPECT_EQ(power(T(2), T(-1)), T(0));
  EXPECT_EQ(power(T(0), T(-1)), T(0));
  EXPECT_EQ(power(T(-2), T(3)), T(-8));
}
TYPED_TEST(Integers, Shifts) {
  using T = TypeParam;
  constexpr int width = 8 * sizeof(T);
  constexpr T top = static_cast<T>(T(1) << (width - 1));
  EXPECT_EQ(shift_left(T(1), T(width - 1)), top);
  EXPECT_EQ(shift_left(T(1), T(width)), T(0));
  EXPECT_EQ(shift_left(T(1), static_cast<T>(-1)), T(0));
  EXPECT_EQ(shift_right_logical(top, T(width - 1)), T(1));
  EXPECT_EQ(shift_right_logical(top, T(width)), T(0));
  EXPECT_EQ(shift_right_logical(top, static_cast<T>(-1)), T(0));
  EXPECT_EQ(shift_right_arithmetic(top, T(width - 1)), static_cast<T>(-1));
  EXPECT_EQ(shift_right_arithmetic(top, T(width)), static_cast<T>(-1));
  EXPECT_EQ(shift_right_arithmetic(top, static_cast<T>(-1)), static_cast<T>(-1));
  EXPECT_EQ(shift_right_arithmetic(T(64), T(width)), T(0));
  EXPECT_EQ(shift_right_arithmetic(T(64), T(3)), T(8));
  EXPECT_EQ(shift_left(T(5), T(0)), T(5));
}
TYPED_TEST(Integers, Bits) {
  using T = TypeParam;
  EXPECT_EQ(popcnt(static_cast<T>(-1)), T(8 * sizeof(T)));
  EXPECT_EQ(popcnt(T(0)), T(0));
  EXPECT_EQ(bit_not(T(0)), static_cast<T>(-1));
  EXPECT_EQ(bit_xor(T(6), T(3)), T(5));
}

TEST(Bools, AreNumbersOfOneBit) {
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      EXPECT_EQ(add(a, b), a || b);
      EXPECT_EQ(mul(a, b), a && b);
      EXPECT_EQ(maximum(a, b), a || b);
      EXPECT_EQ(minimum(a, b), a && b);
      EXPECT_EQ(bit_xor(a, b), a != b);
      EXPECT_EQ(shift_left(a, b), a && !b);
      EXPECT_EQ(shift_right_logical(a, b), a && !b);
      EXPECT_EQ(shift_right_arithmetic(a, b), a);
      EXPECT_EQ(lt(a, b), !a && b);
    }
  EXPECT_EQ(bit_not(true), false);
}

TYPED_TEST(Floats, ExtremaKeepNaN) {
  using T = TypeParam;
  const T n = static_cast<T>(nan);
  for (T other : {T(1), T(-1), static_cast<T>(inf), n}) {
    EXPECT_TRUE(std::isnan(maximum(n, other)) && std::isnan(maximum(other, n)));
    EXPECT_TRUE(std::isnan(minimum(n, other)) && std::isnan(minimum(other, n)));
  }
  EXPECT_EQ(maximum(T(1), T(2)), T(2));
  EXPECT_EQ(minimum(T(1), static_cast<T>(-inf)), static_cast<T>(-inf));
  for (bool first : {false, true}) {
    T a = first ? T(-0.0) : T(0), b = first ? T(0) : T(-0.0);
    EXPECT_FALSE(std::signbit(maximum(a, b)));
    EXPECT_TRUE(std::signbit(minimum(a, b)));
  }
  EXPECT_TRUE(std::signbit(maximum(T(-0.0), T(-0.0))));
  EXPECT_FALSE(std::signbit(minimum(T(0), T(0))));
}
TYPED_TEST(Floats, SignsAndRounding) {
  using T = TypeParam;
  EXPECT_TRUE(std::isnan(sign(static_cast<T>(nan))));
  EXPECT_TRUE(std::signbit(sign(T(-0.0))));
  EXPECT_EQ(sign(static_cast<T>(-inf)), T(-1));
  EXPECT_FALSE(std::signbit(abs(T(-0.0))));
  EXPECT_EQ(round_even(T(2.5)), T(2));
  EXPECT_EQ(round_away(T(2.5)), T(3));
  EXPECT_EQ(round_away(T(-2.5)), T(-3));
  EXPECT_TRUE(std::signbit(round_even(T(-0.25))));
  EXPECT_TRUE(is_finite(T(0)) && is_finite(std::numeric_limits<T>::max()));
  EXPECT_FALSE(is_finite(static_cast<T>(nan)) || is_finite(static_cast<T>(inf)));
}
TYPED_TEST(Floats, RemainderAndPower) {
  using T = TypeParam;
  EXPECT_EQ(remainder(T(-7.5), T(2)), T(-1.5));
  EXPECT_EQ(remainder(T(7.5), T(-2)), T(1.5));
  EXPECT_TRUE(std::isnan(remainder(T(1), T(0))));
  EXPECT_EQ(remainder(T(1), static_cast<T>(inf)), T(1));
  EXPECT_EQ(power(T(0), T(0)), T(1));
  EXPECT_EQ(power(T(-2), T(3)), T(-8));
  EXPECT_TRUE(std::isnan(power(T(-2), T(0.5))));
  for (T x = T(0.1); x < T(50); x *= T(1.01)) {
    EXPECT_EQ(power(x, T(1)), x);
    EXPECT_EQ(power(-x, T(2)), x * x);
  }
}
TYPED_TEST(Floats, ComparisonsWithNaN) {
  using T = TypeParam;
  const T n = static_cast<T>(nan);
  EXPECT_FALSE(eq(n, n) || lt(n, T(1)) || le(n, n) || gt(n, T(1)) || ge(n, n));
  EXPECT_TRUE(ne(n, n));
  EXPECT_TRUE(eq(T(0), T(-0.0)));
}
TYPED_TEST(Floats, ConversionsSaturate) {
  using T = TypeParam;
  EXPECT_EQ(convert<int32_t>(T(1e20)), highest_of<int32_t>);
  EXPECT_EQ(convert<int64_t>(static_cast<T>(-inf)), lowest_of<int64_t>);
  EXPECT_EQ(convert<uint64_t>(static_cast<T>(inf)), highest_of<uint64_t>);
  EXPECT_EQ(convert<uint8_t>(T(-0.5)), 0);
  EXPECT_EQ(convert<int8_t>(T(-1.9)), -1);
  EXPECT_EQ(convert<int32_t>(static_cast<T>(nan)), 0);
  EXPECT_EQ(convert<bool>(static_cast<T>(nan)), true);
  EXPECT_EQ(convert<bool>(T(-0.0)), false);
  EXPECT_EQ(convert<T>(true), T(1));
}
TEST(Conversions, Integers) {
  EXPECT_EQ(convert<uint8_t>(int32_t(-1)), 255);
  EXPECT_EQ(convert<int8_t>(int32_t(200)), -56);
  EXPECT_EQ(convert<bool>(int32_t(256)), true);
  EXPECT_EQ(bitcast<uint32_t>(1.0f), 0x3f800000u);
}

}  // namespace
}  // namespace anvil::scalar
