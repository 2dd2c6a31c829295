// What nv_* functions do before they record a primitive: common dtypes of mixed operands
// and broadcasting.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace anvil::primitives {

struct CommonType {
  DType dtype;
  bool ambiguous;
  bool operator==(const CommonType&) const = default;
};
// The promotion tables; symmetric. An ambiguous dtype yields to a known one of its kind.
CommonType common_dtype(CommonType a, CommonType b);

// Converts the values whose dtype differs from the common one; literals take it at once,
// with their full value.
std::vector<graph::ValuePtr> promote(graph::Graph&, std::vector<graph::ValuePtr>);
std::vector<graph::ValuePtr> promote(graph::Graph&, std::vector<graph::ValuePtr>, CommonType);
// Spreads rank-0 values over the common shape of the others; Error("shape") when those differ.
std::vector<graph::ValuePtr> broadcast_scalars(graph::Graph&, std::vector<graph::ValuePtr>);
// Likewise, and dimensions of size 1 are stretched among values of equal rank: what elementwise functions do.
std::vector<graph::ValuePtr> broadcast_operands(graph::Graph&, std::vector<graph::ValuePtr>);

}  // namespace anvil::primitives
