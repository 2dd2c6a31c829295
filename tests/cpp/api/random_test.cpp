// Random programs, compiled, against the Eigen evaluator; their gradients likewise. A
// failing seed is printed with the smallest program that still fails:
//   ANVIL_FUZZ_SEED=17 ANVIL_FUZZ_COUNT=1 ./anvil_test_api --gtest_filter='Random*'
#include <gtest/gtest.h>

#include "support/agreement.h"
#include "support/ordinary_program.h"
#include "support/random_program.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

// Whether compiled code gives something else than the evaluator, and what.
bool fails(const Graph& g, const std::vector<Tensor>& inputs, std::string* why) {
  try {
    *why = disagreement(g, inputs, eigen::evaluate(g, inputs), run_compiled(g, inputs, {2, 1, 3}));
  } catch (const std::exception& e) {
    *why = e.what();
  }
  return !why->empty();
}
// The first value that is wrong, alone, and only the calls that it needs.
std::string shrunk(const Graph& g, const std::vector<Tensor>& inputs) {
  for (const graph::Call& c : g.calls)
    for (const auto& v : c.outputs) {
      if (v->type.tape) continue;
      Graph smaller = g;
      smaller.outputs = {v};
      transform::remove_dead_calls(smaller);
      std::string why;
      if (fails(smaller, inputs, &why)) {
        Graph printed = smaller;
        std::string text = why + "\n" + graph::print(printed);
        try {
          auto copy = optimized(smaller);
          text += "\n" + loops::print(compiler::compile(*copy, llvm_backend::target()));
        } catch (const std::exception& e) {
          text += std::string("\nno loops: ") + e.what();
        }
        return text;
      }
    }
  return graph::print(g);
}

void expect_agreement(int64_t seed, const Graph& g, const std::vector<Tensor>& inputs) {
  ASSERT_NO_THROW(primitives::verify(g)) << "seed " << seed;
  std::string why;
  if (fails(g, inputs, &why)) ADD_FAILURE() << "seed " << seed << ": " << why << "\n" << shrunk(g, inputs);
}
void expect_gradients_agree(int64_t seed, const Graph& g, const std::vector<Tensor>& inputs) {
  expect_agreement(seed, *transform::gradient(g, std::vector<bool>(g.inputs.size(), true), true), inputs);
}

TEST(Random, CompiledProgramsAgreeWithEigen) {
  int64_t first = setting("ANVIL_FUZZ_SEED", 1), count = setting("ANVIL_FUZZ_COUNT", 1500);
  for (int64_t seed = first; seed < first + count; ++seed) {
    RandomProgram p(static_cast<uint64_t>(seed), {});
    expect_agreement(seed, p.graph, p.inputs);
  }
}

TEST(Random, CompiledGradientsAgreeWithEigen) {
  int64_t first = setting("ANVIL_FUZZ_SEED", 1), count = setting("ANVIL_FUZZ_COUNT", 1500) / 4;
  for (int64_t seed = first; seed < first + count; ++seed) {
    RandomProgram p(static_cast<uint64_t>(seed), {.float_only = true, .calls = 6});
    Var sum{&p.graph, nullptr};
    for (const auto& v : std::vector<graph::ValuePtr>(p.graph.outputs)) {
      Var x{&p.graph, v};
      if (!is_float(x.dtype())) continue;
      std::vector<int64_t> all;
      for (size_t d = 0; d < x.shape().size(); ++d) all.push_back(static_cast<int64_t>(d));
      Var term = all.empty() ? x : primitives::reduce_sum(x, all);
      sum.value = sum.value ? (sum + term).value : term.value;
    }
    if (!sum.value) continue;
    p.graph.outputs = {sum.value};
    expect_gradients_agree(seed, p.graph, p.inputs);
  }
}

// As people write them, derivatives among them; every other one of sizes beyond all blocks.
TEST(Random, CompiledOrdinaryProgramsAgreeWithEigen) {
  int64_t first = setting("ANVIL_FUZZ_SEED", 1), count = setting("ANVIL_FUZZ_COUNT", 1500) / 3;
  for (int64_t seed = first; seed < first + count; ++seed) {
    OrdinaryProgram p(static_cast<uint64_t>(seed), seed % 2 == 0);
    expect_agreement(seed, *p.graph, p.inputs);
  }
}

TEST(Random, CompiledGathersAndScattersAgreeWithEigen) {
  int64_t first = setting("ANVIL_FUZZ_SEED", 1), count = setting("ANVIL_FUZZ_COUNT", 1500) / 3;
  for (int64_t seed = first; seed < first + count; ++seed) {
    RandomIndexed p(static_cast<unsigned>(seed));
    expect_agreement(seed, p.graph, p.inputs);
  }
}

// A primitive that no random program can contain is a hole in these tests.
TEST(Random, EveryPrimitiveCanBeDrawn) {
  std::set<std::string> rules = RandomProgram::structured();
  for (const primitives::Primitive* p : primitives::registry().all()) {
    bool internal = p->hlo.op.empty();  // the tapes of reverse mode, composites
    bool elementwise = p->elementwise && p->parameters.empty() && p->operands.size() <= 2;
    if (p->effect) continue;  // print_test.cpp
    EXPECT_TRUE(internal || elementwise || rules.count(p->name)) << p->name << " needs a rule in random_program.h";
  }
}

}  // namespace
}  // namespace anvil::test
