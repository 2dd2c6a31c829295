// What is the same at each step of a loop is computed before it, if the loop makes a step at all.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/eigen/evaluate.h"
#include "primitives/families/control.h"
#include "transform/recorded.h"
#include "transform/simplify.h"

namespace anvil::testing {
namespace {

// while (k < end) s = step(s), from x[0]; of a number `end` if it is given, else as long as the sum of s is small.
GraphPtr repeated(const std::function<Var(Graph&, const Var& s, const Vars& x)>& step, int64_t end = 4) {
  return trace({f64({6}), f64({6}), f64({3, 6})}, [=](Graph& g, const Vars& x) {
    return Vars{while_loop(
        g, {integer(g, 0), x[0]},
        [=](Graph& b, const Vars& s) {
          return end >= 0 ? s[0] < integer(b, end) : reduce_sum(s[1], {0}) < number(b, 100.0);
        },
        [=](Graph& b, const Vars& s) {
          Vars outer;
          for (const Var& v : x) outer.push_back(in(b, v));
          return Vars{s[0] + integer(b, 1), step(b, s[1], outer)};
        })[1]};
  });
}
std::vector<Tensor> some(double scale = 1) {
  std::vector<double> a, b, c;
  for (int i = 0; i < 6; ++i) a.push_back(scale * (0.5 + i)), b.push_back(0.1 * i - 0.2);
  for (int i = 0; i < 18; ++i) c.push_back(std::cos(i));
  return {tensor({6}, a), tensor({6}, b), tensor({3, 6}, c)};
}
GraphPtr optimized(const GraphPtr& f) {
  graph::Substitution map;
  GraphPtr g = clone(*f, map);
  transform::optimize(*g);
  primitives::verify(*g);
  return g;
}
GraphPtr expect_same(const GraphPtr& f, double scale = 1) {
  const GraphPtr g = optimized(f);
  const std::vector<Tensor> expected = eigen::evaluate(*f, some(scale)), got = eigen::evaluate(*g, some(scale));
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(element(got[0], i).text(DType::f64), element(expected[0], i).text(DType::f64));
  return g;
}

TEST(HoistInvariants, ComputationsLeaveAndWhatTheyReadWithThem) {
  const GraphPtr g = expect_same(repeated([](Graph&, const Var& s, const Vars& x) {
    return s * exp(x[1] * 0.5) + reduce_sum(transpose(exp(x[2]), {1, 0}), {1}) + cumsum(reverse(x[1], {0}), 0);
  }));
  for (const char* name : {"exp", "reduce_sum", "transpose", "cumsum", "reverse"})
    EXPECT_EQ(calls_in_loops(*g, name), 0) << name;
  EXPECT_EQ(calls_in_loops(*g, "mul"), 1);
  EXPECT_EQ(calls_around_loops(*g, "exp"), 2);
  EXPECT_EQ(calls_around_loops(*g, "if"), 0);
}

TEST(HoistInvariants, WhatOnlyMovesDataStaysAndSoDoesArithmeticOnOneArray) {
  const GraphPtr g = expect_same(repeated([](Graph&, const Var& s, const Vars& x) {
    const Var spread = broadcast_in_dim(exp(x[1]), {3, 6}, {1});
    return s * (x[1] + 1.0) + reduce_sum(spread * broadcast_in_dim(s, {3, 6}, {1}), {0}) + reduce_sum(spread, {0});
  }));
  EXPECT_EQ(calls_in_loops(*g, "exp"), 0);
  EXPECT_EQ(calls_around_loops(*g, "broadcast_in_dim"), 1);
  EXPECT_EQ(calls_in_loops(*g, "broadcast_in_dim"), 2);
  EXPECT_EQ(calls_around_loops(*g, "add"), 0);
}

TEST(HoistInvariants, ArithmeticOnSeveralArraysLeaves) {
  const GraphPtr g = expect_same(repeated([](Graph&, const Var& s, const Vars& x) { return s * 0.5 + (x[0] - x[1]); }));
  EXPECT_EQ(calls_in_loops(*g, "sub"), 0);
  EXPECT_EQ(calls_around_loops(*g, "sub"), 1);
}

TEST(HoistInvariants, SeveralArraysInOneLeave) {
  const GraphPtr g = expect_same(repeated([](Graph&, const Var& s, const Vars& x) {
    const Var fixed = primitives::concatenate({x[1], x[0]}, 0), moving = primitives::concatenate({s, s}, 0);
    return s + reduce_sum(reshape(fixed * moving, {2, 6}), {0}) * reverse(x[1], {0});
  }));
  EXPECT_EQ(calls_in_loops(*g, "concatenate"), 1);
  EXPECT_EQ(calls_around_loops(*g, "concatenate"), 1);
  EXPECT_EQ(calls_in_loops(*g, "reverse"), 1);
}

TEST(HoistInvariants, OfALoopThatMayMakeNoStepOnlyIfItDoes) {
  const GraphPtr f = repeated([](Graph&, const Var& s, const Vars& x) { return s * 2.0 + exp(x[1]); }, -1);
  for (double scale : {1.0, 1000.0}) {  // steps, and none
    const GraphPtr g = expect_same(f, scale);
    EXPECT_EQ(calls_in_loops(*g, "exp"), 0);
    ASSERT_EQ(calls_around_loops(*g, "if"), 1);
    for (const graph::Call& c : g->calls) EXPECT_NE(c.primitive->name, "exp");  // in the branch
  }
  EXPECT_EQ(calls_around_loops(
                *expect_same(repeated([](Graph&, const Var& s, const Vars& x) { return s + exp(x[1]); }, 1)), "exp"),
            0);
}

// The way back of a loop of an unknown number of steps goes through what that has recorded.
TEST(HoistInvariants, OfALoopOverRecordsOnlyIfThereAreSome) {
  const GraphPtr f = trace({f64({6}), f64({6})}, [](Graph& g, const Vars& x) {
    const Var end = while_loop(
        g, {integer(g, 0), x[0]}, [](Graph& b, const Vars& s) { return reduce_sum(s[1], {0}) < number(b, 100.0); },
        [&](Graph& b, const Vars& s) {
          return Vars{s[0] + integer(b, 1), s[1] * (sin(in(b, x[1])) + 1.5)};
        })[1];
    return Vars{reduce_sum(end * end, {0})};
  });
  const GraphPtr back = transform::gradient(*f, {true, true}, true), g = optimized(back);
  EXPECT_EQ(calls_in_loops(*g, "sine"), 0);
  EXPECT_EQ(calls_in_loops(*g, "cosine"), 0);
  for (const graph::Call& c : g->calls) EXPECT_NE(c.primitive->name, "cosine");  // in a branch
  for (double scale : {1.0, 1000.0}) {                                           // steps, and none
    std::vector<Tensor> x = some(scale);
    x.pop_back();
    const std::vector<Tensor> expected = eigen::evaluate(*back, x), got = eigen::evaluate(*g, x);
    for (size_t k = 0; k < 3; ++k)
      for (int64_t i = 0; i < (k == 0 ? 1 : 6); ++i)
        EXPECT_EQ(element(got[k], i).text(DType::f64), element(expected[k], i).text(DType::f64)) << k;
  }
  expect_gradient(f, {some()[0], some()[1]}, 1);
}

TEST(HoistInvariants, OutOfNestedLoopsAsFarAsTheyAreTheSame) {
  const GraphPtr g = expect_same(repeated([](Graph& b, const Var& s, const Vars& x) {
    return while_loop(
        b, {integer(b, 0), s}, [](Graph& c, const Vars& t) { return t[0] < integer(c, 3); },
        [&](Graph& c, const Vars& t) {
          return Vars{t[0] + integer(c, 1), t[1] + exp(in(c, x[1])) + sin(in(c, s))};
        })[1];
  }));
  EXPECT_EQ(calls_in_loops(*g, "exp"), 0);
  EXPECT_EQ(calls_around_loops(*g, "exp"), 1);
  int64_t in_inner = 0;
  for (const graph::Call& c : g->calls)
    for (const GraphPtr& outer : subgraphs(c)) in_inner += calls_in_loops(*outer, "sine");
  EXPECT_EQ(calls_in_loops(*g, "sine"), 1);
  EXPECT_EQ(in_inner, 0);
}

}  // namespace
}  // namespace anvil::testing
