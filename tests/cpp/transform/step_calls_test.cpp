// Calls of the steps of a loop that become calls of all steps, ahead of it and behind it.
#include <gtest/gtest.h>

#include <random>

#include "primitives/families/control.h"
#include "transform/simplify.h"
#include "transform/tapes.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using graph::Call;
using primitives::literal;
using primitives::with_element;

constexpr int64_t steps = 40;

// How many calls of a primitive there are, in the bodies of loops or not.
int64_t count_of(const Graph& g, const std::string& primitive, bool in_loops, bool here = false) {
  int64_t n = 0;
  for (const Call& c : g.calls) {
    n += c.primitive->name == primitive && in_loops == here ? 1 : 0;
    for (const GraphPtr& inner : subgraphs(c)) n += count_of(*inner, primitive, in_loops, true);
  }
  return n;
}

// The graph with the calls of all steps joined, which computes the same: the same bits but for sums.
Graph joined(const GraphPtr& g, bool changes = true) {
  Graph made = *g;
  EXPECT_EQ(transform::join_step_calls(made), changes);
  transform::remove_dead_calls(made);
  expect_same(*g, made, inputs_around(1.5, *g), 1e-13);
  return made;
}
int64_t left(const Graph& g, const std::string& primitive) { return count_of(g, primitive, true); }
void expect_moved(const std::string& primitive, const GraphPtr& from, const Graph& made) {
  EXPECT_GT(left(*from, primitive), 0) << primitive;
  EXPECT_EQ(left(made, primitive), 0) << primitive;
}
int64_t outside(const Graph& g, const std::string& primitive) { return count_of(g, primitive, false); }

GraphPtr loop_over(const std::vector<TensorType>& inputs, const std::function<Vars(Graph&, const Vars&)>& initial,
                   const Body& body, int64_t first = 0) {
  return counting_loop(inputs, steps, initial, body, first);
}
Vars one_zero(Graph& g, const Vars&) { return {number(g, 0)}; }

TEST(StepCalls, OfWhatIsReadAreMadeAhead) {
  for (int64_t first : {0, 1}) {
    const GraphPtr f = loop_over(
        {f64({steps})}, one_zero,
        [](Graph&, const Var& k, const Vars& s, const Vars& x) {
          return Vars{s[0] * 0.5 + exp(element(x[0], 0, k) * 0.1)};
        },
        first);
    const Graph made = joined(f);
    expect_moved("exp", f, made);
    EXPECT_EQ(outside(made, "exp"), 1);
  }
}

TEST(StepCalls, OfReadsFromEitherEndAndOfSeveralNumbers) {
  const GraphPtr f = loop_over(
      {f64({3, steps}), f64({steps, 3}), f64({3})}, [](Graph&, const Vars& x) { return Vars{x[2]}; },
      [](Graph& c, const Var& k, const Vars& s, const Vars& x) {
        const Var a = element(x[0], 1, k), b = element(x[1], 0, integer(c, steps - 1) - k);
        return Vars{s[0] * 0.5 + exp(a * b) / x[2]};
      });
  const Graph made = joined(f);
  expect_moved("exp", f, made);
  expect_moved("divide", f, made);
  EXPECT_EQ(outside(made, "divide"), 1);
}

// A table that is read at any place, which is clamped to it.
TEST(StepCalls, OfTables) {
  const GraphPtr f = loop_over({f64({7})}, one_zero, [](Graph& c, const Var& k, const Vars& s, const Vars& x) {
    return Vars{s[0] * 0.5 + log(element(x[0], 0, k - integer(c, 3)))};
  });
  expect_moved("log", f, joined(f));
}

TEST(StepCalls, OfCarriedValuesStayWithTheRecurrence) {
  const GraphPtr f = loop_over({f64({steps})}, one_zero, [](Graph&, const Var& k, const Vars& s, const Vars& x) {
    return Vars{exp(s[0] * 0.5 - element(x[0], 0, k))};
  });
  joined(f, false);
}

TEST(StepCalls, OfRecordsAreMadeBehind) {
  for (bool backwards : {false, true}) {
    const GraphPtr f = loop_over(
        {f64({steps}), f64({steps})},
        [](Graph& g, const Vars& x) {
          return Vars{number(g, 1), x[1]};
        },
        [=](Graph& c, const Var& k, const Vars& s, const Vars& x) {
          const Var h = s[0] * 0.5 + element(x[0], 0, k), at = backwards ? integer(c, steps - 1) - k : k;
          return Vars{h, with_element(s[1], 0, at, log(h) / h)};
        });
    const Graph made = joined(f);
    expect_moved("log", f, made);
    expect_moved("divide", f, made);
    EXPECT_EQ(left(made, "dynamic_update_slice"), 1) << "of h";
  }
}

TEST(StepCalls, OfRecordsWithTheStepsInTheMiddle) {
  const GraphPtr f = loop_over(
      {f64({2, 2}), f64({2, steps, 2})},
      [](Graph&, const Vars& x) {
        return Vars{x[0], x[1]};
      },
      [](Graph&, const Var& k, const Vars& s, const Vars&) {
        const Var h = sin(s[0]) + 1.5;
        return Vars{h, with_element(s[1], 1, k, log(h))};
      });
  const Graph made = joined(f);
  expect_moved("log", f, made);
  EXPECT_EQ(left(made, "sine"), 1);
}

// What the loop records anyway is not recorded again.
TEST(StepCalls, ReadARecordThatIsThere) {
  const GraphPtr f = loop_over(
      {f64({steps}), f64({steps, 1}), f64({steps})},
      [](Graph& g, const Vars& x) {
        return Vars{number(g, 1), x[1], x[2]};
      },
      [](Graph& c, const Var& k, const Vars& s, const Vars& x) {
        const Var h = s[0] * 0.5 + element(x[0], 0, k);
        return Vars{h, with_element(s[1], 0, integer(c, steps - 1) - k, primitives::broadcast_in_dim(h, {1}, {})),
                    with_element(s[2], 0, k, log(h))};
      });
  const Graph made = joined(f);
  expect_moved("log", f, made);
  EXPECT_EQ(left(made, "dynamic_update_slice"), 1);
}

TEST(StepCalls, OfTermsOfSumsAreMadeBehind) {
  const GraphPtr f = loop_over(
      {f64({steps}), f64_scalar},
      [](Graph& g, const Vars& x) {
        return Vars{number(g, 1), x[1]};
      },
      [](Graph&, const Var& k, const Vars& s, const Vars& x) {
        const Var r = element(x[0], 0, k), h = s[0] * 0.5 + r * r;
        return Vars{h, s[1] - log(h) * 0.5 - (r * r / h - 1.0)};
      });
  const Graph made = joined(f);
  expect_moved("log", f, made);
  expect_moved("divide", f, made);
  EXPECT_EQ(outside(made, "reduce_sum"), 1);
}

// With a term that is the same at each step, one that is a number, one that stands in several places and integers.
TEST(StepCalls, OfAllKindsOfTerms) {
  const GraphPtr f = loop_over(
      {f64_scalar, f64({3})},
      [](Graph& g, const Vars& x) {
        return Vars{x[0], x[1], literal(g, 5, {DType::i32, {}})};
      },
      [](Graph& c, const Var& k, const Vars& s, const Vars& x) {
        const Var h = s[0] * 0.5 + 1.0, spread = primitives::broadcast_in_dim(sqrt(h), {3}, {});
        return Vars{h, s[1] + x[1] / primitives::broadcast_in_dim(h, {3}, {}) + spread - 2.0,
                    s[2] - (convert(h * 10.0, DType::i32) + k * integer(c, 7))};
      });
  const Graph made = joined(f);
  expect_moved("divide", f, made);
  expect_moved("sqrt", f, made);
  EXPECT_EQ(outside(made, "reduce_sum"), 2);
}

TEST(StepCalls, OfSumsThatTheLoopReadsStay) {
  const auto sum_that = [](bool read, bool rounded, bool turned) {
    return loop_over(
        {f64_scalar, {rounded ? DType::f16 : DType::f64, {}}},
        [](Graph&, const Vars& x) {
          return Vars{x[0], x[1]};
        },
        [=](Graph&, const Var&, const Vars& s, const Vars&) {
          const DType dtype = s[1].dtype();
          const Var h = s[0] * 0.5 + (read ? s[1] : s[0] * 0.1), term = convert(log(h + 1.0) / (h + 2.0), dtype);
          return Vars{h, turned ? term - s[1] : s[1] + term};
        });
  };
  joined(sum_that(false, false, false), true);
  joined(sum_that(true, false, false), false);
  joined(sum_that(false, true, false), false);
  joined(sum_that(false, false, true), false);
}

// The steps of a way back read what the way there has recorded: on both ways what does not belong to the recurrence
// leaves the loop.
TEST(StepCalls, OfGradients) {
  const GraphPtr f = trace({f64({steps}), f64_scalar}, [](Graph& g, const Vars& x) {
    return Vars{while_loop(
        g, {integer(g, 1), number(g, 1), number(g, 0)},
        [](Graph& c, const Vars& s) {
          return convert(s[0], DType::f32) <= literal(c, steps, {DType::f32, {}});
        },
        [&](Graph& c, const Vars& s) {
          const Var r = element(in(c, x[0]), 0, s[0] - integer(c, 1)), h = s[1] * in(c, x[1]) * 0.3 + r * r;
          return Vars{s[0] + integer(c, 1), h, s[2] - log(h) - r / h};
        })[2]};
  });
  const std::vector<Tensor> inputs = inputs_around(1.5, *f);
  const GraphPtr gradient = transform::gradient(*f, {true, true}, true);
  Graph made = *gradient;
  transform::optimize(made);
  EXPECT_EQ(left(made, "log") + left(made, "divide"), 0);
  EXPECT_EQ(left(made, "tape_scan") + outside(made, "tape_scan") + outside(made, "while_record"), 0);
  expect_same(*gradient, made, inputs, 1e-12);
  expect_gradient(f, inputs, 2, 1e-5);
}

// Steps of random calls on numbers, and on several of them, that carry, record and add up what they make.
class RandomSteps {
 public:
  explicit RandomSteps(unsigned seed) : random_(seed) {}

  GraphPtr program() {
    Vars (*const start)(Graph&, const Vars&) = [](Graph& g, const Vars& x) {
      return Vars{number(g, 0.4), x[4], x[5], x[6], x[7], literal(g, 3, {DType::i32, {}}), number(g, 0)};
    };
    const auto body = [this](Graph& c, const Var& k, const Vars& s, const Vars& x) { return step(c, k, s, x); };
    return loop_over({f64({steps}), f64({2, steps}), f64({9, 2}), f64_scalar, f64({2}), f64({steps}), f64({steps, 2}),
                      f64({2, steps, 1})},
                     start, body, below(3) - 1);
  }

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  Var any(const Shape& shape) {
    Vars fit;
    for (const Var& v : pool_)
      if (v.shape() == shape) fit.push_back(v);
    return fit[static_cast<size_t>(below(static_cast<int>(fit.size())))];
  }
  Var place(Graph& c, const Var& k) { return below(2) == 0 ? k : integer(c, steps - 1) - k; }
  void add_call() {
    const Shape shape = below(3) == 0 ? Shape{2} : Shape{};
    const Var a = any(shape), b = any(shape);
    const auto square = [](const Var& v) { return sin(v) * sin(v) + 0.5; };
    switch (below(9)) {
      case 0: return pool_.push_back(a + b);
      case 1: return pool_.push_back(a - b * 0.5);
      case 2: return pool_.push_back(sin(a) * b);
      case 3: return pool_.push_back(exp(sin(a)));
      case 4: return pool_.push_back(sin(a) / square(b));
      case 5: return pool_.push_back(log(square(a)));
      case 6: return pool_.push_back(select(a < b, a * 0.5, literal(a, 1.25)));
      case 7: return pool_.push_back(primitives::broadcast_in_dim(any({}), {2}, {}));
      default: return pool_.push_back(reduce_sum(reshape(any({2}), {1, 2}), {0, 1}));  // no call of all steps
    }
  }
  Vars step(Graph& c, const Var& k, const Vars& s, const Vars& x) {
    pool_ = {s[0], s[1], x[3], number(c, 0.3)};
    pool_.push_back(element(x[0], 0, place(c, k)));
    pool_.push_back(element(x[1], 1, place(c, k)));
    pool_.push_back(element(x[2], 0, k));  // a table
    if (below(3) == 0) pool_.push_back(convert(k, DType::f64));
    for (int n = 3 + below(12); n > 0; --n) add_call();
    Var sum = s[5];
    for (int n = 1 + below(3); n > 0; --n) {
      const Var term = convert(sin(any({})) * 100.0, DType::i32);
      sum = below(2) == 0 ? sum + term : sum - term;
    }
    Var total = s[6];
    for (int n = 1 + below(3); n > 0; --n) total = below(2) == 0 ? any({}) + total : total - any({});
    if (below(4) == 0) total = total * 0.5;
    return {sin(any({})) * 0.5,
            below(4) == 0 ? s[1] + any({2}) : sin(any({2})) * 0.5,
            with_element(s[2], 0, place(c, k), any({})),
            with_element(s[3], 0, place(c, k), any({2})),
            with_element(s[4], 1, k, reshape(any({2}), {2, 1})),
            sum,
            total};
  }

  std::mt19937 random_;
  Vars pool_;
};

TEST(StepCalls, OfRandomSteps) {
  int moved = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const GraphPtr f = RandomSteps(seed).program();
    Graph made = *f;
    moved += transform::join_step_calls(made);
    transform::remove_dead_calls(made);
    expect_same(*f, made, inputs_around(1.5, *f), 1e-9);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(moved, 200);
}

}  // namespace
}  // namespace anvil::testing
