// Both modes of differentiation on programs exported from JAX: <J'g, t> = <g, Jt> at the inputs that stand beside
// them, for tangents t and cotangents g. Where a derivative is infinite or no number there is nothing to compare, and
// nothing where a primitive has none.
#include <cmath>

#include "backend/stablehlo/stablehlo.h"
#include "conformance.h"
#include "csv.h"
#include "exported.h"
#include "run_graph.h"
#include "support/forward_check.h"

namespace anvil::conformance {

static Failure compare_modes(const std::string& path, const std::string& mode) {
  const Exported program = read_exported(path);
  const graph::GraphPtr g = stablehlo::read(program.text);
  std::vector<bool> wrt;
  for (const auto& v : g->inputs) wrt.push_back(is_float(v->type.dtype));
  graph::Graph both;
  try {
    both = test::both_products(*g, wrt);
  } catch (const Error& e) {
    if (e.kind != "gradient") throw;
    return std::nullopt;
  }
  std::vector<graph::Tensor> inputs = program.inputs;
  for (size_t k = inputs.size(); k < both.inputs.size(); ++k)
    inputs.push_back(test::direction(both.inputs[k]->type, k));
  const std::vector<graph::Tensor> sums = run_graph(mode, both, inputs);
  for (const graph::Tensor& sum : sums)
    if (!std::isfinite(graph::element(sum, 0).as<double>())) return std::nullopt;
  const std::string why = test::disagreement(both, inputs, sums, {sums[1], sums[0]});
  return why.empty() ? Failure() : Failure(why);
}

std::vector<Case> jax_modes(const std::string& folder, const Options& options) {
  std::vector<Case> cases;
  for (const Row& row : parse_csv(read_file(folder + "/index.csv"))) {
    const std::string& name = row.at("name");
    if (!options.wants(name)) continue;
    for (const std::string& mode : options.modes) {
      if (mode == "written") continue;  // the text of derivatives is compared by transformed.cpp
      cases.push_back({{name, "modes", "", {}, mode, {}}, [=] { return compare_modes(folder + "/" + name, mode); }});
    }
  }
  return cases;
}

}  // namespace anvil::conformance
