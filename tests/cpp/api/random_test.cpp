// Random programs, compiled, against the Eigen evaluator; their gradients likewise. A
// failing seed is printed with the smallest program that still fails:
//   ANVIL_FUZZ_SEED=17 ANVIL_FUZZ_COUNT=1 ./anvil_test_api --gtest_filter='Random*'
#include <gtest/gtest.h>

#include "support/random_program.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

// Equal up to the order of summation; NaN equals NaN.
bool close(const Tensor& a, const Tensor& b) {
  if (!graph::same_type(a.type, b.type)) return false;
  bool exact = !is_float(a.type.dtype);
  double tolerance = a.type.dtype == DType::f32 ? 2e-5 : 1e-10, scale = 0;
  for (int64_t i = 0; i < elements(a.type.shape); ++i) {
    double x = graph::element(a, i).as<double>();
    if (std::isfinite(x)) scale = std::max(scale, std::fabs(x));
  }
  for (int64_t i = 0; i < elements(a.type.shape); ++i) {
    Scalar x = graph::element(a, i), y = graph::element(b, i);
    if (exact ? !(x == y) : false) return false;
    if (exact) continue;
    double u = x.as<double>(), v = y.as<double>();
    if (u == v || (u != u && v != v)) continue;
    if (!(std::fabs(u - v) <= tolerance * std::max(std::fabs(u), std::min(scale, 1.0)))) return false;
  }
  return true;
}
bool close(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t k = 0; k < a.size(); ++k)
    if (!close(a[k], b[k])) return false;
  return a.size() == b.size();
}

std::vector<Tensor> nudged(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> moved;
  for (const Tensor& t : inputs) {
    moved.push_back(graph::allocate(t.type));
    for (int64_t i = 0; i < elements(t.type.shape); ++i) {
      Scalar x = graph::element(t, i);
      double step = t.type.dtype == DType::f32 ? 1e-6 : 1e-14;
      graph::set_element(moved.back(), i, is_float(t.type.dtype) ? Scalar(x.as<double>() * (1 + step)) : x);
    }
  }
  return moved;
}
// A program whose own result moves that much when its inputs move by a rounding decides nothing.
bool ill_conditioned(const Graph& g, const std::vector<Tensor>& inputs) {
  return !close(eigen::evaluate(g, inputs), eigen::evaluate(g, nudged(inputs)));
}

bool fails(const Graph& g, const std::vector<Tensor>& inputs, std::string* why) {
  try {
    if (close(eigen::evaluate(g, inputs), run_compiled(g, inputs))) return false;
    *why = "values differ";
  } catch (const std::exception& e) {
    *why = e.what();
  }
  return true;
}
// The first value that is wrong, alone, and only the calls that it needs.
std::string shrunk(const Graph& g, const std::vector<Tensor>& inputs) {
  for (const graph::Call& c : g.calls)
    for (const auto& v : c.outputs) {
      if (v->type.dtype == DType::tape) continue;
      Graph smaller = g;
      smaller.outputs = {v};
      transform::remove_dead_calls(smaller);
      std::string why;
      if (fails(smaller, inputs, &why) && !(why == "values differ" && ill_conditioned(smaller, inputs))) {
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

TEST(Random, CompiledProgramsAgreeWithEigen) {
  int64_t first = setting("ANVIL_FUZZ_SEED", 1), count = setting("ANVIL_FUZZ_COUNT", 1500);
  int64_t dropped = 0;
  for (int64_t seed = first; seed < first + count; ++seed) {
    RandomProgram p(static_cast<uint64_t>(seed), {});
    ASSERT_NO_THROW(primitives::verify(p.graph)) << "seed " << seed;
    std::string why;
    if (!fails(p.graph, p.inputs, &why)) continue;
    if (why == "values differ" && ill_conditioned(p.graph, p.inputs)) {
      ++dropped;
      continue;
    }
    ADD_FAILURE() << "seed " << seed << ": " << shrunk(p.graph, p.inputs);
  }
  RecordProperty("ill_conditioned", static_cast<int>(dropped));
  EXPECT_LE(dropped, count / 5 + 1);
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
    graph::GraphPtr g = transform::gradient(p.graph, std::vector<bool>(p.graph.inputs.size(), true), true);
    ASSERT_NO_THROW(primitives::verify(*g)) << "seed " << seed;
    std::string why;
    if (!fails(*g, p.inputs, &why)) continue;
    if (why == "values differ" && ill_conditioned(*g, p.inputs)) continue;
    ADD_FAILURE() << "seed " << seed << ": " << shrunk(*g, p.inputs);
  }
}

TEST(Random, CompiledGathersAndScattersAgreeWithEigen) {
  int64_t first = setting("ANVIL_FUZZ_SEED", 1), count = setting("ANVIL_FUZZ_COUNT", 1500) / 3;
  for (int64_t seed = first; seed < first + count; ++seed) {
    RandomIndexed p(static_cast<unsigned>(seed));
    std::string why;
    if (fails(p.graph, p.inputs, &why)) ADD_FAILURE() << "seed " << seed << ": " << shrunk(p.graph, p.inputs);
  }
}

// A primitive that no random program can contain is a hole in these tests.
TEST(Random, EveryPrimitiveCanBeDrawn) {
  std::set<std::string> rules = RandomProgram::structured();
  for (const primitives::Primitive* p : primitives::registry().all()) {
    bool internal = p->hlo.op.empty();  // the tapes of reverse mode, composites
    bool elementwise = p->elementwise && p->parameters.empty() && p->operands.size() <= 2;
    EXPECT_TRUE(internal || elementwise || rules.count(p->name)) << p->name << " needs a rule in random_program.h";
  }
}

}  // namespace
}  // namespace anvil::test
