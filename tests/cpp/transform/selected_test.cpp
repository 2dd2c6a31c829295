// A branch that was not taken makes no NaN of a gradient, wherever its function is infinite.
#include <gtest/gtest.h>

#include <cmath>

#include "transform/forward.h"
#include "transform/reverse.h"
#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using primitives::record;

GraphPtr summed(const std::function<Var(Var)>& f, int64_t n) {
  return trace({f64({n})}, [&](Graph&, const Vars& x) { return Vars{primitives::reduce_sum(f(x[0]), {0})}; });
}
std::vector<double> slopes(const std::function<Var(Var)>& f, const std::vector<double>& at, int order = 1) {
  const auto n = static_cast<int64_t>(at.size());
  GraphPtr g = summed(f, n);
  for (int k = 0; k < order; ++k) {
    g = transform::gradient(*g, {true}, false);
    Var y{g.get(), g->outputs[0]};
    if (k + 1 < order) g->outputs = {primitives::reduce_sum(y, {0}).value};
  }
  const Tensor x = tensor({n}, at);
  const auto found = numbers(eigen::evaluate(*g, {x})[0]);
  transform::optimize(*g);
  EXPECT_EQ(numbers(eigen::evaluate(*g, {x})[0]), found);
  return found;
}
using Numbers = std::vector<double>;

TEST(Selected, TheOtherBranchMayBeInfinite) {
  const Numbers at = {-1, 0, 2};
  EXPECT_EQ(slopes([](Var x) { return select(x > 0.0, log(x), x * 3.0); }, at), (Numbers{3, 3, 0.5}));
  EXPECT_EQ(slopes([](Var x) { return select(x > 0.0, sqrt(x), zeros_like(x)); }, {0, 4}), (Numbers{0, 0.25}));
  EXPECT_EQ(slopes([](Var x) { return select(x == 0.0, x, 1.0 / x); }, {0, 2}), (Numbers{1, -0.25}));
  EXPECT_EQ(slopes([](Var x) { return select(x > 0.0, pow(x, x), x); }, {-1, 1}), (Numbers{1, 1}));
}

TEST(Selected, ThroughSeveralCallsAndConstants) {
  const auto chain = [](Var x) { return select(x > 0.0, exp(-(1.0 / (x * x)) + 1.0) * 2.0, zeros_like(x)); };
  EXPECT_EQ(slopes(chain, {0, 1})[0], 0);
  EXPECT_NEAR(slopes(chain, {0, 1})[1], 4, 1e-12);
  // beside a use that counts
  EXPECT_EQ(slopes([](Var x) { return select(x > 0.0, log(x), x) + x * x; }, {0, 2}), (Numbers{1, 4.5}));
}

TEST(Selected, MaximaAndClampsToo) {
  EXPECT_EQ(slopes([](Var x) { return maximum(sqrt(x), literal(x, 1)); }, {0, 4}), (Numbers{0, 0.25}));
  EXPECT_EQ(slopes([](Var x) { return minimum(1.0 / x, literal(x, 5)); }, {0, 0.5}), (Numbers{0, -4}));
  EXPECT_EQ(slopes(
                [](Var x) {
                  return record("clamp", {literal(x, 1), sqrt(x), literal(x, 3)});
                },
                {0, 4}),
            (Numbers{0, 0.25}));
  EXPECT_EQ(slopes([](Var x) { return primitives::reduce_max(sqrt(x), {0}, false); }, {0, 4}), (Numbers{0, 0.25}));
}

TEST(Selected, HigherDerivatives) {
  const auto f = [](Var x) { return select(x > 0.0, log(x), x * x); };
  EXPECT_EQ(slopes(f, {-3, 0, 2}, 2), (Numbers{2, 2, -0.25}));
  EXPECT_EQ(slopes(f, {-3, 0, 2}, 3), (Numbers{0, 0, 0.25}));
}

// A derivative that merely happens to be zero is none of an element that was not taken: it has one itself.
TEST(Selected, ZerosOfWhatWasTakenHaveDerivatives) {
  const auto squared = [](Var y) { return y * y; };
  const auto twice = [&](const std::function<Var(Var)>& f, double at) { return slopes(f, {at}, 2)[0]; };
  EXPECT_EQ(twice([&](Var x) { return squared(select(x > -1.0, exp(x) - 1.0, x)); }, 0), 2);
  EXPECT_EQ(twice([&](Var x) { return squared(maximum(sin(x), literal(x, -1))); }, 0), 2);
  EXPECT_EQ(twice([&](Var x) { return squared(primitives::reduce_max(sin(x), {0}, false)); }, 0), 2);
  EXPECT_EQ(twice([&](Var x) { return squared(record("clamp", {literal(x, -1), sin(x), literal(x, 3)})); }, 0), 2);
  // and none where it was not taken, although its slope there is finite and only the next one is not
  EXPECT_EQ(twice([](Var x) { return select(x > 0.0, pow(x, literal(x, 1.5)), zeros_like(x)); }, 0), 0);
  EXPECT_EQ(twice([](Var x) { return -sqrt(select(x > 0.0, -(-x), zeros_like(x)) * 2.0); }, -1), 0);
}
TEST(Selected, DerivativesByCotangentsAndTangentsAtZero) {
  const auto g =
      trace({f64({2})}, [](Graph&, const Vars& x) { return Vars{exp(select(x[0] > 0.0, sin(x[0] * 2.0), x[0]))}; });
  const std::vector<double> at = {0.3, -0.5};
  for (const bool forward : {true, false}) {
    const auto derivative = forward ? transform::jvp(*g, {true}) : transform::vjp(*g, {true});
    const auto back = transform::vjp(*derivative, {false, true}, {false, true});
    const Numbers found =
        numbers(eigen::evaluate(*back, {tensor({2}, at), tensor({2}, {0, 0}), tensor({2}, {1, 1})})[2]);
    EXPECT_NEAR(found[0], 2 * std::cos(0.6) * std::exp(std::sin(0.6)), 1e-14);
    EXPECT_NEAR(found[1], std::exp(-0.5), 1e-14);
  }
}
// A call that selects may hand on what came back as it is.
TEST(Selected, WhatComesBackUnchanged) {
  const auto f = [](Var x) {
    const auto add = std::make_shared<Graph>();
    const TensorType number{DType::f64, {}};
    for (int k = 0; k < 2; ++k) add->inputs.push_back(graph::make_value(graph::Value::Kind::input, number));
    add->outputs = {(Var{add.get(), add->inputs[0]} + Var{add.get(), add->inputs[1]}).value};
    const Var zero = primitives::literal(*x.graph, 0, number);
    const Var y = record("reduce", {sqrt(x), zero}, {{"dims", std::vector<int64_t>{}, true}, {"body", add}});
    return y;
  };
  EXPECT_EQ(slopes(f, {4, 1}), (Numbers{0.25, 0.5}));
}
// What one of two took is taken.
TEST(Selected, SumsOfTwo) {
  const auto f = [](Var x) {
    const Var y = exp(x), zero = zeros_like(x);
    return select(x > 0.0, y, zero) + select(x <= 0.0, y, zero) * 2.0;
  };
  const Numbers found = slopes(f, {-1, 1});
  EXPECT_DOUBLE_EQ(found[0], 2 * std::exp(-1));
  EXPECT_DOUBLE_EQ(found[1], std::exp(1));
}
// Chains of any length end no stack.
TEST(Selected, ThroughAnyNumberOfCalls) {
  const auto f = [](Var x) {
    Var y = sqrt(x);
    for (int k = 0; k < 5000; ++k) y = reshape(-y, k % 2 == 0 ? Shape{1, 1} : Shape{1});
    return select(x > 0.0, reshape(y, {1}), x);
  };
  EXPECT_EQ(slopes(f, {0}), Numbers{1});
}

// What was taken keeps its infinity: it is true.
TEST(Selected, WhatWasTakenStays) {
  EXPECT_EQ(slopes([](Var x) { return select(x >= 0.0, sqrt(x), x); }, {0, 4}), (Numbers{INFINITY, 0.25}));
}

}  // namespace
}  // namespace anvil::testing
