// Programs that are nearly right are refused at the place of the fault; those that are right in
// an unusual way are read.
#include "backend/eigen/evaluate.h"
#include "backend_stablehlo/parsed.h"

namespace anvil::stablehlo {
namespace {

std::string function(const std::string& arguments, const std::string& results, const std::string& lines) {
  return "func.func @main(" + arguments + ") -> " + results + " {\n" + lines + "\nreturn %0 : " + results + "\n}\n";
}

TEST(Strict, CommasStandBetweenItemsAndNowhereElse) {
  auto concatenation = [](const std::string& items) {
    return function("%a: tensor<2xf32>", "tensor<4xf32>",
                    "%0 = stablehlo.concatenate " + items + " : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>");
  };
  EXPECT_EQ(read_refusal(concatenation("%a, %a, dim = 0")), "accepted");
  expect_starts(read_refusal(concatenation("%a %a, dim = 0")), "2:31 expected `,` | x Got `%a, dim");
  expect_starts(read_refusal(concatenation("%a, %a dim = 0")), "2:35 expected `,` | x Got `dim = 0");
  expect_starts(read_refusal(concatenation("%a,, %a, dim = 0")), "2:31 expected an operand or an attribute after `,`");
  expect_starts(read_refusal(concatenation("%a, %a, dim = 0,")),
                "2:45 expected an operand or an attribute after `,` | x Got `: (tensor");
  expect_starts(read_refusal(concatenation(", %a, %a, dim = 0")), "2:28 expected `:` and the types");
}

TEST(Strict, WordsThatMeanNothingAreRefused) {
  expect_starts(read_refusal(function("%a: tensor<f32>", "tensor<f32>", "%0 = stablehlo.abs %a, FAST : tensor<f32>")),
                "2:24 `stablehlo.abs` has no such part");
}

TEST(Strict, ResultsThatNobodyNamesHaveTheirTypes) {
  auto unnamed = [](const std::string& type) {
    return "func.func @main(%a: tensor<f32>) {\n\"stablehlo.abs\"(%a) : (tensor<f32>) -> " + type + "\nreturn\n}\n";
  };
  EXPECT_EQ(read_refusal(unnamed("tensor<f32>")), "accepted");
  expect_starts(read_refusal(unnamed("tensor<2xf32>")), "2:1 the result of `stablehlo.abs` has type tensor<f32>");
  expect_starts(read_refusal(unnamed("()")), "2:1 `stablehlo.abs` has 1 results");
}

TEST(Strict, CustomCallsOfUnknownNamesAreRefused) {
  for (const char* attributes : {"", " {has_side_effect = true}"})
    expect_starts(read_refusal(function("%0: tensor<f32>", "tensor<f32>",
                                        std::string("stablehlo.custom_call @nobody()") + attributes + " : () -> ()")),
                  "2:1 the operation `custom_call @nobody` is not supported");
}

TEST(Strict, TheShapeOfRandomNumbersIsThatOfTheResult) {
  auto rng = [](const std::string& sizes, const std::string& shape) {
    return function("%a: tensor<f32>, %b: tensor<f32>", "tensor<" + shape + "xf32>",
                    "%n = stablehlo.constant dense<" + sizes + "> : tensor<2xi64>\n%0 = stablehlo.rng %a, %b, %n, " +
                        "distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<" + shape +
                        "xf32>");
  };
  for (const char* good : {"2", "[2, 2]"}) EXPECT_EQ(read_refusal(rng(good, "2x2")), "accepted");
  EXPECT_EQ(read_refusal(rng("[2, 3]", "2x3")), "accepted");
  for (const char* wrong : {"3", "2", "[2, 2]", "[3, 2]"})
    expect_starts(read_refusal(rng(wrong, "2x3")), "3:1 the shape of `stablehlo.rng` is not that of the result");
}

TEST(Strict, ConvolutionsHaveOperandsOfOneDtype) {
  auto convolution = [](const std::string& a, const std::string& b, const std::string& to) {
    return function("%a: tensor<1x1x4x" + a + ">, %b: tensor<1x1x2x" + b + ">", "tensor<1x1x3x" + to + ">",
                    "%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride "
                    "= [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x4x" +
                        a + ">, tensor<1x1x2x" + b + ">) -> tensor<1x1x3x" + to + ">");
  };
  EXPECT_EQ(read_refusal(convolution("i32", "i32", "i64")), "accepted");
  expect_starts(read_refusal(convolution("i64", "i32", "i64")), "2:1 the operands have the dtypes i64 and i32");
  expect_starts(read_refusal(convolution("f32", "f64", "f64")), "2:1 the operands have the dtypes f32 and f64");
}

// ---- select_and_scatter -------------------------------------------------------------------

std::string selection(const std::string& sum, const std::string& attributes, const std::string& source = "f32") {
  return function("%x: tensor<4xf32>, %s: tensor<2x" + source + ">, %i: tensor<f32>", "tensor<4x" + sum + ">",
                  "%0 = \"stablehlo.select_and_scatter\"(%x, %s, %i) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%c = "
                  "stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\nstablehlo.return %c : "
                  "tensor<i1>\n}, {\n^bb0(%a: tensor<" +
                      sum + ">, %b: tensor<" + sum + ">):\n%c = stablehlo.add %a, %b : tensor<" + sum +
                      ">\nstablehlo.return %c : tensor<" + sum + ">\n}) {" + attributes +
                      "} : (tensor<4xf32>, tensor<2x" + source + ">, tensor<f32>) -> tensor<4x" + sum + ">");
}

TEST(Strict, SelectAndScatterNeedsItsWindow) {
  const std::string window = "window_dimensions = array<i64: 2>", strides = "window_strides = array<i64: 2>";
  EXPECT_EQ(read_refusal(selection("f32", window + ", " + strides)), "accepted");
  expect_starts(read_refusal(selection("f32", strides)),
                "2:1 `stablehlo.select_and_scatter` needs the attribute `window_dimensions`");
  expect_starts(read_refusal(selection("f32", window + ", " + strides, "f64")),
                "2:1 the operands have the dtypes f32 and f64");
}

// 2^24 and 1 are summed in f64, where nothing is rounded.
TEST(Strict, SelectAndScatterMayAddInAWiderType) {
  graph::GraphPtr g = read(selection("f64", "window_dimensions = array<i64: 3>, window_strides = array<i64: 1>"));
  auto list = [](DType t, Shape shape, const std::vector<double>& values) {
    graph::Tensor x = graph::allocate({t, std::move(shape)});
    for (size_t i = 0; i < values.size(); ++i) graph::set_element(x, static_cast<int64_t>(i), values[i]);
    return x;
  };
  graph::Tensor y = eigen::evaluate(
      *g, {list(DType::f32, {4}, {0, 7, 5, 6}), list(DType::f32, {2}, {16777216, 1}), list(DType::f32, {}, {0.5})})[0];
  EXPECT_EQ(y.type.dtype, DType::f64);
  for (auto [i, value] : {std::pair{0, 0.5}, {1, 16777217.5}, {2, 0.5}, {3, 0.5}})
    EXPECT_EQ(graph::element(y, i).as<double>(), value) << i;
}

}  // namespace
}  // namespace anvil::stablehlo
