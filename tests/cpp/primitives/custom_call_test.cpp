// Functions of somebody else's: by the evaluator and by generated code, merged or kept, and what goes wrong in them.
#include "primitives/families/custom_call.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/eigen/evaluate.h"
#include "primitives/vocabulary/var.h"
#include "support/run_compiled.h"
#include "transform/batch.h"
#include "transform/forward.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace anvil::testing {
namespace {

using graph::Graph;
using graph::Tensor;
using graph::TensorType;
using graph::Value;
using primitives::CustomCall;
using primitives::Var;

int calls = 0;

// x to the power that its place has, counted from 1 in memory.
CustomCall powers(bool effect = false) {
  return primitives::make_custom_call({"powers",
                                       [](auto inputs, auto outputs) {
                                         ++calls;
                                         const auto* x = static_cast<const double*>(inputs[0].data);
                                         auto* y = static_cast<double*>(outputs[0].data);
                                         int64_t n = 1;
                                         for (const int64_t s : inputs[0].shape) n *= s;
                                         for (int64_t i = 0; i < n; ++i) y[i] = std::pow(x[i], double(i + 1));
                                       }},
                                      effect);
}
Var called(Var x, const CustomCall& call) {
  return {x.graph, primitives::record(*x.graph, call, {x.value}, {x.type()})[0]};
}
struct Traced {
  Graph graph;
  Var x;
  explicit Traced(Shape shape = {2, 2}) {
    graph.inputs = {graph::make_value(Value::Kind::input, {DType::f64, std::move(shape)})};
    x = {&graph, graph.inputs[0]};
  }
};
Tensor tensor(Shape shape, const std::vector<double>& numbers) {
  const Tensor t = graph::allocate({DType::f64, std::move(shape)});
  std::copy(numbers.begin(), numbers.end(), t.as<double>());
  return t;
}
using Numbers = std::vector<double>;
Numbers numbers(const Tensor& t) { return {t.as<double>(), t.as<double>() + elements(t.type.shape)}; }

Numbers evaluated(const Graph& g, const Tensor& x) { return numbers(eigen::evaluate(g, {x})[0]); }
Numbers compiled(const Graph& g, const Tensor& x) { return numbers(test::run_compiled(g, {x})[0]); }

TEST(CustomCalls, EvaluatedAndCompiled) {
  Traced t;
  const CustomCall call = powers();
  t.graph.outputs = {(called(t.x + 1.0, call) * 2.0).value};
  const Tensor x = tensor({2, 2}, {0, 1, 2, 1});
  EXPECT_EQ(evaluated(t.graph, x), (Numbers{2, 8, 54, 32}));
  EXPECT_EQ(compiled(t.graph, x), (Numbers{2, 8, 54, 32}));
}

TEST(CustomCalls, EqualOnesAreMergedUnlessTheyHaveAnEffect) {
  for (const bool effect : {false, true}) {
    Traced t;
    const CustomCall call = powers(effect);
    called(t.x, call);
    t.graph.outputs = {(called(t.x, call) + called(t.x, call)).value};
    transform::optimize(t.graph);
    calls = 0;
    EXPECT_EQ(evaluated(t.graph, tensor({2, 2}, {1, 1, 2, 1})), (Numbers{2, 2, 16, 2}));
    EXPECT_EQ(calls, effect ? 3 : 1);
    Traced two;  // functions of their own are no equal calls
    two.graph.outputs = {(called(two.x, powers()) + called(two.x, powers())).value};
    transform::optimize(two.graph);
    EXPECT_EQ(two.graph.calls.size(), 3u);
  }
}

TEST(CustomCalls, LiveAsLongAsTheirCalls) {
  std::weak_ptr<const runtime::CustomFunction> seen;
  {
    Traced t;
    CustomCall call = powers();
    seen = call.function;
    t.graph.outputs = {called(t.x, call).value};
    call = {};
    EXPECT_FALSE(seen.expired());
    EXPECT_EQ(primitives::owned_by(t.graph).size(), 2u);
    EXPECT_EQ(evaluated(t.graph, tensor({2, 2}, {1, 1, 2, 1})), (Numbers{1, 1, 8, 1}));
  }
  EXPECT_TRUE(seen.expired());
}

TEST(CustomCalls, HaveNoDerivative) {
  Traced t;
  t.graph.outputs = {reduce_sum(called(t.x, powers()), {0, 1}).value};
  for (const bool forward : {false, true}) try {
      forward ? transform::jvp(t.graph, {true}) : transform::gradient(t.graph, {true}, false);
      FAIL() << "there is one";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind, "gradient");
      EXPECT_STREQ(e.what(), "The custom call `powers` has no derivative.");
    }
}

TEST(CustomCalls, OneExampleAtATime) {
  Traced t({2});
  t.graph.outputs = {called(t.x, powers()).value};
  const graph::GraphPtr together = transform::batch(t.graph, {true}, 3);
  calls = 0;
  const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(evaluated(*together, x), (Numbers{1, 4, 3, 16, 5, 36}));
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(compiled(*together, x), (Numbers{1, 4, 3, 16, 5, 36}));
}

TEST(CustomCalls, FailuresComeThroughGeneratedCode) {
  const CustomCall call =
      primitives::make_custom_call({"broken", [](auto, auto) { throw Error("call", "It is broken."); }}, false);
  Traced t;
  t.graph.outputs = {called(t.x, call).value};
  const Tensor x = tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_THROW(evaluated(t.graph, x), Error);
  EXPECT_THROW(compiled(t.graph, x), Error);
}

}  // namespace
}  // namespace anvil::testing
