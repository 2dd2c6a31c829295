// Loops in the steps of a loop: what the outer one records is what the inner one would, its tape, where that is
// smaller than the state.
#include "transform/nested_tapes.h"

#include <gtest/gtest.h>

#include "support/batches.h"
#include "transform/recorded.h"

namespace anvil::testing {
namespace {

// y[j] = w y[j - 1] y[j] from j = 1 on, by a loop of which nobody knows when it ends.
Var swept(Graph& b, Var w, Var y, Var squares_below) {
  return while_loop(
      b, {integer(b, 1), y}, [&](Graph& c, const Vars& t) { return t[0] * t[0] < in(c, squares_below); },
      [&](Graph& c, const Vars& t) {
        const Var next = in(c, w) * element(t[1], t[0] - integer(c, 1)) * element(t[1], t[0]);
        return Vars{t[0] + integer(c, 1), with(t[1], t[0], next)};
      })[1];
}
// The sum of squares of what some steps make of an array.
GraphPtr stepped(int64_t n, const std::function<Var(Graph&, Var w, Var y, Var i)>& step) {
  return trace({f64_scalar, f64({n})}, [=](Graph& g, const Vars& x) {
    const Var y = while_loop(
        g, {integer(g, 0), x[1] + 1.0}, [=](Graph& b, const Vars& s) { return s[0] < integer(b, 4); },
        [&](Graph& b, const Vars& s) {
          return Vars{s[0] + integer(b, 1), step(b, in(b, x[0]), s[1], s[0])};
        })[1];
    return Vars{reduce_sum(y * y, {0})};
  });
}
void expect_no_state(const GraphPtr& f, int64_t tapes) {
  const auto types = record_of(*transform::gradient(*f, {true, true}, false));
  EXPECT_EQ(std::count_if(types.begin(), types.end(), [](const TensorType& t) { return t.tape; }), tapes);
  for (const TensorType& t : types) EXPECT_LE(elements(t.shape), 1) << text(t);
}
// Derivatives by w, at 0.8, of the function and of its derivative.
void expect_slopes(const GraphPtr& f, const std::vector<Tensor>& at) {
  GraphPtr of = f;
  for (int order = 1; order <= 2; ++order) {
    const GraphPtr g = transform::gradient(*of, {true, false}, false);
    primitives::verify(*g);
    const auto value_at = [&](double w) { return numbers(eigen::evaluate(*of, {tensor({}, {w}), at[1]})[0])[0]; };
    const double h = 1e-5, slope = (value_at(0.8 + h) - value_at(0.8 - h)) / (2 * h);
    EXPECT_NEAR(numbers(eigen::evaluate(*g, at)[0])[0], slope, 1e-5 * std::abs(slope)) << order;
    of = g;
  }
}
constexpr int64_t large = 250;  // elements that are more than two tapes are expected to take
constexpr int64_t split = 2;    // tapes, of the first steps of a loop of unknown length and of the others

TEST(NestedTapes, OfALoopOfUnknownLengthIsItsTape) {
  const auto step = [](Graph& b, Var w, Var y, Var i) { return swept(b, w, y, i * i + integer(b, 7)); };
  expect_no_state(stepped(large, step), split);
  expect_gradient(stepped(large, step), arguments(large), 2);
  const auto small = record_of(*transform::gradient(*stepped(20, step), {true, true}, false));
  EXPECT_TRUE(std::find(small.begin(), small.end(), f64({20})) != small.end()) << "the array is the smaller";
}

TEST(NestedTapes, OfSeveralLoopsIsTheTapeOfEach) {
  const auto f = stepped(400, [](Graph& b, Var w, Var y, Var i) {
    const Var once = swept(b, w, y, i * i + integer(b, 7));
    return swept(b, w * element(once, integer(b, 2)), once, i * integer(b, 3));
  });
  expect_no_state(f, 2 * split);
  expect_slopes(f, arguments(400));
}

// Of a loop in a branch, whether or not its length is known, the tape leaves the branch.
TEST(NestedTapes, OfALoopInABranchIsItsTape) {
  for (const bool known : {true, false}) {
    const auto f = stepped(large, [known](Graph& b, Var w, Var y, Var i) {
      const auto loop = [&](Graph& yes) {
        const Var end = known ? integer(yes, 9) : in(yes, i) * in(yes, i) + integer(yes, 7);
        if (!known) return Vars{swept(yes, w, y, end)};
        return Vars{while_loop(
            yes, {integer(yes, 1), in(yes, y)}, [](Graph& c, const Vars& t) { return t[0] < integer(c, 3); },
            [&](Graph& c, const Vars& t) {
              const Var next = in(c, w) * element(t[1], t[0] - integer(c, 1)) * element(t[1], t[0]);
              return Vars{t[0] + integer(c, 1), with(t[1], t[0], next)};
            })[1]};
      };
      return if_else(b, (i < integer(b, 1)) | (i > integer(b, 2)), loop, [&](Graph& no) { return Vars{in(no, y)}; })[0];
    });
    SCOPED_TRACE(known);
    expect_no_state(f, known ? 1 : split);
    expect_gradient(f, arguments(large), 2);
  }
}

TEST(NestedTapes, OfALoopInALoopInALoopIsATapeOfTapes) {
  const auto f = stepped(5000, [](Graph& b, Var w, Var y, Var i) {
    return while_loop(
        b, {integer(b, 1), y}, [&](Graph& c, const Vars& t) { return t[0] * t[0] <= in(c, i) + integer(c, 3); },
        [&](Graph& c, const Vars& t) {
          return Vars{t[0] + integer(c, 1), swept(c, w, t[1], t[0] + integer(c, 6))};
        })[1];
  });
  expect_no_state(f, split);
  expect_slopes(f, arguments(5000));
}

TEST(NestedTapes, OfALoopIsTheSameInABatch) {
  const auto f = stepped(large, [](Graph& b, Var w, Var y, Var i) {
    const auto loop = [&](Graph& yes) { return Vars{swept(yes, w, y, in(yes, i) * in(yes, i) + integer(yes, 7))}; };
    return if_else(b, w > 0.5, loop,
                   [&](Graph& no) { return Vars{in(no, y) + broadcast_in_dim(in(no, w), {large}, {})}; })[0];
  });
  expect_no_state(f, split);
  const GraphPtr g = transform::gradient(*f, {true, true}, true);
  const auto at = arguments(large);
  EXPECT_EQ(test::batch_disagreement(*g, {tensor({3}, {0.8, 0.3, 1.1}), at[1]}, {true, false}, 3), "");
}

}  // namespace
}  // namespace anvil::testing
