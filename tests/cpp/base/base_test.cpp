// Dtypes, scalars and shapes: names, conversions at the edges, and how numbers are spelled.
#include <gtest/gtest.h>

#include <thread>

#include "base/dtype.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/scalar.h"
#include "base/shape.h"
#include "support/interrupt_at.h"

namespace anvil {
namespace {

TEST(Interrupt, AsksOnceInAPause) {
  poll();  // nobody to ask
  const int hour = 3'600'000;
  const test::InterruptAt never(-1, hour);
  for (int i = 0; i < 100; ++i) poll();
  EXPECT_EQ(never.asked(), 1);
}

TEST(Interrupt, ThrowsWhenToldTo) {
  const test::InterruptAt second(2);
  EXPECT_NO_THROW(poll());
  EXPECT_THROW(poll(), Interrupted);
  EXPECT_NO_THROW(poll());
}

TEST(Interrupt, ShortStepsAddUp) {
  const test::InterruptAt never(-1);
  for (int i = 0; i < 100; ++i) worked(100'000);
  EXPECT_EQ(never.asked(), 10);
}

TEST(Interrupt, OtherThreadsAreNotAsked) {
  const test::InterruptAt first(1);
  std::thread([] { poll(); }).join();
  EXPECT_EQ(first.asked(), 0);
}

TEST(DType, NamesReadBack) {
  for (size_t i = 0; i < descriptors.size(); ++i) {
    auto t = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(name(t)), t);
    EXPECT_EQ(is_bool(t) + is_integer(t) + is_float(t), 1);
    EXPECT_EQ(is_integer(t), is_signed_integer(t) || is_unsigned_integer(t));
  }
  EXPECT_EQ(parse_dtype("i1"), DType::boolean);
  EXPECT_EQ(parse_dtype("pred"), DType::boolean);
  EXPECT_FALSE(parse_dtype("f8"));
  EXPECT_FALSE(parse_dtype("tape"));  // no user names a tape
  EXPECT_FALSE(parse_dtype(""));
}

TEST(DType, VisitGivesTheTypeOfTheElements) {
  EXPECT_EQ(size_of(DType::boolean), 1u);
  EXPECT_EQ(size_of(DType::ui16), 2u);
  EXPECT_EQ(size_of(DType::f32), 4u);
  EXPECT_EQ(size_of(DType::i64), 8u);
  EXPECT_TRUE(visit(DType::ui8, []<class T>() { return std::is_same_v<T, uint8_t>; }));
  EXPECT_EQ(dtype_of<int32_t>(), DType::i32);
  EXPECT_EQ(dtype_of<uint64_t>(), DType::ui64);
  EXPECT_EQ(dtype_of<bool>(), DType::boolean);
}

TEST(Scalar, FloatsBecomeIntegersTowardsZeroAndSaturate) {
  EXPECT_EQ(Scalar(2.9).as<int32_t>(), 2);
  EXPECT_EQ(Scalar(-2.9).as<int32_t>(), -2);
  EXPECT_EQ(Scalar(1e20).as<int32_t>(), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(Scalar(-1e20).as<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Scalar(9223372036854775807.0).as<int64_t>(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Scalar(-1.0).as<uint8_t>(), 0);
  EXPECT_EQ(Scalar(NAN).as<int32_t>(), 0);
  EXPECT_EQ(Scalar(300).as<uint8_t>(), 44);  // integers wrap
  EXPECT_TRUE(Scalar(0.5).as<bool>());
  EXPECT_FALSE(Scalar(-0.0).as<bool>());
}

TEST(Scalar, KeepsEveryBit) {
  EXPECT_EQ(Scalar(uint64_t(0xffffffffffffffff)).as<uint64_t>(), 0xffffffffffffffffu);
  EXPECT_EQ(Scalar(int64_t(9007199254740993)).as<int64_t>(), 9007199254740993);
  EXPECT_TRUE(Scalar(NAN) == Scalar(NAN));
  EXPECT_FALSE(Scalar(0.0) == Scalar(-0.0));
  EXPECT_FALSE(Scalar(1) == Scalar(1.0));
  EXPECT_EQ(Scalar(0.1).rounded_to(DType::f32).as<double>(), static_cast<double>(0.1f));
}

TEST(Scalar, TextIsAsInR) {
  EXPECT_EQ(Scalar(1.0).text(DType::f32), "1");
  EXPECT_EQ(Scalar(0.1).text(DType::f64), "0.1");
  EXPECT_EQ(Scalar(1e6).text(DType::f64), "1e+06");
  EXPECT_EQ(Scalar(123456.0).text(DType::f64), "123456");
  EXPECT_EQ(Scalar(1e-5).text(DType::f64), "1e-05");
  EXPECT_EQ(Scalar(-2.5).text(DType::f32), "-2.5");
  EXPECT_EQ(Scalar(1.0 / 3).text(DType::f64), "0.333333333333333");
  EXPECT_EQ(Scalar(INFINITY).text(DType::f32), "Inf");
  EXPECT_EQ(Scalar(NAN).text(DType::f32), "NaN");
  EXPECT_EQ(Scalar(true).text(DType::boolean), "TRUE");
  EXPECT_EQ(Scalar(uint64_t(18446744073709551615u)).text(DType::ui64), "18446744073709551615");
}

TEST(Scalar, BoundsOfDtypes) {
  EXPECT_EQ(lowest(DType::f64).as<double>(), -INFINITY);
  EXPECT_EQ(highest(DType::i8).as<int64_t>(), 127);
  EXPECT_EQ(highest(DType::ui64).as<uint64_t>(), 18446744073709551615u);
  EXPECT_FALSE(lowest(DType::boolean).as<bool>());
}

TEST(Shape, CountsAndStrides) {
  EXPECT_EQ(elements({}), 1);
  EXPECT_EQ(elements({2, 0, int64_t(1) << 62}), 0);
  EXPECT_EQ(strides({2, 3, 4}), (std::vector<int64_t>{1, 2, 6}));
  EXPECT_EQ(in_parentheses({2, 3}), "(2,3)");
  EXPECT_EQ(join({2, 3}, "x"), "2x3");
  EXPECT_THROW(elements({int64_t(1) << 40, int64_t(1) << 40}), Error);
}

TEST(Shape, WalksColumnByColumn) {
  std::vector<int64_t> index = {0, 0};
  EXPECT_TRUE(next_index(index, {2, 2}));
  EXPECT_EQ(index, (std::vector<int64_t>{1, 0}));
  EXPECT_TRUE(next_index(index, {2, 2}));
  EXPECT_EQ(index, (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(next_index(index, {2, 2}));
  EXPECT_FALSE(next_index(index, {2, 2}));
}

}  // namespace
}  // namespace anvil
