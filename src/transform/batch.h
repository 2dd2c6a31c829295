// Batching, graph to graph: a function of one example becomes the function of a batch of them, with one
// call for all examples where one call serves.
#pragma once
#include <vector>

#include "graph/graph.h"
#include "primitives/vocabulary/primitive.h"

namespace anvil::transform {

// `batched` marks inputs that differ by example: those of the new graph have one more dimension, the last
// one, of size `size`, and so have all of its outputs. The other inputs are shared.
//
// What does not depend on a batched input is computed once. A branch by a condition that differs runs both
// sides and selects; a loop whose condition differs runs until no example goes on, and examples that are done stay as
// they are. A call with an effect is made for each example that comes to it, one after the other: all
// examples make one such call before they make the next one.
graph::GraphPtr batch(const graph::Graph&, const std::vector<bool>& batched, int64_t size);

// What a call of a primitive is batched by.
enum class BatchedBy : uint8_t {
  nothing,    // it has no operands
  property,   // `acts` and `axes`
  rule,       // `batch`
  control,    // its inner graphs
  expansion,  // what it is made of, and its rules
  loop        // over the examples
};
BatchedBy batched_by(const primitives::Primitive&);

}  // namespace anvil::transform
