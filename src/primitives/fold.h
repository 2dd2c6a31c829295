// Reductions by a region: the body of StableHLO's reduce, reduce_window and their kin. Where
// the body is one of the operations that have a reduction of their own, and they start from
// the same number, it is that reduction.
#pragma once
#include <optional>

#include "primitives/build.h"

namespace anvil::primitives {

// An operation with its reduction and what that starts from. Sums start from 0, as R's, so that
// the sum of -0 is 0; only -0 leaves every float as it is when it is added.
struct Monoid {
  const char* reduction;  // "reduce_sum"
  const char* operation;  // "add"
  Scalar start;
};
Scalar neutral(const Monoid&, DType);
// That of reduce_sum, reduce_max, ...: on bool, sums are "or" and products "and".
Monoid monoid_of_reduction(std::string_view primitive, DType);
// That of a region; nothing when it consists of more, or reduces by another operation.
std::optional<Monoid> monoid_of(const graph::Graph& body, DType);

// The operands folded over `dims`, which the results no longer have.
std::vector<Var> fold(const std::vector<Var>& operands, const std::vector<Var>& initial, std::vector<int64_t> dims,
                      const graph::GraphPtr& body);

// Error("argument" | "dtype" | "shape") unless `operands` are tensors of one shape and as many
// scalars of their dtypes, and `body` combines scalars of these dtypes with others. Gives the
// number of tensors.
size_t check_fold(const char* primitive, const std::vector<TensorType>& operands, const graph::Graph& body);

// Derivatives of reduce and cumulative by a sum, a maximum or a minimum; others have those of
// their expansion. Elements that equal an extreme, the initial value among them, share equally.
bool reverses_fold(const graph::Call&);
void reverse_reduce(ReverseStep&);
void reverse_cumulative(ReverseStep&);

}  // namespace anvil::primitives
