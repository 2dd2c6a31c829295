// Reductions by a region: the body of StableHLO's reduce, reduce_window and their kin. Where
// the body is one of the operations that have a reduction of their own, and they start from
// the same number, it is that reduction.
#pragma once
#include "primitives/families/monoid.h"
#include "primitives/vocabulary/inner_graph.h"

namespace anvil::primitives {

// The operands folded over `dims`, which the results no longer have.
Vars fold(const Vars& operands, const Vars& initial, std::vector<int64_t> dims, const graph::GraphPtr& body);

// The operands' running combinations along `dim`.
Vars cumulate(const Vars& operands, const Vars& initial, int64_t dim, const graph::GraphPtr& body);

// A region of scalars of these dtypes, those so far and those of one more element: combined(v) gives the results
// from all of them in a row.
graph::GraphPtr region_of(const std::vector<DType>& dtypes, const std::function<Vars(const Vars&)>& combined);

// Running combinations along `dim` by the primitive that joins two elements, which begin anew where
// `begins` says so.
Var combined_runs(const char* joins, const Var& begins, const Var& x, int64_t dim);
// Each element's neighbour before it (by = -1) or after it (1) along `dim`; at the edge the scalar `beyond`.
Var neighbours(const Var& x, int64_t dim, int by, const Var& beyond);

// Error("argument" | "dtype" | "shape") unless `operands` are tensors of one shape and as many
// scalars of their dtypes, and `body` combines scalars of these dtypes with others. Gives the
// number of tensors.
size_t check_fold(const char* primitive, const std::vector<TensorType>& operands, const graph::Graph& body);

// Derivatives of reduce and cumulative by a sum, a maximum or a minimum, of cumulative by a product;
// others have those of their expansion. Elements that equal the extreme of a reduction, the initial
// value among them, share equally; of a running one the last so far has it all.
bool reverses_reduce(const graph::Call&);
bool reverses_cumulative(const graph::Call&);
bool takes_extremes(const graph::Call&);  // elements of its operand, and leaves the others
void reverse_reduce(ReverseStep&);
void reverse_cumulative(ReverseStep&);
bool forward_cumulative(ForwardStep&);  // of these, in one pass as well

}  // namespace anvil::primitives
