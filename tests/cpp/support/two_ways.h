// Transformations made in two ways: as the package makes them, and in words of others that are
// no part of what is tested. Forward mode is reverse mode twice, reverse mode the transpose of forward mode, a
// batch its examples one by one, a loop its steps one after the other, a condition a choice between both results.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace anvil::test {

using Flags = std::vector<bool>;

// A function, made in two ways that have to agree.
struct TwoWays {
  graph::GraphPtr way, other;
};

// The same function, of whose results those are left that are floats.
graph::GraphPtr with_float_results(const graph::Graph&);

TwoWays jvp_of(const TwoWays&, const Flags& wrt);
TwoWays vjp_of(const TwoWays&, const Flags& wrt);
// Of the sum of all elements of all floats among the results, each with a weight of its own.
TwoWays gradient_of(const TwoWays&, const Flags& wrt, bool with_value, double seed);
TwoWays jacobian_of(const TwoWays&, const Flags& wrt);  // of the floats among the results
TwoWays batch_of(const TwoWays&, const Flags& batched, int64_t size);

// A loop of so many steps, or where `limit` is given until the carried numbers sum up to it. Each step makes
// the inputs that `carried` marks again, of themselves and of the function's results, and keeps a number of each
// step, as a scan does. The results are the carried values and these numbers.
struct Repetition {
  Flags carried;
  int64_t steps;
  bool until = false;
  double limit = 0;
};
TwoWays loop_of(const TwoWays&, const Repetition&);
// The function of its inputs or of half of them, whether the sum of input `by` is below the limit.
TwoWays branch_of(const TwoWays&, size_t by, double limit);
TwoWays checkpoint_of(const TwoWays&);
TwoWays simplified(const TwoWays&);
TwoWays written(const TwoWays&);  // as text, and read again

}  // namespace anvil::test
