// Programs exported from JAX, with inputs and XLA's outputs: NAME.mlir and NAME.json.
#include <cstdlib>

#include "backend/stablehlo/stablehlo.h"
#include "compare.h"
#include "conformance.h"
#include "csv.h"
#include "exported.h"
#include "run_graph.h"

namespace anvil::conformance {

using graph::Tensor;

std::vector<Exported::Output> outputs_of(const Json& j) {
  std::vector<Exported::Output> outputs;
  const Json *alternatives = j.find("alt_outputs"), *names = j.find("output_names");
  for (size_t k = 0; k < j.at("outputs").items.size(); ++k) {
    Exported::Output o;
    o.value = tensor_of(j.at("outputs").items[k]);
    o.tolerance.absolute = std::strtod(j.at("atol").items.at(k).text.c_str(), nullptr);
    o.tolerance.relative = std::strtod(j.at("rtol").items.at(k).text.c_str(), nullptr);
    if (const Json* a = alternatives ? alternatives->find(std::to_string(k)) : nullptr) o.alternative = tensor_of(*a);
    o.name = "output " + std::to_string(k);
    if (names && k < names->items.size()) o.name += " (" + names->items[k].text + ")";
    outputs.push_back(std::move(o));
  }
  return outputs;
}

Exported read_exported(const std::string& path) {
  Exported e;
  e.text = read_file(path + ".mlir");
  Json j = parse_json(read_file(path + ".json"));
  for (const Json& t : j.at("inputs").items) e.inputs.push_back(tensor_of(t));
  e.outputs = outputs_of(j);
  return e;
}

Failure Exported::Output::differs(const Tensor& actual) const {
  Failure f = difference(actual, value, tolerance, alternative ? &alternative : nullptr);
  return f ? name + ": " + *f : f;
}

static Failure run_program(const std::string& path, const std::string& mode) {
  Exported program = read_exported(path);
  graph::GraphPtr g = stablehlo::read(program.text);
  std::vector<Tensor> values = run_graph(mode, *g, program.inputs);
  if (values.size() != program.outputs.size()) return "wrong number of outputs";
  for (size_t k = 0; k < values.size(); ++k)
    if (Failure f = program.outputs[k].differs(values[k])) return f;
  return std::nullopt;
}

std::vector<Case> jax_programs(const std::string& folder, const Options& options) {
  std::vector<Case> cases;
  for (const Row& row : parse_csv(read_file(folder + "/index.csv"))) {
    const std::string& name = row.at("name");
    if (!options.wants(name)) continue;
    for (const std::string& mode : options.modes)
      cases.push_back({{name, "program", row.at("tier"), words(row.at("ops")), mode, {}},
                       [=] { return run_program(folder + "/" + name, mode); }});
  }
  return cases;
}

}  // namespace anvil::conformance
