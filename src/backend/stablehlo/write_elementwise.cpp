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

}  // namespace

void add_elementwise_writers(WriteRules& rules) {
  rules.emplace("round", round);
  rules.emplace("equal", compare);
  rules.emplace("not_equal", compare);
  rules.emplace("greater", compare);
  rules.emplace("greater_equal", compare);
  rules.emplace("less", compare);
  rules.emplace("less_equal", compare);
}

}  // namespace anvil::stablehlo
