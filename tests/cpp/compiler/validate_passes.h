// Translation validation: after each pass every element of every output comes from the same
// operations on the same elements as before (support/terms.h), the program runs without leaving a
// buffer or reading what nobody wrote, and its numbers are those of the evaluator. What a pass leaves alone does not run again.
#pragma once
#include <set>
#include <string>

#include "compiler/passes.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace anvil::test {

struct Validation {
  double tolerance = 1e-5;  // of the numbers
  compiler::Target target = {64, 32};
  std::set<std::string> without = {};  // passes that are left out
};

// What is wrong, "" when nothing is; `program` is what the last pass has left.
std::string validate_passes(const graph::Graph&, const std::vector<graph::Tensor>& inputs, const Validation&,
                            loops::Program* program = nullptr);

// The targets that we generate code for, one where every sum of products is a contraction, one where every nest that
// may be cut into tasks is, one where next to nothing stays in a cache, and one of all three.
inline constexpr compiler::Target targets[] = {{16, 16},
                                               {32, 16},
                                               {64, 32},
                                               {64, 32, true},
                                               {32, 16, false, 1},
                                               {16, 16, false, 25'000, 128},
                                               {32, 16, true, 1, 256}};

}  // namespace anvil::test
