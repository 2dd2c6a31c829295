// The calls of a graph one by one, for nv_check(): each as a graph of its own, and which values of the whole it
// reads; and what control flow runs, as graphs of the values that reach it.
#include <algorithm>

#include "primitives/vocabulary/composite.h"
#include "primitives/vocabulary/inner_graph.h"
#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {
namespace {

// A copy of a graph that reads nothing from around it but what `map` replaces.
GraphPtr closed(const Graph& open, graph::Substitution map = {}) {
  GraphPtr copy = graph::clone(open, map);
  primitives::list_constants(*copy);
  return copy;
}

// How values enter the graphs that a call holds: by its regions, or all operands those of the same types.
std::vector<primitives::Region> regions_of(const graph::Call& c) {
  if (const Primitive& p = primitives::primitive_of(c); p.regions) return p.regions(c);
  std::vector<primitives::Region> found;
  for (const GraphPtr& inner : subgraphs(c)) {
    primitives::Region region{inner, {}, {}, {}, {}};
    for (size_t i = 0; i < std::min(inner->inputs.size(), c.inputs.size()); ++i)
      if (graph::same_type(inner->inputs[i]->type, c.inputs[i]->type)) region.enter.push_back({i, i});
    if (region.enter.size() == c.inputs.size()) found.push_back(region);
  }
  return found;
}

SEXP list_of_graphs(const std::vector<GraphPtr>& graphs, const std::shared_ptr<Locations>& locations) {
  Shield<SEXP> list(guarded([&] { return Rf_allocVector(VECSXP, static_cast<R_xlen_t>(graphs.size())); }));
  for (size_t i = 0; i < graphs.size(); ++i)
    SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), wrap_graph(graphs[i], locations, R_NilValue));
  return list;
}

}  // namespace

// list(values, calls, reads): the graph with the results of all of its calls as outputs; a graph for each call; and
// for each of these the places of its inputs among the inputs of the graph and then those results.
SEXP anvil_single_calls(SEXP graph) {
  return entry([&] {
    const GraphHolder& holder = graph_of(graph);
    const Graph& g = *holder.graph;
    std::unordered_map<const Value*, int64_t> places;
    for (const ValuePtr& v : g.inputs) places.emplace(v.get(), static_cast<int64_t>(places.size()));
    std::vector<ValuePtr> results;
    std::vector<GraphPtr> graphs;
    std::vector<std::vector<int64_t>> reads;
    for (const graph::Call& c : g.calls) {
      const std::vector<ValuePtr> read = captures(Graph{{}, {}, {c}, {}});
      reads.emplace_back();
      for (const ValuePtr& v : read) reads.back().push_back(places.at(v.get()));
      graphs.push_back(closed({read, {}, {c}, c.outputs}));
      for (const ValuePtr& v : c.outputs) {
        places.emplace(v.get(), static_cast<int64_t>(places.size()));
        results.push_back(v);
      }
    }
    Shield<SEXP> values(list_of_graphs({closed({g.inputs, {}, g.calls, results})}, holder.locations));
    Shield<SEXP> calls(list_of_graphs(graphs, holder.locations));
    return guarded([&] {
      SEXP list = PROTECT(Rf_allocVector(VECSXP, 3));
      SET_VECTOR_ELT(list, 0, VECTOR_ELT(values, 0));
      SET_VECTOR_ELT(list, 1, calls);
      SEXP places_read = Rf_allocVector(VECSXP, static_cast<R_xlen_t>(reads.size()));
      SET_VECTOR_ELT(list, 2, places_read);
      for (size_t i = 0; i < reads.size(); ++i)
        SET_VECTOR_ELT(places_read, static_cast<R_xlen_t>(i), integers(reads[i], 1));
      UNPROTECT(1);
      return list;
    });
  });
}

// What control flow runs, where `graph` is one call of it: graphs of the inputs of `graph` and then of those of the
// inner graph that no operand enters, as it runs for the first time.
SEXP anvil_inner_graphs(SEXP graph) {
  return entry([&] {
    const GraphHolder& holder = graph_of(graph);
    std::vector<GraphPtr> found;
    for (const graph::Call& c : holder.graph->calls) {
      for (const primitives::Region& region : regions_of(c)) {
        graph::Substitution map;
        std::vector<ValuePtr> inputs = holder.graph->inputs;
        for (const ValuePtr& v : inputs) map[v.get()] = graph::make_value(Value::Kind::input, v->type);
        for (const primitives::Flow& flow : region.enter)
          map[region.graph->inputs[flow.to].get()] = substitute(map, c.inputs[flow.from]);
        for (const ValuePtr& v : region.graph->inputs)
          if (!map.count(v.get())) inputs.push_back(v);
        found.push_back(closed({inputs, {}, region.graph->calls, region.graph->outputs}, map));
      }
    }
    return list_of_graphs(found, holder.locations);
  });
}

}  // namespace anvil::r
