#include "graph/graph.h"

namespace anvil::graph {

ValuePtr make_value(Value::Kind kind, TensorType type) {
  auto v = std::make_shared<Value>();
  v->kind = kind;
  v->type = std::move(type);
  return v;
}
ValuePtr make_literal(Scalar x, TensorType type) {
  auto v = make_value(Value::Kind::literal, std::move(type));
  v->literal = x;
  return v;
}
ValuePtr make_constant(Tensor tensor) {
  auto v = make_value(Value::Kind::constant, tensor.type);
  v->constant = std::move(tensor);
  return v;
}

const Param* Params::find(std::string_view name) const {
  for (const Param& p : items)
    if (p.name == name) return &p;
  return nullptr;
}

void Params::set(std::string_view name, ParamValue value) {
  for (Param& p : items)
    if (p.name == name) {
      p.value = std::move(value);
      return;
    }
  throw InternalError("missing parameter " + std::string(name));
}

void locate(std::vector<Call>& calls, size_t first, int location, bool derivative) {
  for (size_t i = first; i < calls.size(); ++i)
    if (calls[i].location < 0) calls[i].location = location, calls[i].derivative = derivative;
}

int location_of(const ValuePtr& result, const std::vector<Call>& calls) {
  for (const Call& c : calls)
    for (const ValuePtr& v : c.outputs)
      if (v == result) return c.location;
  return -1;
}

std::vector<GraphPtr> subgraphs(const Call& call) {
  std::vector<GraphPtr> found;
  for (const Param& p : call.params.items)
    if (auto g = std::get_if<GraphPtr>(&p.value)) found.push_back(*g);
  return found;
}

namespace {
void collect(const Graph& g, std::unordered_set<const Value*>& known, std::vector<ValuePtr>& found) {
  auto use = [&](const ValuePtr& v) {
    if (v->kind == Value::Kind::literal || v->kind == Value::Kind::constant) return;
    if (known.insert(v.get()).second) found.push_back(v);
  };
  for (const auto& v : g.inputs) known.insert(v.get());
  for (const Call& c : g.calls) {
    for (const auto& v : c.inputs) use(v);
    for (const auto& inner : subgraphs(c)) collect(*inner, known, found);
    for (const auto& v : c.outputs) known.insert(v.get());
  }
  for (const auto& v : g.outputs) use(v);
}
}  // namespace

std::vector<ValuePtr> captures(const Graph& g) {
  std::unordered_set<const Value*> known;
  std::vector<ValuePtr> found;
  collect(g, known, found);
  return found;
}

ValuePtr substitute(const Substitution& map, const ValuePtr& v) {
  auto it = map.find(v.get());
  return it == map.end() ? v : it->second;
}

static void copy_calls(const Graph& from, Substitution& map, Graph& to) {
  for (const Call& c : from.calls) {
    Call copy{c.primitive, {}, {}, {}, c.location, c.derivative};
    for (const auto& v : c.inputs) copy.inputs.push_back(substitute(map, v));
    for (const Param& p : c.params.items) {
      copy.params.items.push_back(p);
      if (auto g = std::get_if<GraphPtr>(&p.value)) copy.params.items.back().value = clone(**g, map);
    }
    for (const auto& v : c.outputs) copy.outputs.push_back(map[v.get()] = make_value(Value::Kind::result, v->type));
    to.calls.push_back(std::move(copy));
  }
}

GraphPtr clone(const Graph& g, Substitution& map) {
  auto copy = std::make_shared<Graph>();
  for (const auto& v : g.inputs) {
    if (!map.count(v.get())) map[v.get()] = make_value(Value::Kind::input, v->type);
    copy->inputs.push_back(map[v.get()]);
  }
  for (const auto& v : g.constants) copy->constants.push_back(substitute(map, v));
  copy_calls(g, map, *copy);
  for (const auto& v : g.outputs) copy->outputs.push_back(substitute(map, v));
  return copy;
}

std::vector<ValuePtr> inline_calls(const Graph& from, const std::vector<ValuePtr>& arguments, Graph& to) {
  Substitution map;
  for (size_t i = 0; i < from.inputs.size(); ++i) map[from.inputs[i].get()] = arguments[i];
  copy_calls(from, map, to);
  std::vector<ValuePtr> outputs;
  for (const auto& v : from.outputs) outputs.push_back(substitute(map, v));
  return outputs;
}

namespace {
void verify(const Graph& g, std::unordered_set<const Value*> known) {
  auto define = [&](const ValuePtr& v) {
    if (!v) throw InternalError("graph: a value is null");
    if (!known.insert(v.get()).second) throw InternalError("graph: a value is made twice");
  };
  auto use = [&](const ValuePtr& v) {
    if (!v) throw InternalError("graph: a value is null");
    if (v->kind == Value::Kind::literal) return;
    if (v->kind == Value::Kind::constant) {
      if (!v->constant) throw InternalError("graph: a constant has no data");
      return;
    }
    if (!known.count(v.get())) throw InternalError("graph: a value is used before it is made");
  };
  for (const auto& v : g.inputs) define(v);
  for (const Call& c : g.calls) {
    if (c.primitive == nullptr) throw InternalError("graph: a call has no primitive");
    for (const auto& v : c.inputs) use(v);
    for (const auto& inner : subgraphs(c)) verify(*inner, known);
    for (const auto& v : c.outputs) define(v);
  }
  for (const auto& v : g.outputs) use(v);
}
}  // namespace

void verify_structure(const Graph& g) { verify(g, {}); }

}  // namespace anvil::graph
