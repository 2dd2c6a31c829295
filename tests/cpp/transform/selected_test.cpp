// A branch that was not taken makes no NaN of a gradient, wherever its function is infinite.
#include <gtest/gtest.h>

#include <cmath>

#include "primitives/families/control.h"
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

// f(x) where x > 0, and elsewhere nothing of it.
std::function<Var(Var)> where_positive(const std::function<Var(Var)>& f) {
  return [f](Var x) { return select(x > 0.0, f(sqrt(x)), zeros_like(x)); };
}
Var columns(Var x, int64_t n) { return broadcast_in_dim(x, {x.shape()[0], n}, {0}); }

TEST(Selected, ThroughProductsOfRows) {
  const auto f = [](Var x) {
    Var y = columns(sqrt(x), 2), w = primitives::literal(*x.graph, -1, {DType::f64, {2, 3}});
    Var product = dot_general(y, w, {1}, {0}, {}, {}), mask = broadcast_in_dim(x > 0.0, {x.shape()[0], 3}, {0});
    return primitives::reduce_sum(select(mask, product, zeros_like(product)), {1});
  };
  EXPECT_EQ(slopes(f, {0, 4}), (Numbers{0, -1.5}));
}
// A coefficient that happens to be zero is one: what it is multiplied with was taken, and has a derivative.
TEST(Selected, CoefficientsOfProductsThatAreZero) {
  const auto f = [](Var x) {
    Var row = reshape(x, {1, 2}), zero = primitives::reshape(x - x, {2, 1});
    Var y = primitives::reshape(dot_general(exp(row), zero, {1}, {0}, {}, {}), {1});
    return select(y == 0.0, y * y + primitives::reduce_sum(x * (x - 1.0) * 3.0, {0}, false), y);
  };
  EXPECT_EQ(slopes([&](Var x) { return f(x); }, {1, 2}, 2), (Numbers{6, 6}));
}
TEST(Selected, ThroughSortingAndReplacing) {
  const auto sorted = [](Var y) {
    return record("sort", {y},
                  {{"dim", int64_t{0}, true}, {"descending", false}, {"is_stable", true}, {"num_keys", int64_t{1}}});
  };
  EXPECT_EQ(slopes(where_positive(sorted), {0, 4}), (Numbers{0, 0.25}));
  const auto replaced = [](Var x) {
    Var at = primitives::literal(*x.graph, 0, {DType::i64, {}});
    return primitives::dynamic_update_slice(sqrt(x), primitives::literal(*x.graph, 1, {DType::f64, {1}}), {at});
  };
  EXPECT_EQ(slopes(replaced, {0, 4}), (Numbers{0, 0.25}));
  const auto best = [](Var x) { return record("top_k", {sqrt(x)}, {{"k", int64_t{1}}}); };
  EXPECT_EQ(slopes(best, {0, 4}), (Numbers{0, 0.25}));
}
// Of one value, read by several calls that each see a part of it.
TEST(Selected, PartsOfOneValue) {
  const auto halves = [](Var x) {
    Var y = sqrt(x), a = slice(y, {0}, {2}, {1}), b = slice(y, {2}, {4}, {1}), c = slice(y, {1}, {3}, {1});
    const auto positive = [](Var v) { return select(v > 0.0, v, zeros_like(v)); };
    return positive(a) + positive(b) + positive(c);
  };
  EXPECT_EQ(slopes(halves, {0, 4, 0, 1}), (Numbers{0, 0.5, 0, 0.5}));
}
TEST(Selected, BranchesCheckpointsAndLoopsThatDoNotRun) {
  const auto norm = [](Var x) {
    Var n = sqrt(primitives::reduce_sum(x * x, {0})), sum = primitives::reduce_sum(x, {0});
    const auto either = if_else(
        *x.graph, n > 0.0, [&](Graph& g) { return Vars{in(g, n) * 1.0}; },
        [&](Graph& g) { return Vars{in(g, sum) * 1.0}; });
    return reshape(either[0], {1});
  };
  EXPECT_EQ(slopes(norm, {0, 0}), (Numbers{1, 1}));
  EXPECT_DOUBLE_EQ(slopes(norm, {3, 4})[1], 0.8);
  const auto again = [](Var y) {
    const auto body = std::make_shared<Graph>();
    body->outputs = {exp(in(*body, y)).value};
    return Var{y.graph, primitives::checkpoint(*y.graph, body)[0]};
  };
  EXPECT_EQ(slopes(where_positive(again), {0, 1}), (Numbers{0, std::exp(1) / 2}));
  for (const int64_t steps : {0, 2}) {
    const auto looped = [steps](Var x) {
      Var y = sqrt(x), end = convert(primitives::reduce_sum(x - x, {0}), DType::i64) + static_cast<double>(steps);
      const auto step = [&](Graph&, Var, const Vars& s) { return Vars{s[0] + in(*s[0].graph, y)}; };
      return primitives::counting_loop(*x.graph, end, {x}, step)[0];
    };
    EXPECT_EQ(slopes(looped, {0, 4}), steps == 0 ? (Numbers{1, 1}) : (Numbers{INFINITY, 1.5}));
  }
}

// What was not taken of a sum of two is asked for once, also where an inner graph asks.
TEST(Selected, SumsAroundAnInnerGraph) {
  const auto f = [](Var x) {
    const auto body = std::make_shared<Graph>();
    body->outputs = {exp(in(*body, x)).value};
    Var y{x.graph, primitives::checkpoint(*x.graph, body)[0]};
    for (int k = 0; k < 60; ++k) y = select(y > 0.0, y, zeros_like(y)) * 0.5 + select(y > -1.0, y, zeros_like(y)) * 0.5;
    return y;
  };
  EXPECT_EQ(slopes(f, {0}), Numbers{1});
}

int64_t calls_of(const Graph& g) {
  int64_t n = 0;
  for (const graph::Call& c : g.calls) {
    ++n;
    for (const GraphPtr& inner : subgraphs(c)) n += calls_of(*inner);
  }
  return n;
}
// And of a tangent in each inner graph: weights ask for weights of two before them there.
TEST(Selected, OnceInEachInnerGraphOfATangent) {
  const auto calls = [](int steps) {
    const auto f = [&](Var x) {
      const auto body = std::make_shared<Graph>();
      body->outputs = {sin(in(*body, x)).value};
      Var y{x.graph, primitives::checkpoint(*x.graph, body)[0]};
      for (int k = 0; k < steps; ++k) y = maximum(y * y, y * 0.5);
      return y;
    };
    return calls_of(*transform::jvp(*transform::gradient(*summed(f, 2), {true}, false), {true}));
  };
  EXPECT_LT(calls(4), 3 * calls(2));
}

// And once for all that branches read from around them, at each depth of those in branches.
TEST(Selected, OnceForAllThatBranchesRead) {
  const auto calls = [](int branches) {
    const GraphPtr f = trace({f64({2}), {DType::i32, {}}}, [&](Graph& g, const Vars& x) {
      primitives::Params params;
      for (int i = 0; i < branches; ++i) {
        const auto body = std::make_shared<Graph>();
        body->outputs = {in(*body, x[0] * (i + 1.0)).value};
        params.items.push_back({"branch" + std::to_string(i + 1) + "_graph", body, false});
      }
      const Var y{&g, record(g, primitives::registry().at("case"), {x[1].value}, params)[0]};
      return Vars{primitives::reduce_sum(y, {0})};
    });
    return calls_of(*transform::gradient(*f, {true, false}, false));
  };
  EXPECT_LT(calls(16), 5 * calls(8));
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
