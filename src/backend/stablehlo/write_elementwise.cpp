// Elementwise primitives with a form of their own.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {

Items round(Writer& w, const Call& c) {
  bool even = c.params.string("method") == "nearest_even";
  return {w.op(even ? "stablehlo.round_nearest_even" : "stablehlo.round_nearest_afz", w.use_all(c.inputs),
               c.outputs[0]->type)};
}

Items compare(Writer& w, const Call& c) {
  static const std::unordered_map<std::string_view, const char*> directions = {
      {"equal", "EQ"},         {"not_equal", "NE"}, {"greater", "GT"},
      {"greater_equal", "GE"}, {"less", "LT"},      {"less_equal", "LE"}};
  Items o = w.use_all(c.inputs);
  return {w.compared(directions.at(c.primitive->name), o[0], o[1])};
}

// Shifts of i1 are no operators: of its only bit all but an arithmetic shift keeps what is not moved.
Items shift(Writer& w, const Call& c) {
  const TensorType& type = c.outputs[0]->type;
  if (!is_bool(type.dtype)) return w.same_operands("stablehlo." + c.primitive->name, c);
  Items o = w.use_all(c.inputs);
  if (c.primitive->name == "shift_right_arithmetic") return {w.op("stablehlo.and", {o[0], o[0]}, type)};
  return {w.op("stablehlo.and", {o[0], w.op("stablehlo.not", {o[1]}, type)}, type)};
}

}  // namespace

void add_elementwise_writers(WriteRules& rules) {
  add(rules, "round", round);
  for (const char* name : {"shift_left", "shift_right_logical", "shift_right_arithmetic"}) add(rules, name, shift);
  add(rules, "equal", compare);
  add(rules, "not_equal", compare);
  add(rules, "greater", compare);
  add(rules, "greater_equal", compare);
  add(rules, "less", compare);
  add(rules, "less_equal", compare);
}

}  // namespace anvil::stablehlo
