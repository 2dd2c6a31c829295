// Forward mode: the walk over the calls of one scope. What a primitive is says how its tangents follow:
// linear in the operands, it is called with their tangents; per element, its reverse rule multiplies with
// the one derivative that there is, whether that is of a cotangent or of a tangent.
#include "transform/forward.h"

#include <algorithm>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "primitives/vocabulary/var.h"
#include "transform/augment.h"
#include "transform/pushforward.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {

using primitives::Control;
using primitives::ForwardStep;
using primitives::Primitive;
using primitives::primitive_of;
using primitives::Var;

ValuePtr Pushforward::tangent(const ValuePtr& v) const {
  auto it = tangents_.find(v.get());
  return it == tangents_.end() ? nullptr : it->second;
}

ValuePtr Pushforward::tangent_or_zero(const ValuePtr& v) const {
  const ValuePtr t = tangent(v);
  return t ? t : graph::make_literal(0, v->type);
}

void Pushforward::run(const std::vector<Call>& calls, Graph& to) {
  for (const Call& call : calls) {
    poll();
    const size_t before = to.calls.size();
    try {
      step(call, to);
    } catch (Error& e) {
      if (e.location < 0) e.location = call.location;
      throw;
    }
    graph::locate(to.calls, before, call.location, true);
  }
}

void Pushforward::step(const Call& call, Graph& to) {
  if (!active_.reaches(call)) {
    to.calls.push_back(call);
    return;
  }
  switch (primitives::control_of(call)) {
    case Control::none: return apply_rule(call, to);
    case Control::once:
    case Control::branch: return forward_once(call, to);
    case Control::loop:
    case Control::scan: return forward_loop(call, to);
  }
}

namespace {

bool is_linear(const Call& c, size_t k) { return primitive_of(c).linear.contains(k, c.inputs.size()); }

bool linear_in_tangents(const ForwardStep& s) {
  for (size_t k = 0; k < s.tangents.size(); ++k)
    if (s.tangents[k] && !is_linear(s.call, k)) return false;
  return true;
}
bool all_have_tangents(const ForwardStep& s) {
  for (size_t k = 0; k < s.tangents.size(); ++k)
    if (!s.tangents[k] && is_linear(s.call, k)) return false;
  return true;
}
// Every element of the result from those of the operands in its place.
bool is_per_element(const ForwardStep& s) {
  const Primitive& p = primitive_of(s.call);
  if (p.acts != primitives::Acts::per_element || !p.reverse || s.call.outputs.size() != 1) return false;
  for (size_t k = 0; k < s.tangents.size(); ++k)
    if (s.tangents[k] && !same_type(s.call.inputs[k]->type, s.call.outputs[0]->type)) return false;
  return true;
}

ValueList called_with(const ForwardStep& s, const ValueList& operands) {
  return primitives::record(s.graph, primitive_of(s.call), operands, s.call.params);
}

void linear(ForwardStep& s) {
  ValueList operands = s.call.inputs;
  for (size_t k = 0; k < operands.size(); ++k)
    if (is_linear(s.call, k) && is_float(operands[k]->type.dtype)) operands[k] = tangent(s, k).value;
  s.results = called_with(s, operands);
}

void bilinear(ForwardStep& s) {
  for (size_t k = 0; k < 2; ++k) {
    if (!s.tangents[k]) continue;
    ValueList operands = s.call.inputs;
    operands[k] = s.tangents[k];
    const Var term{&s.graph, called_with(s, operands).at(0)};
    s.results[0] = s.results[0] ? (Var{&s.graph, s.results[0]} + term).value : term.value;
  }
}

}  // namespace

// What follows from one operand's tangent, where an infinite derivative makes no NaN of elements that were not taken.
ValuePtr Pushforward::kept_zeros(const Call& call, Graph& to, size_t operand, const ValuePtr& term) {
  const ValuePtr t = tangent(call.inputs[operand]);
  if (primitive_of(call).selects || !selected_.contains(t) || is_linear(call, operand)) return term;
  return selected_.kept(term, t, to);
}

void Pushforward::per_element(ForwardStep& s) {
  const Primitive& p = primitive_of(s.call);
  const size_t n = s.tangents.size();
  for (size_t k = 0; k < n; ++k) {
    if (!s.tangents[k]) continue;
    std::vector<bool> required(n);
    required[k] = true;
    primitives::ReverseStep back{s.graph,      s.call,       {s.tangents[k]},      required,
                                 ValueList(n), ValueList(n), std::vector<bool>(n), {}};
    p.reverse(back);
    if (!back.results[k]) continue;
    const Var term{&s.graph, kept_zeros(s.call, s.graph, k, back.results[k])};
    s.results[0] = s.results[0] ? (Var{&s.graph, s.results[0]} + term).value : term.value;
  }
}

// Marks results with elements that were not taken, as long as nothing can cancel that they are made of.
void Pushforward::keep_zeros(ForwardStep& s) {
  const Primitive& p = primitive_of(s.call);
  const bool stay = std::all_of(s.tangents.begin(), s.tangents.end(),
                                [this](const ValuePtr& t) { return !t || selected_.contains(t); });
  if (p.augment || (!p.selects && !(stay && never_cancels(p) && (linear_in_tangents(s) || is_per_element(s))))) return;
  const auto weights = [this, &call = s.call, tangents = s.tangents](size_t k, Graph& to) {
    ForwardStep again{to, call, {}, ValueList(call.outputs.size())};
    for (const ValuePtr& t : tangents) again.tangents.push_back(t ? selected_.taken(t, to) : nullptr);
    if (primitive_of(call).selects || primitive_of(call).acts != primitives::Acts::per_element) {
      by_rule(again);
      return again.results[k];
    }
    Var sum = primitives::literal(to, 0, call.outputs[k]->type);
    for (const ValuePtr& t : again.tangents)
      if (t) sum = sum + broadcast_to_like(convert(Var{&to, t}, sum.dtype()), sum);
    return sum.value;
  };
  for (size_t k = 0; k < s.results.size(); ++k)
    selected_.insert(
        s.results[k], [weights, k](Graph& to) { return weights(k, to); }, s.tangents, s.graph);
}

// With residuals, the call that gives them takes the place of the call.
void Pushforward::transposed(ForwardStep& s) {
  const Primitive& p = primitive_of(s.call);
  if (!p.reverse)
    throw Error("gradient", "No derivative for primitive " + p.name + ".",
                {"x Cannot differentiate through this primitive."});
  ValueList residuals;
  if (p.augment) {
    Augmented a = augmented(s.call);
    s.graph.calls.pop_back();
    append(s.graph.calls, a.calls);
    append(s.graph.constants, a.constants);
    residuals = std::move(a.residuals);
  }
  transpose_reverse(s, residuals);
}

void Pushforward::by_rule(ForwardStep& s) {
  const Primitive& p = primitive_of(s.call);
  if (p.forward && p.forward(s)) return;
  if (linear_in_tangents(s) && (all_have_tangents(s) || !is_per_element(s))) return linear(s);
  if (is_per_element(s)) return per_element(s);
  return p.bilinear ? bilinear(s) : transposed(s);
}

void Pushforward::apply_rule(const Call& call, Graph& to) {
  to.calls.push_back(call);
  active_.check_reads(call);
  ForwardStep s{to, call, {}, ValueList(call.outputs.size())};
  for (const ValuePtr& v : call.inputs) s.tangents.push_back(tangent(v));
  if (std::none_of(s.tangents.begin(), s.tangents.end(), [](const ValuePtr& t) { return t != nullptr; })) return;
  by_rule(s);
  keep_zeros(s);
  for (size_t k = 0; k < call.outputs.size(); ++k)
    if (s.results[k] && is_float(call.outputs[k]->type.dtype)) seed(call.outputs[k], s.results[k]);
}

GraphPtr jvp(const Graph& graph, const std::vector<bool>& wrt) {
  const ValueList sources = marked_inputs(graph, wrt);
  Differentiable d = differentiable(graph, sources, primitives::Reader::forward);
  Pushforward forward(std::move(d.active));
  auto to = std::make_shared<Graph>();
  to->inputs = graph.inputs;
  to->constants = d.graph->constants;
  for (const ValuePtr& v : sources) {
    to->inputs.push_back(make_value(Value::Kind::input, v->type));
    forward.seed(v, to->inputs.back());
  }
  forward.run(d.graph->calls, *to);
  to->outputs = d.graph->outputs;
  for (const ValuePtr& v : d.graph->outputs)
    if (is_float(v->type.dtype)) to->outputs.push_back(as_result(forward.tangent(v), v->type, *to));
  return to;
}

ValueList tangents_of(const Call& call, const ValueList& tangents, Graph& to) {
  Graph alone;
  ValueList sources;
  alone.calls = {call};
  alone.outputs = call.outputs;
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    alone.inputs.push_back(make_value(Value::Kind::input, call.inputs[k]->type));
    if (tangents[k]) sources.push_back(alone.inputs.back());
  }
  alone.calls[0].inputs = alone.inputs;
  Differentiable d = differentiable(alone, sources, primitives::Reader::forward);
  Pushforward forward(std::move(d.active));
  for (size_t k = 0; k < tangents.size(); ++k)
    if (tangents[k]) forward.seed(alone.inputs[k], tangents[k]);
  Graph part;
  part.inputs = alone.inputs;
  forward.run(d.graph->calls, part);
  std::erase_if(part.calls, [&call](const Call& c) { return c.outputs == call.outputs; });
  ValueList results;
  for (const ValuePtr& v : d.graph->outputs) {
    results.push_back(forward.tangent(v));
    if (results.back()) part.outputs.push_back(results.back());
  }
  remove_dead_calls(part);
  append(to.constants, part.constants);
  const ValueList made = inline_calls(part, call.inputs, to);
  auto next = made.begin();
  for (ValuePtr& v : results)
    if (v) v = *next++;
  return results;
}

std::string forward_rule(const Primitive& p) {
  if (p.control != Control::none) return "regions";
  if (p.zero_derivative) return "zero";
  if (p.forward) return "rule";
  const size_t n = p.operands.size();
  bool all = true;
  for (size_t k = 0; k < n; ++k) all = all && (p.linear.contains(k, n) || p.indices.contains(k, n));
  if (all && n > 0) return "linear";
  if (p.acts == primitives::Acts::per_element && p.reverse) return "per element";
  if (p.bilinear) return "linear";
  const std::string other = p.reverse ? "transposed" : p.expand ? "expansion" : "";
  return p.linear.empty() ? other : "linear, " + other;
}

}  // namespace anvil::transform
