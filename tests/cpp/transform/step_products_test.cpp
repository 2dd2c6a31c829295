// Products of the steps of a loop that become one product.
#include <gtest/gtest.h>

#include "primitives/families/control.h"
#include "support/convolution.h"
#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using graph::Call;
using primitives::dot_general;

struct Case {
  int64_t steps = 6;     // of the loop, of 6 in the tensors
  int64_t first = 0;     // what the loop counts from
  bool turned = false;   // reads from the end
  bool right = false;    // the operand of the loop stands on the right
  bool middle = false;   // the steps are not the first dimension
  bool batched = false;  // both operands have a batch in front
  bool moves = false;    // the weights change from step to step
  bool tested = false;   // the sum decides how long the loop runs
  bool made = false;     // both terms of a sum are made of the step
  bool read = false;     // the sum is read in the loop
};

int64_t products_in(const Graph& g, bool in_loops) {
  int64_t n = 0;
  for (const Call& c : g.calls) {
    n += !in_loops && c.primitive->name == "dot_general" ? 1 : 0;
    for (const GraphPtr& inner : subgraphs(c))
      for (const Call& step : inner->calls) n += in_loops && step.primitive->name == "dot_general" ? 1 : 0;
  }
  return n;
}

// h = tanh(h + xs[i] w), of 5 rows and 40 and 30 columns
GraphPtr recurrence(const Case& of) {
  const Shape batch = of.batched ? Shape{3} : Shape{};
  const auto shaped = [&batch](Shape s) {
    s.insert(s.begin(), batch.begin(), batch.end());
    return s;
  };
  const auto b = static_cast<int64_t>(batch.size());
  const Shape x = of.right ? Shape{40, 5} : Shape{5, 40}, w = of.right ? Shape{30, 40} : Shape{40, 30},
              h = of.right ? Shape{30, 5} : Shape{5, 30};
  Shape xs = shaped(x);
  const int64_t dim = b + (of.middle ? 1 : 0);
  xs.insert(xs.begin() + dim, 6);
  return trace({f64(xs), f64(shaped(w)), f64(shaped(h))}, [=](Graph& g, const Vars& in_) {
    return while_loop(
        g, {integer(g, 0), in_[2], in_[1]}, [&](Graph& c, const Vars& s) { return s[0] < integer(c, of.steps); },
        [&](Graph& c, const Vars& s) {
          const Var at = of.turned ? integer(c, 6) - s[0] - integer(c, 1) : s[0];
          const Var part = element(in(c, in_[0]), dim, at), weights = of.moves ? s[2] * 0.5 : in(c, in_[1]);
          const std::vector<int64_t> batches = of.batched ? std::vector<int64_t>{0} : std::vector<int64_t>{};
          const Var q = of.right ? dot_general(weights, part, {b + 1}, {b}, batches, batches)
                                 : dot_general(part, weights, {b + 1}, {b}, batches, batches);
          return Vars{s[0] + integer(c, 1), primitives::record("tanh", {s[1] + q}), of.moves ? weights : s[2]};
        });
  });
}

// s = s + xs[i]' z, where z is made of the step: of 40 rows and 30 columns
GraphPtr sum_of_steps(const Case& of) {
  return trace({f64({6, 5, 40}), f64({5, 30}), f64({40, 30})}, [=](Graph& g, const Vars& in_) {
    return while_loop(
        g, {integer(g, of.first), in_[2], in_[1]},
        [&](Graph& c, const Vars& s) {
          const Var more = s[0] < integer(c, of.first + of.steps);
          return of.tested ? more & (reduce_sum(s[1], {0, 1}) < number(c, 1e300)) : more;
        },
        [&](Graph& c, const Vars& s) {
          const Var step = s[0] - integer(c, of.first), at = of.turned ? integer(c, 5) - step : step;
          const Var read = element(in(c, in_[0]), 0, at), part = of.made ? sin(read) : read;
          const Var z = of.read ? sin(s[2]) + slice(s[1], {0, 0}, {5, 30}, {1, 1}) : sin(s[2]);
          const Var q = of.right ? transpose(dot_general(z, part, {0}, {0}, {}, {}), {1, 0})
                                 : dot_general(part, z, {0}, {0}, {}, {});
          return Vars{s[0] + integer(c, 1), of.right ? q + s[1] : s[1] + q, z};
        });
  });
}

// Gives the graph with its products joined, which computes the same.
Graph joined(const GraphPtr& g) {
  Graph made = *g;
  transform::join_step_products(made);
  transform::remove_dead_calls(made);
  expect_same(*g, made, inputs_around(0, *g), 1e-12);
  return made;
}

TEST(StepProducts, OfWhatIsReadIsMadeBeforeTheLoop) {
  for (const bool turned : {false, true})
    for (const bool right : {false, true})
      for (const bool middle : {false, true})
        for (const bool batched : {false, true})
          for (const int64_t steps : {3, 6}) {
            SCOPED_TRACE(::testing::Message() << turned << right << middle << batched << steps);
            const Graph g = joined(
                recurrence({.steps = steps, .turned = turned, .right = right, .middle = middle, .batched = batched}));
            EXPECT_EQ(products_in(g, true), 0);
            EXPECT_EQ(products_in(g, false), 1);
          }
}

TEST(StepProducts, StayWhereTheyAreOfWhatChangesOrOfFewSteps) {
  EXPECT_EQ(products_in(joined(recurrence({.moves = true})), true), 1);
  EXPECT_EQ(products_in(joined(recurrence({.steps = 2})), true), 1);
  EXPECT_EQ(products_in(joined(recurrence({.steps = 0})), true), 1);
}

// Which contract, too.
TEST(StepProducts, AreNoConvolutions) {
  const test::Layer layer{2, 3, 8, 4, 3};
  Shape xs = layer.input(), w = layer.kernel();
  xs.insert(xs.begin(), 6);
  const GraphPtr f = trace({f64(xs), f64(w)}, [&](Graph& g, const Vars& in_) {
    const Vars r = while_loop(
        g, {integer(g, 0), primitives::fill(g, 0, f64(w)), number(g, 0)},
        [](Graph& c, const Vars& s) { return s[0] < integer(c, 6); },
        [&](Graph& c, const Vars& s) {
          const Var y = test::convolved(layer, element(in(c, in_[0]), 0, s[0]), in(c, in_[1]));
          return Vars{s[0] + integer(c, 1), s[1] + in(c, in_[1]), s[2] + reduce_sum(y * y, {0, 1, 2, 3})};
        });
    return Vars{r[2]};
  });
  const std::vector<Tensor> inputs = inputs_around(0, *f);
  EXPECT_EQ(numbers(eigen::evaluate(joined(f), inputs)[0]), numbers(eigen::evaluate(*f, inputs)[0]));
  joined(transform::gradient(*f, {true, true}, false));
}

TEST(StepProducts, OfSumsAreMadeAfterTheLoop) {
  for (const bool turned : {false, true})
    for (const bool right : {false, true})
      for (const bool made : {false, true})
        for (const int64_t first : {0, 1}) {
          SCOPED_TRACE(::testing::Message() << turned << right << made << first);
          const Graph g = joined(sum_of_steps({.first = first, .turned = turned, .right = right, .made = made}));
          EXPECT_EQ(products_in(g, true), 0);
          EXPECT_EQ(products_in(g, false), 1);
        }
}

TEST(StepProducts, OfSumsStayWhereAStepIsLeftOutOrTheSumIsRead) {
  EXPECT_EQ(products_in(joined(sum_of_steps({.steps = 3})), true), 1);
  EXPECT_EQ(products_in(joined(sum_of_steps({.tested = true})), true), 1);
  EXPECT_EQ(products_in(joined(sum_of_steps({.read = true})), true), 1);
}

// The way back of h = tanh(xs[i] w + h u): of w a product of all steps, of u one of what was recorded.
TEST(StepProducts, OfAWayBack) {
  const GraphPtr f = trace({f64({6, 8, 20}), f64({20, 30}), f64({30, 30})}, [](Graph& g, const Vars& in_) {
    const Var h = broadcast_in_dim(number(g, 0.1), {8, 30}, {});
    const Vars r = while_loop(
        g, {integer(g, 1), h}, [](Graph& c, const Vars& s) { return s[0] < integer(c, 7); },
        [&](Graph& c, const Vars& s) {
          const Var x = element(in(c, in_[0]), 0, s[0] - integer(c, 1));
          const Var sum =
              dot_general(x, in(c, in_[1]), {1}, {0}, {}, {}) + dot_general(s[1], in(c, in_[2]), {1}, {0}, {}, {});
          return Vars{s[0] + integer(c, 1), primitives::record("tanh", {sum})};
        });
    return Vars{reduce_sum(r[1] * r[1], {0, 1})};
  });
  expect_gradient(f, inputs_around(0, *f), 1, 1e-5);
  const Graph g = joined(transform::gradient(*f, {false, true, true}, false));
  EXPECT_EQ(products_in(g, true), 3) << "h u, which the way back makes again, and back to h";
  EXPECT_EQ(products_in(g, false), 3) << "x w, and back to w and to u";
}

}  // namespace
}  // namespace anvil::testing
