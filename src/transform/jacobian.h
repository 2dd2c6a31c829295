// Jacobians, graph to graph: all derivatives of all outputs, from as many directions as the smaller one of
// the two sides has elements.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace anvil::transform {

// The outputs are floats, and so are the inputs that `wrt` marks (Error("gradient") otherwise). The outputs
// of the new graph are, for each output and each of these inputs, the derivatives of all elements of the one
// by all of the other; its shape is that of the output, then that of the input, its dtype the input's. Forward
// mode is taken where the inputs have no more elements than the outputs, else reverse mode; the other one where a
// primitive has no derivative in that mode.
graph::GraphPtr jacobian(const graph::Graph& graph, const std::vector<bool>& wrt);

}  // namespace anvil::transform
