// Products of tensors.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {

Items dot_general(Writer& w, const Call& c) {
  Items o = w.use_all(c.inputs);
  const auto& contracting = c.params.get<graph::IntegerLists>("contracting_dims");
  const auto& batching = c.params.get<graph::IntegerLists>("batching_dims");
  std::string body = "stablehlo.dot_general " + o[0].name + ", " + o[1].name +
                     ", batching_dims = " + brackets(batching[0]) + " x " + brackets(batching[1]) +
                     ", contracting_dims = " + brackets(contracting[0]) + " x " + brackets(contracting[1]);
  return {w.pretty(body, o, c.outputs[0]->type, ": ")};
}

}  // namespace

void add_contract_writers(WriteRules& rules) { add(rules, "dot_general", dot_general); }

}  // namespace anvil::stablehlo
