// What a loop of a graph records, for tests, and elements of arrays.
#pragma once
#include <cmath>

#include "primitives/families/control.h"
#include "primitives/vocabulary/composite.h"
#include "transform/tracing.h"

namespace anvil::testing {

inline const graph::Call* first(const Graph& g, primitives::Control control) {
  for (const graph::Call& c : g.calls)
    if (primitives::control_of(c) == control) return &c;
  return nullptr;
}
inline std::vector<TensorType> record_of(const Graph& g) {
  const graph::Call& loop = *first(g, primitives::Control::loop);
  return primitives::record_layout(loop, loop.outputs.size() - 1);
}
inline Var element(Var array, Var at) { return reshape(primitives::dynamic_slice(array, {at}, {1}), {}); }
inline Var with(Var array, Var at, Var x) { return primitives::dynamic_update_slice(array, reshape(x, {1}), {at}); }

// How often a primitive is called in loops, and outside of them.
inline int64_t calls_of(const Graph& g, const std::string& name, bool of_loops, bool in_loop = false) {
  int64_t n = 0;
  for (const graph::Call& c : g.calls) {
    n += in_loop == of_loops && c.primitive->name == name;
    for (const GraphPtr& inner : subgraphs(c)) n += calls_of(*inner, name, of_loops, in_loop || primitives::repeats(c));
  }
  return n;
}
inline int64_t calls_in_loops(const Graph& g, const std::string& name) { return calls_of(g, name, true); }
inline int64_t calls_around_loops(const Graph& g, const std::string& name) { return calls_of(g, name, false); }

inline std::vector<Tensor> arguments(int64_t n) {
  std::vector<double> e;
  for (int64_t i = 0; i < n; ++i) e.push_back(std::sin(static_cast<double>(i) * 1.7));
  return {tensor({}, {0.8}), tensor({n}, e)};
}

}  // namespace anvil::testing
