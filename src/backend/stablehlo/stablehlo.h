// StableHLO text, written and read. The written form is the generic one of the package's
// documents; the reader takes what the writer writes and what other tools print.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace anvil::stablehlo {

struct Written {
  std::string text;                        // func.func @main (...) -> ... { ... }
  std::vector<graph::ValuePtr> constants;  // captured tensors that became leading inputs
};
// Constants of one element are inlined; others become the first inputs, or dense literals
// when constants_as_inputs is false.
Written write(const graph::Graph&, bool constants_as_inputs = true);

// Reads a module or a lone function; Error("stablehlo") names line, column and what is wrong.
graph::GraphPtr read(std::string_view text);

}  // namespace anvil::stablehlo
