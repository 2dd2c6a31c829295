// Calls that own their rules: derivatives of both modes and any order, residuals, batches.
#include <gtest/gtest.h>

#include "primitives/vocabulary/composite.h"
#include "transform/batch.h"
#include "transform/forward.h"
#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using primitives::Primitive;
using Numbers = std::vector<double>;
using Rules = std::shared_ptr<const Primitive>;

// x^2 and, kept for the rule, 10 x.
GraphPtr definition() {
  return trace({f64({2})}, [](Graph&, const Vars& x) { return Vars{x[0] * x[0], x[0] * 10.0}; });
}
Rules backward() {  // 10 x, five times the derivative
  return std::make_shared<const Primitive>(primitives::composite("ruled", [](primitives::ReverseStep& step) {
    set(step, 0, cotangent(step) * Var{&step.graph, step.call.outputs[1]});
  }));
}
Rules forward() {
  Primitive p = primitives::composite("ruled", nullptr);
  p.forward = [](primitives::ForwardStep& step) {
    step.results[0] = (tangent(step, 0) * Var{&step.graph, step.call.outputs[1]}).value;
    return true;
  };
  return std::make_shared<const Primitive>(std::move(p));
}
Var ruled(Var x, Rules rules) {
  return {x.graph, primitives::record_ruled(*x.graph, std::move(rules), {x.value}, definition(), 1)[0]};
}
GraphPtr summed(const Rules& rules) {
  return trace({f64({2})}, [&](Graph&, const Vars& x) { return Vars{reduce_sum(ruled(x[0], rules), {0})}; });
}
// By the evaluator, and after all passes.
Numbers evaluated(const Graph& g, const Numbers& at, Shape shape = {2}) {
  primitives::verify(g);
  const Numbers found = numbers(eigen::evaluate(g, {tensor(shape, at)}).back());
  Graph optimized = *primitives::expand(g, primitives::Reader::backend);
  transform::optimize(optimized);
  EXPECT_EQ(numbers(eigen::evaluate(optimized, {tensor(shape, at)}).back()), found);
  return found;
}
size_t count(const Graph& g, const std::string& name) {
  return static_cast<size_t>(
      std::count_if(g.calls.begin(), g.calls.end(), [&](const graph::Call& c) { return c.primitive->name == name; }));
}

TEST(Ruled, RulesOfOneModeServeBoth) {
  for (const Rules& rules : {backward(), forward()}) {
    const GraphPtr f = summed(rules), slope = transform::gradient(*f, {true}, false);
    EXPECT_EQ(evaluated(*f, {3, -1}), (Numbers{10}));
    EXPECT_EQ(evaluated(*slope, {3, -1}), (Numbers{30, -10}));
    const GraphPtr moved = transform::jvp(*f, {true});
    EXPECT_EQ(numbers(eigen::evaluate(*moved, {tensor({2}, {3, -1}), tensor({2}, {1, 2})})[1]), (Numbers{10}));
  }
}

TEST(Ruled, SecondDerivativesAreThoseOfTheRuleAndOfWhatItKeeps) {
  for (const Rules& rules : {backward(), forward()}) {
    GraphPtr slope = transform::gradient(*summed(rules), {true}, true);
    EXPECT_EQ(count(*slope, "ruled"), 1u);  // what is kept is not made again
    Graph both = *slope;
    const Var value{&both, both.outputs[0]}, dx{&both, both.outputs[1]};
    both.outputs = {(value + reduce_sum(dx * dx, {0})).value};
    const GraphPtr second = transform::gradient(both, {true}, false);  // 10 x + 200 x
    EXPECT_EQ(evaluated(*second, {3, -1}), (Numbers{630, -210}));
  }
}

TEST(Ruled, GoWithTheirCalls) {
  Rules rules = backward();
  const std::weak_ptr<const Primitive> seen = rules;
  GraphPtr f = summed(rules);
  rules.reset();
  EXPECT_FALSE(seen.expired());
  const GraphPtr slope = transform::gradient(*f, {true}, false);
  f.reset();
  EXPECT_EQ(evaluated(*slope, {3, -1}), (Numbers{30, -10}));
  const GraphPtr compiled = primitives::expand(*slope, primitives::Reader::backend);
  const_cast<Graph&>(*slope) = {};
  EXPECT_TRUE(seen.expired());
  EXPECT_EQ(evaluated(*compiled, {3, -1}), (Numbers{30, -10}));
}

TEST(Ruled, BatchesHaveBatchedRules) {
  for (const Rules& rules : {backward(), forward()}) {
    const GraphPtr f = summed(rules);
    Graph together = *transform::batch(*f, {true}, 3);
    EXPECT_EQ(count(together, "ruled"), 1u);
    EXPECT_EQ(count(together, "while"), 0u);
    const Numbers at = {1, 2, 3, 4, 5, 6}, slopes = {10, 20, 30, 40, 50, 60};
    const Shape shape = {2, 3};
    EXPECT_EQ(evaluated(together, at, shape), (Numbers{5, 25, 61}));
    together.outputs = {reduce_sum(Var{&together, together.outputs[0]}, {0}).value};
    EXPECT_EQ(evaluated(*transform::gradient(together, {true}, false), at, shape), slopes);
    EXPECT_EQ(evaluated(*transform::batch(*transform::gradient(*f, {true}, false), {true}, 3), at, shape), slopes);
  }
}

// What is the same for all examples has the sum of their cotangents.
TEST(Ruled, SharedOperandsOfABatch) {
  const auto rules =
      std::make_shared<const Primitive>(primitives::composite("ruled", [](primitives::ReverseStep& step) {
        set(step, 0, cotangent(step) * operand(step, 1) * 10.0);
        set(step, 1, cotangent(step) * operand(step, 0) * 100.0);
      }));
  const auto product = trace({f64_scalar, f64_scalar}, [](Graph&, const Vars& x) { return Vars{x[0] * x[1]}; });
  const auto f = trace({f64_scalar, f64_scalar}, [&](Graph& g, const Vars& x) {
    return Vars{{&g, primitives::record_ruled(g, rules, {x[0].value, x[1].value}, product)[0]}};
  });
  Graph together = *transform::batch(*f, {false, true}, 3);
  together.outputs = {reduce_sum(Var{&together, together.outputs[0]}, {0}).value};
  const auto slopes =
      eigen::evaluate(*transform::gradient(together, {true, true}, false), {tensor({}, {2}), tensor({3}, {1, 2, 4})});
  EXPECT_EQ(numbers(slopes[0]), (Numbers{70}));
  EXPECT_EQ(numbers(slopes[1]), (Numbers{200, 200, 200}));
}

TEST(Ruled, NoDerivativeIsLost) {
  const auto f = trace({f64({2})}, [](Graph& g, const Vars& x) {
    auto reads = trace({f64({2})}, [&](Graph& inner, const Vars& y) { return Vars{y[0] * in(inner, x[0]), y[0]}; });
    reads->constants = captures(*reads);
    return Vars{reduce_sum(Var{&g, primitives::record_ruled(g, backward(), {x[0].value}, reads, 1)[0]}, {0})};
  });
  EXPECT_THROW(transform::gradient(*f, {true}, false), Error);
  EXPECT_THROW(transform::jvp(*f, {true}), Error);
}

}  // namespace
}  // namespace anvil::testing
