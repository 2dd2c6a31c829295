// Constants, and operators that move elements: broadcasts, reshapes, slices, padding.
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

// ---- one rule an operation -----------------------------------------------------------
Values constant(Importer& in, const Operation& op, const Vars&) {
  const Attribute& a = need(op, {"value"});
  auto d = std::get_if<Dense>(&a.value);
  if (!d) refuse(op.at, "the value of a constant should be a dense literal");
  if (std::optional<Scalar> x = dense_splat(*d, op.at)) return {graph::make_literal(*x, d->type)};
  graph::Tensor t = dense_tensor(*d, op.at);
  if (elements(t.type.shape) == 1) return {graph::make_literal(graph::element(t, 0), t.type)};
  return {in.constant(t)};
}

Values iota(Importer& in, const Operation& op, const Vars&) {
  const TensorType& t = result_type(op);
  int64_t dim = integer(op, need(op, {"iota_dimension", "dim"}));
  return {primitives::iota(in.graph(), dim, t.dtype, t.shape, 0).value};
}

Values broadcast_in_dim(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  return {
      primitives::broadcast_in_dim(x[0], result_type(op).shape, ints(op, need(op, {"broadcast_dimensions", "dims"})))
          .value};
}

Values transpose(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  Ints permutation = ints(op, need(op, {"permutation", "dims"})), sorted = permutation;
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
  return {primitives::concatenate(x, integer(op, need(op, {"dimension", "dim"}))).value};
}

Values slice(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  size_t rank = x[0].shape().size();
  Ints starts, limits, strides;
  if (op.words.empty()) {
    starts = ints(op, need(op, {"start_indices"}));
    limits = ints(op, need(op, {"limit_indices"}));
    strides = ints_or(op, {"strides"}, Ints(rank, 1));
  } else {
    const auto* items = std::get_if<std::vector<Attribute>>(&op.words[0].value);
    if (!items) refuse(op.at, "the ranges of `stablehlo.slice` are malformed");
    for (const Attribute& item : *items) {
      const auto* range = std::get_if<std::vector<Attribute>>(&item.value);
      if (!range || range->size() < 2) refuse(op.at, "the ranges of `stablehlo.slice` are malformed");
      starts.push_back(integer(op, (*range)[0]));
      limits.push_back(integer(op, (*range)[1]));
      strides.push_back(range->size() > 2 ? integer(op, (*range)[2]) : 1);
    }
  }
  return {primitives::slice(x[0], starts, limits, strides).value};
}

Values pad(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  return {primitives::pad(x[0], x[1], ints(op, need(op, {"edge_padding_low", "low"})),
                          ints(op, need(op, {"edge_padding_high", "high"})),
                          ints(op, need(op, {"interior_padding", "interior"})))
              .value};
}

Values reverse(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  return {primitives::reverse(x[0], ints(op, need(op, {"dimensions", "dims"}))).value};
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
