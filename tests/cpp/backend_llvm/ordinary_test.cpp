// Random programs as people write them, compiled and run: their numbers are those of the
// evaluator, whichever of the compiler's passes are left out.
#include <gtest/gtest.h>

#include <random>

#include "backend/eigen/evaluate.h"
#include "compiler/graphs.h"
#include "compiler/passes.h"
#include "support/agreement.h"
#include "support/campaign.h"
#include "support/ordinary_program.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

std::vector<graph::Tensor> compiled_without(const graph::Graph& g, const std::vector<graph::Tensor>& inputs,
                                            const std::string& left_out) {
  loops::Program p = compiler::lower(g);
  for (const compiler::Pass& pass : compiler::passes())
    if (pass.name != left_out) pass.run(p, target_for(g));
  return run_loops(p, g, inputs, {2, 1});
}

// The same program on other numbers beside it: what is equal shares its machine code.
graph::Graph twice(const graph::Graph& g) {
  graph::Graph both;
  both.constants = g.constants;
  for (int k = 0; k < 2; ++k) {
    std::vector<graph::ValuePtr> inputs;
    for (const graph::ValuePtr& v : g.inputs) inputs.push_back(make_value(graph::Value::Kind::input, v->type));
    for (const graph::ValuePtr& v : graph::inline_calls(g, inputs, both)) both.outputs.push_back(v);
    both.inputs.insert(both.inputs.end(), inputs.begin(), inputs.end());
  }
  return both;
}
// Its elements from the last one to the first.
graph::Tensor backwards(const graph::Tensor& t) {
  graph::Tensor turned = graph::allocate(t.type);
  const int64_t n = elements(t.type.shape);
  for (int64_t i = 0; i < n; ++i) graph::set_element(turned, i, graph::element(t, n - 1 - i));
  return turned;
}

TEST(OrdinaryPrograms, RunAsEvaluatedBesideEachOther) {
  load_llvm();
  const Campaign campaign(100);
  for (unsigned seed = campaign.first; seed < campaign.first + campaign.count && !HasFailure(); ++seed) {
    const OrdinaryProgram program(seed, seed % 2 == 0);
    const graph::Graph both = twice(*program.graph);
    std::vector<graph::Tensor> inputs = program.inputs, others;
    for (const graph::Tensor& t : program.inputs) others.push_back(backwards(t));
    inputs.insert(inputs.end(), others.begin(), others.end());
    std::vector<graph::Tensor> got;
    try {
      got = campaign.without ? compiled_without(*optimized(both), inputs, *campaign.without)
                             : run_compiled(both, inputs, {2, 1});
    } catch (const std::exception& e) {
      ADD_FAILURE() << "ANVIL_SEED=" << seed << "\n" << e.what();
      return;
    }
    const auto half = static_cast<std::ptrdiff_t>(program.graph->outputs.size());
    const std::vector<graph::Tensor> first(got.begin(), got.begin() + half), second(got.begin() + half, got.end());
    std::string wrong =
        disagreement(*program.graph, program.inputs, eigen::evaluate(*program.graph, program.inputs), first);
    if (wrong.empty()) wrong = disagreement(*program.graph, others, eigen::evaluate(*program.graph, others), second);
    if (!wrong.empty()) ADD_FAILURE() << "ANVIL_SEED=" << seed << "\n" << wrong << "\n" << graph::print(*program.graph);
  }
}

TEST(OrdinaryPrograms, RunAsEvaluated) {
  load_llvm();
  const Campaign campaign(150);
  for (unsigned seed = campaign.first; seed < campaign.first + campaign.count && !HasFailure(); ++seed) {
    OrdinaryProgram program(seed);
    std::string left_out = campaign.without.value_or("");  // else in one of two; places in the arena are needed
    if (!campaign.without && seed % 2) left_out = compiler::passes()[seed / 2 % (compiler::passes().size() - 1)].name;
    const auto expected = eigen::evaluate(*program.graph, program.inputs);
    std::string wrong;
    try {
      const auto got = compiled_without(*optimized(*program.graph), program.inputs, left_out);
      wrong = disagreement(*program.graph, program.inputs, expected, got);
    } catch (const std::exception& e) {
      wrong = e.what();
    }
    if (!wrong.empty())
      ADD_FAILURE() << "ANVIL_SEED=" << seed << (left_out.empty() ? "" : " without " + left_out) << "\n"
                    << wrong << "\n"
                    << graph::print(*program.graph);
  }
}

// Of many small matrices side by side, as vectorize() makes them: rows and columns of one share registers.
TEST(SmallProducts, RunAsEvaluated) {
  load_llvm();
  const Campaign campaign(60);
  for (unsigned seed = campaign.first; seed < campaign.first + campaign.count && !HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const auto up_to = [&](int64_t most) { return 1 + int64_t(random() % uint64_t(most)); };
    const DType dtype = seed % 2 ? DType::f64 : DType::f32;
    const int64_t matrices = up_to(150), rows = up_to(14), columns = up_to(seed % 3 ? 14 : 60), depth = up_to(24);
    Builder b;
    primitives::Var x = b.input(dtype, {matrices, rows, depth}), y = b.input(dtype, {matrices, depth, columns});
    primitives::Var product = dot_general(x, y, {2}, {1}, {0}, {0});
    if (random() % 2) product = exp(product * -0.1) + 1.0;
    if (random() % 3 == 0) b.output(dot_general(product, y, {2}, {2}, {0}, {0}));
    if (random() % 3 == 0) b.output(transpose(product, {2, 1, 0}));
    b.output(product);
    const std::vector<graph::Tensor> inputs = numbers_for(*b.g);
    const std::string wrong = disagreement(*b.g, inputs, eigen::evaluate(*b.g, inputs),
                                           compiled_without(*optimized(*b.g), inputs, campaign.without.value_or("")));
    if (!wrong.empty()) ADD_FAILURE() << "ANVIL_SEED=" << seed << "\n" << wrong << "\n" << graph::print(*b.g);
  }
}

}  // namespace
}  // namespace anvil::test
