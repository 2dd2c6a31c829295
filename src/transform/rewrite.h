// What the passes over graphs share: replacing values everywhere, and walking inner graphs.
#pragma once
#include <algorithm>
#include <functional>
#include <optional>

#include "primitives/vocabulary/inner_graph.h"

namespace anvil::transform {

using graph::Call;
using graph::Graph;
using graph::GraphPtr;
using graph::Value;
using graph::ValuePtr;
using primitives::list_constants;

// Applies `change` to a copy of each inner graph of a call and puts the copy in its place.
template <class F>
void rewrite_subgraphs(Call& call, F&& change) {
  for (graph::Param& p : call.params.items)
    if (auto* inner = std::get_if<GraphPtr>(&p.value)) {
      auto copy = std::make_shared<Graph>(**inner);
      change(*copy);
      *inner = std::move(copy);
    }
}

inline void substitute_all(const graph::Substitution& map, std::vector<ValuePtr>& values) {
  if (map.empty()) return;
  for (ValuePtr& v : values) v = substitute(map, v);
}

// In all that a graph makes and reads, inner graphs included.
inline void substitute_in(const graph::Substitution& map, Graph& g) {
  for (Call& c : g.calls) {
    substitute_all(map, c.inputs);
    substitute_all(map, c.outputs);
    rewrite_subgraphs(c, [&](Graph& inner) { substitute_in(map, inner); });
  }
  substitute_all(map, g.outputs);
  substitute_all(map, g.constants);
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// The values of a graph and of those in it, which live as long as a pass over it. Passes know values by their addresses:
// what a pass makes must not get that of a value which it has taken out.
class KeptValues {
 public:
  explicit KeptValues(const Graph& g) { add(g); }

 private:
  void add(const Graph& g) {
    for (const auto* list : {&g.inputs, &g.constants, &g.outputs}) append(all_, *list);
    for (const Call& c : g.calls) {
      append(all_, c.inputs);
      append(all_, c.outputs);
      for (const GraphPtr& inner : subgraphs(c)) add(*inner);
    }
  }
  std::vector<ValuePtr> all_;
};

using Values = std::unordered_set<const Value*>;
inline bool makes_any_of(const Call& c, const Values& values) {
  return std::any_of(c.outputs.begin(), c.outputs.end(), [&](const ValuePtr& v) { return values.count(v.get()) != 0; });
}
// Everything that the calls and outputs of a graph read, inner graphs included.
void collect_reads(const Graph&, Values& read);

void list_inner_constants(Graph&);  // what the inner graphs take from outside, among their constants

// Takes from a loop what it carries although neither a result that is read nor the loop's condition
// needs it: dead_carries.cpp.
void drop_dead_carries(Call&, const std::function<bool(const ValuePtr&)>& is_read);

// That of the examples of a batch, or of records.
inline int64_t last_dimension(const primitives::Var& x) { return static_cast<int64_t>(x.shape().size()) - 1; }
inline int64_t size_in_bytes(const ValuePtr& v) {
  return elements(v->type.shape) * static_cast<int64_t>(size_of(v->type.dtype));
}

inline bool has_axes(const Call& c, primitives::Axes axes) { return primitives::primitive_of(c).axes == axes; }
// A transpose to the order of the dimensions that other tools mean.
inline bool reverses_all(const Call& c) {
  return has_axes(c, primitives::Axes::permuted) &&
         c.params.ints("permutation") == reversal(c.inputs[0]->type.shape.size());
}

// A slice whose starts, one a dimension, are known at run time.
inline bool is_dynamic_slice(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  return p.view && p.axes == primitives::Axes::kept && p.indices.contains(1, c.inputs.size()) &&
         c.inputs.size() == 1 + c.inputs[0]->type.shape.size();
}

// The dimension along which a part is one element of a tensor, if all others are whole.
inline std::optional<size_t> sliced_dimension(const Shape& whole, const Shape& part) {
  std::optional<size_t> dim;
  for (size_t d = 0; d < whole.size(); ++d) {
    if (part[d] == whole[d]) continue;
    if (dim || part[d] != 1) return std::nullopt;
    dim = d;
  }
  return dim;
}

// Of a call or of one in its inner graphs.
template <class Property>
bool anywhere(const Call& c, Property holds) {
  if (holds(c)) return true;
  for (const GraphPtr& g : subgraphs(c))
    for (const Call& inner : g->calls)
      if (anywhere(inner, holds)) return true;
  return false;
}
// It does more than make its results.
inline bool has_effect(const Call& call) {
  return anywhere(call, [](const Call& c) { return primitives::primitive_of(c).effect; });
}

}  // namespace anvil::transform
