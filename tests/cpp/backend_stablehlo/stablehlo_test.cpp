// StableHLO text: the document's forms to the letter, round trips that keep values, and
// refusals that say where.
#include "backend/stablehlo/stablehlo.h"

#include <gtest/gtest.h>

#include "backend/eigen/evaluate.h"
#include "backend_stablehlo/refused.h"
#include "primitives/vocabulary/var.h"

namespace anvil {
namespace {

using graph::Graph;
using graph::Tensor;
using graph::TensorType;
using graph::Value;
using primitives::Var;
using test::refusal;

struct Build {
  Graph g;
  Var input(DType t, Shape shape) {
    g.inputs.push_back(graph::make_value(Value::Kind::input, {t, std::move(shape), false}));
    return {&g, g.inputs.back()};
  }
  void output(Var v) { g.outputs.push_back(v.value); }
};

// Small distinct numbers: 0.5, 1, 1.5, ...
Tensor numbers(const TensorType& type) {
  Tensor t = graph::allocate(type);
  for (int64_t i = 0; i < elements(type.shape); ++i)
    graph::set_element(t, i, is_float(type.dtype) ? Scalar(0.5 * static_cast<double>(i + 1)) : Scalar(i % 5 + 1));
  return t;
}

void expect_round_trip(const Graph& g) {
  std::string text = stablehlo::write(g).text;
  graph::GraphPtr read = stablehlo::read(text);
  primitives::verify(*read);
  std::vector<Tensor> inputs;
  for (const auto& v : g.inputs) inputs.push_back(numbers(v->type));
  auto expected = eigen::evaluate(g, inputs), got = eigen::evaluate(*read, inputs);
  ASSERT_EQ(expected.size(), got.size()) << text;
  for (size_t k = 0; k < got.size(); ++k) {
    ASSERT_TRUE(graph::same_type(expected[k].type, got[k].type)) << text;
    for (int64_t i = 0; i < elements(got[k].type.shape); ++i)
      EXPECT_EQ(graph::element(expected[k], i), graph::element(got[k], i)) << text;
  }
  // what is read is written in the same words
  EXPECT_EQ(stablehlo::write(*stablehlo::read(stablehlo::write(*read).text)).text, stablehlo::write(*read).text);
}

TEST(StableHlo, WritesTheDocumentedText) {
  Build b;
  Var x = b.input(DType::f32, {}), y = b.input(DType::f32, {});
  b.output(x * y);
  EXPECT_EQ(stablehlo::write(b.g).text,
            "func.func @main (%0: tensor<f32>, %1: tensor<f32>) -> tensor<f32> {\n"
            "%2 = \"stablehlo.multiply\" (%0, %1): (tensor<f32>, tensor<f32>) -> (tensor<f32>)\n"
            "\"func.return\"(%2): (tensor<f32>) -> ()\n"
            "}\n");
}

TEST(StableHlo, ReductionHasARegion) {
  Build b;
  b.output(primitives::reduce_sum(b.input(DType::f32, {2, 3}), {1}));
  EXPECT_EQ(stablehlo::write(b.g).text,
            "func.func @main (%0: tensor<2x3xf32>) -> tensor<2xf32> {\n"
            "%1 = \"stablehlo.constant\" () {\nvalue = dense<0.00000000e+00> : tensor<f32>\n}: () -> (tensor<f32>)\n"
            "%2 = \"stablehlo.reduce\" (%0, %1)({\n"
            "  ^bb0(%a3: tensor<f32>, %b3: tensor<f32>):\n"
            "    %4 = \"stablehlo.add\" (%a3, %b3): (tensor<f32>, tensor<f32>) -> (tensor<f32>)\n"
            "    \"stablehlo.return\"(%4): (tensor<f32>) -> ()\n"
            "}) {\ndimensions = array<i64: 1>\n}: (tensor<2x3xf32>, tensor<f32>) -> (tensor<2xf32>)\n"
            "\"func.return\"(%2): (tensor<2xf32>) -> ()\n"
            "}\n");
}

TEST(StableHlo, ConstantsComeFirst) {
  Build b;
  Var x = b.input(DType::f32, {2});
  Var c{&b.g, graph::make_constant(numbers({DType::f32, {2}, false}))};
  b.g.constants.push_back(c.value);
  b.output(x + c);
  auto written = stablehlo::write(b.g);
  ASSERT_EQ(written.constants.size(), 1u);
  EXPECT_EQ(written.constants[0], c.value);
  EXPECT_NE(written.text.find("(%1, %0)"), std::string::npos);
  EXPECT_NE(stablehlo::write(b.g, false).text.find("dense<[5.00000000e-01, 1.00000000e+00]>"), std::string::npos);
}

TEST(StableHlo, RoundTripsElementwise) {
  Build b;
  Var x = b.input(DType::f64, {3, 2}), y = b.input(DType::f64, {3, 2});
  Var s = primitives::select(x < y + 1.0, primitives::exp(-x), primitives::log(x) * 2.0);
  b.output(s);
  b.output(primitives::record("round", {x}, {{"method", std::string("afz")}}));
  b.output(primitives::convert(x, DType::i32));
  b.output(primitives::record("clamp", {primitives::literal(b.g, Scalar(1.0), {DType::f64, {}, false}), x, y}));
  expect_round_trip(b.g);
}

TEST(StableHlo, RoundTripsShapes) {
  Build b;
  Var x = b.input(DType::f32, {4, 3, 2});
  b.output(primitives::reshape(x, {6, 4}));
  b.output(primitives::reshape(x, {24}));
  b.output(primitives::reshape(x, {4, 1, 3, 2}));
  b.output(primitives::transpose(x, {2, 0, 1}));
  b.output(primitives::reverse(x, {0, 2}));
  b.output(primitives::slice(x, {1, 0, 0}, {4, 3, 1}, {2, 1, 1}));
  b.output(primitives::pad(x, primitives::literal(b.g, Scalar(9.0), {DType::f32, {}, false}), {1, 0, -1}, {0, 2, 0},
                           {1, 0, 0}));
  b.output(primitives::concatenate({x, x}, 1));
  b.output(primitives::broadcast_in_dim(x, {4, 3, 5, 2}, {0, 1, 3}));
  b.output(primitives::iota(b.g, 1, DType::i32, {2, 3}, 1));
  b.output(primitives::cumsum(x, 1));
  b.output(primitives::reduce_max(x, {0, 2}, false));
  expect_round_trip(b.g);
}

TEST(StableHlo, ReshapesAreReadBackAsOne) {
  Build b;
  b.output(primitives::reshape(b.input(DType::f32, {4, 3}), {2, 6}));
  EXPECT_EQ(graph::print(*stablehlo::read(stablehlo::write(b.g).text)), graph::print(b.g));
}

TEST(StableHlo, RoundTripsProductsAndIndexing) {
  Build b;
  Var x = b.input(DType::f64, {4, 3}), y = b.input(DType::f64, {4, 3}), i = b.input(DType::i32, {}),
      j = b.input(DType::i32, {});
  b.output(primitives::dot_general(x, y, {0}, {0}, {}, {}));
  b.output(primitives::dot_general(x, y, {1}, {1}, {0}, {0}));
  b.output(primitives::dynamic_slice(x, {i, j}, {2, 2}));
  b.output(primitives::dynamic_update_slice(x, primitives::slice(y, {0, 0}, {2, 1}, {1, 1}), {i, j}));
  expect_round_trip(b.g);
}

TEST(StableHlo, RoundTripsControlFlow) {
  Build b;
  Var x = b.input(DType::f64, {}), n = b.input(DType::i32, {});
  auto condition = std::make_shared<Graph>(), body = std::make_shared<Graph>();
  for (auto& g : {condition, body})
    for (DType t : {DType::f64, DType::i32}) g->inputs.push_back(graph::make_value(Value::Kind::input, {t, {}, false}));
  Var i{condition.get(), condition->inputs[1]};
  condition->outputs = {(i < Var{condition.get(), n.value}).value};
  Var v{body.get(), body->inputs[0]}, k{body.get(), body->inputs[1]};
  body->outputs = {(v * 1.5).value, (k + 1.0).value};
  Var zero = primitives::literal(n, Scalar(0));
  auto results = primitives::record(b.g, primitives::registry().at("while"), {x.value, zero.value},
                                    {{"cond_graph", condition}, {"body_graph", body}});
  auto yes = std::make_shared<Graph>(), no = std::make_shared<Graph>();
  yes->outputs = {(Var{yes.get(), x.value} * 2.0).value};
  no->outputs = {(Var{no.get(), x.value} + 7.0).value};
  auto chosen = primitives::record(b.g, primitives::registry().at("if"), {(x < 1.0).value},
                                   {{"true_graph", yes}, {"false_graph", no}});
  b.g.outputs = {results[0], results[1], chosen[0]};
  expect_round_trip(b.g);
}

TEST(StableHlo, SpecialNumbersHaveTheBitsOfTheirType) {
  Build b;
  b.output(primitives::literal(b.g, Scalar(INFINITY), {DType::f64, {}, false}));
  b.output(primitives::literal(b.g, Scalar(-INFINITY), {DType::f32, {}, false}));
  b.output(primitives::literal(b.g, Scalar(NAN), {DType::f64, {}, false}));
  std::string text = stablehlo::write(b.g).text;
  EXPECT_NE(text.find("0x7FF0000000000000"), std::string::npos);
  EXPECT_NE(text.find("0xFF800000"), std::string::npos);
  EXPECT_NE(text.find("0x7FF8000000000000"), std::string::npos);
}

TEST(StableHlo, ReadsPrettyForms) {
  graph::GraphPtr g = stablehlo::read(R"(
    // a comment
    module @m attributes {mhlo.num_partitions = 1 : i32} {
      func.func public @main(%arg0: tensor<2x3xf32> {jax.arg_info = "x"}) -> (tensor<2xf32> {jax.result_info = ""}) {
        %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %0 = call @double(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
        %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
        return %1 : tensor<2xf32> loc(unknown)
      }
      func.func private @double(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
        %0 = stablehlo.add %x, %x : tensor<2x3xf32>
        return %0 : tensor<2x3xf32>
      }
    })");
  Tensor y = eigen::evaluate(*g, {numbers({DType::f32, {2, 3}, false})})[0];
  EXPECT_EQ(graph::element(y, 0).as<double>(), 2 * (0.5 + 1.5 + 2.5));
}

TEST(StableHlo, RefusalsNameThePlace) {
  EXPECT_EQ(refusal("func.func @main(%0: tensor<2xf32>) -> tensor<2xf32> {\n  %1 = stablehlo.nonsense %0 : "
                    "tensor<2xf32>\n  return %1 : tensor<2xf32>\n}"),
            "Line 2, column 3: the operation `stablehlo.nonsense` is not supported");
  EXPECT_EQ(refusal("func.func @main(%0: tensor<?xf32>) -> tensor<2xf32> {}"),
            "Line 1, column 28: the size `?` of `tensor<?xf32>` is not supported; sizes must be numbers");
  EXPECT_NE(refusal("func.func @main(%0: tensor<2xf32>) -> tensor<2xf32> {\n return %3 : tensor<2xf32> }")
                .find("`%3` is not defined"),
            std::string::npos);
  EXPECT_NE(refusal("func.func @f() -> tensor<f32> {\n %0 = call @f() : () -> tensor<f32>\n return %0 : tensor<f32> }")
                .find("calls itself"),
            std::string::npos);
  EXPECT_NE(refusal(std::string(100000, '(')), "accepted");
  EXPECT_NE(refusal("module " + std::string(100000, '{')), "accepted");
  EXPECT_NE(refusal("func.func @main() -> tensor<4xi8> {\n %0 = stablehlo.constant dense<[1, 2, 300, 4]> : "
                    "tensor<4xi8>\n return %0 : tensor<4xi8> }")
                .find("300"),
            std::string::npos);
  EXPECT_NE(refusal("func.func @main() -> tensor<f32> {"), "accepted");
  EXPECT_NE(refusal(""), "accepted");
}

}  // namespace
}  // namespace anvil
