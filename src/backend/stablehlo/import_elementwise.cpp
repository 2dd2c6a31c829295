// Elementwise operators: those of the registry's table, comparisons, conversions, rounding.
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

Values compare(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  std::string direction = word(op, "comparison_direction"), kind = word(op, "compare_type");
  for (const Attribute& a : op.words)
    if (auto w = std::get_if<Word>(&a.value)) (direction.empty() ? direction : kind) = w->text;
  if (kind == "TOTALORDER" && is_float(x[0].dtype())) refuse(op.at, "comparisons in total order are not supported");
  return {in.compare(op, direction, x[0], x[1]).value};
}

Values round(Importer&, const Operation& op, const Vars& x) {
  bool even = op.name == "stablehlo.round_nearest_even";
  return {primitives::record("round", x, {{"method", std::string(even ? "nearest_even" : "afz")}}).value};
}

Values convert(Importer&, const Operation& op, const Vars& x) {
  return {primitives::record("convert", x, {{"dtype", result_type(op).dtype}, {"ambiguous", false}}).value};
}

Values bitcast(Importer&, const Operation& op, const Vars& x) {
  return {primitives::record("bitcast_convert", x, {{"dtype", result_type(op).dtype}}).value};
}

Values select(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 3);
  return {primitives::select(x[0], x[1], x[2]).value};
}

Values clamp(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 3);
  return {primitives::record("clamp", x).value};
}

bool is_one(const ValuePtr& v) {
  return v->kind == graph::Value::Kind::literal && is_integer(v->type.dtype) && v->literal.as<int64_t>() == 1;
}
Values same(Importer&, const Operation&, const Vars& x) {
  std::vector<ValuePtr> values;
  for (const Var& v : x) values.push_back(v.value);
  return values;
}

}  // namespace

Var Importer::compare(const Operation& op, const std::string& direction, Var a, Var b) {
  static const std::unordered_map<std::string, const char*> names = {{"EQ", "equal"},   {"NE", "not_equal"},
                                                                     {"GT", "greater"}, {"GE", "greater_equal"},
                                                                     {"LT", "less"},    {"LE", "less_equal"}};
  auto it = names.find(direction);
  if (it == names.end()) refuse(op.at, "`" + direction + "` is no direction of a comparison");
  return primitives::record(it->second, {a, b});
}

void add_elementwise_rules(Rules& rules) {
  for (const primitives::Primitive* p : primitives::registry().all()) {
    if (!p->elementwise || !p->hlo.form.empty() || p->hlo.op.empty() || !p->parameters.empty()) continue;
    rules.emplace(p->hlo.op, [p](Importer& in, const Operation&, const Vars& x) {
      Values y = primitives::record(in.graph(), *p, values(x));
      if (p->hlo.op == "stablehlo.subtract" && is_one(x[1].value)) in.note_decremented(y[0], x[0].value);
      return y;
    });
  }
  rules.emplace("stablehlo.compare", compare);
  rules.emplace("stablehlo.round_nearest_even", round);
  rules.emplace("stablehlo.round_nearest_afz", round);
  rules.emplace("stablehlo.convert", convert);
  rules.emplace("stablehlo.bitcast_convert", bitcast);
  rules.emplace("stablehlo.select", select);
  rules.emplace("stablehlo.clamp", clamp);
  rules.emplace("stablehlo.optimization_barrier", same);
}

}  // namespace anvil::stablehlo
