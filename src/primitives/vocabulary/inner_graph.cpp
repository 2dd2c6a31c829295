// Inner graphs from functions, and what they take from the graphs around them.
#include "primitives/vocabulary/inner_graph.h"

#include <algorithm>

namespace anvil::primitives {

using graph::Graph;
using graph::Value;

Vars vars(Graph& g, const std::vector<ValuePtr>& values) {
  Vars list;
  for (const ValuePtr& v : values) list.push_back({&g, v});
  return list;
}
std::vector<ValuePtr> values(const Vars& vars) {
  std::vector<ValuePtr> list;
  for (const Var& v : vars) list.push_back(v.value);
  return list;
}

graph::GraphPtr inner_graph(const std::vector<TensorType>& inputs, const Writer& outputs) {
  auto g = std::make_shared<Graph>();
  for (const TensorType& t : inputs) g->inputs.push_back(graph::make_value(Value::Kind::input, t));
  g->outputs = values(outputs(*g, vars(*g, g->inputs)));
  list_constants(*g);
  return g;
}

Vars inlined(const Graph& from, const Vars& arguments, Graph& to) {
  return vars(to, graph::inline_calls(from, values(arguments), to));
}

static void collect_tensors(const Graph& g, std::unordered_set<const Value*>& known, std::vector<ValuePtr>& tensors) {
  const auto use = [&](const ValuePtr& v) {
    if (v->kind == Value::Kind::constant && known.insert(v.get()).second) tensors.push_back(v);
  };
  for (const graph::Call& c : g.calls) {
    std::for_each(c.inputs.begin(), c.inputs.end(), use);
    for (const graph::GraphPtr& inner : subgraphs(c)) collect_tensors(*inner, known, tensors);
  }
  std::for_each(g.outputs.begin(), g.outputs.end(), use);
}

void list_constants(Graph& g) {
  std::unordered_set<const Value*> known;
  g.constants.clear();
  collect_tensors(g, known, g.constants);
  for (const ValuePtr& v : captures(g)) g.constants.push_back(v);
}

}  // namespace anvil::primitives
