// Graphs as machine code, in tests of the compiler.
#pragma once
#include <cmath>

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

// The first two results, one number for each row of the matrix that is the input, where rows hold zeros with a sign, and
// numbers that are not finite.
inline void expect_special_numbers_right(const graph::Graph& g, const compiler::Target& target) {
  std::vector<Tensor> inputs = numbers_for(g);
  auto* numbers = static_cast<double*>(inputs[0].data.get());
  const int64_t rows = inputs[0].type.shape[0];
  for (int64_t j = 0; j < 90; ++j) numbers[3 + rows * j] = -0.0, numbers[4 + rows * j] = -INFINITY;
  numbers[5 + rows * 89] = NAN, numbers[6 + rows * 17] = INFINITY, numbers[7] = NAN;
  const std::vector<Tensor> got = run_compiled(g, inputs, {1, 2}, &target), want = eigen::evaluate(g, inputs);
  for (size_t k = 0; k < 2; ++k)
    for (int i = 3; i < 8; ++i) {
      const double a = static_cast<const double*>(got[k].data.get())[i],
                   e = static_cast<const double*>(want[k].data.get())[i];
      EXPECT_TRUE(std::isnan(e)             ? std::isnan(a)
                  : std::isinf(e) || e == 0 ? a == e
                                            : std::abs(a - e) < 1e-10)
          << k << " " << i << ": " << a << " " << e;
      if (e == 0) {
        EXPECT_EQ(std::signbit(a), std::signbit(e)) << k << " " << i;
      }
    }
}

}  // namespace anvil::test
