// Reverse mode through inner graphs that run at most once: branches and checkpoints. Each is computed
// again on the way back, in an inner graph that carries the cotangents of the results to what it reads.
#include <algorithm>

#include "transform/needed.h"
#include "transform/pullback.h"
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

Pullback::Again Pullback::recomputed(const Call& call, const Graph& inner, const ValueList& targets) const {
  auto back = std::make_shared<Graph>();
  const ValueList outputs = inline_calls(inner, {}, *back);
  const std::vector<Call> calls = back->calls;
  Pullback pullback(calls, targets, *back);
  pullback.moving_ = moving_;
  add_dependent(calls, pullback.moving_);
  for (const ValuePtr& v : targets)
    if (ValuePtr sum = cotangent(v)) pullback.seed(v, sum);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (ValuePtr g = cotangent(call.outputs[i])) pullback.seed(outputs[i], g);
  pullback.run();
  for (const ValuePtr& v : targets) back->outputs.push_back(pullback.cotangent(v));
  Values remade = made_by(calls);
  remade.merge(pullback.begun_);
  return {back, outputs, remade};
}

void Pullback::reverse_checkpoint(const Call& call) {
  const Graph& body = *call.params.graph("body_graph");
  const ValueList targets = active_captures(body);
  const Again again = recomputed(call, body, targets);
  const GraphPtr back = again.back;
  ValueList found, sums;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (back->outputs[i] == cotangent(targets[i])) continue;
    found.push_back(targets[i]);
    sums.push_back(back->outputs[i]);
  }
  if (found.empty()) return;
  back->outputs = std::move(sums);
  remove_dead_calls(*back, again.remade);
  list_constants(*back);
  const auto results = primitives::checkpoint(to_, back);
  for (size_t i = 0; i < found.size(); ++i) replace(found[i], results[i]);
}

// In a loop, what changes from step to step and is smaller than what a branch reads leaves the forward branch
// as a further result, so that the loop need not record the larger:
//
//   %p = %y[%i], in a branch that reads an array %y and goes on with %p
//
// The other branch gives zeros in its place.
void Pullback::keep_of_branches(const Call& call, std::vector<Again>& branches) {
  const auto place = places_.find(call.outputs[0].get());
  if (moving_.empty() || place == places_.end()) return;
  ValueList cotangents;
  for (const auto& [value, sum] : cotangents_)
    if (sum) cotangents.push_back(sum);
  std::vector<Graph> forward;
  std::vector<ValueList> kept;
  for (Again& b : branches) {
    forward.push_back(*b.back);
    remove_dead_calls(*b.back, b.remade);
    Values later = addresses(cotangents);
    add_dependent(forward.back().calls, later);
    ValueList sources = captures(*b.back);
    std::erase_if(sources, [&](const ValuePtr& v) { return moving_.count(v.get()) == 0 || later.count(v.get()) != 0; });
    kept.push_back(cheapest(*b.back, sources, later, Nearest::to_sources, {}));
    std::erase_if(kept.back(), [&](const ValuePtr& v) { return contains(sources, v); });
    std::erase_if(forward.back().calls, [&](const Call& c) { return makes_any_of(c, later); });
    forward.back().outputs = b.results;
  }
  Call& there = to_.calls[place->second];
  const char* graphs[] = {"true_graph", "false_graph"};
  for (size_t of = 0; of < 2; ++of)
    for (const ValuePtr& v : kept[of]) {
      forward[of].outputs.push_back(v);
      forward[1 - of].outputs.push_back(graph::make_literal(0, v->type));
    }
  if (kept[0].empty() && kept[1].empty()) return;
  for (size_t k = 0; k < 2; ++k) {
    graph::Substitution fresh;
    const GraphPtr branch = clone(forward[k], fresh);
    remove_dead_calls(*branch);
    list_constants(*branch);
    there.params.set(graphs[k], branch);
    append(there.outputs, kept[k]);
    for (Call& c : branches[k].back->calls)
      for (ValuePtr& v : c.outputs)
        if (contains(kept[k], v)) v = make_value(v->kind, v->type);
  }
}

void Pullback::reverse_if(const Call& call) {
  std::vector<Again> backward;
  ValueList targets;
  for (const auto& branch : subgraphs(call))
    for (const ValuePtr& v : active_captures(*branch))
      if (!contains(targets, v)) targets.push_back(v);
  std::vector<bool> reached(targets.size(), false);
  for (const auto& branch : subgraphs(call)) {
    backward.push_back(recomputed(call, *branch, targets));
    for (size_t i = 0; i < targets.size(); ++i)
      reached[i] = reached[i] || backward.back().back->outputs[i] != cotangent(targets[i]);
  }
  ValueList found;
  for (size_t i = 0; i < targets.size(); ++i)
    if (reached[i]) found.push_back(targets[i]);
  if (found.empty()) return;
  for (const Again& b : backward) {
    ValueList& sums = b.back->outputs;
    ValueList outputs;
    for (size_t i = 0; i < targets.size(); ++i)
      if (reached[i]) outputs.push_back(sums[i] ? sums[i] : graph::make_literal(0, targets[i]->type));
    sums = std::move(outputs);
  }
  keep_of_branches(call, backward);
  for (const Again& b : backward) {
    remove_dead_calls(*b.back, b.remade);
    list_constants(*b.back);
  }
  auto results = primitives::branch(to_, call.inputs[0], backward[0].back, backward[1].back);
  for (size_t i = 0; i < found.size(); ++i) replace(found[i], results[i]);
}

}  // namespace anvil::transform
