// Branches in loop programs. What both branches change a little may be changed where it is:
//
//   %3 = if (%1): %2 with 1 at %i, else %2        if t1[] {
//                                                   $p = i
//                                                   t2[$p] = 1
//                                                 }
//
// when nobody reads %2 later. Other results have a buffer that both branches write.
#include <algorithm>

#include "compiler/lower.h"
#include "primitives/families/control.h"

namespace anvil::compiler {

namespace {
constexpr int64_t worth_keeping = 16;  // elements

ValuePtr origin(const Graph& g, ValuePtr v);

// The value around a branch that both of its graphs make a result of.
ValuePtr common_origin(const graph::Call& c, size_t result) {
  ValuePtr common;
  for (const auto& g : subgraphs(c)) {
    const ValuePtr v = origin(*g, g->outputs[result]);
    if (!v || (common && v != common)) return nullptr;
    common = v;
  }
  return common;
}

// The operand that a result of a call is made of, with few changes, if any is: what a loop carries from
// there, or the first one of the same type, but for calls that make every element anew.
ValuePtr made_of(const graph::Call& c, size_t result) {
  if (primitives::repeats(c))
    return result < primitives::carried(c) ? c.inputs[c.inputs.size() - primitives::carried(c) + result] : nullptr;
  if (primitives::control_of(c) == primitives::Control::branch) return common_origin(c, result);
  if (primitives::primitive_of(c).acts == primitives::Acts::per_element) return nullptr;
  const auto same = [&](const ValuePtr& v) { return same_type(v->type, c.outputs[result]->type); };
  const auto found = std::find_if(c.inputs.begin(), c.inputs.end(), same);
  return found == c.inputs.end() ? nullptr : *found;
}

// The value around a graph that an output has been changed from, step by step; null when there is none.
ValuePtr origin(const Graph& g, ValuePtr v) {
  for (auto call = g.calls.rbegin(); v && call != g.calls.rend(); ++call) {
    const auto made = std::find(call->outputs.begin(), call->outputs.end(), v);
    if (made != call->outputs.end()) v = made_of(*call, static_cast<size_t>(made - call->outputs.begin()));
  }
  return v && (v->kind == Value::Kind::input || v->kind == Value::Kind::result) ? v : nullptr;
}
}  // namespace

// The value whose memory result k of a branch can have.
ValuePtr Lowerer::changed_in_place(const graph::Call& c, size_t k) const {
  if (elements(c.outputs[k]->type.shape) <= worth_keeping) return nullptr;
  const ValuePtr common = common_origin(c, k);
  if (!common) return nullptr;
  for (const auto& g : subgraphs(c))
    for (size_t other = 0; other < g->outputs.size(); ++other)  // it would be read when it has changed
      if (other != k && origin(*g, g->outputs[other]) == common) return nullptr;
  const auto place = places_.find(common.get());
  const bool free = place != places_.end() && place->second == root(place->second) && dead_after_this_call(common);
  return free ? common : nullptr;
}

// Lends the buffer of a value to the region that is open, until the last of its calls that reads it.
void Lowerer::lend(BufferId b, const Graph& g) {
  owners_[static_cast<size_t>(b)] = {regions_.back().id, -1};
  for (const ValuePtr& v : captures(g))
    if (auto it = places_.find(v.get()); it != places_.end() && root(it->second) == b) place(v, it->second);
}

void Lowerer::lower_if(const graph::Call& c) {
  loops::If branch;
  branch.condition = load(c.inputs[0], {});
  std::vector<BufferId> results, fresh;  // of the results; where calls of the branches shall put them at once
  for (size_t k = 0; k < c.outputs.size(); ++k) {
    const ValuePtr base = changed_in_place(c, k);
    fresh.push_back(base ? -1 : result_buffer(c.outputs[k]));
    results.push_back(base ? buffer_of(base) : fresh.back());
  }
  Block* outer = block_;
  for (bool yes : {true, false}) {
    const Graph& g = *c.params.graph(yes ? "true_graph" : "false_graph");
    block_ = yes ? &branch.yes : &branch.no;
    open_region(g, {});
    for (size_t k = 0; k < results.size(); ++k)
      if (fresh[k] < 0) lend(results[k], g);
    lower_calls(g, fresh);
    copy_outputs(g, results);
    for (const ValuePtr& v : g.outputs) leave_tape(v);
    close_region();
  }
  block_ = outer;
  emit({std::move(branch)});
  for (size_t k = 0; k < results.size(); ++k)
    if (c.outputs[k]->type.tape) regions_.back().tapes.push_back({results[k], c.location});
  for (size_t k = 0; k < results.size(); ++k) {
    if (fresh[k] >= 0) continue;
    owners_[static_cast<size_t>(results[k])] = {regions_.back().id, -1};
    place(c.outputs[k], results[k]);
  }
}

}  // namespace anvil::compiler
