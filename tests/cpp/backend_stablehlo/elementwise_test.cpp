// Elementwise operators: every primitive as text and back, and the operators that are read as
// several primitives, with their values.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/eigen/evaluate.h"
#include "backend_stablehlo/refused.h"
#include "primitives/vocabulary/primitive.h"

namespace anvil::test {
namespace {

using graph::Tensor;
using Numbers = std::vector<double>;

constexpr double inf = INFINITY, nan = NAN;

Tensor tensor(DType t, const Numbers& x) {
  Tensor y = graph::allocate({t, {static_cast<int64_t>(x.size())}, false});
  for (size_t i = 0; i < x.size(); ++i) graph::set_element(y, static_cast<int64_t>(i), Scalar(x[i]).rounded_to(t));
  return y;
}
Numbers numbers(const Tensor& t) {
  Numbers x;
  for (int64_t i = 0; i < elements(t.type.shape); ++i) x.push_back(graph::element(t, i).as<double>());
  return x;
}
// The result of one operation of %a (and %b).
std::string function(const std::string& arguments, const std::string& result, const std::string& operation) {
  return "func.func @main(" + arguments + ") -> " + result + " {\n%0 = " + operation + "\nreturn %0 : " + result +
         "\n}\n";
}
Numbers run(const std::string& text, const std::vector<Tensor>& inputs) {
  return numbers(eigen::evaluate(*stablehlo::read(text), inputs).at(0));
}

// ---- primitives ---------------------------------------------------------------------------

graph::Params parameters_of(const primitives::Primitive& p) {
  if (p.name == "round") return {{"method", std::string("afz")}};
  if (p.name == "reduce_precision") return {{"exponent_bits", int64_t{5}}, {"mantissa_bits", int64_t{10}}};
  if (p.name.starts_with("bessel") && !p.parameters.empty()) return {{"nu", Scalar(-1.25)}};
  if (p.name == "bitcast_convert") return {{"dtype", DType::i16}};
  if (p.name == "convert") return {{"dtype", DType::f64}, {"ambiguous", false}};
  return {};
}
// StableHLO shifts integers only: a shift of bools is written as another operator.
bool shifts_bools(const primitives::Primitive& p, DType t) { return is_bool(t) && p.name.starts_with("shift"); }

TEST(ElementwiseText, EveryPrimitiveIsReadAsItself) {
  for (const primitives::Primitive* p : primitives::registry().all()) {
    if (!p->elementwise) continue;
    for (DType t : {DType::boolean, DType::i8, DType::ui64, DType::i32, DType::f32, DType::f64}) {
      if (!contains(p->group, t) || shifts_bools(*p, t)) continue;
      graph::Graph g;
      for (size_t k = 0; k < p->operands.size(); ++k) {
        DType of = p->name == "select" && k > 0 ? DType::f32 : t;
        Shape shape = p->name == "bitcast_convert" ? Shape{4, 16} : Shape{4};
        if (p->name == "bitcast_convert" && size_of(t) == 1 && !is_bool(t)) shape = {4, 2};
        g.inputs.push_back(graph::make_value(graph::Value::Kind::input, {of, shape, false}));
      }
      g.outputs = primitives::record(g, *p, g.inputs, parameters_of(*p));
      std::string text = stablehlo::write(g).text;
      graph::GraphPtr back = stablehlo::read(text);
      EXPECT_EQ(graph::print(*back), graph::print(g)) << text;
      EXPECT_EQ(stablehlo::write(*back).text, text);
    }
  }
}
TEST(ElementwiseText, FormatsOfReducedPrecision) {
  for (const char* operation : {"stablehlo.reduce_precision %a, format = e5m10 : tensor<2xf64>",
                                "\"stablehlo.reduce_precision\"(%a) {exponent_bits = 5 : i32, mantissa_bits = 10 : i32}"
                                " : (tensor<2xf64>) -> tensor<2xf64>"})
    EXPECT_EQ(run(function("%a: tensor<2xf64>", "tensor<2xf64>", operation), {tensor(DType::f64, {65505, 65520})}),
              (Numbers{65504, inf}));
  for (const char* format : {"e0m10", "e5", "m10e5", "e5m10x"})
    EXPECT_NE(refusal(function("%a: tensor<f64>", "tensor<f64>",
                               std::string("stablehlo.reduce_precision %a, format = ") + format + " : tensor<f64>")),
              "accepted")
        << format;
}

// ---- operators made of several --------------------------------------------------------------

TEST(ElementwiseText, Infinities) {
  Tensor x = tensor(DType::f32, {1, inf, -inf, nan, 0});
  auto is = [&](const std::string& which) {
    return run(function("%a: tensor<5xf32>", "tensor<5xi1>", "chlo." + which + " %a : tensor<5xf32> -> tensor<5xi1>"),
               {x});
  };
  EXPECT_EQ(is("is_inf"), (Numbers{0, 1, 1, 0, 0}));
  EXPECT_EQ(is("is_pos_inf"), (Numbers{0, 1, 0, 0, 0}));
  EXPECT_EQ(is("is_neg_inf"), (Numbers{0, 0, 1, 0, 0}));
  expect_refused(function("%a: tensor<i32>", "tensor<i1>", "chlo.is_inf %a : tensor<i32> -> tensor<i1>"),
                 "takes floats");
}
TEST(ElementwiseText, SquaresTangentsAndParts) {
  Tensor x = tensor(DType::f64, {0.5, -3});
  auto of = [&](const std::string& operation) {
    return run(function("%a: tensor<2xf64>", "tensor<2xf64>", operation), {x});
  };
  EXPECT_EQ(of("chlo.square %a : tensor<2xf64> -> tensor<2xf64>"), (Numbers{0.25, 9}));
  EXPECT_NEAR(of("chlo.tan %a : tensor<2xf64> -> tensor<2xf64>")[0], std::tan(0.5), 1e-15);
  EXPECT_EQ(of("stablehlo.real %a : tensor<2xf64>"), (Numbers{0.5, -3}));
  EXPECT_EQ(of("stablehlo.imag %a : tensor<2xf64>"), (Numbers{0, 0}));
}
TEST(ElementwiseText, ConstantsLikeAnOperand) {
  auto like = [](const std::string& value, const std::string& type) {
    return function("%a: tensor<2xi8>", "tensor<2x" + type + ">",
                    "\"chlo.constant_like\"(%a) {value = " + value + "} : (tensor<2xi8>) -> tensor<2x" + type + ">");
  };
  EXPECT_EQ(run(like("2.5 : f32", "f32"), {tensor(DType::i8, {1, 2})}), (Numbers{2.5, 2.5}));
  EXPECT_EQ(run(like("7 : i64", "i64"), {tensor(DType::i8, {1, 2})}), (Numbers{7, 7}));
  expect_refused(like("2.5 : f32", "i32"), "`value` is no i32");
  expect_refused(like("2 : i32", "f32"), "`value` is no f32");
}

// 1 / (1 + exp(-x)) as JAX writes it, and of numbers that are not 1.
std::vector<std::string> calls_of_logistic(const std::string& above, const std::string& below) {
  const std::string x = "tensor<3xf32>", spread = "stablehlo.broadcast_in_dim %";
  const auto constant = [&](const std::string& name, const std::string& value) {
    return "%" + name + " = stablehlo.constant dense<" + value + "> : tensor<f32>\n%" + name + "s = " + spread + name +
           ", dims = [] : (tensor<f32>) -> " + x + "\n";
  };
  std::vector<std::string> names;
  const auto g = stablehlo::read("func.func @main(%x: " + x + ") -> " + x + " {\n%m = stablehlo.negate %x : " + x +
                                 "\n%e = stablehlo.exponential %m : " + x + "\n" + constant("b", below) +
                                 "%s = stablehlo.add %bs, %e : " + x + "\n" + constant("a", above) +
                                 "%y = stablehlo.divide %as, %s : " + x + "\nreturn %y : " + x + "\n}\n");
  for (const graph::Call& c : g->calls) names.push_back(c.primitive->name);
  return names;
}
TEST(ElementwiseText, TheLogisticFunctionInParts) {
  EXPECT_EQ(calls_of_logistic("1.0", "1.0"), std::vector<std::string>{"logistic"});
  for (const auto& names : {calls_of_logistic("2.0", "1.0"), calls_of_logistic("1.0", "2.0")})
    EXPECT_EQ(names.back(), "divide");
}

std::string comparison(const std::string& direction, const std::string& kind, const std::string& element) {
  std::string t = "tensor<6x" + element + ">";
  return function("%a: " + t + ", %b: " + t, "tensor<6xi1>",
                  "stablehlo.compare " + direction + ", %a, %b, " + kind + " : (" + t + ", " + t + ") -> tensor<6xi1>");
}
TEST(ElementwiseText, ComparisonsInTotalOrder) {
  double positive = std::fabs(nan), negative = -positive;
  Tensor a = tensor(DType::f64, {-0.0, positive, inf, negative, 1, -2}),
         b = tensor(DType::f64, {0.0, positive, positive, -inf, 1, -1});
  std::map<std::string, Numbers> expected = {{"LT", {1, 0, 1, 1, 0, 1}}, {"LE", {1, 1, 1, 1, 1, 1}},
                                             {"GT", {0, 0, 0, 0, 0, 0}}, {"GE", {0, 1, 0, 0, 1, 0}},
                                             {"EQ", {0, 1, 0, 0, 1, 0}}, {"NE", {1, 0, 1, 1, 0, 1}}};
  for (const auto& [direction, results] : expected)
    EXPECT_EQ(run(comparison(direction, "TOTALORDER", "f64"), {a, b}), results) << direction;
  EXPECT_EQ(run(comparison("LT", "FLOAT", "f64"), {a, b}), (Numbers{0, 0, 0, 0, 0, 1}));
}
TEST(ElementwiseText, ComparisonsOfAnotherKindAreRefused) {
  EXPECT_EQ(refusal(comparison("LT", "UNSIGNED", "i1")), "accepted");
  for (auto [kind, element] : {std::pair{"SIGNED", "f32"}, {"FLOAT", "i32"}, {"UNSIGNED", "i32"}, {"SIGNED", "ui8"}})
    expect_refused(comparison("LT", kind, element), std::string("are not compared as ") + kind);
  expect_refused(comparison("BELOW", "SIGNED", "i32"), "`BELOW` is no direction");
}

TEST(ElementwiseText, AccuracyIsHighestOrATolerance) {
  auto log = [](const std::string& accuracy) {
    return function(
        "%a: tensor<1xf64>", "tensor<1xf64>",
        "stablehlo.log %a {result_accuracy = #stablehlo.result_accuracy<" + accuracy + ">} : tensor<1xf64>");
  };
  const std::string mode = "mode = #stablehlo.result_accuracy_mode<";
  for (const std::string& accuracy :
       {mode + "HIGHEST>", mode + "DEFAULT>", "atol = 1.0e-05, ulps = 3, " + mode + "TOLERANCE>"})
    EXPECT_EQ(run(log(accuracy), {tensor(DType::f64, {1})}), Numbers{0}) << accuracy;
  expect_refused(log("atol = 1.0, rtol = 0.0, ulps = 4, " + mode + "HIGHEST>"), "goes with the mode TOLERANCE");
  expect_refused(log("ulps = -1, " + mode + "TOLERANCE>"), "must not be negative");
}

std::string mapped(const std::string& arguments, const std::string& body, const std::string& dimensions) {
  return function("%a: tensor<3xf64>, %b: tensor<3xi32>", "tensor<3xf64>",
                  "\"stablehlo.map\"(%a, %b) ({\n^bb0(" + arguments + "):\n" + body + "\n}) {dimensions = array<i64: " +
                      dimensions + ">} : (tensor<3xf64>, tensor<3xi32>) -> tensor<3xf64>");
}
TEST(ElementwiseText, MapsAFunctionOfScalars) {
  const std::string arguments = "%x: tensor<f64>, %k: tensor<i32>",
                    body =
                        "%c = stablehlo.convert %k : (tensor<i32>) -> tensor<f64>\n"
                        "%y = stablehlo.multiply %x, %c : tensor<f64>\nstablehlo.return %y : tensor<f64>";
  EXPECT_EQ(run(mapped(arguments, body, "0"), {tensor(DType::f64, {1.5, 2, 3}), tensor(DType::i32, {2, 3, -1})}),
            (Numbers{3, 6, -3}));
  expect_refused(mapped(arguments, body, "0, 1"), "`dimensions` must be all dimensions");
  expect_refused(mapped(arguments, body, "1"), "`dimensions` must be 0, 1");
  expect_refused(mapped("%x: tensor<f64>", "stablehlo.return %x : tensor<f64>", "0"), "takes 2 arguments");
  expect_refused(mapped(arguments, "stablehlo.return %k : tensor<i32>", "0"), "must give");
}

}  // namespace
}  // namespace anvil::test
