// Which values a derivative flows through, forwards from the sources.
#include "transform/activity.h"

#include <algorithm>

#include "base/interrupt.h"
#include "primitives/vocabulary/var.h"
#include "transform/nested_tapes.h"
#include "transform/simplify.h"

namespace anvil::transform {

Activity::Activity(const ValueList& sources, const std::vector<Call>& calls) {
  for (const ValuePtr& v : sources) mark(v);
  propagate(calls);
}

void Activity::mark(const ValuePtr& v) {
  bool carries_derivative = is_float(v->type.dtype) || v->type.tape;
  if (carries_derivative && v->kind != Value::Kind::literal && v->kind != Value::Kind::constant)
    values_.insert(v.get());
}

void Activity::propagate(const std::vector<Call>& calls) {
  for (const Call& c : calls) {
    poll();
    propagate(c);
  }
}

void Activity::propagate(const Call& call) {
  const primitives::Primitive& p = primitives::primitive_of(call);
  if (p.control != primitives::Control::none) return propagate_regions(call, p.regions(call));
  if (p.zero_derivative) return;
  const auto any_of = [this](const ValueList& values) {
    return std::any_of(values.begin(), values.end(), [this](const ValuePtr& v) { return contains(v); });
  };
  bool any = any_of(call.inputs);
  for (const GraphPtr& region : subgraphs(call)) any = any || any_of(captures(*region));
  for (size_t i = 0; any && i < call.outputs.size(); ++i) mark(call.outputs[i]);
}

void Activity::propagate_regions(const Call& call, const std::vector<primitives::Region>& regions) {
  const auto flow = [this](const std::vector<primitives::Flow>& flows, const ValueList& from, const ValueList& to) {
    for (const auto& [source, target] : flows)
      if (contains(from[source])) mark(to[target]);
  };
  for (const primitives::Region& r : regions) flow(r.enter, call.inputs, r.graph->inputs);
  for (bool grows = true; grows;) {  // a carried value may become active in a later iteration
    const size_t before = values_.size();
    for (const primitives::Region& r : regions) {
      propagate(r.graph->calls);
      flow(r.carry, regions.back().graph->outputs, r.graph->inputs);
    }
    grows = values_.size() > before && !regions.back().carry.empty();
  }
  for (const primitives::Region& r : regions) {
    flow(r.leave, r.graph->outputs, call.outputs);
    flow(r.pass, r.graph->inputs, call.outputs);
  }
}

void Activity::check_reads(const Call& c) const {
  if (!primitives::is_ruled(primitives::primitive_of(c))) return;
  const Graph& definition = *c.params.graph("definition");
  const auto outputs = static_cast<std::ptrdiff_t>(c.outputs.size() - primitives::residuals_of(c));
  for (const ValuePtr& v : captures(definition)) {
    if (!contains(v)) continue;
    const Activity inside({v}, definition.calls);
    if (std::any_of(definition.outputs.begin(), definition.outputs.begin() + outputs,
                    [&](const ValuePtr& y) { return inside.contains(y); }))
      throw Error("gradient",
                  "`" + c.primitive->name + "` reads a value from around it, whose derivative would be lost.",
                  {"x The value is " + text(v->type) + ".",
                   "x The rules of a function say what its derivatives by its arguments are, and no others.",
                   "i Make it an argument, or use `nv_stop_gradient()` on it."});
  }
}

bool Activity::reaches(const Call& c) const {
  return std::any_of(c.outputs.begin(), c.outputs.end(), [this](const ValuePtr& v) { return contains(v); });
}

// ---- graphs made ready ----------------------------------------------------------------------

Differentiable differentiable(const Graph& graph, const ValueList& sources, primitives::Reader mode) {
  const GraphPtr split = without_nested_tapes(graph);
  split_residuals(*split);
  Differentiable d{split, Activity(sources, split->calls)};
  const auto is_active = [&d](const Call& c) { return d.active.reaches(c); };
  if (primitives::expands(*split, mode, is_active)) {
    d.graph = primitives::expand(*split, mode, is_active);
    d.active.propagate(d.graph->calls);
  }
  capture_invariants(*d.graph);
  if (read_products_early(*d.graph)) d.active.propagate(d.graph->calls);
  hoist_linear(*d.graph, d.active);
  if (mode == primitives::Reader::reverse && read_early(*d.graph, d.active)) {
    d.active.propagate(d.graph->calls);
    hoist_linear(*d.graph, d.active);
  }
  return d;
}

ValueList marked_inputs(const Graph& graph, const std::vector<bool>& wrt) {
  ValueList marked;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (!wrt.at(i)) continue;
    if (!is_float(graph.inputs[i]->type.dtype))
      throw Error("gradient", "Can only compute gradient with respect to float tensors.",
                  {"x Got " + std::string(name(graph.inputs[i]->type.dtype)) + "."});
    marked.push_back(graph.inputs[i]);
  }
  return marked;
}

ValuePtr as_result(const ValuePtr& derivative, const TensorType& type, Graph& to) {
  if (!derivative) return primitives::fill(to, 0, type).value;
  if (derivative->type == type) return derivative;
  if (derivative->kind == Value::Kind::literal) return graph::make_literal(derivative->literal, type);
  return primitives::convert(primitives::Var{&to, derivative}, type.dtype, type.ambiguous).value;
}

}  // namespace anvil::transform
