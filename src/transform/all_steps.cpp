#include "transform/all_steps.h"

#include <algorithm>

#include "primitives/vocabulary/infer.h"

namespace anvil::transform {

using namespace step_costs;
using primitives::Acts;
using primitives::Axes;
using primitives::Var;
using Ints = std::vector<int64_t>;

bool can_move(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  if (c.outputs.size() != 1 || c.inputs.empty() || p.effect || p.as_stored || !is_few(c.outputs[0])) return false;
  if (!subgraphs(c).empty() || !std::all_of(c.inputs.begin(), c.inputs.end(), is_few)) return false;
  return (p.acts == Acts::per_element && p.axes == Axes::kept) || p.axes == Axes::regrouped || p.axes == Axes::spread;
}

int cost_of_moved(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  if (p.acts != Acts::per_element) return 0;
  const loops::Effort effort = p.op ? loops::effort(*p.op) : loops::Effort::call;
  return effort == loops::Effort::call ? of_function : effort == loops::Effort::several ? of_division : 1;
}

Var AllSteps::turned(const ValuePtr& whole, int64_t dim, bool backwards) const {
  Var x{&to_, whole};
  const auto rank = static_cast<int64_t>(whole->type.shape.size());
  Ints order = primitives::other_axes(static_cast<size_t>(rank), {dim}, {});
  order.push_back(dim);
  if (dim != rank - 1) x = primitives::transpose(x, order);
  return backwards ? primitives::reverse(x, {rank - 1}) : x;
}

Var AllSteps::of(const ValuePtr& v, const Shape& step) const {
  const Shape all = shape(step);
  const auto rank = static_cast<int64_t>(step.size());
  Ints dims;
  if (const auto found = same_.find(v.get()); found != same_.end()) {
    const ValuePtr& x = found->second;
    if (x->kind == Value::Kind::literal) return primitives::literal(to_, x->literal, {x->type.dtype, all});
    for (int64_t d = 0; d < rank && v->type.shape == step; ++d) dims.push_back(d);
    return primitives::broadcast_in_dim({&to_, x}, all, dims);
  }
  const Var x{&to_, all_.at(v.get())};
  if (x.shape() == all) return x;
  return primitives::broadcast_in_dim(x, all, {rank});  // a scalar stands in every place
}

void AllSteps::add(const Call& c) {
  const size_t before = to_.calls.size();
  const ValuePtr& result = c.outputs[0];
  const Shape &step = result->type.shape, all = shape(step);
  if (has_axes(c, Axes::regrouped)) {
    set(result, primitives::reshape(of(c.inputs[0], c.inputs[0]->type.shape), all));
  } else if (has_axes(c, Axes::spread)) {
    Ints dims = c.params.ints("broadcast_dimensions");
    dims.push_back(static_cast<int64_t>(step.size()));
    set(result, primitives::broadcast_in_dim(of(c.inputs[0], c.inputs[0]->type.shape), all, dims));
  } else {
    Call call = c;
    for (ValuePtr& v : call.inputs) v = of(v, step).value;
    call.outputs = {graph::make_value(Value::Kind::result, {result->type.dtype, all})};
    set(result, {&to_, call.outputs[0]});
    to_.calls.push_back(std::move(call));
  }
  graph::locate(to_.calls, before, c.location, c.derivative);
}

}  // namespace anvil::transform
