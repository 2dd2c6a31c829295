// Regions: graphs of scalars that a primitive applies to elements, such as the body of a
// reduction or the comparison of a sort. They consist of elementwise calls and of branches,
// and may read scalars of the graphs around them.
#pragma once
#include "primitives/vocabulary/var.h"

namespace anvil::primitives {

// Error("argument") naming `primitive` unless `region` maps scalars of the types `inputs` to
// scalars of the types `outputs` and consists of calls that lift() can take.
void check_region(const char* primitive, const graph::Graph& region, const std::vector<TensorType>& inputs,
                  const std::vector<TensorType>& outputs);

// The calls of a region on tensors of `shape`, element by element, recorded where the
// arguments are; gives its results. Both branches of an `if` are computed.
std::vector<Var> lift(graph::Graph& to, const graph::Graph& region, const std::vector<Var>& arguments,
                      const Shape& shape);

// A region of (a, b) as one of (b, a), for as many a as b.
graph::GraphPtr flipped(const graph::Graph& region);

// The one commutative operation of two scalars that a region consists of; nothing when it is another.
std::optional<loops::Op> single_operation(const graph::Graph& region);

}  // namespace anvil::primitives
