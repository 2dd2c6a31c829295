// Reductions by a region: the body of StableHLO's reduce, reduce_window and their kin. Where
// the body is one of the operations that have a reduction of their own, it is that reduction.
#pragma once
#include <optional>

#include "primitives/build.h"

namespace anvil::primitives {

// An operation with its reduction and its neutral element.
struct Monoid {
  const char* reduction;  // "reduce_sum"
  const char* operation;  // "add"
  Scalar neutral;
};
// That of a region; nothing when it consists of more, or reduces by another operation.
std::optional<Monoid> monoid_of(const graph::Graph& body, DType);
// `initial`, a scalar, joined to what was reduced from the neutral element.
Var with_initial(const Monoid&, Var reduced, Var initial);

// The operands folded over `dims`, which the results no longer have.
std::vector<Var> fold(const std::vector<Var>& operands, const std::vector<Var>& initial, std::vector<int64_t> dims,
                      const graph::GraphPtr& body);

// Error("argument" | "dtype" | "shape") unless `operands` are tensors of one shape and as many
// scalars of their dtypes, and `body` combines scalars of these dtypes with others. Gives the
// number of tensors.
size_t check_fold(const char* primitive, const std::vector<TensorType>& operands, const graph::Graph& body);

}  // namespace anvil::primitives
