// Inner graphs, those of branches, loops and regions, as a function writes them: from inputs of given types it
// records their outputs, and may read what the graphs around them have.
#pragma once
#include <functional>

#include "primitives/vocabulary/var.h"

namespace anvil::primitives {

Vars vars(graph::Graph&, const std::vector<ValuePtr>&);
std::vector<ValuePtr> values(const Vars&);

using Writer = std::function<Vars(graph::Graph&, const Vars& inputs)>;
graph::GraphPtr inner_graph(const std::vector<TensorType>& inputs, const Writer&);
// The calls of a graph on these arguments, recorded into `to`; gives its outputs.
Vars inlined(const graph::Graph& from, const Vars& arguments, graph::Graph& to);
// Lists among the constants of an inner graph what it takes from outside.
void list_constants(graph::Graph&);

}  // namespace anvil::primitives
