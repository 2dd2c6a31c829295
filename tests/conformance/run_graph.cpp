// Running of graphs; see run_graph.h.
#include "run_graph.h"

#include "primitives/vocabulary/composite.h"
#include "support/run_compiled.h"

namespace anvil::conformance {

static graph::GraphPtr written_and_read(const graph::Graph& g) {
  std::string text = stablehlo::write(g, false).text;
  graph::GraphPtr again = stablehlo::read(text);
  if (stablehlo::write(*again, false).text != text) throw std::runtime_error("written a second time, the text differs");
  return again;
}

std::vector<graph::Tensor> run_graph(const std::string& mode, const graph::Graph& g,
                                     const std::vector<graph::Tensor>& inputs) {
  primitives::verify(g);
  if (mode == "compiled") return test::run_compiled(*primitives::expand(g, primitives::Reader::backend), inputs);
  return eigen::evaluate(mode == "written" ? *written_and_read(g) : g, inputs);
}

}  // namespace anvil::conformance
