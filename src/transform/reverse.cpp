// Reverse mode: the backward walk over the calls of one scope.
#include "transform/reverse.h"

#include <algorithm>

#include "base/interrupt.h"
#include "primitives/vocabulary/composite.h"
#include "primitives/vocabulary/var.h"
#include "transform/pullback.h"
#include "transform/simplify.h"

namespace anvil::transform {

using primitives::Control;
using primitives::primitive_of;
using primitives::Var;

Pullback::Pullback(const std::vector<Call>& calls, Activity active, Graph& to)
    : calls_(calls), to_(to), active_(std::move(active)) {
  for (size_t i = 0; i < to.calls.size(); ++i) {
    const Call& c = to.calls[i];
    const bool keeps = primitives::control_of(c) != Control::none || primitive_of(c).augment;
    if (!c.outputs.empty() && keeps) places_[c.outputs[0].get()] = i;
  }
}

void Pullback::seed(const ValuePtr& output, const ValuePtr& cotangent) { accumulate(output, cotangent); }

ValuePtr Pullback::cotangent(const ValuePtr& v) const {
  auto it = cotangents_.find(v.get());
  return it == cotangents_.end() ? nullptr : it->second;
}

void Pullback::accumulate(const ValuePtr& value, const ValuePtr& cotangent, const Layout& layout) {
  if (!active_.contains(value)) return;
  if (!same_type(value->type, cotangent->type))
    throw InternalError("reverse: a cotangent of " + text(value->type) + " is " + text(cotangent->type));
  ValuePtr& sum = cotangents_[value.get()];
  if (!sum)
    sum = cotangent;
  else if (value->type.tape)
    sum = add_tapes(layout, sum, cotangent);
  else {
    const bool selected = selected_.count(sum) != 0 || selected_.count(cotangent) != 0;
    sum = (Var{&to_, sum} + Var{&to_, cotangent}).value;
    if (selected) selected_.insert(sum);
  }
}

void Pullback::replace(const ValuePtr& value, const ValuePtr& sum) {
  if (active_.contains(value)) cotangents_[value.get()] = sum;
}

void Pullback::run() {
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    poll();
    bool flows = false;
    for (const ValuePtr& v : call->outputs) flows = flows || cotangent(v);
    if (!flows) continue;
    size_t before = to_.calls.size();
    try {
      step(*call);
    } catch (Error& e) {
      if (e.location < 0) e.location = call->location;
      throw;
    }
    for (size_t i = before; i < to_.calls.size(); ++i)
      if (to_.calls[i].location < 0) to_.calls[i].location = call->location;
  }
  put_augmented();
}

void Pullback::step(const Call& call) {
  switch (primitives::control_of(call)) {
    case Control::none: return apply_rule(call);
    case Control::once: return reverse_checkpoint(call);
    case Control::branch: return reverse_if(call);
    case Control::loop:
    case Control::scan: return reverse_loop(call);
  }
}

// A branch that was not taken may be infinite, or not a number, and so may be its derivative: zero
// times that would be NaN. So where elements were selected, a zero cotangent stays zero through calls
// per element, until the elements are mixed with others.
void Pullback::keep_zeros(const primitives::ReverseStep& step, ValueList& results) {
  const auto& p = primitive_of(step.call);
  if (p.selects) {
    for (const ValuePtr& v : results)
      if (v && v->kind != Value::Kind::literal) selected_.insert(v);
    return;
  }
  if (step.cotangents.size() != 1 || selected_.count(step.cotangents[0]) == 0) return;
  const Var g{&to_, step.cotangents[0]};
  bool linear = true;  // in all that is differentiated: nothing infinite is multiplied with
  for (size_t i = 0; i < results.size(); ++i)
    linear = linear && (p.linear.contains(i, results.size()) || !is_float(step.call.inputs[i]->type.dtype));
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i] || step.taken[i]) continue;
    if (linear) {
      selected_.insert(results[i]);
    } else if (p.acts == primitives::Acts::per_element && results[i]->type.shape == g.shape()) {
      const Var found{&to_, results[i]}, zero = primitives::zeros_like(found);
      results[i] = select(g == 0.0, zero, found).value;
      selected_.insert(results[i]);
    }
  }
}

void Pullback::apply_rule(const Call& call) {
  const auto& primitive = primitive_of(call);
  if (!primitive.reverse)
    throw Error("gradient", "No reverse rule for primitive " + primitive.name + ".",
                {"x Cannot compute gradient through this primitive."});
  primitives::ReverseStep step{to_, call, {}, {}, ValueList(call.inputs.size())};
  for (const ValuePtr& v : call.outputs) step.cotangents.push_back(cotangent(v));
  for (const ValuePtr& v : call.inputs) {
    step.required.push_back(active_.contains(v));
    step.sums.push_back(cotangent(v));
  }
  step.taken.resize(call.inputs.size());
  step.residuals = augment(call);
  primitive.reverse(step);
  keep_zeros(step, step.results);
  for (size_t i = 0; i < call.inputs.size(); ++i)
    if (step.taken[i] && step.results.at(i)) replace(call.inputs[i], step.results[i]);
  for (size_t i = 0; i < call.inputs.size(); ++i)
    if (!step.taken[i] && step.results.at(i)) accumulate(call.inputs[i], step.results[i]);
}

namespace {

void check_output(const Graph& g) {
  if (g.outputs.size() != 1)
    throw Error("gradient", "The function to differentiate must return a single output.",
                {"x Got " + std::to_string(g.outputs.size()) + " outputs."});
  const TensorType& type = g.outputs[0]->type;
  if (!type.shape.empty())
    throw Error("gradient", "The function to differentiate must return a scalar.",
                {"x Got shape " + in_parentheses(type.shape) + ".", "i Reduce it, for example with `sum()`."});
  if (!is_float(type.dtype))
    throw Error("gradient", "The function to differentiate must return a float scalar.",
                {"x Got dtype " + std::string(name(type.dtype)) + "."});
}

// A cotangent as a result: of exactly the input's type, ambiguity included.
ValuePtr finish(const ValuePtr& cotangent, const TensorType& type, Graph& to) {
  if (!cotangent) return primitives::fill(to, 0, type).value;
  if (cotangent->type == type) return cotangent;
  if (cotangent->kind == Value::Kind::literal) return graph::make_literal(cotangent->literal, type);
  return primitives::convert(Var{&to, cotangent}, type.dtype, type.ambiguous).value;
}

}  // namespace

GraphPtr gradient(const Graph& graph, const std::vector<bool>& wrt, bool with_value) {
  check_output(graph);
  ValueList targets;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (!wrt.at(i)) continue;
    if (!is_float(graph.inputs[i]->type.dtype))
      throw Error("gradient", "Can only compute gradient with respect to float tensors.",
                  {"x Got " + std::string(name(graph.inputs[i]->type.dtype)) + "."});
    targets.push_back(graph.inputs[i]);
  }
  Activity active(targets, graph.calls);
  const auto is_active = [&active](const Call& c) {
    return std::any_of(c.outputs.begin(), c.outputs.end(), [&](const ValuePtr& v) { return active.contains(v); });
  };
  auto to = std::make_shared<Graph>(graph);
  if (primitives::expands(graph, primitives::Reader::reverse, is_active)) {
    to = primitives::expand(graph, primitives::Reader::reverse, is_active);
    active.propagate(to->calls);
  }
  capture_invariants(*to);
  const std::vector<Call> forward = to->calls;
  const ValuePtr output = to->outputs[0];
  to->outputs.clear();
  Pullback pullback(forward, std::move(active), *to);
  if (pullback.depends(output)) {
    ValuePtr seed = graph::make_constant(full(output->type, 1));
    to->constants.push_back(seed);
    pullback.seed(output, seed);
    pullback.run();
  }
  if (with_value) to->outputs.push_back(output);
  for (const ValuePtr& v : targets) to->outputs.push_back(finish(pullback.cotangent(v), v->type, *to));
  return to;
}

ValueList pull_back(const std::vector<Call>& calls, const ValueList& outputs, const ValueList& cotangents,
                    const ValueList& targets, Graph& to) {
  std::vector<Call> walked = calls;  // may be the growing list of `to`
  Pullback pullback(walked, targets, to);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (cotangents[i]) pullback.seed(outputs[i], cotangents[i]);
  pullback.run();
  ValueList found;
  for (const ValuePtr& v : targets) found.push_back(pullback.cotangent(v));
  return found;
}

}  // namespace anvil::transform
