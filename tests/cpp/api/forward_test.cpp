// Forward mode against reverse mode: every call of random programs alone, for every dtype of floats, so
// that every primitive with a derivative has both; and whole programs, with loops, to third order.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "primitives/families/control.h"
#include "primitives/vocabulary/composite.h"
#include "support/forward_check.h"
#include "support/gradient_check.h"
#include "support/ordinary_program.h"
#include "support/random_loops.h"
#include "support/random_program.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

using primitives::primitive_of;

// A graph of one call; all of its operands are inputs but for those that are numbers.
Graph alone(graph::Call c) {
  Graph g;
  for (graph::ValuePtr& v : c.inputs)
    if (v->kind != Value::Kind::literal) g.inputs.push_back(v = graph::make_value(Value::Kind::input, v->type));
  g.outputs = c.outputs;
  g.calls.push_back(std::move(c));
  return g;
}

// Floats inside of the domains of nearly all functions, of equal ones some; positions.
std::vector<Tensor> drawn(const Graph& g, std::mt19937_64& random) {
  std::vector<Tensor> list;
  for (const auto& v : g.inputs) {
    list.push_back(graph::allocate({v->type.dtype, v->type.shape}));
    for (int64_t i = 0; i < elements(v->type.shape); ++i) {
      const auto k = static_cast<int>(random() % 13);
      const bool number = is_float(v->type.dtype);
      set_element(list.back(), i,
                  number                   ? Scalar(0.3 + 0.1 * k)
                  : is_bool(v->type.dtype) ? Scalar(k > 6)
                                           : Scalar(k % 5));
    }
  }
  return list;
}

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

struct Floats : testing::TestWithParam<DType> {};

TEST_P(Floats, EachPrimitiveHasAForwardDerivativeThatAgreesWithItsReverseRule) {
  std::set<std::string> not_compared;
  for (const primitives::Primitive* p : primitives::registry().all())
    if (p->family != "control" && !p->zero_derivative) not_compared.insert(p->name);
  for (const DType to : {DType::f16, DType::bf16, DType::f32, DType::f64}) {  // programs of one dtype convert nothing
    const std::vector<Tensor> x = {spread_values(GetParam(), {5})};
    const Graph g =
        build([to](Graph&, const std::vector<Var>& v) { return std::vector<Var>{convert(v[0], to, false)}; }, x);
    if (expect_modes_agree(g, x)) not_compared.erase("convert");
  }
  // As many programs as are asked for, and more while they lack a primitive.
  const auto programs = static_cast<uint64_t>(setting("ANVIL_FUZZ_COUNT", 500));
  for (uint64_t seed = 1; seed <= programs || (seed <= 500 && !not_compared.empty()); ++seed) {
    const RandomProgram p(seed, {.float_only = seed % 2 == 0, .floats = GetParam()});
    std::mt19937_64 random(seed);
    std::vector<graph::Call> calls = p.graph.calls;
    const auto expanded = primitives::expand(p.graph, primitives::Reader::reverse);
    calls.insert(calls.end(), expanded->calls.begin(), expanded->calls.end());  // what some are made of
    for (const graph::Call& c : calls) {
      if (primitive_of(c).family == "control") continue;  // reads values around it
      if (rounds_slopes(c)) {
        not_compared.erase(c.primitive->name);
        continue;
      }
      SCOPED_TRACE(c.primitive->name + ", seed " + std::to_string(seed));
      const Graph g = alone(c);
      if (expect_modes_agree(g, drawn(g, random))) not_compared.erase(c.primitive->name);
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_EQ(not_compared, std::set<std::string>());
}

// Derivatives of both modes, of which derivatives of both modes agree, and so on.
void expect_modes_agree_to_order(int order, const Graph& g, const std::vector<Tensor>& at) {
  expect_modes_agree(g, at);
  if (order == 1 || ::testing::Test::HasFailure()) return;
  std::vector<bool> wrt;
  for (const Tensor& x : at) wrt.push_back(is_float(x.type.dtype));
  for (const bool forward : {true, false}) {
    SCOPED_TRACE(forward ? "of jvp" : "of vjp");
    const auto derivative = forward ? transform::jvp(g, wrt) : transform::vjp(g, wrt);
    std::vector<Tensor> further = at;
    for (size_t k = at.size(); k < derivative->inputs.size(); ++k)
      further.push_back(direction(derivative->inputs[k]->type, k));
    expect_modes_agree_to_order(order - 1, *derivative, further);
  }
}

template <class F>
void each_seed(int64_t share, F&& f) {
  const int64_t first = setting("ANVIL_FUZZ_SEED", 1), count = setting("ANVIL_FUZZ_COUNT", 1500) / share;
  for (int64_t seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    f(static_cast<uint64_t>(seed));
  }
}
void expect_compiled_agrees(const Graph& g, const std::vector<Tensor>& at) {
  EXPECT_EQ(disagreement(g, at, eigen::evaluate(g, at), run_compiled(g, at)), "") << graph::print(g);
}
// The forward derivative as a program, with what to run it on.
void expect_compiled_forward_agrees(const Graph& g, std::vector<Tensor> at) {
  std::vector<bool> wrt;
  for (const Tensor& x : at) wrt.push_back(is_float(x.type.dtype));
  const auto forward = transform::jvp(g, wrt);
  for (size_t k = at.size(); k < forward->inputs.size(); ++k) at.push_back(direction(forward->inputs[k]->type, k));
  expect_compiled_agrees(*forward, at);
}

TEST(RandomForward, Programs) {
  each_seed(4, [](uint64_t seed) {
    const RandomProgram p(seed, {.float_only = true, .calls = 6});
    expect_modes_agree_to_order(seed % 10 == 0 ? 2 : 1, p.graph, p.inputs);
    expect_compiled_forward_agrees(p.graph, p.inputs);
  });
}

TEST(RandomForward, OrdinaryPrograms) {
  each_seed(10, [](uint64_t seed) {
    const OrdinaryProgram p(seed);
    expect_modes_agree(*p.graph, p.inputs);
    expect_compiled_forward_agrees(*p.graph, p.inputs);
  });
}

TEST(RandomForward, Loops) {
  each_seed(10, [](uint64_t seed) {
    const Shape arrays = {RandomLoops(seed).length};
    const std::vector<Tensor> at = {spread_values(DType::f64, {}, -0.8, 0.8, 1),
                                    spread_values(DType::f64, arrays, -1, 1, 2),
                                    spread_values(DType::f64, arrays, -1, 1, 3)};
    const Graph g = build([seed](Graph& to, const std::vector<Var>& x) { return RandomLoops(seed)(to, x); }, at);
    expect_modes_agree_to_order(seed % 10 == 0 ? 3 : 2, g, at);
    expect_compiled_forward_agrees(g, at);
  });
}

// Loops in loops that are split since their states are large, and make more steps than are recorded.
TEST(RandomForward, LongLoops) {
  constexpr int64_t length = 120, times = 25;
  each_seed(30, [](uint64_t seed) {
    const std::vector<Tensor> at = {spread_values(DType::f64, {}, -0.8, 0.8, 1),
                                    spread_values(DType::f64, {length}, -1, 1, 2),
                                    spread_values(DType::f64, {length}, -1, 1, 3)};
    const Graph g =
        build([seed](Graph& to, const std::vector<Var>& x) { return RandomLoops(seed, length, times)(to, x); }, at);
    expect_modes_agree(g, at);
  });
}

INSTANTIATE_TEST_SUITE_P(Forward, Floats, testing::Values(DType::f16, DType::bf16, DType::f32, DType::f64),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace anvil::test
