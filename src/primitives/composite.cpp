// Composites: inference reads the definition, expansion puts it in the place of the call.
#include "primitives/composite.h"

#include <algorithm>

namespace anvil::primitives {

using graph::Call;
using graph::Graph;
using graph::GraphPtr;

namespace {

constexpr const char* family = "composite";

std::vector<TensorType> infer_composite(const std::vector<TensorType>& operands, const Params& params) {
  const Graph& definition = *params.graph("definition");
  if (definition.inputs.size() != operands.size())
    throw InternalError("a composite has another number of operands than its definition");
  std::vector<TensorType> results;
  for (const ValuePtr& v : definition.outputs) results.push_back(v->type);
  return results;
}

bool expands(const Call& call, bool all) {
  return is_composite(*call.primitive) && (all || !primitive_of(call).reverse);
}

bool any_expands(const Graph& g, bool all) {
  return std::any_of(g.calls.begin(), g.calls.end(), [&](const Call& c) {
    if (expands(c, all)) return true;
    for (const GraphPtr& inner : subgraphs(c))
      if (any_expands(*inner, all)) return true;
    return false;
  });
}

GraphPtr rewrite(const Graph& g, graph::Substitution& map, bool all) {
  auto copy = std::make_shared<Graph>();
  copy->inputs = g.inputs;
  for (const ValuePtr& v : g.constants) copy->constants.push_back(substitute(map, v));
  for (Call c : g.calls) {
    for (ValuePtr& v : c.inputs) v = substitute(map, v);
    for (graph::Param& p : c.params.items)
      if (auto* inner = std::get_if<GraphPtr>(&p.value)) *inner = rewrite(**inner, map, all);
    if (!expands(c, all)) {
      copy->calls.push_back(std::move(c));
      continue;
    }
    const Graph& definition = *c.params.graph("definition");
    size_t before = copy->calls.size();
    std::vector<ValuePtr> results = inline_calls(definition, c.inputs, *copy);
    for (size_t i = before; i < copy->calls.size(); ++i)
      if (copy->calls[i].location < 0) copy->calls[i].location = c.location;
    for (size_t i = 0; i < results.size(); ++i) map[c.outputs[i].get()] = results[i];
    for (const ValuePtr& v : definition.constants)
      if (v->kind == graph::Value::Kind::constant &&
          std::find(copy->constants.begin(), copy->constants.end(), v) == copy->constants.end())
        copy->constants.push_back(v);
  }
  for (const ValuePtr& v : g.outputs) copy->outputs.push_back(substitute(map, v));
  return copy;
}

}  // namespace

Primitive composite(std::string name, std::function<void(ReverseStep&)> reverse) {
  Primitive p;
  p.name = std::move(name);
  p.family = family;
  p.operands = {"..."};
  p.parameters = {{"definition", ParamSpec::Kind::graph}};
  p.infer = infer_composite;
  p.reverse = std::move(reverse);
  return p;
}

bool is_composite(const graph::Operation& o) { return static_cast<const Primitive&>(o).family == family; }

GraphPtr expand(const Graph& g, bool all) {
  if (!any_expands(g, all)) return std::make_shared<Graph>(g);
  graph::Substitution map;
  return rewrite(g, map, all);
}

}  // namespace anvil::primitives
