// The elementwise primitives whose formulas work on bits, against other ways to compute the
// same: wider products, the standard library, and rounding by division.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

#include "primitives/scalar_graph.h"

namespace anvil::primitives {
namespace {

using graph::Tensor;
using primitives::testing::by_elements;
using primitives::testing::by_loop_rule;
using primitives::testing::ScalarGraph;

constexpr double inf = INFINITY, nan = NAN;

template <class T>
Tensor tensor(const std::vector<T>& x) {
  Tensor t = graph::allocate({dtype_of<T>(), {static_cast<int64_t>(x.size())}, false});
  std::memcpy(t.data.get(), x.data(), x.size() * sizeof(T));
  return t;
}
// Random bits, small numbers and the ends of T.
template <class T>
std::vector<T> integers(size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x = {0, 1, static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  while (x.size() < n) x.push_back(static_cast<T>(static_cast<T>(random()) >> random() % (8 * sizeof(T))));
  return x;
}
// Both ways to compute a primitive give what `expected` has at each place.
template <class T, class Expected>
void expect(const char* name, const std::vector<Tensor>& operands, const Params& params, Expected expected) {
  for (auto by : {by_elements, by_loop_rule}) {
    Tensor y = by(registry().at(name), operands, params);
    for (int64_t i = 0; i < elements(y.type.shape); ++i) {
      T got = y.as<T>()[i], wanted = expected(static_cast<size_t>(i));
      EXPECT_TRUE(got == wanted || (got != got && wanted != wanted))
          << name << " " << anvil::name(y.type.dtype) << " at " << i << ": " << +got << ", not " << +wanted;
    }
  }
}

template <class T>
class Integers : public ::testing::Test {};
using AllIntegers = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(Integers, AllIntegers);

TYPED_TEST(Integers, HighProductsAreThoseOfTwiceTheWidth) {
  using T = TypeParam;
  __extension__ using Wide = __int128;
  std::vector<T> a = integers<T>(400, 1), b = integers<T>(400, 2);
  for (size_t i = 0; i < 25; ++i) a[i] = a[i % 5], b[i] = b[i / 5];  // every pair of special values
  expect<T>("mulhi", {tensor(a), tensor(b)}, {},
            [&](size_t i) { return static_cast<T>(static_cast<Wide>(a[i]) * b[i] >> 8 * sizeof(T)); });
}
TYPED_TEST(Integers, LeadingZeros) {
  using T = TypeParam;
  std::vector<T> x = integers<T>(300, 3);
  for (size_t k = 0; k < 8 * sizeof(T); ++k) x.push_back(static_cast<T>(uint64_t{1} << k));
  expect<T>("count_leading_zeros", {tensor(x)}, {},
            [&](size_t i) { return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(x[i]))); });
}

template <class T>
class Floats : public ::testing::Test {
 public:
  static std::vector<T> values() {
    using Limits = std::numeric_limits<T>;
    std::vector<T> x = {0, T(-0.0), 1, -1, T(inf), T(-inf), T(nan), Limits::denorm_min(), Limits::min(), Limits::max(),
                        2, T(0.1)};
    for (T v : std::vector<T>(x)) x.push_back(-v);
    std::mt19937_64 random(4);
    while (x.size() < 400) {
      uint64_t bits = random();
      T any;
      std::memcpy(&any, &bits, sizeof any);
      x.push_back(any);
      x.push_back(T(std::ldexp(double(bits % 100000), int(bits >> 32) % 40 - 20)));
    }
    return x;
  }
};
using AllFloats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Floats, AllFloats);

TYPED_TEST(Floats, NextAfterIsTheStandardLibrarys) {
  using T = TypeParam;
  std::vector<T> x, y;
  for (T a : this->values())
    for (T b : {T(0), T(-0.0), T(1), T(inf), T(-inf), T(nan), a}) x.push_back(a), y.push_back(b);
  expect<T>("next_after", {tensor(x), tensor(y)}, {}, [&](size_t i) { return std::nextafter(x[i], y[i]); });
}

// By scaling, so that the number is one with whole units.
double rounded(double x, int exponent_bits, int mantissa_bits, int own_exponent_bits, int own_mantissa_bits) {
  if (!std::isfinite(x) || x == 0) return x;
  int bias = (1 << (exponent_bits - 1)) - 1, e = std::ilogb(x);
  int own_smallest = 2 - (1 << (own_exponent_bits - 1));  // exponent of the least normal number
  if (mantissa_bits < own_mantissa_bits) {
    int unit = std::max(e, own_smallest) - mantissa_bits;
    x = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  }
  if (exponent_bits >= own_exponent_bits) return x;
  if (std::fabs(x) >= std::ldexp(1, bias + 1)) return std::copysign(inf, x);
  return std::fabs(x) < std::ldexp(1, 1 - bias) ? std::copysign(0, x) : x;
}
TYPED_TEST(Floats, ReducedPrecision) {
  using T = TypeParam;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1, exponent = 8 * sizeof(T) - 1 - mantissa;
  std::vector<T> x = this->values();
  for (double v : {65504., 65519.9, 65520., 65535., 6.1e-5, 6.103515625e-5, 6.09e-5, 1 + 0x1p-11, 1 + 0x3p-11})
    x.push_back(T(v)), x.push_back(T(-v));
  for (auto [e, m] : {std::pair{5, 10}, {8, 7}, {4, 3}, {5, 2}, {8, 0}, {8, 23}, {11, 52}, {11, 23}, {20, 60}, {2, 1}})
    expect<T>("reduce_precision", {tensor(x)}, {{"exponent_bits", int64_t{e}}, {"mantissa_bits", int64_t{m}}},
              [&, e = e, m = m](size_t i) { return T(rounded(x[i], e, m, exponent, mantissa)); });
}
TEST(ReducedPrecision, KeepsTheBitsOfNaNAndTheSignOfZero) {
  std::vector<uint32_t> bits = {0x7FF00001, 0xFFC12345, 0x80000000, 0x80000001};
  Tensor x = tensor(bits);
  x.type.dtype = DType::f32;
  Tensor y = by_elements(registry().at("reduce_precision"), {x},
                         {{"exponent_bits", int64_t{5}}, {"mantissa_bits", int64_t{10}}});
  EXPECT_EQ(std::vector<uint32_t>(y.as<uint32_t>(), y.as<uint32_t>() + 3),
            std::vector<uint32_t>(bits.begin(), bits.begin() + 3));
  EXPECT_EQ(y.as<uint32_t>()[3], 0x80000000u);
}
TEST(ReducedPrecision, ItsDerivativeIsThatOfTheIdentityAtItsPrecision) {
  ScalarGraph s;
  Var y = record("reduce_precision", {s.input(3.3, DType::f64)},
                 {{"exponent_bits", int64_t{8}}, {"mantissa_bits", int64_t{1}}});
  auto d = primitives::testing::pull_back(s, y, s.input(1.3, DType::f64));
  EXPECT_EQ(s.number(*d[0]), 1.5);
}

// Written out by hand: a NaN lies beyond the infinity of its sign, -0 below 0.
TYPED_TEST(Floats, KeysOfTheTotalOrder) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  T positive_nan = std::fabs(T(nan)), negative_nan = -positive_nan;
  const T ascending[] = {negative_nan, T(-inf), Limits::lowest(),     -1, -Limits::min(), -Limits::denorm_min(),
                         T(-0.0),      0,       Limits::denorm_min(), 1,  Limits::max(),  T(inf),
                         positive_nan};
  using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  int64_t last = std::numeric_limits<int64_t>::min();
  for (T v : ascending) {
    ScalarGraph s;
    Var bits = s.input(std::bit_cast<Bits>(v), dtype_of<Bits>());  // a NaN as it is
    Var x = record("bitcast_convert", {bits}, {{"dtype", dtype_of<T>()}});
    auto key = s.value(total_order_key(x)).template as<int64_t>();
    EXPECT_GT(key, last) << v;
    last = key;
  }
}
TEST(TotalOrder, IntegersAndBoolsAreTheirOwnKeys) {
  ScalarGraph s;
  for (DType t : {DType::i8, DType::ui64, DType::boolean}) {
    Var x = s.input(1, t);
    EXPECT_EQ(total_order_key(x).value, x.value);
  }
}

TEST(Bitcast, BoolsAreBitsFromTheLowestOn) {
  Tensor x = tensor<int16_t>({0x0123, -2});
  for (auto by : {by_elements, by_loop_rule}) {
    Tensor bits = by(registry().at("bitcast_convert"), {x}, {{"dtype", DType::boolean}});
    EXPECT_EQ(bits.type, (TensorType{DType::boolean, {2, 16}, false}));
    for (int64_t k = 0; k < 16; ++k) {
      EXPECT_EQ(graph::element(bits, 2 * k).as<bool>(), 0x0123 >> k & 1) << k;
      EXPECT_EQ(graph::element(bits, 2 * k + 1).as<bool>(), k > 0) << k;
    }
    Tensor back = by(registry().at("bitcast_convert"), {bits}, {{"dtype", DType::i16}});
    EXPECT_EQ(std::memcmp(back.data.get(), x.data.get(), 4), 0);
    Tensor same = by(registry().at("bitcast_convert"), {bits}, {{"dtype", DType::boolean}});
    EXPECT_EQ(std::memcmp(same.data.get(), bits.data.get(), 32), 0);
  }
}

}  // namespace
}  // namespace anvil::primitives
