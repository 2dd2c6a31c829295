// Reverse mode through inner graphs that run at most once: branches and checkpoints. Each is computed
// again on the way back, in an inner graph that carries the cotangents of the results to what it reads.
#include <algorithm>

#include "transform/pullback.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {

ValueList Pullback::active_captures(const Graph& inner) const {
  ValueList found;
  for (const ValuePtr& v : captures(inner)) {
    if (!depends(v)) continue;
    if (v->type.tape) throw InternalError("reverse: a tape is read in an inner graph");
    found.push_back(v);
  }
  return found;
}

GraphPtr Pullback::recomputed(const Call& call, const Graph& inner, const ValueList& targets) const {
  auto back = std::make_shared<Graph>();
  const ValueList outputs = inline_calls(inner, {}, *back);
  const std::vector<Call> calls = back->calls;
  Pullback pullback(calls, targets, *back);
  for (const ValuePtr& v : targets)
    if (ValuePtr sum = cotangent(v)) pullback.seed(v, sum);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (ValuePtr g = cotangent(call.outputs[i])) pullback.seed(outputs[i], g);
  pullback.run();
  for (const ValuePtr& v : targets) back->outputs.push_back(pullback.cotangent(v));
  return back;
}

void Pullback::reverse_checkpoint(const Call& call) {
  const Graph& body = *call.params.graph("body_graph");
  const ValueList targets = active_captures(body);
  const GraphPtr back = recomputed(call, body, targets);
  ValueList found, sums;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (back->outputs[i] == cotangent(targets[i])) continue;
    found.push_back(targets[i]);
    sums.push_back(back->outputs[i]);
  }
  if (found.empty()) return;
  back->outputs = std::move(sums);
  remove_dead_calls(*back);
  list_constants(*back);
  const auto results = primitives::checkpoint(to_, back);
  for (size_t i = 0; i < found.size(); ++i) replace(found[i], results[i]);
}

void Pullback::reverse_if(const Call& call) {
  std::vector<GraphPtr> branches = subgraphs(call), backward;
  ValueList targets;
  for (const auto& branch : branches)
    for (const ValuePtr& v : active_captures(*branch))
      if (std::find(targets.begin(), targets.end(), v) == targets.end()) targets.push_back(v);
  std::vector<bool> reached(targets.size(), false);
  for (const auto& branch : branches) {
    GraphPtr back = recomputed(call, *branch, targets);
    for (size_t i = 0; i < targets.size(); ++i) reached[i] = reached[i] || back->outputs[i] != cotangent(targets[i]);
    backward.push_back(std::move(back));
  }
  ValueList found;
  for (size_t i = 0; i < targets.size(); ++i)
    if (reached[i]) found.push_back(targets[i]);
  if (found.empty()) return;
  for (const GraphPtr& back : backward) {
    ValueList outputs;
    for (size_t i = 0; i < targets.size(); ++i)
      if (reached[i]) outputs.push_back(back->outputs[i] ? back->outputs[i] : graph::make_literal(0, targets[i]->type));
    back->outputs = std::move(outputs);
    remove_dead_calls(*back);
    list_constants(*back);
  }
  auto results = primitives::branch(to_, call.inputs[0], backward[0], backward[1]);
  for (size_t i = 0; i < found.size(); ++i) replace(found[i], results[i]);
}

}  // namespace anvil::transform
