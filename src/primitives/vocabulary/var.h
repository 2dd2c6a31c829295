// Arithmetic on graph values, for derivatives and transformations: each operator and
// function records one call of the primitive of that name. Numbers become literals of
// the other operand's dtype and shape.
#pragma once
#include <optional>

#include "primitives/vocabulary/primitive.h"

namespace anvil::primitives {

struct Var {
  graph::Graph* graph = nullptr;
  ValuePtr value;
  const TensorType& type() const { return value->type; }
  const Shape& shape() const { return value->type.shape; }
  DType dtype() const { return value->type.dtype; }
};
using Vars = std::vector<Var>;

Var record(const char* primitive, const std::vector<Var>& operands, Params = {});  // a primitive with one result
Var literal(const Var& like, Scalar);                                              // dtype and shape of `like`
Var literal(graph::Graph&, Scalar, const TensorType&);
Var zeros_like(const Var&);
// The number that a value is, where the graph tells: a literal or a captured tensor of one element.
std::optional<Scalar> known(const ValuePtr&);

#define ANVIL_VAR_OPERATOR(symbol)                                                      \
  Var operator symbol(const Var&, const Var&);                                          \
  inline Var operator symbol(const Var& a, double b) { return a symbol literal(a, b); } \
  inline Var operator symbol(double a, const Var& b) { return literal(b, a) symbol b; }
ANVIL_VAR_OPERATOR(+)
ANVIL_VAR_OPERATOR(-)
ANVIL_VAR_OPERATOR(*)
ANVIL_VAR_OPERATOR(/)
ANVIL_VAR_OPERATOR(<)
ANVIL_VAR_OPERATOR(<=)
ANVIL_VAR_OPERATOR(>)
ANVIL_VAR_OPERATOR(>=)
ANVIL_VAR_OPERATOR(==)
ANVIL_VAR_OPERATOR(!=)
#undef ANVIL_VAR_OPERATOR
Var operator-(const Var&);
Var operator&(const Var&, const Var&);
Var operator|(const Var&, const Var&);
Var operator!(const Var&);

// clang-format off
// Elementwise functions by name, so that a derivative reads as in a textbook.
Var exp(const Var&); Var log(const Var&); Var sin(const Var&); Var cos(const Var&); Var sinh(const Var&); Var cosh(const Var&);
Var sqrt(const Var&); Var abs(const Var&); Var sign(const Var&); Var trunc(const Var&); Var round(const Var&); Var is_finite(const Var&);  // round: half to even
Var digamma(const Var&); Var pow(const Var&, const Var&); Var maximum(const Var&, const Var&); Var minimum(const Var&, const Var&);
Var polygamma(const Var& n, const Var& x);
// clang-format on
Var select(const Var& condition, const Var& yes, const Var& no);
Var only_where(const Var& condition, const Var& x);  // zero elsewhere
Var convert(const Var&, DType);                      // the same where it has this dtype
Var convert(const Var&, DType, bool ambiguous);      // always a call
// Integers in the total order of the floats x: -NaN < -Inf < ... < -0 < 0 < ... < Inf < NaN. Others stay.
Var total_order_key(const Var& x);

// Shape and structure.
Var broadcast_in_dim(const Var&, const Shape&, const std::vector<int64_t>& dims);
Var broadcast_to_like(const Var& scalar_or_same, const Var& like);  // a scalar spread over like's shape, or unchanged
Var reshape(const Var&, const Shape&);
Var transpose(const Var&, const std::vector<int64_t>& permutation);
Var reverse(const Var&, const std::vector<int64_t>& dims);
Var slice(const Var&, const std::vector<int64_t>& starts, const std::vector<int64_t>& limits,
          const std::vector<int64_t>& strides);
Var pad(const Var&, const Var& value, const std::vector<int64_t>& low, const std::vector<int64_t>& high,
        const std::vector<int64_t>& interior);
Var concatenate(const std::vector<Var>&, int64_t dim);
Var dynamic_slice(const Var&, const std::vector<Var>& starts, const Shape& sizes);
Var dynamic_update_slice(const Var&, const Var& update, const std::vector<Var>& starts);
// x[.., place, ..] without the dimension `dim`; and x with other elements there.
Var element(const Var& x, int64_t dim, const Var& place);
Var with_element(const Var& x, int64_t dim, const Var& place, const Var& part);
// What the dimensions mean that a gather or scatter works on: StableHLO's dimension numbers.
struct IndexDims {
  std::vector<int64_t> window;         // of the result or the update: dimensions of the slices
  std::vector<int64_t> collapsed;      // of the operand: sliced to size 1, not in `window`
  std::vector<int64_t> batch;          // of the operand: each index has a slice of its own
  std::vector<int64_t> indices_batch;  // of the indices: which of them go with `batch`
  std::vector<int64_t> map;            // of the operand: what the components of an index count
  int64_t vector = 0;                  // of the indices: along which its components lie; their rank: there is one
};
Var gather(const Var&, const Var& indices, const Shape& slice_sizes, const IndexDims&);
// A region of two scalars that one primitive combines; "" gives the second.
graph::GraphPtr combiner(const char* primitive, DType);
Var scatter(const Var&, const Var& indices, const Var& update, const IndexDims&, const char* combiner,
            bool unique_indices = false);
Var fill(graph::Graph&, Scalar, const TensorType&);  // a call, where literal() makes none
Var iota(graph::Graph&, int64_t dim, DType, const Shape&, int64_t start = 0);
Var reduce_sum(const Var&, const std::vector<int64_t>& dims, bool drop = true);
Var reduce_max(const Var&, const std::vector<int64_t>& dims, bool drop = true);
Var cumsum(const Var&, int64_t dim);
// All operands along `dim` by the first `num_keys` of them; stable.
std::vector<Var> sort(const std::vector<Var>&, int64_t dim, bool descending = false, int64_t num_keys = 1);
Var dot_general(const Var&, const Var&, const std::vector<int64_t>& lhs_contracting,
                const std::vector<int64_t>& rhs_contracting, const std::vector<int64_t>& lhs_batch,
                const std::vector<int64_t>& rhs_batch);
Var triangular_solve(const Var& a, const Var& b, bool left, bool lower, bool unit_diagonal, bool transpose_a);

// Operands, results and cotangents of a reverse step as Vars.
Var operand(ReverseStep&, size_t i);
Var result(ReverseStep&, size_t i = 0);
Var cotangent(ReverseStep&, size_t i = 0);           // zeros where there is none
bool flows(const ReverseStep&, size_t i);            // whether there is one
Var residual(ReverseStep&, size_t i = 0);            // what the augmented call gave besides
void set(ReverseStep&, size_t operand, const Var&);  // keeps it only when required
// The sum of the operand's cotangents from other calls, which what is set then has to contain;
// nothing where there is none.
std::optional<Var> sum_so_far(ReverseStep&, size_t operand);
// Operands, results and tangents of a forward step.
Var operand(ForwardStep&, size_t i);
Var result(ForwardStep&, size_t i = 0);
Var tangent(ForwardStep&, size_t operand);  // zeros where there is none

}  // namespace anvil::primitives
