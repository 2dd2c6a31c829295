// Primitives made of others: a composite's call carries its definition, the graph that was
// traced when the call was made, as parameter `definition`. Whatever runs or writes a graph
// expands composites first, so that a composite needs no rule of its own for any backend;
// with a reverse rule it is differentiated as a whole, without one through its definition.
#pragma once
#include "primitives/primitive.h"

namespace anvil::primitives {

// `reverse` may be empty.
Primitive composite(std::string name, std::function<void(ReverseStep&)> reverse);
bool is_composite(const graph::Operation&);

// The graph with the calls of composites replaced by the calls of their definitions, inner
// graphs included; those with a reverse rule stay unless `all`. Other values are shared.
graph::GraphPtr expand(const graph::Graph&, bool all);

}  // namespace anvil::primitives
