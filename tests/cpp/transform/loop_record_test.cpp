// What loops record for the way back: nothing that is the same at each step, no counters, no arrays of
// which single elements are read and written; first states of segments; and nothing that nobody reads.
#include <gtest/gtest.h>

#include "primitives/families/control.h"
#include "transform/recorded.h"
#include "transform/segments.h"
#include "transform/simplify.h"

namespace anvil::testing {
namespace {

using primitives::Control;

// y[i] = a y[i - 1] + e[i]; `checkpoint` as the parameter of the loop, -1 for none.
GraphPtr recursion(int64_t n, int64_t checkpoint = -1) {
  return trace({f64_scalar, f64({n})}, [=](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {integer(g, 1), primitives::literal(g, 0.5, f64({n}))},
        [n](Graph& b, const Vars& s) { return s[0] < integer(b, n); },
        [&x](Graph& b, const Vars& s) {
          const Var y = in(b, x[0]) * element(s[1], s[0] - integer(b, 1)) + element(in(b, x[1]), s[0]);
          return Vars{s[0] + integer(b, 1), with(s[1], s[0], y)};
        });
    if (checkpoint >= 0) g.calls.back().params.items.push_back({"segment", checkpoint});
    return Vars{reduce_sum(r[1] * r[1], {0})};
  });
}
TEST(LoopRecord, OfAnArrayThatIsWrittenElementByElementIsOneElement) {
  const GraphPtr f = recursion(9), g = transform::gradient(*f, {true, true}, false);
  EXPECT_EQ(record_of(*g), std::vector<TensorType>{f64_scalar});
  expect_gradient(f, arguments(9), 2);
}

// y[i] = y[i - 1] e[i] where e[i] is positive, else y[i - 1] y[i - 2]: in a branch, too, elements are recorded
TEST(LoopRecord, OfArraysThatBranchesReadIsOneElement) {
  const int64_t n = 9;
  auto f = trace({f64_scalar, f64({n})}, [=](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {integer(g, 2), x[1] * 0.5 + 1.0}, [n](Graph& b, const Vars& s) { return s[0] < integer(b, n); },
        [&x](Graph& b, const Vars& s) {
          const auto last = [&](Graph& inner, int64_t k) {
            return element(in(inner, s[1]), in(inner, s[0]) - integer(inner, k));
          };
          const Var e = element(in(b, x[1]), s[0]);
          const Var y = if_else(
              b, e > 0.0, [&](Graph& yes) { return Vars{last(yes, 1) * in(yes, e) * in(yes, x[0])}; },
              [&](Graph& no) { return Vars{last(no, 1) * last(no, 2)}; })[0];
          return Vars{s[0] + integer(b, 1), with(s[1], s[0], y)};
        });
    return Vars{reduce_sum(r[1] * r[1], {0})};
  });
  const GraphPtr g = transform::gradient(*f, {true, true}, false);
  for (const TensorType& t : record_of(*g)) EXPECT_EQ(elements(t.shape), 1) << text(t);
  expect_gradient(f, arguments(n), 2);
}

// h = tanh(w h + u x[i]) of n numbers, or h = h exp(u x[i])
GraphPtr recurrence(int64_t n, bool by_state) {
  return trace({f64({n, n}), f64({n, n}), f64({n, 3})}, [=](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {integer(g, 0), primitives::literal(g, 0.1, f64({n}))},
        [](Graph& b, const Vars& s) { return s[0] < integer(b, 3); },
        [&](Graph& b, const Vars& s) {
          const auto times = [&](Var m, Var v) { return primitives::dot_general(in(b, m), v, {1}, {0}, {}, {}); };
          const Var at = primitives::dynamic_slice(in(b, x[2]), {integer(b, 0), s[0]}, {n, 1});
          const Var driven = times(x[1], reshape(at, {n}));
          const Var next = by_state ? primitives::record("tanh", {times(x[0], s[1]) + driven}) : s[1] * exp(driven);
          return Vars{s[0] + integer(b, 1), next};
        });
    return Vars{reduce_sum(r[1] * r[1], {0})};
  });
}

// Sums of few products are made again from the state and the counter; those of many are recorded as well.
TEST(LoopRecord, OfSumsOfManyProductsIsTheSum) {
  for (const bool by_state : {true, false}) {
    const auto recorded = [&](int64_t n) {
      return record_of(*transform::gradient(*recurrence(n, by_state), {by_state, true, false}, false));
    };
    EXPECT_EQ(recorded(8), std::vector<TensorType>{f64({8})}) << by_state;
    EXPECT_EQ(recorded(40), (std::vector<TensorType>{f64({40}), f64({40})})) << by_state;
    for (const int64_t n : {8, 33}) {
      std::vector<double> w;
      for (int64_t i = 0; i < n * n; ++i) w.push_back(std::sin(static_cast<double>(i) * 1.7) / static_cast<double>(n));
      const std::vector<double> x(w.begin(), w.begin() + 3 * n);
      expect_gradient(recurrence(n, by_state), {tensor({n, n}, w), tensor({n, n}, w), tensor({n, 3}, x)}, 1);
    }
  }
}

// y[j] = w y[j - 1] y[j] for j = 1, ..., `inner`, `outer` times, in an array of n elements.
GraphPtr sweeps(int64_t outer, int64_t inner, int64_t n, const std::function<Var(Graph&, Var j)>& go_on) {
  return trace({f64_scalar, f64({n})}, [=](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {integer(g, 0), x[1] + 1.0}, [=](Graph& b, const Vars& s) { return s[0] < integer(b, outer); },
        [&](Graph& b, const Vars& s) {
          Vars swept = while_loop(
              b, {integer(b, 1), s[1]},
              [=](Graph& c, const Vars& t) { return go_on ? go_on(c, t[0]) : t[0] <= integer(c, inner); },
              [&](Graph& c, const Vars& t) {
                const Var y = in(c, x[0]) * element(t[1], t[0] - integer(c, 1)) * element(t[1], t[0]);
                return Vars{t[0] + integer(c, 1), with(t[1], t[0], y)};
              });
          return Vars{s[0] + integer(b, 1), swept[1]};
        });
    return Vars{reduce_sum(r[1] * r[1], {0})};
  });
}

// What an inner loop reads of an array is recorded, not the array at each step of the outer one.
TEST(LoopRecord, OfAnArrayThatAnInnerLoopChangesIsWhatThatLoopRecords) {
  const int64_t inner = 3, n = 40;
  const GraphPtr f = sweeps(4, inner, n, {}), g = transform::gradient(*f, {true, true}, false);
  int64_t recorded = 0;
  for (const TensorType& t : record_of(*g)) recorded += elements(t.shape);
  EXPECT_LE(recorded, 2 * inner + 1);
  expect_gradient(f, arguments(n), 2);
  const GraphPtr small = sweeps(4, 9, 10, {});  // the array is the smaller
  EXPECT_EQ(record_of(*transform::gradient(*small, {true, true}, false)), std::vector<TensorType>{f64({10})});
  expect_gradient(small, arguments(10), 1);
}

// y[j] = w y[j - 1] + y[j] as long as j is not above the number of the outer step: nothing of y is read on the way
// back but by w, and where that is fixed, the number of inner steps is all that is recorded.
TEST(LoopRecord, OfALoopThatReadsNothingOnTheWayBackIsItsLength) {
  const int64_t n = 30;
  auto f = trace({f64({n})}, [=](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {integer(g, 0), x[0]}, [=](Graph& b, const Vars& s) { return s[0] < integer(b, 5); },
        [&](Graph& b, const Vars& s) {
          Vars swept = while_loop(
              b, {integer(b, 1), s[1]}, [&](Graph& c, const Vars& t) { return t[0] <= in(c, s[0]); },
              [&](Graph& c, const Vars& t) {
                const Var y = element(t[1], t[0] - integer(c, 1)) * 0.5 + element(t[1], t[0]);
                return Vars{t[0] + integer(c, 1), with(t[1], t[0], y)};
              });
          return Vars{s[0] + integer(b, 1), swept[1]};
        });
    return Vars{reduce_sum(r[1] * r[1], {0})};
  });
  const GraphPtr g = transform::gradient(*f, {true}, false);
  for (const TensorType& t : record_of(*g)) EXPECT_EQ(elements(t.shape), 1) << text(t);
  expect_gradient(f, {arguments(n)[1]}, 2);
}

TEST(LoopRecord, OfSegmentsIsTheirFirstState) {
  const auto plain = eigen::evaluate(*transform::gradient(*recursion(9), {true, true}, false), arguments(9));
  for (int64_t length : {1, 2, 3, 8, 100}) {
    const GraphPtr g = transform::gradient(*recursion(9, length), {true, true}, false);
    EXPECT_EQ(record_of(*g), (std::vector<TensorType>{{DType::i32, {}}, f64({9})}));
    const auto found = eigen::evaluate(*g, arguments(9));
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(numbers(found[i]), numbers(plain[i])) << length;
  }
  EXPECT_EQ(record_of(*transform::gradient(*recursion(9, 0), {true, true}, false)).size(), 1u);
  const GraphPtr large_state = transform::gradient(*recursion(400, 20), {true, true}, false);
  EXPECT_EQ(record_of(*large_state), (std::vector<TensorType>{{DType::i32, {}}, f64({400})}));
  expect_gradient(recursion(6, 2), arguments(6), 2);
}

// x = sin(w x) for `steps` steps; the record of a step is x.
GraphPtr iteration(int64_t steps, int64_t size, int64_t checkpoint = -1) {
  return trace({f64_scalar, f64({size})}, [=](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {integer(g, 0), x[1]}, [=](Graph& b, const Vars& s) { return s[0] < integer(b, steps); },
        [&](Graph& b, const Vars& s) {
          return Vars{s[0] + integer(b, 1), sin(s[1] * broadcast_in_dim(in(b, x[0]), {size}, {}))};
        });
    if (checkpoint >= 0) g.calls.back().params.items.push_back({"segment", checkpoint});
    return Vars{reduce_sum(r[1], {0})};
  });
}

TEST(LoopRecord, SegmentsAreMadeWhereTheRecordsWouldTakeTooMuch) {
  const auto in_segments = [](const GraphPtr& f) {
    const GraphPtr g = transform::gradient(*f, {true, true}, false);
    return first(*first(*g, Control::loop)->params.graph("body_graph"), Control::loop) != nullptr;
  };
  const auto steps = static_cast<int64_t>(transform::most_recorded / 800);
  EXPECT_FALSE(in_segments(iteration(steps, 100)));
  EXPECT_TRUE(in_segments(iteration(steps + 1, 100)));
  EXPECT_FALSE(in_segments(iteration(steps + 1, 100, 0)));
  EXPECT_TRUE(in_segments(iteration(10, 100, 3)));
  EXPECT_FALSE(in_segments(recursion(static_cast<int64_t>(transform::most_recorded)))) << "states are larger";
}

// x = sin(w x) until the sum of its squares is below `least`.
GraphPtr contraction(int64_t size, double least) {
  return trace({f64_scalar, f64({size})}, [=](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {x[1]}, [=](Graph&, const Vars& s) { return reduce_sum(s[0] * s[0], {0}) > least; },
        [&](Graph& b, const Vars& s) { return Vars{sin(s[0] * broadcast_in_dim(in(b, x[0]), {size}, {}))}; });
    return Vars{reduce_sum(r[0], {0})};
  });
}

TEST(LoopRecord, OfUnknownLengthItsFirstStepsAreALoopOfTheirOwn) {
  const auto loops = [](int64_t size) {
    const GraphPtr g = transform::gradient(*contraction(size, 0.1), {true, true}, false);
    return std::count_if(g->calls.begin(), g->calls.end(),
                         [](const graph::Call& c) { return primitives::control_of(c) == Control::loop; });
  };
  const auto size = static_cast<int64_t>(transform::most_recorded) / transform::most_waited_for / 8;
  EXPECT_EQ(loops(size - 1), 1);
  EXPECT_EQ(loops(size + 1), 2);
  expect_gradient(contraction(size + 1, 0.1), arguments(size + 1), 1);
}

TEST(LoopRecord, SplitLoopsHaveTheSameGradient) {
  const GraphPtr f = contraction(9, 0.1);
  const auto at = arguments(9);
  const auto value = eigen::evaluate(*f, at),
             plain = eigen::evaluate(*transform::gradient(*f, {true, true}, false), at);
  for (int64_t length : {1, 2, 3, 100}) {
    Graph g = *f;
    const auto [start, rest] = transform::split(g.calls.at(0), length);
    g.calls[0] = rest;
    g.calls.insert(g.calls.begin(), start);
    primitives::verify(g);
    EXPECT_EQ(numbers(eigen::evaluate(g, at)[0]), numbers(value[0])) << length;
    const auto found = eigen::evaluate(*transform::gradient(g, {true, true}, false), at);
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(numbers(found[i]), numbers(plain[i])) << length;
  }
}

TEST(LoopRecord, OfStatesAndResultsIsTheSmaller) {
  // the way back reads a sum of 50 numbers, not the numbers
  auto f = trace({f64_scalar, f64({50})}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {integer(g, 0), x[0], x[1]}, [](Graph& b, const Vars& s) { return s[0] < integer(b, 4); },
        [](Graph& b, const Vars& s) {
          return Vars{s[0] + integer(b, 1), sin(s[1] * reduce_sum(s[2], {0})), s[2] * 0.5};
        });
    return Vars{r[1]};
  });
  const GraphPtr g = transform::gradient(*f, {true, true}, false);
  EXPECT_EQ(record_of(*g), (std::vector<TensorType>{f64_scalar, f64_scalar}));
}

// A second derivative reads what the first one has recorded.
TEST(LoopRecord, IsReadAgainByLaterDerivatives) {
  const GraphPtr g = transform::gradient(*iteration(5, 3), {true, true}, false);
  auto sum = std::make_shared<Graph>(*g);
  sum->outputs = {g->outputs[0]};
  const GraphPtr h = transform::gradient(*sum, {true, true}, false);
  EXPECT_EQ(std::count_if(h->calls.begin(), h->calls.end(),
                          [](const graph::Call& c) { return primitives::control_of(c) == Control::loop; }),
            1);
}

TEST(DeadLoops, DisappearAlsoAfterDifferentiation) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    const auto loop = [&](Var start) {
      return while_loop(
          g, {integer(g, 0), start}, [](Graph& b, const Vars& s) { return s[0] < integer(b, 4); },
          [](Graph& b, const Vars& s) {
            return Vars{s[0] + integer(b, 1), sin(s[1])};
          })[1];
    };
    const Var kept = loop(x[0]), dead = loop(x[0] * 2.0);
    loop(dead);
    return Vars{kept * kept + dead * 0.0};
  });
  const auto loops = [](const Graph& g) {
    return std::count_if(g.calls.begin(), g.calls.end(), [](const graph::Call& c) { return primitives::repeats(c); });
  };
  transform::remove_dead_calls(*f);
  EXPECT_EQ(loops(*f), 2);
  // of the gradient only the value is read: neither tapes nor ways back are left
  GraphPtr g = transform::gradient(*f, {true}, true);
  EXPECT_EQ(loops(*g), 4);
  g->outputs.resize(1);
  transform::remove_dead_calls(*g);
  primitives::verify(*g);
  EXPECT_EQ(loops(*g), 2);
  for (const graph::Call& c : g->calls) EXPECT_FALSE(primitives::records(c));
}

TEST(Checkpoint, RecomputesWithinCallsOfItsOwn) {
  auto f = trace({f64({4})}, [](Graph& g, const Vars& x) {
    Var y = x[0];
    for (int k = 0; k < 3; ++k) {
      auto body = std::make_shared<Graph>();
      body->outputs = {exp(sin(in(*body, y))).value};
      y = {&g, primitives::checkpoint(g, body)[0]};
    }
    return Vars{reduce_sum(y, {0})};
  });
  GraphPtr g = transform::gradient(*f, {true}, false);
  transform::optimize(*g);
  int outside = 0, inside = 0;
  for (const graph::Call& c : g->calls) {
    outside += c.primitive->name == "sine" || c.primitive->name == "exponential";
    for (const GraphPtr& inner : subgraphs(c))
      for (const graph::Call& d : inner->calls) inside += d.primitive->name == "sine";
  }
  EXPECT_EQ(outside, 0);
  EXPECT_EQ(inside, 5) << "forwards the last one is needed no more";
  expect_gradient(f, {tensor({4}, {0.1, 0.5, -0.3, 1})}, 3);
}

}  // namespace
}  // namespace anvil::testing
