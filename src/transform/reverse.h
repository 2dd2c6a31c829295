// Reverse-mode differentiation, graph to graph: the forward calls, then the calls that
// carry cotangents from the scalar output back to the chosen inputs.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace anvil::transform {

// The graph has one output, a float scalar (Error("gradient") otherwise). `wrt` marks the
// inputs to differentiate by. The outputs of the new graph are the forward outputs, when
// `with_value`, then one gradient per marked input, of its type. The seed is a captured
// constant 1. Inputs and constants are those of `graph` (shared, not copied).
graph::GraphPtr gradient(const graph::Graph& graph, const std::vector<bool>& wrt, bool with_value);

// The same for any outputs: the cotangents of those that `from` marks, all floats when it is empty, are
// further inputs of the new graph. The outputs are those of `graph`, then the cotangents of the marked inputs.
graph::GraphPtr vjp(const graph::Graph& graph, const std::vector<bool>& wrt, const std::vector<bool>& from = {});

// Appends to `to` the calls that carry `cotangents` of `outputs` back through `calls` and
// gives the cotangents of `targets` (null where zero). Forward values must be visible in `to`.
std::vector<graph::ValuePtr> pull_back(const std::vector<graph::Call>& calls,
                                       const std::vector<graph::ValuePtr>& outputs,
                                       const std::vector<graph::ValuePtr>& cotangents,
                                       const std::vector<graph::ValuePtr>& targets, graph::Graph& to);

}  // namespace anvil::transform
