// The table of monoids: operations that reductions, cumulations, windows and scatters join
// elements by. It stands in reduce.cpp, with the derivatives of its reductions.
#pragma once
#include <optional>
#include <span>

#include "primitives/vocabulary/primitive.h"

namespace anvil::primitives {

std::span<const Monoid> monoids();
// The primitive that reduces by a row; the row must live as long as the registry.
Primitive reduction(const Monoid&);
// The row of an operation on two elements; null when there is none.
const Monoid* find_monoid(loops::Op);
// What leaves every element as it is. Sums start from 0, as R's, so that the sum of -0 is 0; only -0
// leaves every float as it is when it is added.
Scalar neutral(const Monoid&, DType);
// That of a region which joins two scalars of this dtype by one operation; null when it consists of
// more, or the operation has no row, or one for bool only.
const Monoid* monoid_of(const graph::Graph& region, DType);

}  // namespace anvil::primitives
