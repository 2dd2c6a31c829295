// A primitive's loop rule, carried out literally: every element as its expression says, one
// after the other. Tests compare it with the evaluator, without the compiler between them.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace anvil::test {

// The results of a call, whose inputs have these values (in the order of call.inputs). Throws
// InternalError when the rule reads or writes outside a tensor, or leaves an element out.
std::vector<graph::Tensor> run_loop_rule(const graph::Call&, const std::vector<graph::Tensor>& inputs);

// Evaluates the graph with Eigen, and expects the same results from the loop rule of each of its
// calls (elementwise ones and control flow left out), to `tolerance` relative for floats.
void expect_loop_rules_agree(const graph::Graph&, const std::vector<graph::Tensor>& inputs, double tolerance = 1e-12);

}  // namespace anvil::test
