// What loops read of calls per element is read of their operands, so that a step of the way back touches what the step
// has read; the values stay the same to the bit.
#include <gtest/gtest.h>

#include <cmath>

#include "primitives/families/control.h"
#include "transform/recorded.h"
#include "transform/simplify.h"

namespace anvil::testing {
namespace {

using Made = std::function<Var(Graph&, Var x, const Vars& state)>;

// s = sin(s + v[i]), from s = 0.3, of a vector v that each step makes.
GraphPtr reading(int64_t n, int64_t steps, const Made& v) {
  return trace({f64({n})}, [=](Graph& g, const Vars& x) {
    return Vars{while_loop(
        g, {integer(g, 0), number(g, 0.3)}, [=](Graph& b, const Vars& s) { return s[0] < integer(b, steps); },
        [&](Graph& b, const Vars& s) {
          return Vars{s[0] + integer(b, 1), sin(s[1] + element(v(b, in(b, x[0]), s), s[0]))};
        })[1]};
  });
}
GraphPtr gradient_without_dead_calls(const GraphPtr& f) {
  const GraphPtr g = transform::gradient(*f, {true}, true);
  transform::remove_dead_calls(*g);
  primitives::verify(*g);
  return g;
}
// Elements of the largest result that loops make per element, but for sums.
int64_t largest_in_loops(const Graph& g, bool in_loop = false) {
  int64_t n = 0;
  for (const graph::Call& c : g.calls) {
    const auto& p = primitives::primitive_of(c);
    if (in_loop && p.acts == primitives::Acts::per_element && p.linear.empty())
      n = std::max(n, elements(c.outputs.at(0)->type.shape));
    for (const GraphPtr& inner : subgraphs(c))
      n = std::max(n, largest_in_loops(*inner, in_loop || primitives::repeats(c)));
  }
  return n;
}
Tensor numbers_between(int64_t n, double low, double high) {
  std::vector<double> x;
  for (int64_t i = 0; i < n; ++i)
    x.push_back(low + (high - low) * (0.5 + 0.5 * std::cos(0.7 * static_cast<double>(i))));
  return tensor({n}, x);
}
void expect_early(const GraphPtr& f, const Tensor& at) {
  const GraphPtr g = gradient_without_dead_calls(f);
  EXPECT_EQ(largest_in_loops(*g), 1);
  EXPECT_EQ(numbers(eigen::evaluate(*g, {at})[0]), numbers(eigen::evaluate(*f, {at})[0]));
  expect_gradient(f, {at}, 2);
}
constexpr int64_t n = 32;

TEST(EarlyReads, OfChainsOfCalls) {
  const Tensor at = numbers_between(n, -1, 1);
  expect_early(reading(n, 3, [](Graph&, Var x, const Vars&) { return sin(x); }), at);
  expect_early(reading(n, 3, [](Graph&, Var x, const Vars&) { return exp(x * sin(x)) / (x * x + 1.5); }), at);
}
TEST(EarlyReads, WithWhatIsOneNumberEverywhere) {
  const auto spread = [](Graph&, Var x, const Vars& s) {
    return exp(x * primitives::broadcast_in_dim(s[1], {n}, {})) +
           primitives::broadcast_in_dim(reshape(s[1], {1}), {n}, {0});
  };
  expect_early(reading(n, 3, spread), numbers_between(n, -1, 1));
}
TEST(EarlyReads, OfWhatChanges) {
  const GraphPtr f = trace({f64({n})}, [](Graph& g, const Vars& x) {
    const Vars r = while_loop(
        g, {integer(g, 1), x[0] * 0.5}, [](Graph& b, const Vars& s) { return s[0] < integer(b, 5); },
        [](Graph& b, const Vars& s) {
          const Var last = element(sin(s[1]) * s[1], s[0] - integer(b, 1));
          return Vars{s[0] + integer(b, 1), with(s[1], s[0], last + element(s[1], s[0]))};
        });
    return Vars{reduce_sum(r[1] * r[1], {0})};
  });
  expect_early(f, numbers_between(n, -1, 1));
}
// A row of a matrix, and of that an element.
TEST(EarlyReads, OfReads) {
  const auto row = [](Graph& b, Var x, const Vars& s) {
    const Var m = reshape(x, {n, n}), first = integer(b, 0);
    return reshape(
        primitives::dynamic_slice(primitives::dynamic_slice(sin(m), {s[0], first}, {1, n}), {first, s[0]}, {1, 1}),
        {1});
  };
  expect_early(reading(n * n, 2, row), numbers_between(n * n, -1, 1));
}
TEST(EarlyReads, InBranches) {
  const GraphPtr f = trace({f64({n})}, [](Graph& g, const Vars& x) {
    return Vars{while_loop(
        g, {integer(g, 0), number(g, 0.3)}, [](Graph& b, const Vars& s) { return s[0] < integer(b, 4); },
        [&](Graph& b, const Vars& s) {
          const Var v = exp(in(b, x[0]));
          const auto read = [&](Graph& yes) { return Vars{sin(in(yes, s[1]) * element(in(yes, v), in(yes, s[0])))}; };
          const auto other = [&](Graph& no) { return Vars{in(no, s[1]) + element(sin(in(no, v)), in(no, s[0]))}; };
          return Vars{s[0] + integer(b, 1), if_else(b, s[1] > 0.2, read, other)[0]};
        })[1]};
  });
  expect_early(f, numbers_between(n, -1, 1));
}

// What an outer loop makes once for all steps of an inner one is not made at each of them.
TEST(EarlyReads, OfAnOuterLoopStay) {
  const auto f = trace({f64({n})}, [](Graph& g, const Vars& x) {
    return Vars{while_loop(
        g, {integer(g, 0), number(g, 0.3)}, [](Graph& b, const Vars& s) { return s[0] < integer(b, 3); },
        [&](Graph& b, const Vars& s) {
          const Var v = exp(in(b, x[0]) * primitives::broadcast_in_dim(s[1], {n}, {}));
          return Vars{s[0] + integer(b, 1),
                      while_loop(
                          b, {integer(b, 0), s[1]}, [](Graph& c, const Vars& t) { return t[0] < integer(c, 4); },
                          [&](Graph& c, const Vars& t) {
                            return Vars{t[0] + integer(c, 1), sin(t[1] * element(in(c, v), t[0]))};
                          })[1]};
        })[1]};
  });
  EXPECT_EQ(largest_in_loops(*gradient_without_dead_calls(f)), n);
  expect_gradient(f, {numbers_between(n, -1, 1)}, 1);
}
TEST(EarlyReads, OfLargePartsStay) {
  const GraphPtr f = reading(8, 3, [](Graph&, Var x, const Vars&) { return sin(x); });
  EXPECT_EQ(largest_in_loops(*gradient_without_dead_calls(f)), 8);
}

// Infinite slopes of what no step has read, or no branch has taken, meet no zero.
TEST(EarlyReads, WhatIsNotReadHasNoSlope) {
  std::vector<double> at(n, 0.0);
  at[0] = 1, at[1] = 4;
  for (const int64_t steps : {0, 2, 4}) {
    const auto root = [](Graph& b, Var x, const Vars& s) {
      const Var spread = primitives::broadcast_in_dim(s[0] < integer(b, 2), {n}, {});
      return select(spread, sqrt(x), zeros_like(x));
    };
    const GraphPtr g = transform::gradient(*reading(n, steps, root), {true}, false);
    const auto slopes = numbers(eigen::evaluate(*g, {tensor({n}, at)})[0]);
    for (size_t i = 0; i < slopes.size(); ++i) {
      EXPECT_TRUE(std::isfinite(slopes[i])) << steps << ", " << i;
      EXPECT_EQ(slopes[i] != 0, steps > 0 && i < 2) << steps << ", " << i;
    }
  }
}

}  // namespace
}  // namespace anvil::testing
