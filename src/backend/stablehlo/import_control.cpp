// Branches, loops and calls of functions.
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

Values branch(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  GraphPtr yes = in.region(op, 0, {}), no = in.region(op, 1, {});
  return in.record("if", x, {{"true_graph", yes}, {"false_graph", no}});
}

Values loop(Importer& in, const Operation& op, const Vars& x) {
  std::vector<TensorType> state;
  for (const Var& v : x) state.push_back(v.type());
  GraphPtr test = in.region(op, 0, state), step = in.region(op, 1, state);
  return in.record("while", x, {{"cond_graph", test}, {"body_graph", step}});
}

Values call(Importer& in, const Operation& op, const Vars& x) { return in.call(op, word(op, "callee"), x); }

}  // namespace

void add_control_rules(Rules& rules) {
  rules.emplace("stablehlo.if", branch);
  rules.emplace("stablehlo.while", loop);
  rules.emplace("func.call", call);
  rules.emplace("call", call);
}

}  // namespace anvil::stablehlo
