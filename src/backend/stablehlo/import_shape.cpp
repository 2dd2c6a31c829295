// Constants, transposes and reshapes.
#include "backend/stablehlo/import.h"
#include "transform/simplify.h"

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

Values transpose(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  Ints permutation = ints(op, need(op, "permutation")), sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  for (size_t d = 0; d < sorted.size(); ++d)
    if (sorted[d] != static_cast<int64_t>(d) || sorted.size() != x[0].shape().size())
      refuse(op.at, "`permutation` is no permutation");
  return {primitives::transpose(x[0], permutation).value};
}

Values reverse(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  return {in.reversed(x[0], ints(op, need(op, "dimensions"))).value};
}

Var turned(const Var& x) { return x.shape().size() < 2 ? x : primitives::transpose(x, reversal(x.shape().size())); }

// Row-major order is R's order of the reversed dimensions.
Values reshape(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  const Shape& shape = result_type(op).shape;
  if (transform::keeps_row_major(x[0].shape(), shape)) return {primitives::reshape(x[0], shape).value};
  return {turned(primitives::reshape(turned(x[0]), reversed(shape))).value};
}

}  // namespace

void add_shape_rules(Rules& rules) {
  add(rules, "stablehlo.constant", constant);
  add(rules, "stablehlo.iota", iota);
  add(rules, "stablehlo.transpose", transpose);
  rules.at("stablehlo.reverse") = reverse;
  add(rules, "stablehlo.reshape", reshape);
}

}  // namespace anvil::stablehlo
