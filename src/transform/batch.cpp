// The walk over the calls, in their order, with what stands for each value.
#include "transform/batch.h"

#include <algorithm>

#include "base/interrupt.h"
#include "primitives/vocabulary/composite.h"
#include "transform/batcher.h"
#include "transform/nested_tapes.h"

namespace anvil::transform {

using primitives::Control;
using primitives::Primitive;
using primitives::primitive_of;

namespace {

// The expansion says it all, but for a derivative that someone gave a definition of theirs.
bool expansion_serves(const Primitive& p) { return p.expand && p.control == Control::none && !primitives::is_ruled(p); }
bool has_property(const Primitive& p) {
  return p.acts == primitives::Acts::per_element || p.axes != primitives::Axes::other;
}
bool might_never_end(const Call& c) {
  return anywhere(c, [](const Call& inner) { return primitives::control_of(inner) == Control::loop; });
}
bool is_guarded(const Call& c) { return primitive_of(c).effect || primitives::control_of(c) == Control::loop; }

}  // namespace

BatchedBy batched_by(const Primitive& p) {
  if (p.control != Control::none) return BatchedBy::control;
  if (p.operands.empty()) return BatchedBy::nothing;
  if (p.effect) return BatchedBy::loop;
  if (p.batch) return BatchedBy::rule;
  if (has_property(p)) return BatchedBy::property;
  return p.expand ? BatchedBy::expansion : BatchedBy::loop;
}

// ---- values ---------------------------------------------------------------------------------

Batcher::Form Batcher::form(const ValuePtr& v) const {
  const auto it = forms_.find(v.get());
  return it == forms_.end() ? Form{v} : it->second;
}
ValuePtr Batcher::whole(const ValuePtr& v) const {
  const Form f = form(v);
  return f.batched ? f.value : primitives::spread({to_, f.value}, size_).value;
}
TensorType Batcher::of_batch(TensorType type) const {
  type.shape.push_back(size_);
  return type;
}
// `yes` for the examples in the mask, `no` for others; all with the batch's dimension.
ValuePtr Batcher::chosen(const ValuePtr& mask, const ValuePtr& yes, const ValuePtr& no) const {
  if (yes == no) return yes;
  Var condition{to_, mask};
  const auto last = static_cast<int64_t>(yes->type.shape.size()) - 1;
  if (last > 0) condition = broadcast_in_dim(condition, yes->type.shape, {last});
  return select(condition, {to_, yes}, {to_, no}).value;
}
ValuePtr Batcher::masked_by(const ValuePtr& condition) const {
  return mask_ ? (Var{to_, mask_} & Var{to_, condition}).value : condition;
}

bool Batcher::reads_batched(const Call& c) const {
  for (const GraphPtr& g : subgraphs(c)) {
    const ValueList read = captures(*g);
    if (std::any_of(read.begin(), read.end(), [this](const ValuePtr& v) { return batched(v); })) return true;
  }
  return false;
}
bool Batcher::differs(const Call& c) const {
  const auto is_batched = [this](const ValuePtr& v) { return batched(v); };
  return std::any_of(c.inputs.begin(), c.inputs.end(), is_batched) || reads_batched(c) || has_effect(c);
}

// ---- calls ----------------------------------------------------------------------------------

void Batcher::run(const std::vector<Call>& calls) {
  for (const Call& c : calls) {
    poll();
    const size_t before = to_->calls.size();
    try {
      step(c);
    } catch (Error& e) {
      if (e.location < 0) e.location = c.location;
      throw;
    }
    graph::locate(to_->calls, before, c.location, c.derivative);
  }
}

void Batcher::step(const Call& c) {
  const bool guarded = mask_ && might_never_end(c), control = primitives::control_of(c) != Control::none;
  if (!differs(c) && !(guarded && control)) return guarded ? if_any(c) : to_->calls.push_back(translated(c, true));
  if (primitive_of(c).effect) return by_example(c);
  switch (primitives::control_of(c)) {
    case Control::none: return apply(c);
    case Control::once: return checkpoint(c);
    case Control::branch: return batched(c.inputs[0]) ? branch_by_example(c) : branch(c);
    case Control::loop: return loop(c);
    case Control::scan: return scan(c);
  }
}

// The call with what stands for values that are the same for all examples: those that its inner graphs
// read, and its operands.
Call Batcher::translated(const Call& c, bool inputs) const {
  Call same = c;
  if (inputs)
    for (ValuePtr& v : same.inputs) v = form(v).value;
  for (graph::Param& p : same.params.items)
    if (auto* g = std::get_if<GraphPtr>(&p.value)) {
      graph::Substitution map;
      for (const ValuePtr& v : captures(**g))
        if (const ValuePtr other = form(v).value; other != v) map[v.get()] = other;
      if (!map.empty()) *g = graph::clone(**g, map);
    }
  return same;
}

// The call where an example comes here, and zeros that nobody reads where none does.
void Batcher::if_any(const Call& c) {
  const Call same = translated(c, true);
  const GraphPtr yes = inner_graph({}, [&](Graph& g, const Vars&) {
    return vars(g, record(g, primitive_of(same), same.inputs, same.params, same.location));
  });
  const auto no = std::make_shared<Graph>();
  for (const ValuePtr& v : yes->outputs) no->outputs.push_back(graph::make_literal(0, v->type));
  const ValueList results = primitives::branch(*to_, reduce_max(Var{to_, mask_}, {0}).value, yes, no);
  for (size_t i = 0; i < results.size(); ++i) bind(c.outputs[i], results[i], false);
}

void Batcher::apply(const Call& c) {
  const Primitive& p = primitive_of(c);
  if (!reads_batched(c)) {
    const Call same = translated(c, false);
    BatchStep step{*to_, same, {}, {}, size_};
    for (const ValuePtr& v : c.inputs) {
      step.operands.push_back(form(v).value);
      step.batched.push_back(batched(v));
    }
    if (p.batch) p.batch(step);
    if (step.results.empty()) batch_by_axes(step);
    // of examples that do not come here, a loop in a definition might never end
    if (step.results.empty() && primitives::is_ruled(p) && !(mask_ && anywhere(c, is_guarded))) batch_ruled(step);
    if (!step.results.empty()) {
      for (size_t i = 0; i < c.outputs.size(); ++i) bind(c.outputs[i], step.results.at(i), true);
      return;
    }
  }
  expansion_serves(p) ? by_expansion(c) : by_example(c);
}

void Batcher::by_expansion(const Call& c) {
  const auto part = std::make_shared<Graph>();
  kept_.push_back(part);
  part->outputs = primitive_of(c).expand(*part, c);
  primitives::add_constants(*to_, *part);
  run(part->calls);
  for (size_t i = 0; i < c.outputs.size(); ++i) forms_[c.outputs[i].get()] = form(part->outputs[i]);
}

// ---- graphs ---------------------------------------------------------------------------------

// No example comes to any call.
static GraphPtr of_nothing(const Graph& g, ValueList inputs) {
  auto to = std::make_shared<Graph>();
  to->inputs = std::move(inputs);
  for (const ValuePtr& v : g.outputs) {
    TensorType type = v->type;
    type.shape.push_back(0);
    to->outputs.push_back(primitives::fill(*to, 0, type).value);
  }
  return to;
}

GraphPtr batch(const Graph& example, const std::vector<bool>& batched, int64_t size) {
  const GraphPtr alone = without_nested_tapes(example);
  const Graph& g = *alone;
  auto to = std::make_shared<Graph>();
  Batcher batcher(*to, size);
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    ValuePtr v = g.inputs[i];
    if (batched.at(i)) {
      TensorType type = v->type;
      type.shape.push_back(size);
      elements(type.shape);  // throws when there would be too many
      v = make_value(Value::Kind::input, type);
    }
    batcher.bind(g.inputs[i], v, batched[i]);
    to->inputs.push_back(v);
  }
  if (size == 0) return of_nothing(g, to->inputs);
  to->constants = g.constants;
  batcher.run(g.calls);
  for (const ValuePtr& v : g.outputs) {
    const size_t before = to->calls.size();
    to->outputs.push_back(batcher.whole(v));
    if (before < to->calls.size()) graph::locate(to->calls, before, graph::location_of(v, g.calls));
  }
  return to;
}

}  // namespace anvil::transform
