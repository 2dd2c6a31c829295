// A program exported from JAX: text, inputs, and the outputs that XLA gave.
#pragma once
#include <string>
#include <vector>

#include "compare.h"
#include "isolate.h"
#include "json.h"

namespace anvil::conformance {

struct Exported {
  struct Output {
    graph::Tensor value, alternative;  // an element may match either
    Tolerance tolerance;
    std::string name;
    Failure differs(const graph::Tensor& actual) const;
  };
  std::string text;
  std::vector<graph::Tensor> inputs;
  std::vector<Output> outputs;
};
Exported read_exported(const std::string& path);        // without the endings .mlir and .json
std::vector<Exported::Output> outputs_of(const Json&);  // "outputs", with their tolerances and alternatives

}  // namespace anvil::conformance
