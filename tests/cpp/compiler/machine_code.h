// Graphs as machine code, in tests of the compiler.
#pragma once
#include "compiler/graphs.h"
#include "support/run_compiled.h"

namespace anvil::test {

// This machine, with tasks of any size.
inline compiler::Target small_tasks(double cache = llvm_backend::target().cache) {
  compiler::Target target = llvm_backend::target();
  target.task = 2, target.cache = cache;
  return target;
}
// On one thread and on several, against the evaluator.
inline void expect_machine_code_right(const graph::Graph& g, const std::vector<Tensor>& inputs, double tolerance,
                                      const compiler::Target& target) {
  expect_equal(run_compiled(g, inputs, {1, 2, 3}, &target), eigen::evaluate(g, inputs), tolerance, "machine code");
}

}  // namespace anvil::test
