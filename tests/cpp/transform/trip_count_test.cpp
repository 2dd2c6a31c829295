// How often loops run, and which arrays they write wholly before they read any of them, so that their initial values
// are not needed.
#include "transform/trip_count.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "primitives/families/control.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

struct Case {
  int64_t start = 0, end = 5, step = 1;
  bool turned = false;     // writes from the end
  int64_t first = 0;       // what is written at the start
  bool converted = false;  // the place is of another dtype
  bool reads = false;      // the array before it is written
  bool shared = false;     // the new array goes into a second carried value, too
  Shape part = {1, 3};
};

// An array of 5 x 3 of which each step writes one slice.
GraphPtr recording(const Case& of) {
  return trace({f64({5, 3}), f64_scalar}, [&of](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {integer(g, of.start), x[0], x[1]}, [&of](Graph& b, const Vars& s) { return s[0] < integer(b, of.end); },
        [&of](Graph& b, const Vars& s) {
          Var at = of.turned ? integer(b, 5) - s[0] - integer(b, 1 - of.first) : s[0] + integer(b, of.first);
          Var other = integer(b, 0);
          if (of.converted) at = convert(at, DType::ui64), other = convert(other, DType::ui64);
          const Var slice = broadcast_in_dim(sin(s[2]), of.part, {});
          const Var next = dynamic_update_slice(s[1], slice, {at, other});
          Var number = s[2] * 1.5;
          if (of.reads) number = number + reduce_sum(s[1], {0, 1});
          if (of.shared) number = number + reduce_sum(next, {0, 1});
          return Vars{s[0] + integer(b, of.step), next, number};
        });
    return Vars{r[1], r[2]};
  });
}

bool found(const Case& of) {
  const GraphPtr f = recording(of);
  for (const graph::Call& c : f->calls)
    if (primitives::control_of(c) == primitives::Control::loop) return transform::overwrites(c, 1);
  ADD_FAILURE() << "there is no loop";
  return false;
}

// A loop that counts by `by` from `start` in a dtype as long as `test` of the count holds.
std::optional<int64_t> steps(double start, DType dtype, const std::function<Var(Graph&, const Var&)>& test,
                             double by = 1) {
  const GraphPtr f = trace({}, [&](Graph& g, const Vars&) {
    return while_loop(
        g, {primitives::literal(g, start, {dtype, {}})}, [&](Graph& b, const Vars& s) { return test(b, s[0]); },
        [&](Graph&, const Vars& s) { return Vars{by < 0 ? s[0] - -by : s[0] + by}; });
  });
  for (const graph::Call& c : f->calls)
    if (primitives::control_of(c) == primitives::Control::loop) return transform::trip_count(c);
  ADD_FAILURE() << "there is no loop";
  return std::nullopt;
}
Var number(Graph& g, double x, DType dtype) { return primitives::literal(g, x, {dtype, {}}); }

TEST(TripCount, OfTestsInEitherOrder) {
  const auto at_end = [](auto f) { return [f](Graph& b, const Var& k) { return f(k, number(b, 9, DType::i32)); }; };
  EXPECT_EQ(steps(1, DType::i32, at_end([](const Var& k, const Var& n) { return k < n; })), 8);
  EXPECT_EQ(steps(1, DType::i32, at_end([](const Var& k, const Var& n) { return k <= n; })), 9);
  EXPECT_EQ(steps(1, DType::i32, at_end([](const Var& k, const Var& n) { return n > k; })), 8);
  EXPECT_EQ(steps(1, DType::i32, at_end([](const Var& k, const Var& n) { return n >= k; })), 9);
  EXPECT_EQ(steps(10, DType::i32, at_end([](const Var& k, const Var& n) { return k <= n; })), 0);
  EXPECT_EQ(steps(1, DType::i32, at_end([](const Var& k, const Var& n) { return k > n; })), std::nullopt);
  const auto far = [](Graph& b, const Var& k) {
    return k < primitives::literal(b, Scalar(~uint64_t(0)), {DType::ui64, {}});
  };
  EXPECT_EQ(steps(1, DType::ui64, far), std::nullopt);
  EXPECT_EQ(steps(1, DType::i32, at_end([](const Var& k, const Var& n) { return n < k; })), std::nullopt);
}

TEST(TripCount, OfCountsDown) {
  const auto above = [](DType as, double end, bool too, bool turned = false) {
    return [=](Graph& b, const Var& k) {
      const Var n = number(b, end, as), x = k.dtype() == as ? k : convert(k, as);
      return turned ? (too ? n <= x : n < x) : too ? x >= n : x > n;
    };
  };
  for (bool turned : {false, true}) {
    EXPECT_EQ(steps(9, DType::i32, above(DType::i32, 0, false, turned), -1), 9);
    EXPECT_EQ(steps(9, DType::i32, above(DType::i32, 0, true, turned), -1), 10);
    EXPECT_EQ(steps(9, DType::i32, above(DType::i32, 0, false, turned), -4), 3);
    EXPECT_EQ(steps(9, DType::i32, above(DType::i32, 9, false, turned), -1), 0);
    EXPECT_EQ(steps(9, DType::i32, above(DType::f32, 0.5, false, turned), -1), 9);
    EXPECT_EQ(steps(9, DType::i32, above(DType::f32, 0.5, true, turned), -1), 9);
    EXPECT_EQ(steps(9, DType::i32, above(DType::f64, -1, true, turned), -1), 11);
    EXPECT_EQ(steps(9, DType::i32, above(DType::i32, 0, false, turned), 1), std::nullopt);
  }
  for (DType t : {DType::ui8, DType::ui64})
    EXPECT_EQ(steps(9, t, above(t, 0, true), -1), std::nullopt) << "0 - 1 is the largest number";
}

TEST(TripCount, OfCountsComparedAsFloatsThatHoldThem) {
  const auto below = [](DType as, double end, bool too = false) {
    return [=](Graph& b, const Var& k) {
      const Var n = number(b, end, as);
      return too ? convert(k, as) <= n : convert(k, as) < n;
    };
  };
  EXPECT_EQ(steps(1, DType::i32, below(DType::f32, 9)), 8);
  EXPECT_EQ(steps(1, DType::i32, below(DType::f32, 9, true)), 9);
  EXPECT_EQ(steps(1, DType::i32, below(DType::f64, 8.5)), 8);
  EXPECT_EQ(steps(1, DType::i32, below(DType::f64, 8.5, true)), 8);
  EXPECT_EQ(steps(-3, DType::i64, below(DType::f64, -0.5)), 3);
  EXPECT_EQ(steps(-3, DType::i64, below(DType::f64, -0.5, true)), 3);
  EXPECT_EQ(steps(1, DType::i32, below(DType::f32, 8388600)), 8388599);
  EXPECT_EQ(steps(1, DType::i32, below(DType::f32, 16777218, true)), std::nullopt) << "16777216 + 1 is 16777216";
  EXPECT_EQ(steps(1, DType::i32, below(DType::bf16, 300)), std::nullopt);
  EXPECT_EQ(steps(1, DType::i32, below(DType::f64, 1e300)), std::nullopt);
  EXPECT_EQ(steps(1, DType::i32, below(DType::f64, std::nan(""))), std::nullopt);
  EXPECT_EQ(steps(1, DType::i8, below(DType::f64, 127, true)), std::nullopt) << "127 + 1 is -128";
}

// 257 is 256 as a bf16.
TEST(TripCount, PlacesThatWereRoundedAreNotCounts) {
  for (DType by : {DType::i64, DType::bf16}) {
    const GraphPtr f = trace({}, [&](Graph& g, const Vars&) {
      return while_loop(
          g, {integer(g, 0), integer(g, 0)}, [](Graph& b, const Vars& s) { return s[0] < integer(b, 513); },
          [&](Graph& b, const Vars& s) {
            return Vars{s[0] + integer(b, 1), convert(convert(s[0], by), DType::i32)};
          });
    });
    for (const graph::Call& c : f->calls)
      if (primitives::control_of(c) == primitives::Control::loop) {
        EXPECT_EQ(transform::direction_of(c, c.params.graph("body_graph")->outputs[1], 513), by == DType::i64 ? 1 : 0);
      }
  }
}

TEST(Overwrites, WhatEachStepWritesASliceOf) {
  EXPECT_TRUE(found({}));
  EXPECT_TRUE(found({.turned = true}));
  EXPECT_TRUE(found({.start = 1, .end = 6, .first = -1}));
  EXPECT_TRUE(found({.start = 1, .end = 6, .first = -1, .converted = true}));
  EXPECT_TRUE(found({.turned = true, .converted = true}));
  EXPECT_TRUE(found({.start = 1, .end = 6, .turned = true, .first = 1}));
}

TEST(Overwrites, NotWhatIsReadOrNotWhollyWritten) {
  EXPECT_FALSE(found({.start = 1}));
  EXPECT_FALSE(found({.end = 4}));
  EXPECT_FALSE(found({.first = 1}));
  EXPECT_FALSE(found({.first = 4}));
  EXPECT_FALSE(found({.turned = true, .first = -1}));
  EXPECT_FALSE(found({.start = 1, .end = 6}));
  EXPECT_FALSE(found({.start = 1, .end = 6, .converted = true}));
  EXPECT_FALSE(found({.end = 4, .turned = true}));
  EXPECT_FALSE(found({.end = 9, .step = 2}));
  EXPECT_FALSE(found({.reads = true}));
  EXPECT_FALSE(found({.shared = true}));
  EXPECT_FALSE(found({.part = {2, 3}}));
}

}  // namespace
}  // namespace anvil::testing
