// Constants, and operators that move elements: broadcasts, reshapes, slices, padding.
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

// ---- one rule an operation -----------------------------------------------------------
Values constant(Importer& in, const Operation& op, const Vars&) {
  const Attribute& a = need(op, "value");
  auto d = std::get_if<Dense>(&a.value);
  if (!d) refuse(op.at, "the value of a constant should be a dense literal");
  if (std::optional<Scalar> x = dense_splat(*d, op.at)) return {graph::make_literal(*x, d->type)};
  if (elements(d->type.shape) == 1) return {graph::make_literal(graph::element(dense_tensor(*d, op.at), 0), d->type)};
  return {in.constant(op, [&] { return dense_tensor(*d, op.at); })};
}

Values iota(Importer& in, const Operation& op, const Vars&) {
  const TensorType& t = result_type(op);
  int64_t dim = integer(op, need(op, "iota_dimension"));
  return {primitives::iota(in.graph(), dim, t.dtype, t.shape, 0).value};
}

Values broadcast_in_dim(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  return {primitives::broadcast_in_dim(x[0], result_type(op).shape, ints(op, need(op, "broadcast_dimensions"))).value};
}

Values transpose(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  Ints permutation = ints(op, need(op, "permutation")), sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  for (size_t d = 0; d < sorted.size(); ++d)
    if (sorted[d] != static_cast<int64_t>(d) || sorted.size() != x[0].shape().size())
      refuse(op.at, "`permutation` is no permutation");
  return {in.transpose(x[0], permutation).value};
}

// Row-major order is R's order of the reversed dimensions.
Values reshape(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  const Shape& shape = result_type(op).shape;
  if (same_without_ones(x[0].shape(), shape)) return {primitives::reshape(x[0], shape).value};
  return {in.turned(primitives::reshape(in.turned(x[0]), reversed(shape))).value};
}

Values concatenate(Importer&, const Operation& op, const Vars& x) {
  if (x.empty()) refuse(op.at, "`stablehlo.concatenate` needs an operand");
  return {primitives::concatenate(x, integer(op, need(op, "dimension"))).value};
}

Values slice(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  return {primitives::slice(x[0], ints(op, need(op, "start_indices")), ints(op, need(op, "limit_indices")),
                            ints_or(op, "strides", Ints(x[0].shape().size(), 1)))
              .value};
}

Values pad(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  return {primitives::pad(x[0], x[1], ints(op, need(op, "edge_padding_low")), ints(op, need(op, "edge_padding_high")),
                          ints(op, need(op, "interior_padding")))
              .value};
}

Values reverse(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  return {primitives::reverse(x[0], ints(op, need(op, "dimensions"))).value};
}

}  // namespace

void add_shape_rules(Rules& rules) {
  rules.emplace("stablehlo.constant", constant);
  rules.emplace("stablehlo.iota", iota);
  rules.emplace("stablehlo.broadcast_in_dim", broadcast_in_dim);
  rules.emplace("stablehlo.transpose", transpose);
  rules.emplace("stablehlo.reshape", reshape);
  rules.emplace("stablehlo.concatenate", concatenate);
  rules.emplace("stablehlo.slice", slice);
  rules.emplace("stablehlo.pad", pad);
  rules.emplace("stablehlo.reverse", reverse);
}

}  // namespace anvil::stablehlo
