// Which arrays a loop writes wholly before it reads any of them, so that their initial values are not needed.
#include "transform/trip_count.h"

#include <gtest/gtest.h>

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
