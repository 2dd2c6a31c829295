// Elementwise operators: those of the registry's table, those with parameters, and those
// that are a few primitives of ours.
#include <limits>

#include "backend/stablehlo/import.h"
#include "primitives/vocabulary/region.h"
#include "primitives/vocabulary/simplification.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

// ---- accuracy -------------------------------------------------------------------------------

// ---- with parameters --------------------------------------------------------------------------

Values compare(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  return {in.compare(op, word(op, "comparison_direction"), x[0], x[1]).value};
}

Values round(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  bool even = op.name == "stablehlo.round_nearest_even";
  return {primitives::record("round", x, {{"method", std::string(even ? "nearest_even" : "afz")}}).value};
}

// ---- made of others -----------------------------------------------------------------------------

// x == inf, x == -inf or either.
Values is_infinite(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  if (!is_float(x[0].dtype())) refuse(op.at, "`" + op.name + "` takes floats");
  Var size = op.name == "chlo.is_inf" ? primitives::abs(x[0]) : x[0];
  double infinity = std::numeric_limits<double>::infinity();
  return {(size == (op.name == "chlo.is_neg_inf" ? -infinity : infinity)).value};
}

Values square(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  return {(x[0] * x[0]).value};
}

Values constant_like(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  const Attribute& a = need(op, "value");
  const TensorType& type = result_type(op);
  if (type.shape != x[0].shape()) refuse(op.at, "`" + op.name + "` has another shape than its operand");
  bool real_value = std::holds_alternative<double>(a.value);
  if (real_value != is_float(type.dtype)) refuse(a.at, "`value` is no " + std::string(name(type.dtype)));
  Scalar x_value = real_value ? Scalar(real(op, a)) : Scalar(integer(op, a));
  return {primitives::literal(in.graph(), x_value, type).value};
}

// The parts of complex numbers; of real ones, for there are no others here.
Values real_part(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  if (!is_float(x[0].dtype())) refuse(op.at, "`" + op.name + "` takes floats");
  return {op.name == "stablehlo.real" ? x[0].value : primitives::zeros_like(x[0]).value};
}

// The call of this primitive that made a value, if it is among the latest.
const graph::Call* made_by(Importer& in, const ValuePtr& v, const char* primitive) {
  const graph::Call* c = recent(in.graph(), v);
  return c && c->primitive->name == primitive ? c : nullptr;
}

bool is_one(Importer& in, const ValuePtr& v) {
  const graph::Call* spread = made_by(in, v, "broadcast_in_dim");
  const auto number = primitives::splat(spread ? spread->inputs[0] : v);
  return number && number->as<double>() == 1;
}

// x, where y is 1 / (1 + exp(-x)): so JAX spells the logistic function for CPUs. By the rules of these parts its
// derivative is 0 times Inf, which is NaN, as soon as exp(-x) is infinite: from x = -89 on in f32.
std::optional<Var> logistic_argument(Importer& in, const Vars& y) {
  if (y.size() != 2 || !is_one(in, y[0].value)) return {};
  const graph::Call* sum = made_by(in, y[1].value, "add");
  if (!sum || !is_one(in, sum->inputs[0])) return {};
  const graph::Call* power = made_by(in, sum->inputs[1], "exp");
  const graph::Call* minus = power ? made_by(in, power->inputs[0], "negate") : nullptr;
  return minus ? std::optional(in.var(minus->inputs[0])) : std::nullopt;
}

Rule divide(Rule plain) {
  return [plain = std::move(plain)](Importer& in, const Operation& op, const Vars& x) {
    const std::optional<Var> argument = logistic_argument(in, x);
    return argument ? in.record("logistic", {*argument}) : plain(in, op, x);
  };
}

// The calls of the region on whole tensors.
Values map(Importer& in, const Operation& op, const Vars& x) {
  const TensorType& result = result_type(op);
  Ints dimensions = ints_or(op, "dimensions", {});
  for (size_t d = 0; d < dimensions.size(); ++d)
    if (dimensions[d] != static_cast<int64_t>(d)) refuse(op.at, "`dimensions` must be 0, 1, ...");
  if (dimensions.size() != result.shape.size()) refuse(op.at, "`dimensions` must be all dimensions of the operands");
  std::vector<TensorType> scalars;
  for (const Var& v : x) {
    check_type(op.at, "operand", {v.dtype(), v.shape(), false}, {v.dtype(), result.shape, false});
    scalars.push_back({v.dtype(), {}, false});
  }
  GraphPtr region = in.region(op, 0, scalars);
  primitives::check_region("stablehlo.map", *region, scalars, {{result.dtype, {}, false}});
  return values(primitives::lift(in.graph(), *region, x, result.shape));
}

}  // namespace

Var Importer::compare(const Operation& op, const std::string& direction, const Var& a, const Var& b) {
  static const std::unordered_map<std::string, const char*> names = {{"EQ", "equal"},   {"NE", "not_equal"},
                                                                     {"GT", "greater"}, {"GE", "greater_equal"},
                                                                     {"LT", "less"},    {"LE", "less_equal"}};
  auto it = names.find(direction);
  if (it == names.end()) refuse(op.at, "`" + direction + "` is no direction of a comparison");
  std::string kind = word(op, "compare_type");
  std::string dtype = is_float(a.dtype()) ? "FLOAT" : is_signed_integer(a.dtype()) ? "SIGNED" : "UNSIGNED";
  bool total = kind == "TOTALORDER" && dtype == "FLOAT";
  if (!kind.empty() && kind != dtype && !total)
    refuse(op.at, "numbers of dtype " + std::string(name(a.dtype())) + " are not compared as " + kind);
  if (!total) return primitives::record(it->second, {a, b});
  Var left = primitives::total_order_key(a), right = primitives::total_order_key(b);
  return primitives::record(it->second, {left, right});
}

void add_elementwise_rules(Rules& rules) {
  add(rules, "stablehlo.compare", compare);
  add(rules, "stablehlo.round_nearest_even", round);
  add(rules, "stablehlo.round_nearest_afz", round);
  add(rules, "stablehlo.map", map);
  rules.at("stablehlo.divide") = divide(rules.at("stablehlo.divide"));
  add(rules, "stablehlo.real", real_part);
  add(rules, "stablehlo.imag", real_part);
  add(rules, "chlo.square", square);
  add(rules, "chlo.constant_like", constant_like);
  for (const char* name : {"chlo.is_inf", "chlo.is_pos_inf", "chlo.is_neg_inf"}) add(rules, name, is_infinite);
}

}  // namespace anvil::stablehlo
