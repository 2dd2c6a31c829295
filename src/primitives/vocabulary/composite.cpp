// Expansion; the definition of a composite is its expansion.
#include "primitives/vocabulary/composite.h"

#include <algorithm>

#include "base/interrupt.h"

namespace anvil::primitives {

using graph::Call;
using graph::Graph;
using graph::GraphPtr;

namespace {

std::vector<TensorType> infer_composite(const std::vector<TensorType>& operands, const Params& params) {
  const Graph& definition = *params.graph("definition");
  if (definition.inputs.size() != operands.size())
    throw InternalError("a composite has another number of operands than its definition");
  std::vector<TensorType> results;
  for (const ValuePtr& v : definition.outputs) results.push_back(v->type);
  return results;
}

std::vector<ValuePtr> expand_composite(Graph& to, const Call& call) {
  const Graph& definition = *call.params.graph("definition");
  add_constants(to, definition);
  return inline_calls(definition, call.inputs, to);
}

bool expands(const Call& call, Reader reader) {
  const Primitive& p = primitive_of(call);
  if (!p.expand) return false;
  if (p.control != Control::none && reader != Reader::text) return reader == Reader::lowering;
  auto flows = [](const ValuePtr& v) { return is_float(v->type.dtype); };
  switch (reader) {
    case Reader::backend: return !p.lower;
    case Reader::forward:
    case Reader::reverse:
      return !((p.reverse || (p.forward && (reader == Reader::forward || is_composite(p)))) &&
               (!p.reverses || p.reverses(call))) &&
             std::any_of(call.outputs.begin(), call.outputs.end(), flows);
    case Reader::text: return p.hlo.op.empty();
    case Reader::lowering: return false;
  }
  return false;
}

// What stands for the results of calls that were expanded. Those live as long as the map
// does, which knows them by address.
struct Expanded {
  graph::Substitution map;
  std::vector<ValuePtr> results;
};

GraphPtr rewrite(const Graph& g, Expanded& expanded, Reader reader, const Wanted& wanted) {
  graph::Substitution& map = expanded.map;
  auto copy = std::make_shared<Graph>();
  copy->inputs = g.inputs;
  for (const ValuePtr& v : g.constants) copy->constants.push_back(substitute(map, v));
  for (Call c : g.calls) {
    poll();
    for (ValuePtr& v : c.inputs) v = substitute(map, v);
    for (graph::Param& p : c.params.items)
      if (auto* inner = std::get_if<GraphPtr>(&p.value)) *inner = rewrite(**inner, expanded, reader, wanted);
    if (!expands(c, reader) || (wanted && !wanted(c))) {
      copy->calls.push_back(std::move(c));
      continue;
    }
    // expansions may hold calls that expand
    Graph part;
    const Primitive& p = primitive_of(c);
    std::vector<ValuePtr> results =
        reader == Reader::text && p.expand_in_text ? p.expand_in_text(part, c) : p.expand(part, c);
    part.outputs = results;
    graph::GraphPtr inner = rewrite(part, expanded, reader, {});
    for (const ValuePtr& v : inner->constants)
      if (std::find(copy->constants.begin(), copy->constants.end(), v) == copy->constants.end())
        copy->constants.push_back(v);
    graph::locate(inner->calls, 0, c.location, c.derivative);
    for (Call& call : inner->calls) copy->calls.push_back(std::move(call));
    for (size_t i = 0; i < results.size(); ++i) map[c.outputs[i].get()] = inner->outputs[i];
    expanded.results.insert(expanded.results.end(), c.outputs.begin(), c.outputs.end());
  }
  for (const ValuePtr& v : g.outputs) copy->outputs.push_back(substitute(map, v));
  return copy;
}

}  // namespace

void add_constants(Graph& to, const Graph& from) {
  for (const ValuePtr& v : from.constants)
    if (v->kind == graph::Value::Kind::constant &&
        std::find(to.constants.begin(), to.constants.end(), v) == to.constants.end())
      to.constants.push_back(v);
}

Primitive composite(std::string name, std::function<void(ReverseStep&)> reverse) {
  Primitive p;
  p.name = std::move(name);
  p.family = "composite";
  p.operands = {"..."};
  p.parameters = {{"definition", ParamSpec::Kind::graph}};
  p.infer = infer_composite;
  p.expand = expand_composite;
  p.reverse = std::move(reverse);
  return p;
}

bool is_composite(const graph::Operation& o) { return static_cast<const Primitive&>(o).family == "composite"; }

bool is_ruled(const Primitive& p) { return is_composite(p) && (p.reverse || p.forward); }

std::vector<ValuePtr> record_ruled(Graph& to, std::shared_ptr<const Primitive> rules, std::vector<ValuePtr> operands,
                                   GraphPtr definition, size_t residuals) {
  const Primitive& p = *rules;
  Params params{{"definition", std::move(definition)}, {"rules", graph::Owned(std::move(rules))}};
  if (residuals > 0) params.items.push_back({"residuals", static_cast<int64_t>(residuals)});
  return record(to, p, std::move(operands), std::move(params));
}

size_t residuals_of(const Call& c) {
  const graph::Param* rules = c.params.find("rules");
  const bool own = rules != nullptr && std::holds_alternative<graph::Owned>(rules->value);
  return own && c.params.find("residuals") ? static_cast<size_t>(c.params.integer("residuals")) : 0;
}

bool expands(const Graph& g, Reader reader, const Wanted& wanted) {
  return std::any_of(g.calls.begin(), g.calls.end(), [&](const Call& c) {
    if (expands(c, reader) && (!wanted || wanted(c))) return true;
    for (const GraphPtr& inner : subgraphs(c))
      if (expands(*inner, reader, wanted)) return true;
    return false;
  });
}

GraphPtr expand(const Graph& g, Reader reader, const Wanted& wanted) {
  if (!expands(g, reader, wanted)) return std::make_shared<Graph>(g);
  Expanded expanded;
  return rewrite(g, expanded, reader, wanted);
}

}  // namespace anvil::primitives
