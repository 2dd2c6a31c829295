// Operators that slide a window over a tensor.
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

// Our reductions start from the neutral element; another initial value enters by the operator.
Var with_initial(Var reduced, Var initial, const std::string& combine, Scalar neutral) {
  if (initial.value->kind == graph::Value::Kind::literal &&
      initial.value->literal.rounded_to(initial.dtype()) == neutral.rounded_to(initial.dtype()))
    return reduced;
  return primitives::record(combine.c_str(), {primitives::broadcast_to_like(initial, reduced), reduced});
}

// Windows that grow along one axis are running sums.
Values reduce_window(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  std::string f = reducer(op);
  const Shape& shape = x[0].shape();
  size_t rank = shape.size();
  Ints ones(rank, 1), window = ints(op, need(op, {"window_dimensions"})),
                      padding = ints_or(op, {"padding"}, Ints(2 * rank, 0));
  bool plain = ints_or(op, {"window_strides"}, ones) == ones && ints_or(op, {"base_dilations"}, ones) == ones &&
               ints_or(op, {"window_dilations"}, ones) == ones && window.size() == rank && padding.size() == 2 * rank;
  int64_t axis = -1;
  for (size_t d = 0; plain && d < rank; ++d) {
    plain = padding[2 * d + 1] == 0 && padding[2 * d] == window[d] - 1 &&
            (window[d] == 1 || (window[d] == shape[d] && axis < 0));
    if (window[d] != 1) axis = static_cast<int64_t>(d);
  }
  if (!plain || rank == 0 || f != "stablehlo.add")
    refuse(op.at, "of `stablehlo.reduce_window` only running sums along one axis are supported");
  Var sums = axis < 0 ? x[0] : primitives::cumsum(x[0], axis);  // windows of one element sum nothing
  return {with_initial(sums, x[1], "add", Scalar(0)).value};
}

}  // namespace

void add_window_rules(Rules& rules) { rules.emplace("stablehlo.reduce_window", reduce_window); }

}  // namespace anvil::stablehlo
