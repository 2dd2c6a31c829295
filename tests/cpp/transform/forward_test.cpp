// Forward mode: what it records for each kind of call, and what it does not.
#include "transform/forward.h"

#include <gtest/gtest.h>

#include <cmath>

#include "primitives/families/control.h"
#include "primitives/vocabulary/composite.h"
#include "support/forward_check.h"
#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using primitives::record;
using primitives::reduce_sum;
using Numbers = std::vector<double>;

GraphPtr tangents(const Graph& f) {
  auto g = transform::jvp(f, std::vector<bool>(f.inputs.size(), true));
  primitives::verify(*g);
  return g;
}
// The tangents alone, of one vector by another.
Numbers moved(const std::function<Var(Var)>& f, const Numbers& at, const Numbers& by) {
  const Shape shape = {static_cast<int64_t>(at.size())};
  auto g = tangents(*trace({f64(shape)}, [&](Graph&, const Vars& x) { return Vars{f(x[0])}; }));
  const std::vector<Tensor> inputs = {tensor(shape, at), tensor(shape, by)};
  const Numbers found = numbers(eigen::evaluate(*g, inputs)[1]);
  transform::optimize(*g);
  EXPECT_EQ(numbers(eigen::evaluate(*g, inputs)[1]), found);
  return found;
}
size_t calls_in(const Graph& g, const std::string& name = "") {
  size_t n = 0;
  for (const graph::Call& c : g.calls) {
    n += name.empty() || c.primitive->name == name;
    for (const GraphPtr& inner : subgraphs(c)) n += calls_in(*inner, name);
  }
  return n;
}

TEST(Forward, PrintsValuesAndTangents) {
  auto f = trace({f64_scalar, f64_scalar}, [](Graph&, const Vars& x) { return Vars{x[0] * x[1] + x[0]}; });
  EXPECT_EQ(print(*tangents(*f)),
            "<AnvilGraph>\n"
            "  Inputs:\n"
            "    %x1: f64[]\n"
            "    %x2: f64[]\n"
            "    %x3: f64[]\n"
            "    %x4: f64[]\n"
            "  Body:\n"
            "    %1: f64[] = mul(%x1, %x2)\n"
            "    %2: f64[] = mul(%x3, %x2)\n"
            "    %3: f64[] = mul(%x4, %x1)\n"
            "    %4: f64[] = add(%2, %3)\n"
            "    %5: f64[] = add(%1, %x1)\n"
            "    %6: f64[] = add(%4, %x3)\n"
            "  Outputs:\n"
            "    %5: f64[]\n"
            "    %6: f64[]");
  EXPECT_EQ(f->calls.size(), 2u) << "the graph is left alone";
}

TEST(Forward, OnlyFloatsHaveTangents) {
  auto f = trace({f64_scalar, f64_scalar, {DType::i32, {}}}, [](Graph&, const Vars& x) {
    return Vars{convert(x[0], DType::i32), x[2], record("floor", {x[0]}), x[1], x[0]};
  });
  auto g = transform::jvp(*f, {true, false, false});
  primitives::verify(*g);
  ASSERT_EQ(g->inputs.size(), 4u);
  ASSERT_EQ(g->outputs.size(), 5u + 3u);
  auto values = eigen::evaluate(*g, {tensor({}, {2.5}), tensor({}, {3}), tensor({}, {4}, DType::i32), tensor({}, {7})});
  EXPECT_EQ(numbers(values[5]), Numbers{0});
  EXPECT_EQ(numbers(values[6]), Numbers{0});
  EXPECT_EQ(numbers(values[7]), Numbers{7});
}

TEST(Forward, LinearCallsAreCalledWithTangents) {
  auto f = trace({f64({5})}, [](Graph& g, const Vars& x) {
    Var at = primitives::literal(g, 1, {DType::i32, {1}});
    return Vars{
        primitives::scatter(x[0], at, primitives::slice(x[0], {0}, {1}, {1}), {{}, {0}, {}, {}, {0}, 1}, "add")};
  });
  EXPECT_EQ(tangents(*f)->calls.size(), 2 * f->calls.size());
}

// One call for the tangents where one would write one by hand.
TEST(Forward, TransposedRulesAreWhatOneWouldWrite) {
  const auto calls_of = [](const char* name, const std::vector<TensorType>& types,
                           const std::function<Vars(Graph&, const Vars&)>& f) {
    auto g = tangents(*trace(types, f));
    transform::optimize(*g);
    return calls_in(*g, name);
  };
  const auto solved = [](Graph&, const Vars& x) {
    return Vars{triangular_solve(x[0], x[1], true, true, false, false)};
  };
  EXPECT_EQ(calls_of("triangular_solve", {f64({3, 3}), f64({3, 2})}, solved), 2u);
  const auto factor = [](Graph&, const Vars& x) { return Vars{record("cholesky", {x[0]}, {{"lower", true}})}; };
  EXPECT_EQ(calls_of("triangular_solve", {f64({3, 3})}, factor), 2u);
  EXPECT_EQ(calls_of("dot_general", {f64({3, 3})}, factor), 1u);
  const auto largest = [](Graph&, const Vars& x) { return Vars{primitives::reduce_max(x[0], {0})}; };
  EXPECT_EQ(calls_of("reduce_max", {f64({4, 3})}, largest), 1u);
  EXPECT_EQ(calls_of("reduce_sum", {f64({4, 3})}, largest),
            3u);  // of the tangents, of those that share, that were taken
  const auto sorted = [](Graph&, const Vars& x) { return Vars{primitives::sort({x[0]}, 0)[0]}; };
  EXPECT_EQ(calls_of("sort", {f64({5})}, sorted), 1u);
}

TEST(Forward, KinksAreThoseOfReverseMode) {
  EXPECT_EQ(moved([](Var x) { return primitives::reduce_max(x, {0}); }, {2, 1, 2, 2}, {3, 100, 6, 0}), Numbers{3});
  EXPECT_EQ(moved([](Var x) { return maximum(x, literal(x, 1)); }, {0, 1, 2}, {8, 8, 8}), (Numbers{0, 4, 8}));
  EXPECT_EQ(moved([](Var x) { return abs(x); }, {-2, 0, 2}, {1, 1, 1}), (Numbers{-1, 0, 1}));
  EXPECT_EQ(moved([](Var x) { return primitives::sort({x}, 0)[0]; }, {3, 1, 3}, {10, 7, 20}), (Numbers{7, 15, 15}));
  EXPECT_EQ(moved([](Var x) { return primitives::reduce_max(x, {0}); }, {1, NAN}, {1, 1}), Numbers{0});
}

TEST(Forward, TheOtherBranchMayBeInfinite) {
  EXPECT_EQ(moved([](Var x) { return select(x > 0.0, log(x), x * 3.0); }, {-1, 0, 2}, {1, 1, 1}), (Numbers{3, 3, 0.5}));
  EXPECT_EQ(moved([](Var x) { return maximum(sqrt(x), literal(x, 1)); }, {0, 4}, {1, 1}), (Numbers{0, 0.25}));
  // and where a function is infinite at what took the place of an element
  const auto zero_below = [](Var x) { return select(x > 0.0, x, zeros_like(x)); };
  EXPECT_EQ(moved([&](Var x) { return sqrt(zero_below(x)); }, {-1, 0, 4}, {1, 1, 1}), (Numbers{0, 0, 0.25}));
  EXPECT_EQ(moved([&](Var x) { return sqrt(zero_below(x) * 2.0) + x; }, {-1, 2}, {1, 1}), (Numbers{1, 1.5}));
}

// Where tangents of others are added, a zero is no sign of an element that was not taken: nothing is asked.
TEST(Forward, SumsWithOthersAskNothing) {
  auto g = tangents(*trace({f64({4})}, [](Graph&, const Vars& x) {
    Var largest = broadcast_in_dim(primitives::reduce_max(x[0], {0}), {4}, {});
    return Vars{exp(x[0] - largest)};
  }));
  EXPECT_EQ(g->calls.back().primitive->name, "mul") << print(*g);
}

TEST(Forward, LoopsCarryTangentsOfWhatMoves) {
  auto f = trace({f64_scalar, f64({3})}, [](Graph& g, const Vars& x) {
    return while_loop(
        g, {x[0], number(g, 1), integer(g, 0), x[1]}, [](Graph& b, const Vars& s) { return s[2] < integer(b, 8); },
        [](Graph& b, const Vars& s) {
          return Vars{sin(s[0]) * reduce_sum(s[3], {0}), s[1] * 0.5, s[2] + integer(b, 1), s[3]};
        });
  });
  auto g = tangents(*f);
  ASSERT_EQ(calls_in(*g, "while"), 1u);
  for (const graph::Call& c : g->calls)  // neither a constant nor a count has a tangent; what stays is read outside
    if (c.primitive->name == "while") {
      EXPECT_EQ(c.outputs.size(), 4u) << print(*g);
    }
  EXPECT_EQ(calls_in(*g, "while_record"), 0u);
  test::expect_modes_agree(*f, {tensor({}, {0.4}), tensor({3}, {0.1, 0.7, 0.9})});
}

// The tangent of Newton's square root is Newton's tangent: exact at the end, of any order.
TEST(Forward, NewtonSquareRoot) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    return Vars{while_loop(
        g, {x[0], integer(g, 0)}, [](Graph& b, const Vars& s) { return s[1] < integer(b, 9); },
        [&](Graph& b, const Vars& s) {
          return Vars{(s[0] + in(b, x[0]) / s[0]) * 0.5, s[1] + integer(b, 1)};
        })[0]};
  });
  const double expected[] = {std::sqrt(2), 0.5 / std::sqrt(2), -0.25 / std::pow(2, 1.5), 0.375 / std::pow(2, 2.5)};
  GraphPtr g = f;
  for (double slope : expected) {
    std::vector<Tensor> at = {tensor({}, {2})};
    at.resize(g->inputs.size(), tensor({}, {1}));
    EXPECT_NEAR(numbers(eigen::evaluate(*g, at)[0])[0], slope, 1e-12);
    std::vector<bool> wrt(g->inputs.size());
    wrt[0] = true;
    g = transform::jvp(*g, wrt);
    g->outputs = {g->outputs[1]};
  }
}

TEST(Forward, CheckpointsAndSegmentsStay) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    auto body = std::make_shared<Graph>();
    body->outputs = {sin(in(*body, x[0])).value};
    return Vars{{&g, primitives::checkpoint(g, body)[0]}};
  });
  EXPECT_EQ(calls_in(*tangents(*f), "checkpoint"), 1u);
  test::expect_modes_agree(*f, {tensor({}, {0.3})});
  auto loop = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    return while_loop(
        g, {x[0], integer(g, 0)}, [](Graph& b, const Vars& s) { return s[1] < integer(b, 5); },
        [](Graph& b, const Vars& s) {
          return Vars{sin(s[0]), s[1] + integer(b, 1)};
        });
  });
  loop->calls.back().params.items.push_back({"segment", int64_t(2)});
  EXPECT_EQ(tangents(*loop)->calls.back().params.integer("segment"), 2);
  test::expect_modes_agree(*tangents(*loop), {tensor({}, {0.3}), tensor({}, {1})});
}

// Reverse mode's loops record; their tangents go on tapes of their own, of those fields that move.
TEST(Forward, OverReverseModeThroughTapes) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    return Vars{while_loop(
        g, {x[0], number(g, 0.3), integer(g, 0)}, [](Graph& b, const Vars& s) { return s[2] < integer(b, 5); },
        [](Graph& b, const Vars& s) {
          return Vars{sin(s[0]) * cos(s[1]), sin(s[1]), s[2] + integer(b, 1)};
        })[0]};
  });
  auto gradient = transform::gradient(*f, {true}, false), g = tangents(*gradient);
  EXPECT_EQ(calls_in(*g, "while_record"), 1u);
  EXPECT_EQ(calls_in(*g, "tape_scan"), 1u);
  for (const graph::Call& c : g->calls)
    if (c.primitive->name == "tape_scan") {
      EXPECT_EQ(c.params.ints("field_counts").size(), 2u) << print(*g);
    }
  auto other = transform::gradient(*gradient, {true}, false);
  const double slope = numbers(eigen::evaluate(*g, {tensor({}, {0.7}), tensor({}, {1})})[1])[0];
  EXPECT_NEAR(slope, numbers(eigen::evaluate(*other, {tensor({}, {0.7})})[0])[0], 1e-14);
}

// Loops in loops: each is walked once.
TEST(Forward, NothingGrowsWithTheDepthOfLoops) {
  const std::function<Var(Graph&, Var, int)> nested = [&](Graph& g, Var x, int depth) -> Var {
    if (depth == 0) return sin(x);
    return while_loop(
        g, {x, integer(g, 0)}, [](Graph& b, const Vars& s) { return s[1] < integer(b, 1); },
        [&](Graph& b, const Vars& s) {
          return Vars{nested(b, s[0], depth - 1), s[1] + integer(b, 1)};
        })[0];
  };
  auto f = trace({f64_scalar}, [&](Graph& g, const Vars& x) { return Vars{nested(g, x[0], 12)}; });
  GraphPtr g = tangents(*f);
  EXPECT_LE(calls_in(*g), calls_in(*f) + 2);
  g = tangents(*g);
  EXPECT_LE(calls_in(*g), calls_in(*f) + 12);
  EXPECT_LE(calls_in(*tangents(*transform::gradient(*f, {true}, false))), 12 * calls_in(*f));
}

TEST(Forward, EveryDerivativeHasARule) {
  for (const primitives::Primitive* p : primitives::registry().all())
    EXPECT_NE(transform::forward_rule(*p), "") << p->name;
  const auto rule = [](const char* name) { return transform::forward_rule(primitives::registry().at(name)); };
  EXPECT_EQ(rule("while"), "regions");
  EXPECT_EQ(rule("floor"), "zero");
  EXPECT_EQ(rule("dot_general"), "linear");
  EXPECT_EQ(rule("gather"), "linear");
  EXPECT_EQ(rule("triangular_solve"), "linear, transposed");
  EXPECT_EQ(rule("exp"), "per element");
  EXPECT_EQ(rule("sort"), "transposed");
  EXPECT_EQ(rule("scatter"), "rule");
  EXPECT_EQ(rule("select_and_scatter"), "expansion");
}

primitives::Primitive made(const char* name, std::function<void(primitives::ReverseStep&)> reverse) {
  primitives::Primitive p;
  p.name = name;
  p.operands = {"operand"};
  p.infer = [](const std::vector<TensorType>& t, const graph::Params&) { return t; };
  p.reverse = std::move(reverse);
  return p;
}
std::string failure(const primitives::Primitive& p) {
  auto f = trace({f64_scalar}, [&](Graph& g, const Vars& x) {
    return Vars{{&g, primitives::record(g, p, {x[0].value})[0]}};
  });
  try {
    tangents(*f);
  } catch (const Error& e) {
    return e.kind + ": " + e.what();
  }
  return "";
}

TEST(Forward, NamesWhatIsWrong) {
  EXPECT_EQ(failure(made("opaque", nullptr)), "gradient: No derivative for primitive opaque.");
  const auto clipped = made("clipped", [](primitives::ReverseStep& s) {
    set(s, 0, minimum(cotangent(s), primitives::literal(cotangent(s), 1)));
  });
  EXPECT_EQ(failure(clipped), "gradient: There is no forward derivative of `clipped`.");
  EXPECT_EQ(failure(made("tripled", [](primitives::ReverseStep& s) { set(s, 0, cotangent(s) * 3.0); })), "");
  auto integers = trace({{DType::i32, {}}}, [](Graph&, const Vars& x) { return Vars{convert(x[0], DType::f64)}; });
  EXPECT_THROW(tangents(*integers), Error);
}

TEST(Forward, CallsKnowWhoMadeThem) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Vars y{exp(x[0])};
    g.calls.back().location = 7;
    return y;
  });
  EXPECT_EQ(tangents(*f)->calls.back().location, 7);
}

// ---- reverse mode from any cotangents -------------------------------------------------------

TEST(Vjp, OfSeveralOutputs) {
  auto f = trace({f64({2}), {DType::i32, {}}}, [](Graph&, const Vars& x) {
    return Vars{x[0] * x[0], x[1], x[0], reduce_sum(x[0], {0}), x[0]};
  });
  auto g = transform::vjp(*f, {true, false});
  primitives::verify(*g);
  ASSERT_EQ(g->inputs.size(), 2u + 4u);
  ASSERT_EQ(g->outputs.size(), 5u + 1u);
  auto found = eigen::evaluate(*g, {tensor({2}, {3, 5}), tensor({}, {1}, DType::i32), tensor({2}, {1, 2}),
                                    tensor({2}, {10, 20}), tensor({}, {100}), tensor({2}, {1000, 2000})});
  EXPECT_EQ(numbers(found[5]), (Numbers{1116, 2140}));
}

}  // namespace
}  // namespace anvil::testing
