// Forward mode of the programs of a folder against JAX's own: NAME.json in another folder has tangents for the inputs
// that stand beside NAME.mlir, and what JAX's jvp makes of them (make_tangents.py). Where our convention at a kink is
// another one, conventions.csv there says what we give and why:
//   program, output      a name, and the number of an output
//   elements, values     of it, by rows, and what we give there
#include <cstdlib>

#include "backend/stablehlo/layout.h"
#include "backend/stablehlo/stablehlo.h"
#include "conformance.h"
#include "csv.h"
#include "exported.h"
#include "run_graph.h"
#include "transform/forward.h"
#include "transform/simplify.h"

namespace anvil::conformance {

using Outputs = std::vector<Exported::Output>;

static std::vector<size_t> whole_numbers(const Json& list) {
  std::vector<size_t> found;
  for (const Json& n : list.items) found.push_back(std::strtoul(n.text.c_str(), nullptr, 10));
  return found;
}

static std::vector<int64_t> places_by_rows(const Shape& shape) {
  std::vector<int64_t> places;
  stablehlo::RowMajorWalk walk(shape);
  for (int64_t i = 0; i < elements(shape); ++i, walk.next()) places.push_back(walk.position());
  return places;
}

static void apply_convention(Exported::Output& output, const Row& row) {
  const std::vector<int64_t> places = places_by_rows(output.value.type.shape);
  const std::vector<std::string> numbers = words(row.at("elements")), values = words(row.at("values"));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t place = places.at(std::strtoul(numbers[i].c_str(), nullptr, 10));
    const double value = std::strtod(values.at(i).c_str(), nullptr);
    graph::set_element(output.value, place, value);
    if (output.alternative.data) graph::set_element(output.alternative, place, value);
  }
}

// The tangents of these outputs alone: others need no derivative.
static graph::GraphPtr tangents_only(const graph::Graph& g, const std::vector<size_t>& numbers) {
  graph::Substitution same;
  const graph::GraphPtr f = graph::clone(g, same);
  std::vector<graph::ValuePtr> chosen;
  std::vector<bool> wrt;
  for (const size_t k : numbers) chosen.push_back(f->outputs.at(k));
  for (const auto& v : f->inputs) wrt.push_back(is_float(v->type.dtype));
  f->outputs = chosen;
  transform::remove_dead_calls(*f);
  const graph::GraphPtr both = transform::jvp(*f, wrt);
  both->outputs.erase(both->outputs.begin(), both->outputs.begin() + static_cast<ptrdiff_t>(chosen.size()));
  transform::remove_dead_calls(*both);
  return both;
}

static Failure compare_tangents(const std::string& path, const Json& stored, const Outputs& outputs,
                                const std::string& mode) {
  const Exported program = read_exported(path);
  const graph::GraphPtr g = tangents_only(*stablehlo::read(program.text), whole_numbers(stored.at("of")));
  std::vector<graph::Tensor> inputs = program.inputs;
  for (const Json& t : stored.at("tangents").items) inputs.push_back(tensor_of(t));
  // by their text; that may change once more when it is read, which texts of JAX do not
  const bool by_text = mode == "written";
  const std::vector<graph::Tensor> found =
      by_text ? run_graph("eigen", *stablehlo::read(stablehlo::write(*g, false).text), inputs)
              : run_graph(mode, *g, inputs);
  if (found.size() != outputs.size()) return "wrong number of results";
  std::string differences;
  for (size_t k = 0; k < outputs.size(); ++k)
    if (Failure f = outputs[k].differs(found[k])) differences += (differences.empty() ? "" : "; ") + *f;
  return differences.empty() ? Failure() : differences;
}

std::vector<Case> jax_tangents(const std::string& programs, const std::string& folder, const Options& options) {
  std::vector<Case> cases;
  const std::vector<Row> conventions = parse_csv(read_file(folder + "/conventions.csv"));
  for (const Row& row : parse_csv(read_file(folder + "/index.csv"))) {
    const std::string& name = row.at("name");
    if (!options.wants(name)) continue;
    const Json stored = parse_json(read_file(folder + "/" + name + ".json"));
    const std::vector<size_t> numbers = whole_numbers(stored.at("of"));
    Outputs outputs = outputs_of(stored);
    for (size_t k = 0; k < outputs.size(); ++k) {
      outputs[k].name = "output " + std::to_string(numbers.at(k));
      for (const Row& c : conventions)
        if (c.at("program") == name && c.at("output") == std::to_string(numbers[k])) apply_convention(outputs[k], c);
    }
    for (const std::string& mode : options.modes)
      cases.push_back({{name, "tangents", "", {}, mode, {}},
                       [=] { return compare_tangents(programs + "/" + name, stored, outputs, mode); }});
  }
  return cases;
}

}  // namespace anvil::conformance
