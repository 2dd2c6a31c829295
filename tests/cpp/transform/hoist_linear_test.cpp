// What loops make of values that are the same at each step, in a linear way, is made before them, so that a step of
// the way back touches what the step has read and nothing else.
#include <gtest/gtest.h>

#include <cmath>

#include "primitives/families/control.h"
#include "transform/recorded.h"

namespace anvil::testing {
namespace {

// s = sin(s + v[i]), from s = 0, of a vector v that each step makes of x.
GraphPtr summed(int64_t n, int64_t steps, const std::function<Var(Graph&, Var x)>& made_of) {
  return trace({f64({n})}, [=](Graph& g, const Vars& x) {
    return Vars{while_loop(
        g, {integer(g, 0), number(g, 0.0)}, [=](Graph& b, const Vars& s) { return s[0] < integer(b, steps); },
        [&](Graph& b, const Vars& s) {
          return Vars{s[0] + integer(b, 1), sin(s[1] + element(made_of(b, in(b, x[0])), s[0]))};
        })[1]};
  });
}
Tensor waves(int64_t n) {
  std::vector<double> x;
  for (int64_t i = 0; i < n; ++i) x.push_back(std::cos(static_cast<double>(i) * 0.7));
  return tensor({n}, x);
}

TEST(HoistLinear, MovesAndSumsLeaveLoops) {
  const GraphPtr f = summed(12, 4, [](Graph& b, Var x) {
    const Var half = primitives::slice(reverse(x, {0}), {0}, {12}, {3});
    const Var sum = broadcast_in_dim(reduce_sum(x, {0}), {4}, {});
    return half + sum + in(b, half);
  });
  const GraphPtr g = transform::gradient(*f, {true}, false);
  for (const char* name : {"reverse", "pad", "static_slice"}) EXPECT_EQ(calls_in_loops(*g, name), 0) << name;
  expect_gradient(f, {waves(12)}, 2);
}

TEST(HoistLinear, AlsoOutOfBranchesAndInnerLoops) {
  const auto f = trace({f64({6})}, [](Graph& g, const Vars& x) {
    return Vars{while_loop(
        g, {integer(g, 0), number(g, 0.1)}, [](Graph& b, const Vars& s) { return s[0] < integer(b, 3); },
        [&](Graph& b, const Vars& s) {
          const auto inner = [&](Graph& yes) {
            return Vars{while_loop(
                yes, {integer(yes, 0), in(yes, s[1])}, [](Graph& c, const Vars& t) { return t[0] < integer(c, 2); },
                [&](Graph& c, const Vars& t) {
                  const Var turned = reverse(in(c, x[0]), {0});
                  return Vars{t[0] + integer(c, 1), sin(t[1] * element(turned, t[0] + in(c, s[0])))};
                })[1]};
          };
          const Var next = if_else(b, s[0] > integer(b, 0), inner, [&](Graph& no) { return Vars{in(no, s[1])}; })[0];
          return Vars{s[0] + integer(b, 1), next};
        })[1]};
  });
  EXPECT_EQ(calls_in_loops(*transform::gradient(*f, {true}, false), "reverse"), 0);
  expect_gradient(f, {waves(6)}, 2);
}

// The slope of a square root at zero is infinite: it may only meet what comes back of elements that were read.
TEST(HoistLinear, WhatIsNotLinearStaysInTheLoop) {
  for (const int64_t steps : {0, 3}) {
    const GraphPtr f = summed(4, steps, [](Graph&, Var x) { return select(x > 0.0, sqrt(x), zeros_like(x)); });
    const auto slopes =
        numbers(eigen::evaluate(*transform::gradient(*f, {true}, false), {tensor({4}, {1, 0, 4, 0})})[0]);
    for (const double slope : slopes) EXPECT_TRUE(std::isfinite(slope)) << steps;
  }
}

}  // namespace
}  // namespace anvil::testing
