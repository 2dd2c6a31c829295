// checkpoint [body_graph] (): the results of an inner graph without inputs, which reads the values
// around it. Its derivative keeps none of the values inside: they are computed again, in the inner
// graph of another checkpoint, so that nobody takes equal calls for common subexpressions. When
// calls are no longer merged the inner graphs take the places of the calls.
//
// stop_gradient (operand): the operand, as something that no derivative goes through.
#include "primitives/families/control.h"
#include "primitives/families/families.h"
#include "primitives/vocabulary/composite.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

std::vector<TensorType> infer_checkpoint(const std::vector<TensorType>&, const Params& params) {
  const graph::Graph& body = *params.graph("body_graph");
  if (!body.inputs.empty()) throw Error("argument", "The graph of a checkpoint must take no arguments.");
  std::vector<TensorType> results;
  for (const ValuePtr& v : body.outputs) results.push_back(v->type);
  return results;
}

std::vector<Region> checkpoint_regions(const graph::Call& c) {
  Region body{c.params.graph("body_graph"), {}, {}, {}, {}};
  for (size_t i = 0; i < c.outputs.size(); ++i) body.leave.push_back({i, i});
  return {body};
}

std::vector<ValuePtr> expand_checkpoint(graph::Graph& to, const graph::Call& c) {
  const graph::Graph& body = *c.params.graph("body_graph");
  add_constants(to, body);
  return inline_calls(body, {}, to);
}

}  // namespace

std::vector<ValuePtr> checkpoint(graph::Graph& to, graph::GraphPtr body) {
  return record(to, registry().at("checkpoint"), {}, {{"body_graph", std::move(body)}});
}

void register_checkpoint(Registry& r) {
  Primitive p;
  p.name = p.key = "checkpoint";
  p.family = "control";
  p.control = Control::once;
  p.regions = checkpoint_regions;
  p.parameters = {{"body_graph", ParamSpec::Kind::graph}};
  p.infer = infer_checkpoint;
  p.expand = expand_checkpoint;
  r.add(std::move(p));

  Primitive stop = make_primitive("control", "stop_gradient", {"operand"}, {});
  stop.axes = Axes::kept;
  stop.infer = [](const Types& t, const Params&) { return t; };
  stop.zero_derivative = true;
  stop.expand = [](graph::Graph&, const graph::Call& c) { return c.inputs; };
  r.add(std::move(stop));
}

}  // namespace anvil::primitives
