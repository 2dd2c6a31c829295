// Derivatives exported from JAX against our own: a program's primal outputs, weighted with
// the cotangents that JAX was given, are summed, differentiated here, and compared with the
// outputs that are JAX's derivatives. The table says which outputs are which:
//   primal      numbers of outputs that are values
//   cotangent   for each: the number of an input, or ones, cos, sin (of the value)
//   wrt         numbers of the inputs to differentiate by
//   derivative  for each: the number of the output that holds the derivative
//   step        when the output is input - step * derivative
#include <cmath>
#include <cstdlib>

#include "backend/stablehlo/stablehlo.h"
#include "conformance.h"
#include "csv.h"
#include "exported.h"
#include "primitives/vocabulary/var.h"
#include "run_graph.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace anvil::conformance {

using graph::Tensor;
using primitives::Var;

static std::vector<size_t> numbers(const std::string& text) {
  std::vector<size_t> list;
  for (const std::string& w : words(text)) list.push_back(std::strtoul(w.c_str(), nullptr, 10));
  return list;
}

static Tensor map(const Tensor& x, const std::function<double(double)>& f) {
  Tensor y = graph::allocate(x.type);
  for (int64_t i = 0; i < elements(x.type.shape); ++i) graph::set_element(y, i, f(graph::element(x, i).as<double>()));
  return y;
}

static Tensor cotangent(const std::string& kind, const Tensor& value, const std::vector<Tensor>& inputs) {
  if (kind == "ones") return graph::full(value.type, 1.0);
  if (kind == "cos") return map(value, [](double x) { return std::cos(x); });
  if (kind == "sin") return map(value, [](double x) { return std::sin(x); });
  return inputs.at(numbers(kind).at(0));
}

// The sum over all elements of the outputs, each times its cotangent, as the only output.
static void weigh(graph::Graph& g, const std::vector<size_t>& outputs, const std::vector<Tensor>& cotangents) {
  Var sum;
  for (size_t k = 0; k < outputs.size(); ++k) {
    g.constants.push_back(graph::make_constant(cotangents[k]));
    Var term = Var{&g, g.outputs.at(outputs[k])} * Var{&g, g.constants.back()};
    std::vector<int64_t> all;
    for (size_t d = 0; d < term.shape().size(); ++d) all.push_back(static_cast<int64_t>(d));
    if (!all.empty()) term = reduce_sum(term, all);
    sum = k == 0 ? term : sum + term;
  }
  g.outputs = {sum.value};
}

static Failure compare_gradient(const std::string& path, const Row& row, const std::string& mode) {
  Exported program = read_exported(path);
  graph::GraphPtr g = stablehlo::read(program.text);
  std::vector<Tensor> values = run_graph(mode, *g, program.inputs), cotangents;
  std::vector<size_t> primal = numbers(row.at("primal")), wrt = numbers(row.at("wrt")),
                      derivative = numbers(row.at("derivative"));
  std::vector<std::string> kinds = words(row.at("cotangent"));
  for (size_t k = 0; k < primal.size(); ++k)
    cotangents.push_back(cotangent(kinds.at(k), values.at(primal[k]), program.inputs));
  weigh(*g, primal, cotangents);
  transform::remove_dead_calls(*g);
  std::vector<bool> marked(program.inputs.size());
  for (size_t i : wrt) marked.at(i) = true;
  graph::GraphPtr reverse = transform::gradient(*g, marked, false);
  transform::remove_dead_calls(*reverse);
  std::vector<Tensor> gradients = run_graph(mode, *reverse, program.inputs);
  double step = std::strtod(row.at("step").c_str(), nullptr);
  for (size_t k = 0; k < wrt.size(); ++k) {
    size_t position = 0;  // gradients come in the order of inputs
    for (size_t i : wrt) position += i < wrt[k];
    Tensor got = gradients.at(position);
    const Tensor& at = program.inputs[wrt[k]];
    if (step != 0)
      for (int64_t i = 0; i < elements(got.type.shape); ++i)
        graph::set_element(got, i, graph::element(at, i).as<double>() - step * graph::element(got, i).as<double>());
    if (Failure f = program.outputs.at(derivative.at(k)).differs(got)) return f;
  }
  return std::nullopt;
}

std::vector<Case> jax_gradients(const std::string& folder, const std::string& table, const Options& options) {
  std::vector<Case> cases;
  for (const Row& row : parse_csv(read_file(table))) {
    std::string name = row.at("program") + ":" + row.at("primal");
    if (!row.at("reason").empty() || !options.wants(name)) continue;
    for (const std::string& mode : options.modes)
      cases.push_back({{name, "gradient", "", {}, mode, {}},
                       [=] { return compare_gradient(folder + "/" + row.at("program"), row, mode); }});
  }
  return cases;
}

}  // namespace anvil::conformance
