// Batched calls of every primitive, and batched programs, against one example after the other.
//   ANVIL_FUZZ_SEED=17 ANVIL_FUZZ_COUNT=1 ./anvil_test_api --gtest_filter='Batch*'
#include <cstdlib>
#include <random>
#include <set>

#include "anvil.h"
#include "primitives/families/control.h"
#include "support/batches.h"
#include "support/gradient_check.h"
#include "support/random_loops.h"
#include "support/random_program.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

using graph::Call;
using primitives::Primitive;
using primitives::primitive_of;

int64_t setting_of(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

// Small multiples of 1/4: sums and products of a few are exact.
Tensor quarters(const TensorType& type, std::mt19937_64& random) {
  Tensor t = graph::allocate(type);
  for (int64_t i = 0; i < elements(type.shape); ++i) {
    const auto k = static_cast<int>(random() % 17) - 8;
    graph::set_element(t, i, is_float(type.dtype) ? Scalar(0.25 * k) : is_bool(type.dtype) ? Scalar(k > 0) : Scalar(k));
  }
  return t;
}
// A graph of one call; all of its operands are inputs.
Graph of_call(Call c) {
  Graph g;
  for (graph::ValuePtr& v : c.inputs) g.inputs.push_back(v = graph::make_value(Value::Kind::input, v->type));
  g.outputs = c.outputs;
  g.calls.push_back(std::move(c));
  return g;
}
// All choices of operands, or some where there are many.
std::vector<Flags> patterns(size_t n, std::mt19937_64& random) {
  std::vector<Flags> list;
  for (size_t bits = 1; bits < (size_t(1) << std::min<size_t>(n, 4)); ++bits) {
    Flags flags(n);
    for (size_t k = 0; k < n; ++k) flags[k] = k < 4 ? (bits >> k & 1) != 0 : random() % 2 == 0;
    list.push_back(flags);
  }
  return list;
}
void expect_batched(const Graph& g, std::mt19937_64& random) {
  constexpr int64_t size = 3;
  for (const Flags& flags : patterns(g.inputs.size(), random)) {
    Tensors inputs;
    for (size_t k = 0; k < flags.size(); ++k) {
      const TensorType& t = g.inputs[k]->type;
      inputs.push_back(quarters(flags[k] ? of_batch(t, size) : t, random));
    }
    std::string pattern;
    for (const bool f : flags) pattern += f ? "1" : "0";
    ASSERT_EQ(batch_disagreement(g, inputs, flags, size), "") << "operands " << pattern << "\n"
                                                              << graph::print(*transform::batch(g, flags, size));
  }
}

TEST(Batch, CallsOfEveryPrimitive) {
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    const RandomProgram p(seed, {.float_only = seed % 3 == 0});
    for (const Call& c : p.graph.calls) {
      if (primitive_of(c).family == "control" || c.inputs.empty()) continue;
      SCOPED_TRACE(c.primitive->name + ", seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      expect_batched(of_call(c), random);
      if (testing::Test::HasFatalFailure()) return;
      seen.insert(c.primitive->name);
    }
  }
  for (const Primitive* p : primitives::registry().all()) {
    if (p->effect) continue;  // print_test.cpp
    const bool internal = p->hlo.op.empty() || p->family == "control" || p->operands.empty();
    EXPECT_TRUE(internal || seen.count(p->name) || p->acts == primitives::Acts::per_element) << p->name;
  }
}

TEST(Batch, ElementwisePrimitivesOfEveryDtype) {
  for (const Primitive* p : primitives::registry().all()) {
    if (!p->elementwise || !p->parameters.empty() || p->acts != primitives::Acts::per_element) continue;
    for (size_t d = 0; d < descriptors.size(); ++d) {
      const auto t = static_cast<DType>(d);
      if (!contains(p->group, t)) continue;
      for (const Shape& shape : {Shape{}, Shape{2, 3}}) {
        SCOPED_TRACE(p->name + " of " + std::string(name(t)));
        Graph g;
        for (size_t k = 0; k < p->operands.size(); ++k)
          g.inputs.push_back(graph::make_value(Value::Kind::input, {t, shape}));
        g.outputs = primitives::record(g, *p, g.inputs);
        std::mt19937_64 random(d);
        expect_batched(g, random);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

// None of the core's needs a loop over the examples, but for what each example does by itself, and where loops are made of a call itself, so is its batch.
TEST(Batch, NoPrimitiveOfTheCoreNeedsALoop) {
  std::set<std::string> by_loop, by_expansion;
  for (const Primitive* p : primitives::registry().all()) {
    if (transform::batched_by(*p) == transform::BatchedBy::loop && !p->effect) by_loop.insert(p->name);
    if (transform::batched_by(*p) == transform::BatchedBy::expansion && p->lower) by_expansion.insert(p->name);
  }
  EXPECT_EQ(by_loop, std::set<std::string>());
  EXPECT_EQ(by_expansion, std::set<std::string>());
}

// ---- programs -------------------------------------------------------------------------------

// A batch by the evaluator, and where `compiled` by compiled code, against its examples.
void expect_batch_agrees(const Graph& g, const Tensors& inputs, const Flags& flags, int64_t size, bool compiled) {
  const Tensors all = examples_like(inputs, flags, size, 7);
  const auto together = transform::batch(g, flags, size);
  ASSERT_NO_THROW(primitives::verify(*together)) << graph::print(g);
  const Tensors found = eigen::evaluate(*together, all);
  ASSERT_EQ(disagreement(*together, all, found, evaluate_each(g, all, flags, size)), "") << graph::print(g);
  if (compiled) {
    ASSERT_EQ(disagreement(*together, all, found, run_compiled(*together, all)), "") << graph::print(g);
  }
}

TEST(BatchRandom, Programs) {
  const int64_t first = setting_of("ANVIL_FUZZ_SEED", 1), count = setting_of("ANVIL_FUZZ_COUNT", 1500) / 5;
  for (int64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto s = static_cast<uint64_t>(seed);
    const RandomProgram p(s, {.float_only = s % 2 == 0});
    expect_batch_agrees(p.graph, p.inputs, any_flags(p.inputs.size(), s), 3, s % 4 == 0);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(BatchRandom, GradientsOfPrograms) {
  const int64_t first = setting_of("ANVIL_FUZZ_SEED", 1), count = setting_of("ANVIL_FUZZ_COUNT", 1500) / 5;
  int64_t differentiated = 0;
  for (int64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto s = static_cast<uint64_t>(seed);
    RandomProgram p(s, {.float_only = true, .calls = 6});
    weigh(p.graph, 1);
    if (!p.graph.outputs[0]) continue;  // no float among the results
    const auto slopes = transform::gradient(p.graph, Flags(p.inputs.size(), true), true);
    expect_batch_agrees(*slopes, p.inputs, any_flags(p.inputs.size(), s), 3, s % 4 == 0);
    if (testing::Test::HasFatalFailure()) return;
    ++differentiated;
  }
  EXPECT_GT(differentiated, count / 2);
}

Tensors arguments_of_loops(uint64_t seed) {
  const auto at = static_cast<double>(seed % 100);
  const Shape arrays = {RandomLoops(seed).length};
  return {spread_values(DType::f64, {}, -0.8, 0.8, at), spread_values(DType::f64, arrays, -1, 1, at + 1),
          spread_values(DType::f64, arrays, -1, 1, at + 2)};
}
Graph loops_of(uint64_t seed) {
  return build([seed](Graph& g, const std::vector<Var>& x) { return RandomLoops(seed, seed % 4 != 0)(g, x); },
               arguments_of_loops(seed));
}
constexpr int64_t usual_loops = 300;

TEST(BatchRandomLoops, Values) {
  const int64_t first = setting_of("ANVIL_FUZZ_SEED", 1), count = setting_of("ANVIL_FUZZ_COUNT", usual_loops);
  for (int64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto s = static_cast<uint64_t>(seed);
    expect_batch_agrees(loops_of(s), arguments_of_loops(s), any_flags(3, s), 3, s % 4 == 0);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(BatchRandomLoops, OfGradients) {
  const int64_t first = setting_of("ANVIL_FUZZ_SEED", 1), count = setting_of("ANVIL_FUZZ_COUNT", usual_loops) / 2;
  for (int64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto s = static_cast<uint64_t>(seed);
    Graph g = loops_of(s);
    weigh(g, 1);
    auto slopes = transform::gradient(g, {true, true, true}, true);
    if (s % 8 == 0) {
      Graph again = *slopes;
      weigh(again, 2);
      slopes = transform::gradient(again, {true, true, true}, false);
    }
    expect_batch_agrees(*slopes, arguments_of_loops(s), any_flags(3, s), 3, s % 6 == 0);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// The sum of the examples' values has their gradients.
TEST(BatchRandomLoops, GradientsOfBatches) {
  const int64_t first = setting_of("ANVIL_FUZZ_SEED", 1), count = setting_of("ANVIL_FUZZ_COUNT", usual_loops) / 2;
  constexpr int64_t size = 3;
  for (int64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto s = static_cast<uint64_t>(seed);
    Graph g = loops_of(s);
    weigh(g, 1);
    const Flags flags(3, true);
    const Tensors all = examples_like(arguments_of_loops(s), flags, size, s);
    const auto slopes = transform::gradient(g, flags, false);
    Graph together = *transform::batch(g, flags, size);
    together.outputs = {primitives::reduce_sum({&together, together.outputs[0]}, {0}).value};
    const auto whole = transform::gradient(together, flags, false);
    ASSERT_NO_THROW(primitives::verify(*whole));
    const Tensors found = eigen::evaluate(*whole, all);
    ASSERT_EQ(disagreement(*whole, all, found, evaluate_each(*slopes, all, flags, size)), "") << graph::print(g);
    if (s % 6 == 0) {
      ASSERT_EQ(disagreement(*whole, all, found, run_compiled(*whole, all)), "") << graph::print(g);
    }
  }
}

TEST(BatchRandomLoops, Nested) {
  const int64_t first = setting_of("ANVIL_FUZZ_SEED", 1), count = setting_of("ANVIL_FUZZ_COUNT", usual_loops) / 3;
  for (int64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto s = static_cast<uint64_t>(seed);
    const Graph g = loops_of(s);
    const Flags inner = any_flags(3, s), outer = any_flags(3, s + 1000);
    const auto once = transform::batch(g, inner, 2);
    expect_batch_agrees(*once, examples_like(arguments_of_loops(s), inner, 2, s), outer, 3, s % 6 == 0);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace anvil::test
