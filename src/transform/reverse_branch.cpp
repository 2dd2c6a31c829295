// Reverse mode through inner graphs that run at most once: branches and checkpoints. Each is computed
// again on the way back, in an inner graph that carries the cotangents of the results to what it reads.
#include <algorithm>

#include "transform/needed.h"
#include "transform/pullback.h"
#include "transform/simplify.h"

namespace anvil::transform {

// Each of what an inner graph reads asks for its own part of them.
static std::function<ValueList(Graph&)> once_in_each(const std::function<ValueList(Graph&)>& weights) {
  return [weights, once = std::make_shared<OnceInEachGraph>()](Graph& to) { return (*once)(to, weights); };
}

ValueList Pullback::active_captures(const Graph& inner) const {
  ValueList found;
  for (const ValuePtr& v : captures(inner)) {
    if (!depends(v)) continue;
    if (v->type.tape) throw InternalError("reverse: a tape is read in an inner graph");
    found.push_back(v);
  }
  return found;
}

Pullback::Flow Pullback::flow_into(const Call& call, ValueList targets) const {
  Flow flow{std::move(targets), {}, {}};
  for (const ValuePtr& v : flow.targets) flow.sums.push_back(cotangent(v));
  for (const ValuePtr& v : call.outputs) flow.cotangents.push_back(cotangent(v));
  return flow;
}

Pullback::Again Pullback::recomputed(const Graph& inner, const Flow& flow, bool weights) {
  auto back = std::make_shared<Graph>();
  const ValueList outputs = inline_calls(inner, {}, *back);
  const std::vector<Call> calls = back->calls;
  Pullback pullback(calls, flow.targets, *back);
  pullback.moving_ = moving_;
  add_dependent(calls, pullback.moving_);
  const auto seed = [&](const ValuePtr& v, const ValuePtr& g) {
    if (!g) return;
    if (selected_.contains(g)) {
      const ValuePtr taken = selected_.taken(g, to_);  // once, around the inner graph
      pullback.selected_.insert(
          g, [taken](Graph&) { return taken; }, {}, *back);
    }
    pullback.seed(v, g);
  };
  for (size_t i = 0; i < flow.targets.size(); ++i) seed(flow.targets[i], flow.sums[i]);
  for (size_t i = 0; i < outputs.size(); ++i) seed(outputs[i], flow.cotangents[i]);
  pullback.run();
  Again again{back, outputs, made_by(calls), {}};
  for (const ValuePtr& v : flow.targets) {
    const ValuePtr sum = pullback.cotangent(v);
    again.selected.push_back(!sum || pullback.selected_.contains(sum));
    const TensorType type{v->type.dtype, v->type.shape};
    const auto taken = [&] { return sum ? pullback.selected_.taken(sum, *back) : graph::make_literal(0, type); };
    back->outputs.push_back(weights ? taken() : sum);
  }
  again.remade.merge(pullback.begun_);
  return again;
}

// The same graphs once more, with what was taken in the place of cotangents.
std::vector<GraphPtr> Pullback::weights_through(const std::vector<GraphPtr>& inner, const Flow& flow) {
  std::vector<GraphPtr> found;
  for (const GraphPtr& g : inner) {
    const Again again = recomputed(*g, flow, true);
    remove_dead_calls(*again.back, again.remade);
    list_constants(*again.back);
    found.push_back(again.back);
  }
  return found;
}

void Pullback::reverse_checkpoint(const Call& call) {
  const GraphPtr body = call.params.graph("body_graph");
  const Flow flow = flow_into(call, active_captures(*body));
  const Again again = recomputed(*body, flow, false);
  const GraphPtr back = again.back;
  std::vector<bool> selected;
  ValueList found, sums;
  for (size_t i = 0; i < flow.targets.size(); ++i) {
    if (back->outputs[i] == flow.sums[i]) continue;
    found.push_back(flow.targets[i]);
    sums.push_back(back->outputs[i]);
    selected.push_back(again.selected[i]);
  }
  if (found.empty()) return;
  back->outputs = std::move(sums);
  remove_dead_calls(*back, again.remade);
  list_constants(*back);
  const auto results = primitives::checkpoint(to_, back);
  const auto weights = once_in_each(
      [this, body, flow](Graph& to) { return primitives::checkpoint(to, weights_through({body}, flow)[0]); });
  for (size_t i = 0; i < found.size(); ++i) {
    replace(found[i], results[i]);
    if (selected[i]) keep_zeros(results[i], weights, flow, found[i]);
  }
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
  const std::vector<GraphPtr> inner = subgraphs(call);
  for (Again& b : branches) {
    const ValueList known = captures(*inner[forward.size()]);
    forward.push_back(*b.back);
    remove_dead_calls(*b.back, b.remade);
    Values later = addresses(cotangents);
    for (const ValuePtr& v : captures(*b.back))  // conditions of what was not taken are made behind the branch
      if (!contains(known, v)) later.insert(v.get());
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
  const std::vector<GraphPtr> branches = subgraphs(call);
  ValueList targets;
  for (const auto& branch : branches)
    for (const ValuePtr& v : active_captures(*branch))
      if (!contains(targets, v)) targets.push_back(v);
  const Flow flow = flow_into(call, targets);
  std::vector<Again> backward;
  std::vector<bool> reached(targets.size(), false), selected(targets.size(), false);
  for (const auto& branch : branches) {
    backward.push_back(recomputed(*branch, flow, false));
    for (size_t i = 0; i < targets.size(); ++i) {
      reached[i] = reached[i] || backward.back().back->outputs[i] != flow.sums[i];
      selected[i] = selected[i] || backward.back().selected[i];
    }
  }
  std::vector<size_t> found;
  for (size_t i = 0; i < targets.size(); ++i)
    if (reached[i]) found.push_back(i);
  if (found.empty()) return;
  for (const Again& b : backward) {
    ValueList& sums = b.back->outputs;
    ValueList outputs;
    for (size_t i : found) outputs.push_back(sums[i] ? sums[i] : graph::make_literal(0, targets[i]->type));
    sums = std::move(outputs);
  }
  keep_of_branches(call, backward);
  for (const Again& b : backward) {
    remove_dead_calls(*b.back, b.remade);
    list_constants(*b.back);
  }
  auto results = primitives::branch(to_, call.inputs[0], backward[0].back, backward[1].back);
  const auto weights = once_in_each([this, condition = call.inputs[0], branches, flow](Graph& to) {
    const auto inner = weights_through(branches, flow);
    return primitives::branch(to, condition, inner[0], inner[1]);
  });
  for (size_t k = 0; k < found.size(); ++k) {
    const size_t i = found[k];
    replace(targets[i], results[k]);
    if (selected[i]) keep_zeros(results[k], weights, flow, targets[i]);
  }
}

// The sum of a target that came through an inner graph.
void Pullback::keep_zeros(const ValuePtr& sum, const std::function<ValueList(Graph&)>& weights, const Flow& flow,
                          const ValuePtr& target) {
  const auto at = std::find(flow.targets.begin(), flow.targets.end(), target) - flow.targets.begin();
  ValueList from = flow.sums;
  append(from, flow.cotangents);
  selected_.insert(
      sum, [weights, at](Graph& to) { return weights(to).at(static_cast<size_t>(at)); }, from, to_);
}

}  // namespace anvil::transform
