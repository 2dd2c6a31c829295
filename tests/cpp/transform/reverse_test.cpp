#include "transform/reverse.h"

#include <gtest/gtest.h>

#include <cmath>

#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using primitives::reduce_sum;
using primitives::sort;

const TensorType f32_scalar{DType::f32, {}};

TEST(Gradient, PrintsForwardAndBackwardCalls) {
  auto f = trace({f32_scalar, f32_scalar}, [](Graph&, const Vars& x) { return Vars{x[0] * x[1]}; });
  EXPECT_EQ(print(*transform::gradient(*f, {true, true}, false)),
            "<AnvilGraph>\n"
            "  Inputs:\n"
            "    %x1: f32[]\n"
            "    %x2: f32[]\n"
            "  Constants:\n"
            "    %c1: f32[]\n"
            "  Body:\n"
            "    %1: f32[] = mul(%x1, %x2)\n"
            "    %2: f32[] = mul(%c1, %x2)\n"
            "    %3: f32[] = mul(%c1, %x1)\n"
            "  Outputs:\n"
            "    %2: f32[]\n"
            "    %3: f32[]");
  EXPECT_EQ(f->calls.size(), 1u) << "the forward graph is left alone";
}

int calls_of(const Graph& g, const char* primitive) {
  int found = 0;
  for (const graph::Call& c : g.calls) {
    found += c.primitive->name == primitive;
    for (const GraphPtr& inner : subgraphs(c)) found += calls_of(*inner, primitive);
  }
  return found;
}

// A sort is augmented by the places that its elements came from: there is one, of the forward pass.
TEST(Gradient, AugmentsForwardCalls) {
  auto f = trace({f64({4}), f64({4})}, [](Graph&, const Vars& x) {
    auto y = sort({x[0], x[1]}, 0);
    return Vars{reduce_sum(y[0] * y[1] * y[0], {0})};
  });
  auto g = transform::gradient(*f, {true, true}, true);
  primitives::verify(*g);
  EXPECT_EQ(calls_of(*g, "sort"), 1);
  EXPECT_EQ(g->outputs[0], f->outputs[0]);
  EXPECT_EQ(calls_of(*transform::gradient(*f, {true, true}, false), "sort"), 1);
  expect_gradient(f, {tensor({4}, {3, 1, 2, -1}), tensor({4}, {1, 2, 3, 4})}, 3);
  EXPECT_EQ(f->calls.front().inputs.size(), 2u) << "the forward graph is left alone";
}

// In a branch and in a loop the calls on the way back are copies, which are augmented themselves.
TEST(Gradient, AugmentsCallsOfInnerGraphs) {
  auto f = trace({f64({3})}, [](Graph& g, const Vars& x) {
    Var w = Var{&g, x[0].value};
    auto y = if_else(
        g, reduce_sum(w, {0}) > 0.0, [&](Graph& b) { return Vars{sort({in(b, w)}, 0)[0] * in(b, w)}; },
        [&](Graph& b) { return Vars{in(b, w)}; });
    auto z = while_loop(
        g, {integer(g, 0), y[0]}, [](Graph&, const Vars& s) { return s[0] < 2.0; },
        [&](Graph& b, const Vars& s) {
          return Vars{s[0] + 1.0, sort({s[1]}, 0)[0] * in(b, w)};
        });
    return Vars{reduce_sum(z[1], {0})};
  });
  auto g = transform::gradient(*f, {true}, false);
  primitives::verify(*g);
  EXPECT_EQ(calls_of(*g, "sort"), 4);  // forward and back, of each
  expect_gradient(f, {tensor({3}, {2, 1.5, 0.3})}, 2);
}

// Calls that do not stand in the graph where the way back is recorded are made there once more.
TEST(Gradient, AugmentsCallsThatStandElsewhere) {
  auto f = trace({f64({3})}, [](Graph&, const Vars& x) { return Vars{sort({x[0]}, 0)[0]}; });
  Graph back;
  back.inputs = {f->inputs[0], f->outputs[0]};
  ValuePtr weights = graph::make_constant(tensor({3}, {1, 10, 100}));
  back.constants = {weights};
  back.outputs = transform::pull_back(f->calls, f->outputs, {weights}, f->inputs, back);
  primitives::verify(back);
  auto d = eigen::evaluate(back, {tensor({3}, {3, 1, 2}), tensor({3}, {1, 2, 3})});
  EXPECT_EQ(numbers(d[0]), (std::vector<double>{100, 1, 10}));
}

TEST(Gradient, OnlyWalksFromRequiredInputs) {
  auto f = trace({f32_scalar, f32_scalar}, [](Graph&, const Vars& x) { return Vars{x[0] * exp(x[1])}; });
  auto g = transform::gradient(*f, {true, false}, true);
  ASSERT_EQ(g->calls.size(), 3u);
  EXPECT_EQ(g->calls[2].primitive->name, "mul");
  ASSERT_EQ(g->outputs.size(), 2u);
  EXPECT_EQ(g->outputs[0], f->outputs[0]);
}

TEST(Gradient, OfUnreachedInputsIsZeroOfTheirType) {
  TensorType ambiguous{DType::f32, {2, 3}, true};
  auto f = trace({f32_scalar, ambiguous}, [](Graph&, const Vars& x) { return Vars{x[0] * x[0]}; });
  auto g = transform::gradient(*f, {false, true}, false);
  EXPECT_TRUE(g->constants.empty());
  EXPECT_EQ(g->outputs[0]->type, ambiguous);
  auto value = eigen::evaluate(*g, {tensor({}, {3}, DType::f32), tensor({2, 3}, {1, 2, 3, 4, 5, 6}, DType::f32)});
  EXPECT_EQ(numbers(value[0]), std::vector<double>(6, 0.0));
}

TEST(Gradient, KeepsTheAmbiguityOfTheInput) {
  for (bool ambiguous : {false, true}) {
    auto f = trace({{DType::f32, {}, ambiguous}, {DType::f32, {}, !ambiguous}},
                   [](Graph&, const Vars& x) { return Vars{x[0] * x[1]}; });
    auto g = transform::gradient(*f, {true, true}, false);
    EXPECT_EQ(g->outputs[0]->type.ambiguous, ambiguous);
    EXPECT_EQ(g->outputs[1]->type.ambiguous, !ambiguous);
  }
}

TEST(Gradient, OfTheInputItselfIsTheSeed) {
  auto f = trace({f32_scalar}, [](Graph&, const Vars& x) { return x; });
  auto g = transform::gradient(*f, {true}, true);
  EXPECT_TRUE(g->calls.empty());
  EXPECT_EQ(numbers(eigen::evaluate(*g, {tensor({}, {7}, DType::f32)})[1]), std::vector<double>{1});
}

TEST(Gradient, AddsUpWhereAValueIsReadOften) {
  auto f = trace({f64_scalar}, [](Graph&, const Vars& x) { return Vars{x[0] * x[0] * x[0] + x[0]}; });
  expect_gradient(f, {tensor({}, {1.3})}, 3);
}

TEST(Gradient, OfArraysAgreesWithDifferences) {
  auto f = trace({f64({2, 3}), f64({3})}, [](Graph&, const Vars& x) {
    Var product = dot_general(x[0], exp(x[1] * 0.3), {1}, {0}, {}, {});
    return Vars{reduce_sum(sin(product) * product, {0})};
  });
  expect_gradient(f, {tensor({2, 3}, {0.3, -0.2, 0.5, 0.7, -0.9, 0.1}), tensor({3}, {0.2, -0.4, 0.6})}, 3);
}

TEST(Gradient, StopsAtIntegers) {
  auto f = trace({f64_scalar},
                 [](Graph&, const Vars& x) { return Vars{x[0] * convert(convert(x[0], DType::i32), DType::f64)}; });
  auto g = transform::gradient(*f, {true}, false);
  EXPECT_EQ(numbers(eigen::evaluate(*g, {tensor({}, {2.5})})[0]), std::vector<double>{2});
}

struct Failure {
  std::string kind, message;
  std::vector<std::string> details;
};
Failure failure(const GraphPtr& g) {
  try {
    transform::gradient(*g, std::vector<bool>(g->inputs.size(), true), false);
  } catch (const Error& e) {
    return {e.kind, e.what(), e.details};
  }
  return {};
}

TEST(Gradient, NamesWhatIsWrong) {
  auto vector = trace({f64({2})}, [](Graph&, const Vars& x) { return x; });
  EXPECT_EQ(failure(vector).kind, "gradient");
  EXPECT_EQ(failure(vector).message, "The function to differentiate must return a scalar.");
  EXPECT_EQ(failure(vector).details,
            (std::vector<std::string>{"x Got shape (2).", "i Reduce it, for example with `sum()`."}));
  auto two = trace({f64_scalar}, [](Graph&, const Vars& x) { return Vars{x[0], x[0]}; });
  EXPECT_EQ(failure(two).message, "The function to differentiate must return a single output.");
  auto whole = trace({f64_scalar}, [](Graph&, const Vars& x) { return Vars{convert(x[0], DType::i32)}; });
  EXPECT_EQ(failure(whole).message, "The function to differentiate must return a float scalar.");
  EXPECT_EQ(failure(whole).details, std::vector<std::string>{"x Got dtype i32."});
  auto integers = trace({{DType::i32, {}}}, [](Graph&, const Vars& x) { return Vars{convert(x[0], DType::f64)}; });
  EXPECT_EQ(failure(integers).message, "Can only compute gradient with respect to float tensors.");

  primitives::Primitive opaque;
  opaque.name = "opaque";
  opaque.operands = {"operand"};
  opaque.infer = [](const std::vector<TensorType>& t, const graph::Params&) { return t; };
  auto missing = trace({f64_scalar}, [&](Graph& g, const Vars& x) {
    return Vars{{&g, primitives::record(g, opaque, {x[0].value})[0]}};
  });
  EXPECT_EQ(failure(missing).message, "No reverse rule for primitive opaque.");
}

TEST(Gradient, CallsOnTheWayBackKnowWhoMadeThem) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Vars y{exp(x[0])};
    g.calls.back().location = 7;
    return y;
  });
  auto g = transform::gradient(*f, {true}, false);
  EXPECT_EQ(g->calls.back().location, 7);
}

// What comes back of a slice is added where the slice is, also with a stride, and not to all of the array.
TEST(Gradient, OfSlicesIsAddedInTheirBoxes) {
  auto f = trace({f64({20})}, [](Graph&, const Vars& x) {
    const Var three = primitives::slice(x[0], {2}, {9}, {3}), one = primitives::slice(x[0], {19}, {20}, {5}),
              none = primitives::slice(x[0], {4}, {4}, {2});
    const Var sum = reduce_sum(sin(three), {0}) + reduce_sum(exp(one), {0}) + reduce_sum(none, {0});
    return Vars{sum + reduce_sum(x[0] * x[0], {0})};
  });
  const GraphPtr g = transform::gradient(*f, {true}, false);
  for (const graph::Call& c : g->calls)
    EXPECT_TRUE(c.primitive->name != "pad" || elements(c.outputs[0]->type.shape) <= 7);
  std::vector<double> at;
  for (int k = 0; k < 20; ++k) at.push_back(std::cos(0.4 * k));
  expect_gradient(f, {tensor({20}, at)}, 2);
}

TEST(PullBack, GivesNullForZero) {
  auto f = trace({f64_scalar, f64_scalar}, [](Graph&, const Vars& x) { return Vars{x[0] * 3.0}; });
  Graph to = *f;
  ValuePtr g = graph::make_literal(2.0, f64_scalar);
  auto found = transform::pull_back(to.calls, f->outputs, {g}, f->inputs, to);
  EXPECT_EQ(found[1], nullptr);
  to.outputs = {found[0]};
  EXPECT_EQ(numbers(eigen::evaluate(to, {tensor({}, {5}), tensor({}, {5})})[0]), std::vector<double>{6});
}

}  // namespace
}  // namespace anvil::testing
