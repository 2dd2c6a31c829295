// Forward-mode differentiation, graph to graph: beside each value that depends on the chosen inputs the
// same calls once more for its tangent, the derivative along the tangents of these inputs. In memory and
// time it is a small multiple of the graph, loops included: nothing is recorded.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "primitives/vocabulary/primitive.h"

namespace anvil::transform {

// A primitive has a rule for one mode only, from which nothing follows for the other, as it is not linear in what it
// moves along.
struct NotLinear : Error {
  using Error::Error;
};

// `wrt` marks the inputs to differentiate by, floats (Error("gradient") otherwise). The inputs of the new
// graph are those of `graph`, then one tangent for each marked one, of its type. Its outputs are those of
// `graph`, then one tangent for each of them that is a float, zeros where nothing flows. Inputs and
// constants are those of `graph` (shared, not copied).
graph::GraphPtr jvp(const graph::Graph& graph, const std::vector<bool>& wrt);

// The tangents of the results of one call, recorded into `to`, where the results are; null is zero.
std::vector<graph::ValuePtr> tangents_of(const graph::Call&, const std::vector<graph::ValuePtr>& tangents_of_operands,
                                         graph::Graph& to);

// Where the tangents of a primitive's results come from: "regions", "rule", "linear", "per element",
// "transposed" (its reverse rule), "expansion" or "zero"; "linear, " and then where those by other operands do.
std::string forward_rule(const primitives::Primitive&);

}  // namespace anvil::transform
