// Functions exported from JAX, transformed here, against JAX's own transformations of them: NAME.mlir is the
// function, NAME.json what JAX makes of it (make_transformed.py says which lists there are).
#include <cmath>
#include <cstdlib>

#include "backend/stablehlo/stablehlo.h"
#include "compare.h"
#include "conformance.h"
#include "csv.h"
#include "json.h"
#include "run_graph.h"
#include "support/forward_check.h"
#include "support/two_ways.h"
#include "transform/batch.h"
#include "transform/jacobian.h"
#include "transform/simplify.h"

namespace anvil::conformance {

using graph::Graph;
using graph::GraphPtr;
using Tensors = std::vector<graph::Tensor>;
using test::Flags;
using test::with_float_results;

namespace {

Tensors tensors_of(const Json& list) {
  Tensors found;
  for (const Json& t : list.items) found.push_back(tensor_of(t));
  return found;
}

// The gradient of the sum of all elements of the floats among the results.
GraphPtr gradient_of_sum(const Graph& g, const Flags& floats) {
  const GraphPtr sum = with_float_results(g);
  std::vector<graph::ValuePtr> ones;
  for (const auto& v : sum->outputs) ones.push_back(graph::make_literal(1, v->type));
  sum->outputs = {test::product(*sum, sum->outputs, ones)};
  return transform::gradient(*sum, floats, false);
}

// A graph, what it runs on, and how many results stand before those that are meant.
struct Transformed {
  GraphPtr graph;
  Tensors at;
  size_t first = 0;
};
Transformed transformed(const GraphPtr& g, const std::string& list, const Json& j) {
  const Tensors inputs = tensors_of(j.at("inputs"));
  Flags floats;
  for (const auto& v : g->inputs) floats.push_back(is_float(v->type.dtype));
  const auto with = [&](const char* further) {
    Tensors all = inputs;
    for (const graph::Tensor& t : tensors_of(j.at(further))) all.push_back(t);
    return all;
  };
  const auto batch = [&](const Graph& f) {
    const Tensors examples = tensors_of(j.at("batch"));
    Tensors all = inputs;
    for (size_t k = 0, next = 0; k < all.size(); ++k)
      if (floats[k]) all[k] = examples.at(next++);
    return Transformed{transform::batch(f, floats, examples.at(0).type.shape.back()), all};
  };
  if (list == "jvp") return {transform::jvp(*g, floats), with("tangents"), g->outputs.size()};
  if (list == "vjp") return {transform::vjp(*g, floats), with("cotangents"), g->outputs.size()};
  if (list == "vmap") return batch(*g);
  if (list == "vmap_grad") return batch(*gradient_of_sum(*g, floats));
  if (list == "jacobian") return {transform::jacobian(*with_float_results(*g), floats), inputs};
  if (list == "hessian") return {transform::jacobian(*gradient_of_sum(*g, floats), floats), inputs};
  return {g, inputs};
}

double largest(const graph::Tensor& t) {
  double most = 1;
  for (int64_t i = 0; is_float(t.type.dtype) && i < elements(t.type.shape); ++i)
    most = std::max(most, std::fabs(graph::element(t, i).as<double>()));
  return most;
}

Failure compare_transformed(const std::string& path, const std::string& list, const std::string& mode) {
  const Json j = parse_json(read_file(path + ".json"));
  const double limit = std::strtod(j.at("limits").at(list).text.c_str(), nullptr);
  const Tensors expected = tensors_of(j.at(list));
  const Transformed made = transformed(stablehlo::read(read_file(path + ".mlir")), list, j);
  transform::remove_dead_calls(*made.graph);
  // by their text; that may change once more when it is read, which texts of JAX do not
  const bool by_text = mode == "written";
  const GraphPtr g = by_text ? stablehlo::read(stablehlo::write(*made.graph, false).text) : made.graph;
  const Tensors found = run_graph(by_text ? "eigen" : mode, *g, made.at);
  if (found.size() != made.first + expected.size()) return "wrong number of results";
  for (size_t k = 0; k < expected.size(); ++k) {
    const Tolerance tolerance{limit * largest(expected[k]), 0};
    if (Failure f = difference(found[made.first + k], expected[k], tolerance))
      return "result " + std::to_string(k) + ": " + *f;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Case> jax_transformed(const std::string& folder, const Options& options) {
  std::vector<Case> cases;
  for (const Row& row : parse_csv(read_file(folder + "/index.csv"))) {
    const std::string path = folder + "/" + row.at("name");
    const Json stored = parse_json(read_file(path + ".json"));
    for (const std::string& list : stored.at("limits").keys) {
      const std::string name = row.at("name") + ":" + list;
      if (!options.wants(name)) continue;
      for (const std::string& mode : options.modes)
        cases.push_back(
            {{name, "transformed", "", {}, mode, {}}, [=] { return compare_transformed(path, list, mode); }});
    }
  }
  return cases;
}

}  // namespace anvil::conformance
