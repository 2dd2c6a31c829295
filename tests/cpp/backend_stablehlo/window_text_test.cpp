// Reductions by regions, windows and convolutions as text: what is written reads back as the
// same graph, and what others write means what it says.
#include "backend/stablehlo/stablehlo.h"
#include "support/regions.h"
#include "support/structured.h"

namespace anvil::test {
namespace {

using Vars = std::vector<Var>;

void expect_same_after_reading(const Program& program, const std::vector<Tensor>& at) {
  graph::Graph g = build(program, at);
  auto read = stablehlo::read(stablehlo::write(g).text);
  EXPECT_EQ(graph::print(*read), graph::print(g));
  auto expected = eigen::evaluate(g, at), got = eigen::evaluate(*read, at);
  for (size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(values(got[k]), values(expected[k]));
}
Var number(graph::Graph& g, double x, DType t = DType::f64) { return primitives::literal(g, x, {t, {}}); }

TEST(WindowText, WhatIsWrittenReadsBack) {
  Tensor x = counting({4, 3});
  auto body = log_sum_exp(DType::f64);
  expect_same_after_reading(
      [&](graph::Graph& g, const Vars& v) {
        return call("reduce", {v[0], number(g, -1)}, {{"dims", Ints{1}, true}, {"body", body}});
      },
      {x});
  expect_same_after_reading(
      [&](graph::Graph& g, const Vars& v) {
        Var place = primitives::iota(g, 0, DType::i32, v[0].shape());
        return call("reduce", {v[0], place, number(g, -INFINITY), number(g, 0, DType::i32)},
                    {{"dims", Ints{0, 1}, true}, {"body", first_largest(DType::f64, DType::i32)}});
      },
      {x});
  for (const auto& g : {body, operation("maximum", DType::f64)})
    expect_same_after_reading(
        [&](graph::Graph& to, const Vars& v) {
          return call("cumulative", {v[0], number(to, -INFINITY)}, {{"dim", int64_t(1), true}, {"body", g}});
        },
        {x});
  expect_same_after_reading(
      [&](graph::Graph& g, const Vars& v) {
        return call("reduce_window", {v[0], number(g, 2)},
                    {{"window_dimensions", Ints{2, 2}},
                     {"window_strides", Ints{1, 2}},
                     {"base_dilations", Ints{2, 1}},
                     {"window_dilations", Ints{1, 2}},
                     {"padding_low", Ints{0, 1}},
                     {"padding_high", Ints{-1, 2}},
                     {"body", operation("mul", DType::f64)}});
      },
      {x});
  expect_same_after_reading(
      [&](graph::Graph& g, const Vars& v) {
        return call("select_and_scatter", {v[0], v[1], number(g, 0)},
                    {{"window_dimensions", Ints{2, 2}},
                     {"window_strides", Ints{2, 1}},
                     {"padding_low", Ints{0, 0}},
                     {"padding_high", Ints{0, 1}},
                     {"select", region({DType::f64, DType::f64}, [](const Vars& s) { return Vars{s[0] >= s[1]}; })},
                     {"scatter", operation("add", DType::f64)}});
      },
      {x, counting({2, 3})});
  expect_same_after_reading(
      [&](graph::Graph&, const Vars& v) {
        return call("convolution", {v[0], v[1]},
                    {{"window_strides", Ints{2}},
                     {"padding_low", Ints{-1}},
                     {"padding_high", Ints{2}},
                     {"lhs_dilation", Ints{2}},
                     {"rhs_dilation", Ints{1}},
                     {"reversed", Ints{0}, true},
                     {"input_dims", Ints{1, 2, 0}, true},
                     {"kernel_dims", Ints{0, 1, 2}, true},
                     {"output_dims", Ints{2, 0, 1}, true},
                     {"feature_group_count", int64_t(2)},
                     {"batch_group_count", int64_t(1)}});
      },
      {counting({4, 3, 2}), counting({4, 1, 2})});
}

std::vector<double> run(const std::string& text, const std::vector<Tensor>& at = {}) {
  return values(eigen::evaluate(*stablehlo::read(text), at).at(0));
}

TEST(WindowText, RegionsReadValuesAroundThemAndCallFunctions) {
  const char* text = R"(module {
    func.func private @f(%a: tensor<f64>, %b: tensor<f64>) -> tensor<f64> {
      %0 = stablehlo.multiply %a, %b : tensor<f64>
      return %0 : tensor<f64>
    }
    func.func public @main(%x: tensor<3xf64>, %k: tensor<f64>) -> tensor<f64> {
      %zero = stablehlo.constant dense<0.0> : tensor<f64>
      %r = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
       reducer(%a: tensor<f64>, %b: tensor<f64>) {
        %0 = func.call @f(%b, %k) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        %1 = stablehlo.add %a, %0 : tensor<f64>
        stablehlo.return %1 : tensor<f64>
      }
      return %r : tensor<f64>
    }
  })";
  EXPECT_EQ(run(text, {counting({3}), tensor(DType::f64, {}, {10})}), (std::vector<double>{60}));
}

std::string sliding(const char* operation, const char* initial, const char* window, const char* padding) {
  return std::string(
             "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
             "%c = stablehlo.constant dense<") +
         initial +
         "> : tensor<f32>\n"
         "%0 = \"stablehlo.reduce_window\"(%x, %c) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%1 = stablehlo." +
         operation +
         " %a, %b : tensor<f32>\nstablehlo.return %1 : tensor<f32>\n}) {window_dimensions = array<i64: " + window +
         ">, padding = dense<[[" + padding +
         "]]> : tensor<1x2xi64>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>\n"
         "return %0 : tensor<4xf32>\n}\n";
}
// Windows as long as the axis take one step per element, not one per element of every window.
TEST(WindowText, GrowingWindowsAreRunningReductions) {
  Tensor x = tensor(DType::f32, {4}, {2, 1, 3, 2});
  auto name = [](const std::string& text) { return stablehlo::read(text)->calls.back().primitive->name; };
  EXPECT_EQ(name(sliding("add", "0.0", "4", "3, 0")), "cumsum");
  EXPECT_EQ(run(sliding("add", "0.0", "4", "3, 0"), {x}), (std::vector<double>{2, 3, 6, 8}));
  EXPECT_EQ(run(sliding("add", "0.0", "4", "0, 3"), {x}), (std::vector<double>{8, 6, 5, 2}));
  EXPECT_EQ(name(sliding("maximum", "0xFF800000", "4", "3, 0")), "cumulative");
  EXPECT_EQ(run(sliding("maximum", "0xFF800000", "4", "3, 0"), {x}), (std::vector<double>{2, 2, 3, 3}));
  EXPECT_EQ(run(sliding("multiply", "1.0", "4", "0, 3"), {x}), (std::vector<double>{12, 6, 6, 2}));
  // the padding counts where the initial value is not neutral
  EXPECT_EQ(run(sliding("add", "1.0", "4", "3, 0"), {x}), (std::vector<double>{6, 6, 8, 9}));
  EXPECT_EQ(run(sliding("add", "1.0", "1", "0, 0"), {x}), (std::vector<double>{3, 2, 4, 3}));
}

// The maps y -> q + p y of two elements, one after the other, as a run over (p, q).
std::string recurrence(int n, const std::string& padding) {
  const std::string x = "tensor<" + std::to_string(n) + "xf64>", two = "(" + x + ", " + x + ")";
  return "func.func @main(%p: " + x + ", %q: " + x + ") -> " + x + R"( {
      %one = stablehlo.constant dense<1.0> : tensor<f64>
      %zero = stablehlo.constant dense<0.0> : tensor<f64>
      %0:2 = "stablehlo.reduce_window"(%p, %q, %one, %zero) ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %d: tensor<f64>):
        %1 = stablehlo.multiply %a, %c : tensor<f64>
        %2 = stablehlo.multiply %c, %b : tensor<f64>
        %3 = stablehlo.add %d, %2 : tensor<f64>
        stablehlo.return %1, %3 : tensor<f64>, tensor<f64>
      }) {window_dimensions = array<i64: )" +
         std::to_string(n) + ">, padding = dense<[[" + padding + "]]> : tensor<1x2xi64>} : (" + x + ", " + x +
         ", tensor<f64>, tensor<f64>) -> " + two + "\nreturn %0#1 : " + x + "\n}\n";
}
TEST(WindowText, RunsKeepTheOrder) {
  const std::vector<Tensor> maps = {tensor(DType::f64, {3}, {2, 3, 5}), tensor(DType::f64, {3}, {1, 10, 100})};
  EXPECT_EQ(run(recurrence(3, "2, 0"), maps), (std::vector<double>{1, 13, 165}));
  EXPECT_EQ(run(recurrence(3, "0, 2"), maps), (std::vector<double>{165, 150, 100}));
}
// That is where XLA confuses the order of those from the start.
TEST(WindowText, LongRunsAreWrittenFromTheEnd) {
  const auto g = stablehlo::read(recurrence(17, "16, 0"));
  const std::string text = stablehlo::write(*g).text;
  EXPECT_NE(text.find("padding = dense<[[0, 16]]>"), std::string::npos);
  EXPECT_EQ(graph::print(*stablehlo::read(text)), graph::print(*g));
  const std::vector<Tensor> maps(2, counting({17}));
  EXPECT_EQ(run(text, maps), run(recurrence(17, "16, 0"), maps));
}

TEST(WindowText, MapsAndScans) {
  EXPECT_EQ(run(R"(func.func @main(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
      %0 = "stablehlo.map"(%x, %y) ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %1 = stablehlo.subtract %a, %b : tensor<f64>
        stablehlo.return %1 : tensor<f64>
      }) {dimensions = array<i64: 0>} : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
      return %0 : tensor<3xf64>
    })",
                {counting({3}), tensor(DType::f64, {3}, {3, 1, 1})}),
            (std::vector<double>{-2, 1, 2}));
  EXPECT_EQ(run(R"(func.func @main(%x: tensor<2x3xi32>) -> tensor<3x2xi32> {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %0:2 = chlo.scan(%x) inits(%c) dimension=1 attributes {is_reverse = true} {
      ^bb0(%a: tensor<2xi32>, %s: tensor<i32>):
        %one = stablehlo.constant dense<1> : tensor<i32>
        %1 = stablehlo.add %s, %one : tensor<i32>
        %2 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i32>) -> tensor<2xi32>
        %3 = stablehlo.multiply %a, %2 : tensor<2xi32>
        stablehlo.return %3, %1 : tensor<2xi32>, tensor<i32>
      } : (tensor<2x3xi32>, tensor<i32>) -> (tensor<2x3xi32>, tensor<i32>)
      %4 = stablehlo.transpose %0#0, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
      return %4 : tensor<3x2xi32>
    })",
                {counting({2, 3}, DType::i32)}),
            (std::vector<double>{2, 3, 0, 4, 4, 0}));
}

TEST(WindowText, GradientsOfExtremesAreWritten) {
  graph::Graph g = build(
      [&](graph::Graph& to, const Vars& v) {
        Vars y = call("reduce_window", {v[0], number(to, -INFINITY)},
                      {{"window_dimensions", Ints{2}},
                       {"window_strides", Ints{2}},
                       {"base_dilations", Ints{1}},
                       {"window_dilations", Ints{1}},
                       {"padding_low", Ints{0}},
                       {"padding_high", Ints{0}},
                       {"body", operation("maximum", DType::f64)}});
        return Vars{primitives::reduce_sum(y[0], {0})};
      },
      {counting({4})});
  auto derivative = transform::gradient(g, {true}, false);
  graph::GraphPtr back = stablehlo::read(stablehlo::write(*derivative).text);
  for (const graph::Graph* d : {derivative.get(), back.get()})  // equal elements share
    EXPECT_EQ(values(eigen::evaluate(*d, {tensor(DType::f64, {4}, {1, 1, 2, 3})}).at(0)),
              (std::vector<double>{0.5, 0.5, 0, 1}));
}

}  // namespace
}  // namespace anvil::test
