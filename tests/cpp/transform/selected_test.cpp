// A branch that was not taken makes no NaN of a gradient, wherever its function is infinite.
#include <gtest/gtest.h>

#include <cmath>

#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using primitives::record;

GraphPtr summed(const std::function<Var(Var)>& f, int64_t n) {
  return trace({f64({n})}, [&](Graph&, const Vars& x) { return Vars{primitives::reduce_sum(f(x[0]), {0})}; });
}
std::vector<double> slopes(const std::function<Var(Var)>& f, const std::vector<double>& at, int order = 1) {
  const auto n = static_cast<int64_t>(at.size());
  GraphPtr g = summed(f, n);
  for (int k = 0; k < order; ++k) {
    g = transform::gradient(*g, {true}, false);
    Var y{g.get(), g->outputs[0]};
    if (k + 1 < order) g->outputs = {primitives::reduce_sum(y, {0}).value};
  }
  const Tensor x = tensor({n}, at);
  const auto found = numbers(eigen::evaluate(*g, {x})[0]);
  transform::optimize(*g);
  EXPECT_EQ(numbers(eigen::evaluate(*g, {x})[0]), found);
  return found;
}
using Numbers = std::vector<double>;

TEST(Selected, TheOtherBranchMayBeInfinite) {
  const Numbers at = {-1, 0, 2};
  EXPECT_EQ(slopes([](Var x) { return select(x > 0.0, log(x), x * 3.0); }, at), (Numbers{3, 3, 0.5}));
  EXPECT_EQ(slopes([](Var x) { return select(x > 0.0, sqrt(x), zeros_like(x)); }, {0, 4}), (Numbers{0, 0.25}));
  EXPECT_EQ(slopes([](Var x) { return select(x == 0.0, x, 1.0 / x); }, {0, 2}), (Numbers{1, -0.25}));
  EXPECT_EQ(slopes([](Var x) { return select(x > 0.0, pow(x, x), x); }, {-1, 1}), (Numbers{1, 1}));
}

TEST(Selected, ThroughSeveralCallsAndConstants) {
  const auto chain = [](Var x) { return select(x > 0.0, exp(-(1.0 / (x * x)) + 1.0) * 2.0, zeros_like(x)); };
  EXPECT_EQ(slopes(chain, {0, 1})[0], 0);
  EXPECT_NEAR(slopes(chain, {0, 1})[1], 4, 1e-12);
  // beside a use that counts
  EXPECT_EQ(slopes([](Var x) { return select(x > 0.0, log(x), x) + x * x; }, {0, 2}), (Numbers{1, 4.5}));
}

TEST(Selected, MaximaAndClampsToo) {
  EXPECT_EQ(slopes([](Var x) { return maximum(sqrt(x), literal(x, 1)); }, {0, 4}), (Numbers{0, 0.25}));
  EXPECT_EQ(slopes([](Var x) { return minimum(1.0 / x, literal(x, 5)); }, {0, 0.5}), (Numbers{0, -4}));
  EXPECT_EQ(slopes(
                [](Var x) {
                  return record("clamp", {literal(x, 1), sqrt(x), literal(x, 3)});
                },
                {0, 4}),
            (Numbers{0, 0.25}));
  EXPECT_EQ(slopes([](Var x) { return primitives::reduce_max(sqrt(x), {0}, false); }, {0, 4}), (Numbers{0, 0.25}));
}

TEST(Selected, HigherDerivatives) {
  const auto f = [](Var x) { return select(x > 0.0, log(x), x * x); };
  EXPECT_EQ(slopes(f, {-3, 0, 2}, 2), (Numbers{2, 2, -0.25}));
  EXPECT_EQ(slopes(f, {-3, 0, 2}, 3), (Numbers{0, 0, 0.25}));
}

// What was taken keeps its infinity: it is true.
TEST(Selected, WhatWasTakenStays) {
  EXPECT_EQ(slopes([](Var x) { return select(x >= 0.0, sqrt(x), x); }, {0, 4}), (Numbers{INFINITY, 0.25}));
}

}  // namespace
}  // namespace anvil::testing
