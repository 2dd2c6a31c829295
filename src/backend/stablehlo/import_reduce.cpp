// Reductions.
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

Values reduce(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  std::string f = reducer(op);
  DType t = x[0].dtype();
  struct Kind {
    const char* primitive;
    const char* combine;
    Scalar neutral;
  };
  Kind k{};
  if (f == "stablehlo.add")
    k = {"reduce_sum", "add", Scalar(0)};
  else if (f == "stablehlo.multiply")
    k = {"reduce_prod", "mul", Scalar(1)};
  else if (f == "stablehlo.maximum")
    k = {"reduce_max", "maximum", lowest(t)};
  else if (f == "stablehlo.minimum")
    k = {"reduce_min", "minimum", highest(t)};
  else if (f == "stablehlo.or" && is_bool(t))
    k = {"reduce_any", "or", Scalar(false)};
  else if (f == "stablehlo.and" && is_bool(t))
    k = {"reduce_all", "and", Scalar(true)};
  else
    refuse(op.at, "reductions by `" + f + "` are not supported");
  Var y = primitives::record(k.primitive, {x[0]}, {{"dims", ints(op, need(op, {"dimensions"})), true}, {"drop", true}});
  return {with_initial(y, x[1], k.combine, k.neutral).value};
}

}  // namespace

void add_reduce_rules(Rules& rules) { rules.emplace("stablehlo.reduce", reduce); }

}  // namespace anvil::stablehlo
