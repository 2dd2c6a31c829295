#include "transform/needed.h"

#include "primitives/vocabulary/primitive.h"
#include "transform/cut.h"
#include "transform/nested_tapes.h"

namespace anvil::transform {

ValueList reads(const Call& c) {
  ValueList list = c.inputs;
  for (const GraphPtr& inner : subgraphs(c)) append(list, captures(*inner));
  return list;
}

namespace {

constexpr int64_t field = 1, byte = 16;  // what it costs to record
// Of an element: so many products are summed in the time that it takes to record and read it.
constexpr int64_t cheap_products = 32;

// What it costs to make the results of a call again.
int64_t cost_again(const Call& c) {
  const auto& products = primitives::primitive_of(c).products;
  const int64_t n = products ? products(c) : 0;
  return n <= cheap_products ? 0 : byte * size_in_bytes(c.outputs[0]) / cheap_products * n;
}

}  // namespace

void add_dependent(const std::vector<Call>& calls, Values& set) {
  for (const Call& c : calls) {
    const ValueList list = reads(c);
    if (std::any_of(list.begin(), list.end(), [&](const ValuePtr& v) { return set.count(v.get()) != 0; }))
      for (const ValuePtr& v : c.outputs) set.insert(v.get());
  }
}
Values addresses(const ValueList& list) {
  Values set;
  for (const ValuePtr& v : list) set.insert(v.get());
  return set;
}

Values made_by(const std::vector<Call>& calls) {
  Values set;
  for (const Call& c : calls) {
    for (const ValuePtr& v : c.outputs) set.insert(v.get());
    for (const GraphPtr& inner : subgraphs(c)) set.merge(made_by(inner->calls));
  }
  return set;
}

ValueList cheapest(const Graph& body, const ValueList& sources, const Values& later, Nearest nearest,
                   const Values& recorded, const ValueList& counters) {
  Values moving = addresses(sources), turning = addresses(counters);
  add_dependent(body.calls, turning);
  for (const Call& c : body.calls)
    if (makes_any_of(c, turning) && cost_again(c) > 0) moving.merge(addresses(c.outputs));
  add_dependent(body.calls, moving);
  Network network;
  std::unordered_map<const Value*, size_t> nodes;
  ValueList values;
  const auto node = [&](const ValuePtr& v) {
    if (auto known = nodes.find(v.get()); known != nodes.end()) return known->second;
    const auto bytes = v->type.tape ? expected_bytes(body, v) : size_in_bytes(v);
    const int64_t cost = recorded.count(v.get()) != 0 ? field : bytes ? 2 * field + byte * *bytes : Network::unlimited;
    values.push_back(v);
    return nodes[v.get()] = network.node(cost);
  };
  const auto is_needed = [&](const ValuePtr& v) { return moving.count(v.get()) != 0 && later.count(v.get()) == 0; };
  for (const ValuePtr& v : sources) network.source(node(v));
  for (const Call& c : body.calls) {
    const bool is_later = makes_any_of(c, later);
    if (const int64_t again = is_later ? 0 : cost_again(c); again > 0 && is_needed(c.outputs[0]))
      network.behind(node(c.outputs[0]), again);
    for (const ValuePtr& v : reads(c)) {
      if (!is_needed(v)) continue;
      if (is_later)
        network.sink(node(v));
      else
        for (const ValuePtr& made : c.outputs) network.edge(node(v), node(made));
    }
  }
  for (const ValuePtr& v : body.outputs)
    if (is_needed(v)) network.sink(node(v));
  ValueList cut;
  for (size_t n : network.minimum_cut(nearest == Nearest::to_use)) cut.push_back(values[n]);
  return cut;
}

}  // namespace anvil::transform
