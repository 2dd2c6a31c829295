// Elementwise operators: those of the registry's table, those with parameters, and those
// that are a few primitives of ours.
#include <limits>

#include "backend/stablehlo/import.h"
#include "primitives/region.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

// ---- accuracy -------------------------------------------------------------------------------

// Ours is always the highest that StableHLO asks for; a request must only make sense.
void check_accuracy(const Operation& op) {
  const Attribute* a = find(op, "result_accuracy");
  if (!a) return;
  const Dictionary& d = fields(op, *a);
  auto mode = d.find("mode");
  auto name = mode == d.end() ? nullptr : std::get_if<Word>(&mode->second.value);
  for (const char* tolerance : {"atol", "rtol", "ulps"}) {
    auto it = d.find(tolerance);
    double x = it == d.end() ? 0 : real(op, it->second);
    if (x < 0) refuse(a->at, std::string("`") + tolerance + "` of `result_accuracy` must not be negative");
    if (x > 0 && name && name->text != "TOLERANCE")
      refuse(a->at, std::string("`") + tolerance + "` of `result_accuracy` goes with the mode TOLERANCE only");
  }
}

// An operator that the primitive's data says all about.
Rule plain(const primitives::Primitive* p) {
  return [p](Importer& in, const Operation& op, const Vars& x) {
    check_accuracy(op);
    return primitives::record(in.graph(), *p, values(x));
  };
}

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

Values convert(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  return {primitives::convert(x[0], result_type(op).dtype, false).value};
}

Values bitcast(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  return {primitives::record("bitcast_convert", x, {{"dtype", result_type(op).dtype}}).value};
}

Values reduce_precision(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  graph::Params params;
  for (const char* name : {"exponent_bits", "mantissa_bits"})
    params.items.push_back({name, integer(op, need(op, name))});
  return {primitives::record("reduce_precision", x, params).value};
}

Values select(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 3);
  return {primitives::select(x[0], x[1], x[2]).value};
}

Values clamp(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 3);
  return {primitives::record("clamp", x).value};
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

Var Importer::compare(const Operation& op, const std::string& direction, Var a, Var b) {
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
  for (const primitives::Primitive* p : primitives::registry().all())
    if (p->elementwise && p->hlo.form.empty() && !p->hlo.op.empty() && p->parameters.empty())
      rules.emplace(p->hlo.op, plain(p));
  rules.emplace("chlo.tan", rules.at("stablehlo.tan"));
  rules.emplace("stablehlo.compare", compare);
  rules.emplace("stablehlo.round_nearest_even", round);
  rules.emplace("stablehlo.round_nearest_afz", round);
  rules.emplace("stablehlo.convert", convert);
  rules.emplace("stablehlo.bitcast_convert", bitcast);
  rules.emplace("stablehlo.reduce_precision", reduce_precision);
  rules.emplace("stablehlo.select", select);
  rules.emplace("stablehlo.clamp", clamp);
  rules.emplace("stablehlo.map", map);
  rules.emplace("stablehlo.real", real_part);
  rules.emplace("stablehlo.imag", real_part);
  rules.emplace("chlo.square", square);
  rules.emplace("chlo.constant_like", constant_like);
  for (const char* name : {"chlo.is_inf", "chlo.is_pos_inf", "chlo.is_neg_inf"}) rules.emplace(name, is_infinite);
}

}  // namespace anvil::stablehlo
