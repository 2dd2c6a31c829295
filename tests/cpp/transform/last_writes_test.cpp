// What steps of a loop read of arrays that they write: carried from the steps before, or read ahead of the loop.
#include <gtest/gtest.h>

#include <random>

#include "primitives/families/control.h"
#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using graph::Call;
using primitives::with_element;

constexpr int64_t steps = 20, size = steps + 8;

// A loop whose values are the inputs, and its body.
using StepOf = std::function<Vars(Graph&, const Var& step, const Vars&)>;
GraphPtr loop_of(const std::vector<TensorType>& inputs, const StepOf& body) {
  return counting_loop(
      inputs, steps, [](Graph&, const Vars& x) { return x; },
      [&](Graph& c, const Var& k, const Vars& s, const Vars&) { return body(c, k, s); });
}

// How many reads of the carried arrays are left in the loop of the graph; it computes the same bits.
int64_t reads_left(const GraphPtr& f, bool changes = true) {
  Graph made = *f;
  EXPECT_EQ(transform::carry_last_writes(made), changes);
  transform::remove_dead_calls(made);
  expect_same(*f, made, inputs_around(0, *f), 0);
  int64_t n = 0;
  for (const Call& c : made.calls) {
    if (primitives::control_of(c) != primitives::Control::loop) continue;
    const GraphPtr body = c.params.graph("body_graph");
    for (const Call& step : body->calls)
      n += step.primitive->name == "dynamic_slice" &&
           std::find(body->inputs.begin(), body->inputs.end(), step.inputs[0]) != body->inputs.end();
  }
  return n;
}

TEST(LastWrites, AreCarried) {
  for (int64_t lag : {1, 2, 4})
    EXPECT_EQ(
        reads_left(loop_of({f64({size})},
                           [=](Graph& c, const Var& k, const Vars& s) {
                             const Var at = k + integer(c, lag);
                             return Vars{with_element(
                                 s[0], 0, at, sin(element(s[0], 0, k)) + element(s[0], 0, at - integer(c, 1)) * 0.5)};
                           })),
        0)
        << lag;
}

TEST(LastWrites, AreCarriedBackwardsAndInLinesOfAMatrix) {
  EXPECT_EQ(reads_left(loop_of({f64({2, size})},
                               [](Graph& c, const Var& k, const Vars& s) {
                                 const Var at = integer(c, size - 3) - k;
                                 return Vars{with_element(s[0], 1, at, sin(element(s[0], 1, at + integer(c, 2))))};
                               })),
            0);
}

TEST(LastWrites, OfArraysThatAreMadeOfEachOther) {
  EXPECT_EQ(reads_left(loop_of({f64({size}), f64({size})},
                               [](Graph& c, const Var& k, const Vars& s) {
                                 const Var at = k + integer(c, 1), a = element(s[0], 0, k), b = element(s[1], 0, k);
                                 return Vars{with_element(s[0], 0, at, b), with_element(s[1], 0, at, a + b * 0.5)};
                               })),
            0);
}

// As the way back of a recurrence has them: what is read is cleared, and what is next is added to.
TEST(LastWrites, OfSeveralWrites) {
  EXPECT_EQ(reads_left(loop_of({f64({size})},
                               [](Graph& c, const Var& k, const Vars& s) {
                                 const Var at = integer(c, size - 1) - k, next = at - integer(c, 1),
                                           g = element(s[0], 0, at);
                                 const Var cleared = with_element(s[0], 0, at, g * 0.0);
                                 return Vars{with_element(cleared, 0, next, element(cleared, 0, next) + g * 0.7)};
                               })),
            0);
}

// What no step has written is read of the array as it was.
TEST(LastWrites, AheadOfTheWritesAreReadBeforeTheLoop) {
  EXPECT_EQ(reads_left(loop_of({f64({size})},
                               [](Graph& c, const Var& k, const Vars& s) {
                                 const Var here = element(s[0], 0, k), ahead = element(s[0], 0, k + integer(c, 3));
                                 return Vars{with_element(s[0], 0, k, here * 0.5 + ahead)};
                               })),
            0);
}

TEST(LastWrites, StayWhereNobodyKnowsThePlaces) {
  // reads that are moved to an end, of a place that is a value, far back, of more than a part; numbers that are many
  EXPECT_EQ(reads_left(loop_of({f64({size})},
                               [](Graph& c, const Var& k, const Vars& s) {
                                 return Vars{with_element(s[0], 0, k, sin(element(s[0], 0, k - integer(c, 1))))};
                               }),
                       false),
            1);
  EXPECT_EQ(reads_left(loop_of({f64({size})},
                               [](Graph& c, const Var& k, const Vars& s) {
                                 const Var at = primitives::record("remainder", {k * integer(c, 7), integer(c, 5)});
                                 return Vars{with_element(s[0], 0, k, sin(element(s[0], 0, at)))};
                               }),
                       false),
            1);
  EXPECT_EQ(reads_left(loop_of({f64({size})},
                               [](Graph& c, const Var& k, const Vars& s) {
                                 return Vars{with_element(s[0], 0, k + integer(c, 7), sin(element(s[0], 0, k)))};
                               }),
                       false),
            1);
  EXPECT_EQ(reads_left(loop_of({f64({size})},
                               [](Graph& c, const Var& k, const Vars& s) {
                                 const Var at = k + integer(c, 1);
                                 return Vars{with_element(s[0], 0, at,
                                                          sin(element(s[0], 0, k)) + reduce_sum(s[0], {0}) * 0.01)};
                               }),
                       false),
            1);
  EXPECT_EQ(reads_left(loop_of({f64({9, size})},
                               [](Graph& c, const Var& k, const Vars& s) {
                                 return Vars{with_element(s[0], 1, k + integer(c, 1), sin(element(s[0], 1, k)))};
                               }),
                       false),
            1);
}

// Reads and writes of two arrays at any places near the step, in any order.
TEST(LastWrites, OfRandomSteps) {
  int changed = 0;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
    const bool backwards = below(2) == 0;
    const GraphPtr f = loop_of({f64({size}), f64({size}), f64_scalar}, [&](Graph& c, const Var& k, const Vars& s) {
      Vars arrays = {s[0], s[1]}, values = {s[2], s[2] * 0.5};
      const auto any = [&] { return values[static_cast<size_t>(below(static_cast<int>(values.size())))]; };
      for (int n = 2 + below(5); n > 0; --n) {
        const int64_t offset = below(5);
        const Var at = backwards ? integer(c, size - 1 - offset) - k : k + integer(c, offset);
        Var& array = arrays[static_cast<size_t>(below(2))];
        if (below(2) == 0)
          values.push_back(element(below(6) == 0 ? s[0] : array, 0, at));
        else
          array = with_element(array, 0, at, any() * 0.75 + any() * 0.25);
      }
      return Vars{arrays[0], arrays[1], sin(any()) + any() * 0.5};
    });
    Graph made = *f;
    changed += transform::carry_last_writes(made);
    transform::remove_dead_calls(made);
    expect_same(*f, made, inputs_around(0, *f), 0);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(changed, 200);
}

}  // namespace
}  // namespace anvil::testing
