// The canonical implementation: a graph evaluated one primitive at a time, with Eigen for
// products and factorisations, no fusion and no cleverness. Debug mode runs it, and the
// compiler is tested against it.
#pragma once
#include <functional>
#include <vector>

#include "graph/graph.h"

namespace anvil::eigen {

struct Options {
  std::function<void(const graph::Call&, const graph::Tensor&)> observe;  // sees every result
};
std::vector<graph::Tensor> evaluate(const graph::Graph&, const std::vector<graph::Tensor>& inputs, const Options& = {});

}  // namespace anvil::eigen
