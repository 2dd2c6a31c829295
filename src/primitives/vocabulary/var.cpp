// Recording helpers for derivatives and transformations. Nothing is folded here: the
// graph shows what a rule says, simplification is a transformation of its own.
#include "primitives/vocabulary/var.h"

#include "primitives/vocabulary/inner_graph.h"

namespace anvil::primitives {

Var record(const char* primitive, const std::vector<Var>& operands, Params params) {
  graph::Graph& graph = *operands.at(0).graph;
  std::vector<ValuePtr> values;
  values.reserve(operands.size());
  for (const Var& v : operands) values.push_back(v.value);
  return {&graph, record(graph, registry().at(primitive), std::move(values), std::move(params)).at(0)};
}

Var literal(const Var& like, Scalar x) { return literal(*like.graph, x, like.type()); }
Var literal(graph::Graph& graph, Scalar x, const TensorType& type) { return {&graph, graph::make_literal(x, type)}; }
Var zeros_like(const Var& like) { return literal(like, 0); }
std::optional<Scalar> known(const ValuePtr& v) {
  if (v->kind == graph::Value::Kind::literal) return v->literal.rounded_to(v->type.dtype);
  if (v->kind == graph::Value::Kind::constant && elements(v->type.shape) == 1) return element(v->constant, 0);
  return std::nullopt;
}

#define ANVIL_VAR_1(function, primitive) \
  Var function(const Var& x) { return record(primitive, {x}); }
#define ANVIL_VAR_2(function, primitive) \
  Var function(const Var& a, const Var& b) { return record(primitive, {a, b}); }
ANVIL_VAR_2(operator+, "add")
ANVIL_VAR_2(operator-, "sub")
ANVIL_VAR_2(operator*, "mul")
ANVIL_VAR_2(operator/, "divide")
ANVIL_VAR_2(operator<, "less")
ANVIL_VAR_2(operator<=, "less_equal")
ANVIL_VAR_2(operator>, "greater")
ANVIL_VAR_2(operator>=, "greater_equal")
ANVIL_VAR_2(operator==, "equal")
ANVIL_VAR_2(operator!=, "not_equal")
ANVIL_VAR_2(operator&, "and")
ANVIL_VAR_2(operator|, "or")
ANVIL_VAR_1(operator-, "negate")
ANVIL_VAR_1(operator!, "not")
ANVIL_VAR_1(exp, "exp")
ANVIL_VAR_1(log, "log")
ANVIL_VAR_1(sin, "sine")
ANVIL_VAR_1(cos, "cosine")
ANVIL_VAR_1(sinh, "sinh")
ANVIL_VAR_1(cosh, "cosh")
ANVIL_VAR_1(sqrt, "sqrt")
ANVIL_VAR_1(abs, "abs")
ANVIL_VAR_1(sign, "sign")
ANVIL_VAR_1(is_finite, "is_finite")
ANVIL_VAR_1(digamma, "digamma")
ANVIL_VAR_2(pow, "power")
ANVIL_VAR_2(maximum, "maximum")
ANVIL_VAR_2(minimum, "minimum")
ANVIL_VAR_2(polygamma, "polygamma")
#undef ANVIL_VAR_1
#undef ANVIL_VAR_2

Var trunc(const Var& x) {
  Var negative = x < 0.0, up = record("ceil", {x}), down = record("floor", {x});
  return select(negative, up, down);
}
Var round(const Var& x) { return record("round", {x}, {{"method", std::string("nearest_even")}}); }
Var select(const Var& condition, const Var& yes, const Var& no) { return record("select", {condition, yes, no}); }
Var only_where(const Var& condition, const Var& x) { return select(condition, x, zeros_like(x)); }
Var convert(const Var& x, DType dtype) { return x.dtype() == dtype ? x : convert(x, dtype, false); }
Var convert(const Var& x, DType dtype, bool ambiguous) {
  return record("convert", {x}, {{"dtype", dtype}, {"ambiguous", ambiguous}});
}

Var broadcast_in_dim(const Var& x, const Shape& shape, const std::vector<int64_t>& dims) {
  return record("broadcast_in_dim", {x}, {{"shape", shape}, {"broadcast_dimensions", dims, true}});
}
Var broadcast_to_like(const Var& x, const Var& like) {
  return x.shape() == like.shape() ? x : broadcast_in_dim(x, like.shape(), {});
}
Var reshape(const Var& x, const Shape& shape) { return record("reshape", {x}, {{"shape", shape}}); }
Var transpose(const Var& x, const std::vector<int64_t>& permutation) {
  return record("transpose", {x}, {{"permutation", permutation, true}});
}
Var reverse(const Var& x, const std::vector<int64_t>& dims) { return record("reverse", {x}, {{"dims", dims, true}}); }
Var slice(const Var& x, const std::vector<int64_t>& starts, const std::vector<int64_t>& limits,
          const std::vector<int64_t>& strides) {
  return record("static_slice", {x},
                {{"start_indices", starts, true}, {"limit_indices", limits}, {"strides", strides}});
}
Var pad(const Var& x, const Var& value, const std::vector<int64_t>& low, const std::vector<int64_t>& high,
        const std::vector<int64_t>& interior) {
  return record("pad", {x, value},
                {{"edge_padding_low", low}, {"edge_padding_high", high}, {"interior_padding", interior}});
}
Var concatenate(const std::vector<Var>& parts, int64_t dim) {
  return record("concatenate", parts, {{"dimension", dim, true}});
}
Var dynamic_slice(const Var& x, const std::vector<Var>& starts, const Shape& sizes) {
  std::vector<Var> operands = {x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return record("dynamic_slice", operands, {{"slice_sizes", sizes}});
}
Var dynamic_update_slice(const Var& x, const Var& update, const std::vector<Var>& starts) {
  std::vector<Var> operands = {x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return record("dynamic_update_slice", operands);
}
static std::vector<Var> starts_at(size_t rank, int64_t dim, const Var& place) {
  std::vector<Var> starts(rank, literal(place, 0));
  starts[static_cast<size_t>(dim)] = place;
  return starts;
}
Var element(const Var& x, int64_t dim, const Var& place) {
  Shape part = x.shape(), left = part;
  part[static_cast<size_t>(dim)] = 1;
  left.erase(left.begin() + dim);
  return reshape(dynamic_slice(x, starts_at(part.size(), dim, place), part), left);
}
Var with_element(const Var& x, int64_t dim, const Var& place, const Var& part) {
  Shape there = x.shape();
  there[static_cast<size_t>(dim)] = 1;
  return dynamic_update_slice(x, reshape(part, there), starts_at(there.size(), dim, place));
}
Var gather(const Var& x, const Var& indices, const Shape& slice_sizes, const IndexDims& dims) {
  return record("gather", {x, indices},
                {{"slice_sizes", slice_sizes},
                 {"offset_dims", dims.window, true},
                 {"collapsed_slice_dims", dims.collapsed, true},
                 {"operand_batching_dims", dims.batch, true},
                 {"start_indices_batching_dims", dims.indices_batch, true},
                 {"start_index_map", dims.map, true},
                 {"index_vector_dim", dims.vector, true},
                 {"indices_are_sorted", false},
                 {"unique_indices", false}});
}
graph::GraphPtr combiner(const char* primitive, DType dtype) {
  const TensorType scalar{dtype, {}};
  return inner_graph({scalar, scalar}, [primitive](graph::Graph&, const Vars& x) {
    return Vars{*primitive == '\0' ? x[1] : record(primitive, x)};
  });
}
Var scatter(const Var& x, const Var& indices, const Var& update, const IndexDims& dims, const char* operation,
            bool unique_indices) {
  return record("scatter", {x, indices, update},
                {{"update_window_dims", dims.window, true},
                 {"inserted_window_dims", dims.collapsed, true},
                 {"input_batching_dims", dims.batch, true},
                 {"scatter_indices_batching_dims", dims.indices_batch, true},
                 {"scatter_dims_to_operand_dims", dims.map, true},
                 {"index_vector_dim", dims.vector, true},
                 {"indices_are_sorted", false},
                 {"unique_indices", unique_indices},
                 {"update_computation", combiner(operation, x.dtype())}});
}
Var fill(graph::Graph& graph, Scalar value, const TensorType& t) {
  Params params = {{"value", value}, {"dtype", t.dtype}, {"shape", t.shape}, {"ambiguous", t.ambiguous}};
  return {&graph, record(graph, registry().at("fill"), {}, std::move(params)).at(0)};
}
Var iota(graph::Graph& graph, int64_t dim, DType dtype, const Shape& shape, int64_t start) {
  Params params = {{"dim", dim, true}, {"dtype", dtype}, {"shape", shape}, {"start", start}, {"ambiguous", false}};
  return {&graph, record(graph, registry().at("iota"), {}, std::move(params)).at(0)};
}
Var reduce_sum(const Var& x, const std::vector<int64_t>& dims, bool drop) {
  return record("reduce_sum", {x}, {{"dims", dims, true}, {"drop", drop}});
}
Var reduce_max(const Var& x, const std::vector<int64_t>& dims, bool drop) {
  return record("reduce_max", {x}, {{"dims", dims, true}, {"drop", drop}});
}
Var cumsum(const Var& x, int64_t dim) { return record("cumsum", {x}, {{"dim", dim, true}}); }
Var dot_general(const Var& lhs, const Var& rhs, const std::vector<int64_t>& lhs_contracting,
                const std::vector<int64_t>& rhs_contracting, const std::vector<int64_t>& lhs_batch,
                const std::vector<int64_t>& rhs_batch) {
  using Pairs = graph::IntegerLists;
  return record("dot_general", {lhs, rhs},
                {{"contracting_dims", Pairs{lhs_contracting, rhs_contracting}, true},
                 {"batching_dims", Pairs{lhs_batch, rhs_batch}, true}});
}
Var triangular_solve(const Var& a, const Var& b, bool left, bool lower, bool unit_diagonal, bool transpose_a) {
  return record(
      "triangular_solve", {a, b},
      {{"left_side", left}, {"lower", lower}, {"unit_diagonal", unit_diagonal}, {"transpose_a", transpose_a}});
}

Var operand(ReverseStep& step, size_t i) { return {&step.graph, step.call.inputs.at(i)}; }
Var result(ReverseStep& step, size_t i) { return {&step.graph, step.call.outputs.at(i)}; }
Var cotangent(ReverseStep& step, size_t i) {
  const ValuePtr& g = step.cotangents.at(i);
  return {&step.graph, g ? g : graph::make_literal(0, step.call.outputs.at(i)->type)};
}
Var residual(ReverseStep& step, size_t i) { return {&step.graph, step.residuals.at(i)}; }
bool flows(const ReverseStep& step, size_t i) { return step.cotangents.at(i) != nullptr; }
void set(ReverseStep& step, size_t i, const Var& x) {
  if (step.required.at(i)) step.results.at(i) = x.value;
}
std::optional<Var> sum_so_far(ReverseStep& step, size_t i) {
  if (i >= step.sums.size() || !step.sums[i]) return std::nullopt;
  step.taken.at(i) = true;
  return Var{&step.graph, step.sums[i]};
}

Var operand(ForwardStep& step, size_t i) { return {&step.graph, step.call.inputs.at(i)}; }
Var result(ForwardStep& step, size_t i) { return {&step.graph, step.call.outputs.at(i)}; }
Var tangent(ForwardStep& step, size_t i) {
  const ValuePtr& t = step.tangents.at(i);
  return {&step.graph, t ? t : graph::make_literal(0, step.call.inputs.at(i)->type)};
}

}  // namespace anvil::primitives
