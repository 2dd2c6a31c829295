// Reverse mode: the backward walk over the calls of one scope.
#include "transform/reverse.h"

#include <functional>

#include "base/interrupt.h"
#include "primitives/vocabulary/infer.h"
#include "primitives/vocabulary/var.h"
#include "transform/pullback.h"
#include "transform/pushforward.h"

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

void Pullback::seed(const ValuePtr& output, const ValuePtr& cotangent) {
  const size_t before = to_.calls.size();
  accumulate(output, cotangent);
  if (before < to_.calls.size()) graph::locate(to_.calls, before, graph::location_of(output, calls_), true);
}

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
    const ValuePtr before = sum;
    sum = (Var{&to_, before} + Var{&to_, cotangent}).value;
    if (!selected_.contains(before) || !selected_.contains(cotangent)) return;
    const auto weights = [this, before, cotangent](Graph& to) {
      return (Var{&to, selected_.taken(before, to)} + Var{&to, selected_.taken(cotangent, to)}).value;
    };
    selected_.insert(sum, weights, {before, cotangent}, to_);
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
    graph::locate(to_.calls, before, call->location, true);
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

// What comes back to an operand of what came back to the results: where the one was not taken, neither was the
// other. An element of a product is taken whatever it is multiplied with.
Selected::Weights Pullback::weights_of(const primitives::ReverseStep& step, size_t operand) {
  Call call = step.call;
  if (primitive_of(call).acts == primitives::Acts::contracts) {
    ValuePtr& other = call.inputs[1 - operand];
    other = graph::make_literal(1, {other->type.dtype, other->type.shape});
  }
  return [this, call, operand, cotangents = step.cotangents, sum = step.sums[operand],
          residuals = step.residuals](Graph& to) {
    const size_t n = call.inputs.size();
    std::vector<bool> required(n);
    required[operand] = true;
    primitives::ReverseStep again{to, call, {}, required, ValueList(n), ValueList(n), std::vector<bool>(n), residuals};
    if (sum) again.sums[operand] = selected_.taken(sum, to);
    for (const ValuePtr& g : cotangents) again.cotangents.push_back(g ? selected_.taken(g, to) : nullptr);
    primitive_of(call).reverse(again);
    return again.results[operand];
  };
}

// Whether any element of any of them was taken, as a number; of none, it was.
Var Pullback::any_taken(const ValueList& cotangents, DType dtype, Graph& to) {
  if (cotangents.empty()) return primitives::literal(to, 1, {dtype, {}});
  Var any = primitives::literal(to, 0, {dtype, {}});
  for (const ValuePtr& g : cotangents) {
    if (!g) continue;
    const auto dims = primitives::all_axes(g->type.shape.size());
    any = maximum(any, convert(reduce_max(Var{&to, selected_.taken(g, to)}, dims), dtype));
  }
  return any;
}

// A branch that was not taken may be infinite, or not a number, and so may be its derivative: selected.h.
// Its zeros stay through calls per element and where elements are moved, summed up or multiplied, since nothing cancels
// there; through others, where there is nothing but zeros.
void Pullback::keep_zeros(const primitives::ReverseStep& step, ValueList& results) {
  const auto& p = primitive_of(step.call);
  const bool selects = p.selects || p.updates || (p.selects_if && p.selects_if(step.call));
  const bool follows = selected_.contain(step.cotangents);
  if (!selects && !follows) return;
  const auto same_place = [&](const ValuePtr& v) {
    return p.acts == primitives::Acts::per_element && v->type.shape == step.cotangents[0]->type.shape;
  };
  bool linear = true;  // in all that is differentiated: nothing infinite is multiplied with
  for (size_t i = 0; i < results.size(); ++i)
    linear = linear && (p.linear.contains(i, results.size()) || !is_float(step.call.inputs[i]->type.dtype));
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i] || (p.updates && i == 1 && !follows)) continue;  // all of an update is taken
    ValueList from = step.cotangents;
    if (step.taken[i]) {
      if (!selected_.contains(step.sums[i]) || !(selects || never_cancels(p))) continue;
      from.push_back(step.sums[i]);
    }
    if (!selects && same_place(results[i])) {
      if (!linear) results[i] = selected_.kept(results[i], step.cotangents[0], to_);
      selected_.insert(results[i], step.cotangents[0]);
    } else if (selects || (linear && never_cancels(p)) || p.rearranges || p.acts == primitives::Acts::contracts) {
      selected_.insert(results[i], weights_of(step, i), from, to_);
    } else {
      const auto all_or_nothing = [this, cotangents = step.cotangents, type = step.call.inputs[i]->type](Graph& to) {
        return broadcast_in_dim(any_taken(cotangents, type.dtype, to), type.shape, {}).value;
      };
      selected_.insert(results[i], all_or_nothing, step.cotangents, to_);
    }
  }
}

void Pullback::apply_rule(const Call& call) {
  const auto& primitive = primitive_of(call);
  if (!primitive.reverse && !primitive.forward)
    throw Error("gradient", "No reverse rule for primitive " + primitive.name + ".",
                {"x Cannot compute gradient through this primitive."});
  active_.check_reads(call);
  primitives::ReverseStep step{to_, call, {}, {}, ValueList(call.inputs.size())};
  for (const ValuePtr& v : call.outputs) step.cotangents.push_back(cotangent(v));
  for (const ValuePtr& v : call.inputs) {
    step.required.push_back(active_.contains(v));
    step.sums.push_back(cotangent(v));
  }
  step.taken.resize(call.inputs.size());
  step.residuals = augment(call);
  primitive.reverse ? primitive.reverse(step) : transpose_forward(step);
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

// The graph, then what carries cotangents back from those outputs for which `seed` gives one; others have zero.
using Seed = std::function<ValuePtr(size_t output, Graph& to)>;
GraphPtr with_cotangents(const Graph& graph, const std::vector<bool>& wrt, bool with_value, const Seed& seed) {
  const ValueList targets = marked_inputs(graph, wrt);
  Differentiable d = differentiable(graph, targets, primitives::Reader::reverse);
  const GraphPtr to = d.graph;
  const std::vector<Call> forward = to->calls;
  const ValueList outputs = to->outputs;
  to->outputs.clear();
  Pullback pullback(forward, std::move(d.active), *to);
  for (size_t k = 0; k < outputs.size(); ++k)
    if (const ValuePtr g = pullback.depends(outputs[k]) ? seed(k, *to) : nullptr) pullback.seed(outputs[k], g);
  pullback.run();
  if (with_value) to->outputs = outputs;
  for (const ValuePtr& v : targets) to->outputs.push_back(as_result(pullback.cotangent(v), v->type, *to));
  return to;
}

}  // namespace

GraphPtr gradient(const Graph& graph, const std::vector<bool>& wrt, bool with_value) {
  check_output(graph);
  const TensorType& type = graph.outputs[0]->type;
  return with_cotangents(graph, wrt, with_value, [&type](size_t, Graph& to) {
    to.constants.push_back(graph::make_constant(full(type, 1)));
    return to.constants.back();
  });
}

GraphPtr vjp(const Graph& graph, const std::vector<bool>& wrt, const std::vector<bool>& from) {
  ValueList cotangents;
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const TensorType& type = graph.outputs[k]->type;
    const bool given = from.empty() ? is_float(type.dtype) : from.at(k);
    if (given && !is_float(type.dtype))
      throw Error("gradient", "Only float outputs have cotangents.",
                  {"x Got dtype " + std::string(name(type.dtype)) + "."});
    cotangents.push_back(given ? make_value(Value::Kind::input, type) : nullptr);
  }
  const GraphPtr to = with_cotangents(graph, wrt, true, [&](size_t k, Graph&) { return cotangents[k]; });
  for (const ValuePtr& v : cotangents)
    if (v) to->inputs.push_back(v);
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
