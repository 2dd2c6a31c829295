// Programs that are timed give what they give otherwise, and count how often each nest runs.
#include <gtest/gtest.h>

#include "anvil.h"
#include "primitives/families/control.h"
#include "support/agreement.h"
#include "support/ordinary_program.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

struct Timed {
  Tensors results;
  runtime::Profile profile{0};
};

Timed run_timed(const graph::Graph& g, const Tensors& inputs) {
  load_llvm();
  const auto optimal = optimized(g);
  loops::Program p = compiler::compile(*optimal, target_for(*optimal));
  Timed timed;
  timed.profile = runtime::Profile(static_cast<size_t>(compiler::time_nests(p)));
  const auto code = llvm_backend::compile(p);
  std::vector<void*> buffers;
  for (const graph::Tensor& t : inputs) buffers.push_back(t.data.get());
  for (const graph::ValuePtr& v : optimal->constants) buffers.push_back(v->constant.data.get());
  for (const graph::ValuePtr& v : optimal->outputs) {
    timed.results.push_back(graph::allocate(v->type));
    buffers.push_back(timed.results.back().data.get());
  }
  runtime::run(code, buffers.data(), &timed.profile);
  return timed;
}

TEST(Timed, OrdinaryProgramsGiveTheSame) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    OrdinaryProgram p(seed, seed % 4 == 0);
    const Timed timed = run_timed(*p.graph, p.inputs);
    const Tensors plain = run_compiled(*p.graph, p.inputs);
    ASSERT_EQ(timed.results.size(), plain.size());
    for (size_t k = 0; k < plain.size(); ++k)
      for (int64_t i = 0; i < elements(plain[k].type.shape); ++i) {
        const auto a = graph::element(plain[k], i), b = graph::element(timed.results[k], i);
        ASSERT_TRUE(a == b || (a != a && b != b)) << "seed " << seed;
      }
    for (const auto& nest : timed.profile.nests) EXPECT_GE(nest.nanoseconds, 0);
  }
}

TEST(Timed, NestsInLoopsCountTheirSteps) {
  using primitives::Var;
  graph::Graph g;
  g.inputs = {graph::make_value(graph::Value::Kind::input, {DType::f64, {100}})};
  const Var start{&g, g.inputs[0]}, zero = primitives::literal(g, 0, {DType::i32, {}});
  const auto result = primitives::loop(
      g, {start, zero}, [](graph::Graph&, const primitives::Vars& s) { return s[1] < 7.0; },
      [](graph::Graph&, const primitives::Vars& s) {
        return primitives::Vars{primitives::exp(-s[0]), s[1] + 1.0};
      });
  g.outputs = {result[0].value};
  Tensors inputs = {graph::allocate(g.inputs[0]->type)};
  for (int64_t i = 0; i < 100; ++i) set_element(inputs[0], i, 0.01 * static_cast<double>(i));
  const Timed timed = run_timed(g, inputs);
  EXPECT_TRUE(std::any_of(timed.profile.nests.begin(), timed.profile.nests.end(),
                          [](const auto& nest) { return nest.runs == 7; }));
  EXPECT_EQ(disagreement(g, inputs, eigen::evaluate(g, inputs), timed.results), "");
}

TEST(Peak, ProgramsComputeWhatTheySay) {
  load_llvm();
  const compiler::Target target = llvm_backend::target();
  for (DType t : {DType::f32, DType::f64}) {
    const loops::Program p = compiler::multiply_add_peak(t, target, 50);
    loops::verify(p);
    const auto code = llvm_backend::compile(p);
    graph::Tensor in = graph::allocate({t, {2}}), out = graph::allocate({t, p.buffers[1].shape});
    set_element(in, 0, 2.0), set_element(in, 1, 3.0);
    void* buffers[] = {in.data.get(), out.data.get()};
    runtime::run(code, buffers);
    for (int64_t i = 0; i < elements(out.type.shape); ++i) EXPECT_EQ(element(out, i).as<double>(), 300);
    EXPECT_EQ(compiler::operations_of_peak(t, target, 50), 2.0 * 50 * static_cast<double>(elements(out.type.shape)));
  }
  const loops::Program p = compiler::memory_peak(target, 1000);
  loops::verify(p);
  graph::Tensor in = graph::allocate({DType::f32, {1000}}), out = graph::allocate({DType::f32, {1000}});
  for (int64_t i = 0; i < 1000; ++i) set_element(in, i, static_cast<double>(i));
  void* buffers[] = {in.data.get(), out.data.get()};
  runtime::run(llvm_backend::compile(p), buffers);
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(element(out, i).as<double>(), static_cast<double>(i + 1));
}

}  // namespace
}  // namespace anvil::test
