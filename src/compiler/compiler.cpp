// The order of the passes.
#include "compiler/compiler.h"

#include "compiler/passes.h"

namespace anvil::compiler {
namespace {

template <class AfterPass> loops::Program run(const graph::Graph& g, const Target& target, AfterPass&& after) {
  (void)target;
  loops::Program p = lower(g);
  after("lower", p);
  plan_buffers(p);
  after("buffers", p);
  return p;
}

}  // namespace

loops::Program compile(const graph::Graph& g, const Target& target) {
  return run(g, target, [](const char*, const loops::Program&) {});
}

std::vector<Stage> stages(const graph::Graph& g, const Target& target) {
  std::vector<Stage> list;
  run(g, target, [&](const char* name, const loops::Program& p) { list.push_back({name, print(p)}); });
  return list;
}

}  // namespace anvil::compiler
