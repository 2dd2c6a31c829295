// Branches and loops.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {

Items branch(Writer& w, const Call& c) {
  return w.op_with_regions("stablehlo.if", {w.use(c.inputs[0])}, result_types(c),
                           {w.region(c.params.graph("true_graph")), w.region(c.params.graph("false_graph"))}, {});
}
Items cases(Writer& w, const Call& c) {
  std::vector<std::function<void()>> regions;
  for (const auto& g : subgraphs(c)) regions.push_back(w.region(g));
  return w.op_with_regions("stablehlo.case", {w.use(c.inputs[0])}, result_types(c), regions, {});
}
Items loop(Writer& w, const Call& c) {
  return w.op_with_regions("stablehlo.while", w.use_all(c.inputs), result_types(c),
                           {w.region(c.params.graph("cond_graph")), w.region(c.params.graph("body_graph"))}, {});
}

}  // namespace

void add_control_writers(WriteRules& rules) {
  add(rules, "if", branch);
  add(rules, "case", cases);
  add(rules, "while", loop);
}

}  // namespace anvil::stablehlo
