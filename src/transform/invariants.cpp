// What a while loop carries from one iteration to the next without changing it:
//
//   %s, %x = while (%s0, %x0): (s, x) -> (f(s, x), x)      %s = while (%s0): (s) -> (f(s, %x0))
//
// Reads of %x become reads of %x0. Inner loops come first, so that what only passes through a
// loop that passes through another one is found as well. What counts the steps of a loop of a known length is a number
// behind it, from which loops on the way back count down.
#include <algorithm>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"
#include "transform/trip_count.h"

namespace anvil::transform {
namespace {

class Invariants {
 public:
  void visit(Graph& g) {
    for (Call& call : g.calls) {
      poll();
      substitute_all(map_, call.inputs);
      rewrite_subgraphs(call, [this](Graph& inner) { visit(inner); });
      if (primitives::control_of(call) == primitives::Control::loop && !primitives::records(call)) {
        shorten(call);
        number_counts(call);
      }
    }
    substitute_all(map_, g.outputs);
  }
  bool any() const { return !map_.empty(); }

 private:
  void shorten(Call& call) {
    std::vector<Graph*> graphs;  // copies of our own, by rewrite_subgraphs
    for (const GraphPtr& g : subgraphs(call)) graphs.push_back(g.get());
    const Graph& body = *call.params.graph("body_graph");
    std::vector<bool> keep;
    for (size_t i = 0; i < body.inputs.size(); ++i) keep.push_back(body.outputs[i] != body.inputs[i]);
    if (std::find(keep.begin(), keep.end(), true) == keep.end()) keep[0] = true;  // a loop has a state
    if (std::find(keep.begin(), keep.end(), false) == keep.end()) return;
    for (size_t i = 0; i < keep.size(); ++i) {
      if (keep[i]) continue;
      for (const Graph* g : graphs) map_[g->inputs[i].get()] = call.inputs[i];
      map_[call.outputs[i].get()] = call.inputs[i];
    }
    select(keep, call.inputs);
    select(keep, call.outputs);
    for (Graph* g : graphs) select(keep, g->inputs);
    select(keep, call.params.graph("body_graph")->outputs);
    for (Graph* g : graphs) visit(*g);
  }
  void number_counts(const Call& call) {
    const auto steps = trip_count(call);
    if (!steps) return;
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const auto counted = count(call, i);
      const graph::TensorType& type = call.outputs[i]->type;
      if (!counted) continue;
      const int64_t last = counted->start + *steps * counted->step;
      if (holds(type.dtype, last)) map_[call.outputs[i].get()] = graph::make_literal(last, type);
    }
  }
  static void select(const std::vector<bool>& keep, std::vector<ValuePtr>& values) {
    size_t i = 0;
    std::erase_if(values, [&](const ValuePtr&) { return !keep[i++]; });
  }

  graph::Substitution map_;
};

}  // namespace

void list_inner_constants(Graph& g) {
  for (Call& call : g.calls)
    for (const GraphPtr& inner : subgraphs(call)) {
      list_inner_constants(*inner);
      list_constants(*inner);
    }
}

void capture_invariants(Graph& g) {
  const KeptValues kept(g);
  Invariants invariants;
  invariants.visit(g);
  if (invariants.any()) list_inner_constants(g);
}

}  // namespace anvil::transform
