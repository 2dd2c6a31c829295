#include <gtest/gtest.h>

#include "primitives/families/control.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

TEST(GradientOfIf, TakesTheBranchThatRan) {
  auto f = trace({f64_scalar, f64_scalar}, [](Graph& g, const Vars& x) {
    return if_else(
        g, x[0] > 1.0, [&](Graph& in_yes) { return Vars{in(in_yes, x[0]) * x[1] * x[1]}; },
        [&](Graph& in_no) { return Vars{sin(in(in_no, x[0]))}; });
  });
  expect_gradient(f, {tensor({}, {1.7}), tensor({}, {0.6})}, 3);
  expect_gradient(f, {tensor({}, {0.3}), tensor({}, {0.6})}, 3);
}

TEST(GradientOfIf, SeveralResultsAndPassedThroughValues) {
  auto f = trace({f64_scalar, f64({2})}, [](Graph& g, const Vars& x) {
    Var y = exp(x[0]);
    Vars r = if_else(
        g, x[0] < 0.0,
        [&](Graph& b) {
          return Vars{y, in(b, x[1]) * 2.0, integer(b, 1)};
        },
        [&](Graph& b) {
          return Vars{in(b, y) * y, x[1], integer(b, 2)};
        });
    return Vars{r[0] * convert(r[2], DType::f64) + reduce_sum(r[1] * r[1], {0})};
  });
  expect_gradient(f, {tensor({}, {0.4}), tensor({2}, {1.5, -2})}, 2);
  expect_gradient(f, {tensor({}, {-0.4}), tensor({2}, {1.5, -2})}, 2);
}

TEST(GradientOfIf, LeavesOutWhatNoBranchReaches) {
  auto f = trace({f64_scalar, f64_scalar}, [](Graph& g, const Vars& x) {
    auto flat = [&](Graph& b) { return Vars{primitives::record("floor", {in(b, x[0])})}; };
    return Vars{if_else(g, x[0] < 0.0, flat, flat)[0] * x[1]};
  });
  auto g = transform::gradient(*f, {true, true}, false);
  EXPECT_EQ(numbers(eigen::evaluate(*g, {tensor({}, {2.5}), tensor({}, {3})})[0]), std::vector<double>{0});
}

TEST(GradientOfWhile, NewtonSquareRoot) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {x[0], integer(g, 0)}, [](Graph& b, const Vars& s) { return s[1] < integer(b, 8); },
        [&](Graph& b, const Vars& s) {
          return Vars{(s[0] + in(b, x[0]) / s[0]) * 0.5, s[1] + integer(b, 1)};
        });
    return Vars{r[0]};
  });
  auto g = transform::gradient(*f, {true}, true);
  auto value = eigen::evaluate(*g, {tensor({}, {2.0})});
  EXPECT_NEAR(numbers(value[0])[0], std::sqrt(2.0), 1e-14);
  EXPECT_NEAR(numbers(value[1])[0], 0.5 / std::sqrt(2.0), 1e-14);
  expect_gradient(f, {tensor({}, {2.0})}, 4, 1e-5);
}

int count_calls(const Graph& g, const std::string& name, const Shape& shape) {
  int n = 0;
  for (const graph::Call& c : g.calls) {
    for (const auto& v : c.outputs) n += c.primitive->name == name && v->type.shape == shape;
    for (const auto& inner : subgraphs(c)) n += count_calls(*inner, name, shape);
  }
  return n;
}

// What a loop records at each step, on its last tape.
std::vector<TensorType> recorded(const graph::Call& loop) {
  return primitives::record_layout(loop, loop.outputs.size() - 1);
}

// What is read of an array at each step is added to its cotangent in place: nothing of the size of
// the array is made or added at each step. Nested loops and branches hand the sum on.
TEST(GradientOfWhile, SlicesOfCapturedArraysAddInPlace) {
  for (int kind = 0; kind < 3; ++kind) {
    auto f = trace({f64({50})}, [&](Graph& g, const Vars& x) {
      Vars r = while_loop(
          g, {number(g, 0), integer(g, 1)}, [](Graph& b, const Vars& s) { return s[1] <= integer(b, 50); },
          [&](Graph& b, const Vars& s) {
            auto element = [&](Graph& in_b) {
              return reshape(primitives::dynamic_slice(in(in_b, x[0]), {in(in_b, s[1])}, {1}), {});
            };
            Var e = kind == 0   ? element(b)
                    : kind == 1 ? if_else(
                                      b, s[0] < 1e6, [&](Graph& yes) { return Vars{element(yes)}; },
                                      [&](Graph& no) { return Vars{element(no) * 2.0}; })[0]
                                : while_loop(
                                      b, {number(b, 0), integer(b, 0)},
                                      [](Graph& c, const Vars& t) { return t[1] < integer(c, 2); },
                                      [&](Graph& c, const Vars& t) {
                                        return Vars{t[0] + element(c), t[1] + integer(c, 1)};
                                      })[0];
            return Vars{s[0] + e * e, s[1] + integer(b, 1)};
          });
      return Vars{r[0]};
    });
    auto g = transform::gradient(*f, {true}, false);
    EXPECT_EQ(count_calls(*g, "add", {50}), 0) << kind;
    std::vector<double> x(50);
    for (size_t i = 0; i < 50; ++i) x[i] = 0.1 * static_cast<double>(i) - 2;
    expect_gradient(f, {tensor({50}, x)}, kind == 2 ? 1 : 2);
  }
}

TEST(GradientOfWhile, WhatIsCarriedUnchangedIsNotRecorded) {
  auto f = trace({f64({4}), f64({4, 4})}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {x[0], x[1], integer(g, 0)}, [](Graph& b, const Vars& s) { return s[2] < integer(b, 3); },
        [&](Graph& b, const Vars& s) {
          Vars inner = while_loop(
              b, {s[0], s[1], integer(b, 0)}, [](Graph& c, const Vars& t) { return t[2] < integer(c, 2); },
              [&](Graph& c, const Vars& t) {
                return Vars{sin(primitives::dot_general(t[1], t[0], {1}, {0}, {}, {})), t[1], t[2] + integer(c, 1)};
              });
          return Vars{inner[0], inner[1], s[2] + integer(b, 1)};
        });
    return Vars{reduce_sum(r[0], {0}) + reduce_sum(r[1], {0, 1})};
  });
  auto g = transform::gradient(*f, {true, true}, false);
  for (const graph::Call& c : g->calls) {
    if (c.primitive->name != "while_record") continue;
    for (const auto& v : c.inputs) EXPECT_NE(v->type.shape, (Shape{4, 4}));
  }
  std::vector<double> a(16);
  for (size_t i = 0; i < 16; ++i) a[i] = std::sin(double(i));
  expect_gradient(f, {tensor({4}, {0.1, 0.2, -0.3, 0.4}), tensor({4, 4}, a)}, 2, 1e-5);
  // a loop keeps a state, whatever it carries
  auto idle = trace({f64_scalar}, [](Graph& g2, const Vars& x) {
    Vars r = while_loop(
        g2, {x[0]}, [](Graph& b, const Vars& s) { return s[0] < number(b, -1); },
        [&](Graph&, const Vars& s) { return Vars{s[0]}; });
    return Vars{r[0] * x[0]};
  });
  expect_gradient(idle, {tensor({}, {2})}, 2);
}

// The forward loop itself records; it does not run twice.
TEST(GradientOfWhile, RunsTheLoopOnce) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    return while_loop(
        g, {x[0]}, [](Graph&, const Vars& s) { return s[0] < 100.0; },
        [](Graph&, const Vars& s) { return Vars{s[0] * s[0]}; });
  });
  auto g = transform::gradient(*f, {true}, false);
  ASSERT_EQ(g->calls.size(), 2u);
  EXPECT_EQ(g->calls[0].primitive->name, "while_record");
  EXPECT_EQ(g->calls[1].primitive->name, "tape_scan");
  EXPECT_EQ(f->calls[0].primitive->name, "while");
}

Var sum_loop(Graph& g, Var x, Var n, Var p) {
  Vars r = while_loop(
      g, {number(g, 0), integer(g, 0)}, [&](Graph&, const Vars& s) { return s[1] < n; },
      [&](Graph& b, const Vars& s) {
        return Vars{s[0] + sin(in(b, x) * convert(s[1], DType::f64)) * p * p, s[1] + integer(b, 1)};
      });
  return r[0];
}

TEST(GradientOfWhile, SumWithCapturedParameters) {
  auto f = trace({f64_scalar, {DType::i32, {}}, f64_scalar},
                 [](Graph& g, const Vars& x) { return Vars{sum_loop(g, x[0], x[1], x[2])}; });
  for (double n : {0, 1, 5}) expect_gradient(f, {tensor({}, {0.7}), tensor({}, {n}, DType::i32), tensor({}, {1.2})}, 3);
}

TEST(GradientOfWhile, NumberOfIterationsDependsOnData) {
  auto f = trace({f64_scalar, f64_scalar}, [](Graph& g, const Vars& x) {
    return while_loop(
        g, {x[0]}, [](Graph&, const Vars& s) { return s[0] < 20.0; },
        [&](Graph& b, const Vars& s) { return Vars{s[0] * in(b, x[1]) + exp(s[0] * -0.1)}; });
  });
  expect_gradient(f, {tensor({}, {1.1}), tensor({}, {1.4})}, 3, 1e-5);
  expect_gradient(f, {tensor({}, {25.0}), tensor({}, {1.4})}, 2);
}

// A cotangent reaches c only in the third iteration from the end.
TEST(GradientOfWhile, ElementsThatFeedEachOther) {
  auto f = trace({f64_scalar, f64_scalar, f64_scalar}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {x[0], x[1], x[2], integer(g, 0)}, [](Graph& b, const Vars& s) { return s[3] < integer(b, 4); },
        [](Graph& b, const Vars& s) {
          return Vars{s[1], s[2] * s[2], sin(s[2]) + s[0], s[3] + integer(b, 1)};
        });
    return Vars{r[0]};
  });
  expect_gradient(f, {tensor({}, {0.3}), tensor({}, {0.5}), tensor({}, {0.9})}, 3);
}

// Nothing of the state is read on the way back: only the number of iterations counts.
TEST(GradientOfWhile, LinearStep) {
  auto f = trace({f64({3})}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {x[0], integer(g, 0)}, [](Graph& b, const Vars& s) { return s[1] < integer(b, 3); },
        [](Graph& b, const Vars& s) {
          return Vars{s[0] * 2.0, s[1] + integer(b, 1)};
        });
    return Vars{reduce_sum(r[0], {0})};
  });
  auto g = transform::gradient(*f, {true}, false);
  EXPECT_TRUE(recorded(g->calls[0]).empty());
  EXPECT_EQ(numbers(eigen::evaluate(*g, {tensor({3}, {1, 2, 3})})[0]), std::vector<double>(3, 8.0));
  expect_gradient(f, {tensor({3}, {1, 2, 3})}, 2);
}

TEST(GradientOfWhile, WritesIntoAnArray) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {primitives::literal(g, 0, f64({4})), integer(g, 1), x[0]},
        [](Graph& b, const Vars& s) { return s[1] <= integer(b, 4); },
        [](Graph& b, const Vars& s) {
          Var next = sin(s[2]) * 1.3;
          return Vars{dynamic_update_slice(s[0], reshape(next, {1}), {s[1]}), s[1] + integer(b, 1), next};
        });
    return Vars{reduce_sum(r[0] * r[0], {0})};
  });
  auto g = transform::gradient(*f, {true}, false);
  EXPECT_EQ(recorded(g->calls[0]), std::vector<TensorType>{f64_scalar}) << "neither the array nor the counter";
  expect_gradient(f, {tensor({}, {0.8})}, 3);
}

TEST(GradientOfWhile, Nested) {
  auto f = trace({f64_scalar, f64_scalar}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {x[0], integer(g, 0)}, [](Graph& b, const Vars& s) { return s[1] < integer(b, 3); },
        [&](Graph& b, const Vars& s) {
          Vars inner = while_loop(
              b, {s[0], integer(b, 0)}, [&](Graph&, const Vars& t) { return t[1] <= s[1]; },
              [&](Graph& c, const Vars& t) {
                return Vars{sin(t[0]) * x[1] + s[0], t[1] + integer(c, 1)};
              });
          return Vars{inner[0], s[1] + integer(b, 1)};
        });
    return Vars{r[0] * r[0]};
  });
  expect_gradient(f, {tensor({}, {0.7}), tensor({}, {0.9})}, 3, 1e-5);
}

TEST(GradientOfWhile, InsideIfAndIfInside) {
  auto f = trace({f64_scalar, f64_scalar}, [](Graph& g, const Vars& x) {
    auto loop = [&](Graph& b) {
      return Vars{while_loop(
          b, {x[0], integer(b, 0)}, [](Graph& c, const Vars& s) { return s[1] < integer(c, 5); },
          [&](Graph& c, const Vars& s) {
            Vars step = if_else(
                c, s[0] > 0.5, [&](Graph& d) { return Vars{in(d, s[0]) * 0.5 * x[1]}; },
                [&](Graph& d) { return Vars{in(d, s[0]) * s[0] + x[1]}; });
            return Vars{step[0], s[1] + integer(c, 1)};
          })[0]};
    };
    return if_else(g, x[1] > 0.0, loop, [&](Graph& b) { return Vars{in(b, x[0]) * x[1]}; });
  });
  expect_gradient(f, {tensor({}, {0.7}), tensor({}, {0.9})}, 3, 1e-5);
  expect_gradient(f, {tensor({}, {0.7}), tensor({}, {-0.9})}, 2);
}

// With respect to one input first, then another: the record of the first pass lacks a field.
TEST(GradientOfWhile, LaterGradientNeedsMoreOfTheState) {
  auto f = trace({f64_scalar, f64_scalar}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {x[0], x[1], integer(g, 0)}, [](Graph& b, const Vars& s) { return s[2] < integer(b, 3); },
        [](Graph& b, const Vars& s) {
          return Vars{s[0] * s[1], sin(s[1]), s[2] + integer(b, 1)};
        });
    return Vars{r[0]};
  });
  auto by_first = transform::gradient(*f, {true, false}, false);
  EXPECT_EQ(recorded(by_first->calls[0]), std::vector<TensorType>{f64_scalar});
  expect_gradient(by_first, {tensor({}, {0.7}), tensor({}, {0.9})}, 2);
}

TEST(GradientOfWhile, RunsAgainWhenTheLoopIsOutOfReach) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    return while_loop(
        g, {x[0]}, [](Graph&, const Vars& s) { return s[0] < 100.0; },
        [](Graph&, const Vars& s) { return Vars{s[0] * s[0]}; });
  });
  Graph to;
  to.inputs = f->inputs;
  auto found = transform::pull_back(f->calls, f->outputs, {graph::make_literal(1.0, f64_scalar)}, f->inputs, to);
  to.outputs = found;
  EXPECT_EQ(numbers(eigen::evaluate(to, {tensor({}, {3})})[0]), std::vector<double>{8 * std::pow(3.0, 7)});
}

}  // namespace
}  // namespace anvil::testing
