// StableHLO text, written and read. The written form is the generic one of the package's
// documents; the reader takes what the writer writes and what other tools print.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace anvil::primitives {
struct Var;
}

namespace anvil::stablehlo {

struct Written {
  std::string text;                        // func.func @main (...) -> ... { ... }
  std::vector<graph::ValuePtr> constants;  // captured tensors that became leading inputs
};
// Constants of one element are inlined; others become the first inputs, or dense literals
// when constants_as_inputs is false.
// Labels, where given, are written as locations of arguments and as jax.result_info. A donated argument
// says which result may take its memory.
struct Labels {
  std::vector<std::string> arguments, results;
  std::vector<bool> donated = {};
};
Written write(const graph::Graph&, bool constants_as_inputs = true, const Labels& = {});

// What an operation of the text records: see import.h. Keys are names of operations
// ("stablehlo.add"), and "custom_call @target" for custom calls.
class Importer;
struct Operation;
using Rule = std::function<std::vector<graph::ValuePtr>(Importer&, const Operation&,
                                                        const std::vector<primitives::Var>& operands)>;
using Rules = std::unordered_map<std::string, Rule>;

// A function of a text: its graph, what its arguments are called there (by location, if that
// has a name, or without %) and what jax.result_info says of each result ("" where nothing does).
struct Program {
  graph::GraphPtr graph;
  std::vector<std::string> arguments, results;
};
// entry: the name of a function; empty: @main, or the only public one.
Program read_program(std::string_view text, std::string_view entry = {}, const Rules& extra = {});

// Reads a module or a lone function; Error("stablehlo") names line, column and what is wrong.
graph::GraphPtr read(std::string_view text, const Rules& extra = {});

}  // namespace anvil::stablehlo
