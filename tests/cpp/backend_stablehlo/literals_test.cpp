// Dense literals: every body that the text may have, its numbers, and what is refused.
#include <bit>
#include <cmath>

#include "backend_stablehlo/parsed.h"

namespace anvil::stablehlo {
namespace {

Dense dense(const std::string& literal) {
  return std::get<Dense>(need(first("%0 = stablehlo.constant " + literal), "value").value);
}
graph::Tensor read(const std::string& literal) { return dense_tensor(dense(literal), {}); }
// The elements in column-major order.
template <class T>
std::vector<T> values(const std::string& literal) {
  graph::Tensor t = read(literal);
  EXPECT_EQ(t.type.dtype, dtype_of<T>());
  return std::vector<T>(t.as<T>(), t.as<T>() + elements(t.type.shape));
}
template <class T>
T value(const std::string& number, const char* type) {
  return values<T>("dense<" + number + "> : tensor<" + type + ">").at(0);
}
std::string refused(const std::string& literal) {
  return said([&] { read(literal); });
}
using I = std::vector<int32_t>;

TEST(Literal, ListsAreRowMajorAndSplatsFill) {
  EXPECT_EQ(values<int32_t>("dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>"), (I{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values<int32_t>("dense<[ // numbers > 1\n [1,2] , [ 3 , -4 ] ] > : tensor<2x2xsi32>"), (I{1, 3, 2, -4}));
  EXPECT_EQ(values<int32_t>("dense<7> : tensor<2x2xi32>"), (I{7, 7, 7, 7}));
  EXPECT_EQ(values<int32_t>("dense<7> : tensor<i32>"), I{7});
  EXPECT_EQ(values<bool>("dense<[true, false]> : tensor<2xi1>"), (std::vector<bool>{true, false}));
  EXPECT_EQ(values<int32_t>("dense<[[[1], [2]]]> : tensor<1x2x1xi32>"), (I{1, 2}));
}

TEST(Literal, EmptyTensors) {
  for (const char* literal : {"dense<> : tensor<0x2xi32>", "dense<3> : tensor<0x2xi32>", "dense<[]> : tensor<0xi32>",
                              "dense<[[], []]> : tensor<2x0xi32>", "dense<\"0x\"> : tensor<0xi32>"})
    EXPECT_EQ(values<int32_t>(literal), I{}) << literal;
  for (const char* literal : {"dense<> : tensor<2xi32>", "dense<[]> : tensor<0x2xi32>", "dense<[]> : tensor<2xi32>",
                              "dense<[1]> : tensor<0xi32>", "dense<[]> : tensor<i32>"})
    EXPECT_NE(refused(literal), "accepted") << literal;
}

TEST(Literal, FloatsAreRoundedOnce) {
  EXPECT_EQ(value<float>("0.1", "f32"), 0.1f);
  EXPECT_EQ(value<double>("0.1", "f64"), 0.1);
  EXPECT_EQ(value<double>("-1.5e-03", "f64"), -1.5e-3);
  EXPECT_EQ(value<float>("9.99999935E-39", "f32"), 9.99999935E-39f);
  EXPECT_EQ(value<float>("1.", "f32"), 1.0f);
  EXPECT_EQ(value<float>("1.0e400", "f32"), std::numeric_limits<float>::infinity());
  EXPECT_EQ(value<double>("-1.0e400", "f64"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(value<float>("-0.0", "f32")));
  // half-way between two floats but for a digit that a double does not see
  EXPECT_EQ(value<float>("1.00000017881393432617187499", "f32"), 1.00000011920928955078125f);
  EXPECT_EQ(value<float>("1.00000017881393432617187500", "f32"), 1.0000002384185791015625f);
  EXPECT_EQ(value<float>("1.00000017881393421514957253748434595763683319091796875001", "f32"),
            1.00000011920928955078125f);
  EXPECT_EQ(value<float>("0.000000000000000000000000000000000000000000001401298464", "f32"), std::bit_cast<float>(1u));
  EXPECT_EQ(value<double>("123456789012345678901234567890.0", "f64"), 123456789012345678901234567890.0);
  EXPECT_EQ(value<double>("2.2250738585072011e-308", "f64"), 2.2250738585072011e-308);
}

TEST(Literal, DecimalsReadAsTheCLibraryReadsThem) {
  uint64_t state = 7;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto single = std::bit_cast<float>(static_cast<uint32_t>(state >> 32));
    auto wide = std::bit_cast<double>(state ^ (state >> 20));
    char digits[64];
    if (std::isfinite(single)) {
      std::snprintf(digits, sizeof digits, "%.*e", 1 + i % 12, static_cast<double>(single));
      EXPECT_EQ(value<float>(digits, "f32"), std::strtof(digits, nullptr)) << digits;
    }
    if (std::isfinite(wide)) {
      std::snprintf(digits, sizeof digits, "%.*e", 1 + i % 20, wide);
      EXPECT_EQ(value<double>(digits, "f64"), std::strtod(digits, nullptr)) << digits;
    }
  }
}

TEST(Literal, BitPatternsKeepPayloads) {
  EXPECT_EQ(std::bit_cast<uint32_t>(values<float>("dense<[0x7FC00001, 1.0]> : tensor<2xf32>")[0]), 0x7FC00001u);
  EXPECT_EQ(std::bit_cast<uint32_t>(values<float>("dense<[0xFF800001]> : tensor<1xf32>")[0]), 0xFF800001u);
  EXPECT_EQ(value<float>("0x7F800000", "f32"), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(value<double>("0x7FF8000000000000", "f64")));
  EXPECT_EQ(std::bit_cast<uint32_t>(value<float>("0x1", "f32")), 1u);
  EXPECT_EQ(value<int8_t>("0xFF", "i8"), -1);
  EXPECT_EQ(value<uint8_t>("0xFF", "ui8"), 255);
  EXPECT_NE(refused("dense<0x7F8000000> : tensor<f32>"), "accepted");
  EXPECT_NE(refused("dense<-0x7F800000> : tensor<f32>"), "accepted");
}

TEST(Literal, IntegersHaveTheRangeOfTheirType) {
  EXPECT_EQ(value<int8_t>("-128", "i8"), -128);
  EXPECT_EQ(value<uint64_t>("18446744073709551615", "ui64"), ~uint64_t(0));
  EXPECT_EQ(value<int64_t>("-9223372036854775808", "i64"), std::numeric_limits<int64_t>::min());
  for (const char* literal :
       {"dense<300> : tensor<i8>", "dense<-129> : tensor<i8>", "dense<-1> : tensor<ui8>", "dense<256> : tensor<ui8>",
        "dense<0x100> : tensor<i8>", "dense<9223372036854775808> : tensor<i64>",
        "dense<18446744073709551616> : tensor<ui64>", "dense<1.0> : tensor<i32>", "dense<1> : tensor<f32>",
        "dense<1e5> : tensor<f32>", "dense<1.0e> : tensor<f32>", "dense<.5> : tensor<f32>", "dense<+1.0> : tensor<f32>",
        "dense<true> : tensor<i32>", "dense<2> : tensor<i1>", "dense<nan> : tensor<f32>", "dense<0x> : tensor<f32>",
        "dense<--1> : tensor<i32>", "dense<1 2> : tensor<i32>"})
    EXPECT_NE(refused(literal), "accepted") << literal;
  EXPECT_EQ(refused("dense<300> : tensor<i8>"), "2:33 `300` is no number of type i8");
  EXPECT_EQ(refused("dense<[1,\n  300]> : tensor<2xi8>"), "3:3 `300` is no number of type i8");
}

TEST(Literal, NestingMustFitTheShape) {
  EXPECT_EQ(refused("dense<[5]> : tensor<2xi32>"),
            "2:35 expected more elements in a list of 2 elements of tensor<2xi32>");
  EXPECT_EQ(refused("dense<[5, 6, 7]> : tensor<2xi32>"),
            "2:38 expected `]` after a list of 2 elements of tensor<2xi32>");
  for (const char* literal :
       {"dense<[1, 2, 3, 4]> : tensor<2x2xi32>", "dense<[[1, 2], [3]]> : tensor<2x2xi32>",
        "dense<[[1, 2], 3]> : tensor<2x2xi32>", "dense<[[[1, 2], [3, 4]]]> : tensor<2x2xi32>",
        "dense<[1]> : tensor<i32>", "dense<[1 2]> : tensor<2xi32>", "dense<[1, 2]]> : tensor<2xi32>",
        "dense<[1, 2> : tensor<2xi32>", "dense<[1,]> : tensor<1xi32>"})
    EXPECT_NE(refused(literal), "accepted") << literal;
}

TEST(Literal, Blobs) {
  EXPECT_EQ(values<float>("dense<\"0x0000803F00000040\"> : tensor<2xf32>"), (std::vector<float>{1, 2}));
  EXPECT_EQ(values<int32_t>("dense<\"0x01000000020000000300000004000000\"> : tensor<2x2xi32>"), (I{1, 3, 2, 4}));
  EXPECT_EQ(values<int32_t>("dense<\"0xffFFffFF\"> : tensor<3xi32>"), (I{-1, -1, -1}));
  EXPECT_EQ(values<double>("dense<\"0x000000000000F03F\"> : tensor<f64>"), (std::vector<double>{1}));
  using B = std::vector<bool>;
  EXPECT_EQ(values<bool>("dense<\"0x010001\"> : tensor<3xi1>"), (B{true, false, true}));
  EXPECT_EQ(values<bool>("dense<\"0x05\"> : tensor<3xi1>"), (B{true, false, true}));
  EXPECT_EQ(values<bool>("dense<\"0x0102\"> : tensor<10xi1>"), (B{1, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(values<bool>("dense<\"0xFF\"> : tensor<12xi1>"), B(12, true));
  EXPECT_EQ(values<bool>("dense<\"0x00\"> : tensor<12xi1>"), B(12, false));
  for (const char* literal :
       {"dense<\"0x000\"> : tensor<1xi8>", "dense<\"0x0G\"> : tensor<1xi8>", "dense<\"00\"> : tensor<1xi8>",
        "dense<\"0x0000\"> : tensor<3xi8>", "dense<\"0x\"> : tensor<1xi8>", "dense<\"0x02\"> : tensor<9xi1>",
        "dense<\"0x00\" 1> : tensor<1xi8>", "dense<\"0x0000803F000000\"> : tensor<2xf32>"})
    EXPECT_NE(refused(literal), "accepted") << literal;
  EXPECT_EQ(refused("dense<\"0x0G\"> : tensor<1xi8>"), "2:37 this is no hexadecimal digit");
}

TEST(Literal, HugeShapesTakeNoMemory) {
  for (const char* literal :
       {"dense<2.0> : tensor<1000000x1000000xf32>", "dense<\"0x00000040\"> : tensor<1000000x1000000xf32>"}) {
    std::optional<Scalar> x = dense_splat(dense(literal), {});
    ASSERT_TRUE(x) << literal;
    EXPECT_EQ(x->as<double>(), 2.0);
    EXPECT_NE(refused(literal), "accepted");
  }
  EXPECT_NE(refused("dense<[1.0, 2.0]> : tensor<1000000x1000000xf32>"), "accepted");
  EXPECT_FALSE(dense_splat(dense("dense<[2.0]> : tensor<1xf32>"), {}));
  EXPECT_FALSE(dense_splat(dense("dense<\"0x05\"> : tensor<3xi1>"), {}));
  EXPECT_EQ(dense_splat(dense("dense<true> : tensor<3xi1>"), {})->as<bool>(), true);
}

}  // namespace
}  // namespace anvil::stablehlo
