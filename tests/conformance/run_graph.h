// The ways to run an imported graph, called modes: "eigen", primitive by primitive; "compiled", as
// machine code; "written", by Eigen after it has been written as text and read again, which
// must give the same text.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace anvil::conformance {

std::vector<graph::Tensor> run_graph(const std::string& mode, const graph::Graph&,
                                     const std::vector<graph::Tensor>& inputs);

}  // namespace anvil::conformance
