#include "transform/simplify.h"

#include <gtest/gtest.h>

#include "primitives/vocabulary/primitive.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

Var constant(Graph& g, const Tensor& t) {
  ValuePtr v = graph::make_constant(t);
  g.constants.push_back(v);
  return {&g, v};
}
std::string names(const Graph& g) {
  std::string s;
  for (const auto& c : g.calls) s += (s.empty() ? "" : " ") + c.primitive->name;
  return s;
}

TEST(InlineScalarConstants, MakesOneLiteralOfEachEverywhere) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Var c = constant(g, tensor({1, 1}, {4})), scalar = constant(g, tensor({}, {3})),
        vector = constant(g, tensor({2}, {1, 2}));
    Vars r = if_else(
        g, x[0] > scalar, [&](Graph& b) { return Vars{in(b, scalar) * x[0]}; }, [&](Graph&) { return Vars{scalar}; });
    return Vars{r[0], c, c, vector};
  });
  auto before = eigen::evaluate(*f, {tensor({}, {5})});
  Graph g = *f;
  transform::inline_scalar_constants(g);
  ASSERT_EQ(g.constants.size(), 1u);
  EXPECT_EQ(g.outputs[1]->kind, graph::Value::Kind::literal);
  EXPECT_EQ(g.outputs[1], g.outputs[2]);
  EXPECT_EQ(g.outputs[1]->type.shape, (Shape{1, 1}));
  EXPECT_EQ(g.calls[0].inputs[1]->kind, graph::Value::Kind::literal);
  EXPECT_EQ(g.calls[1].params.graph("false_graph")->outputs[0], g.calls[0].inputs[1]);
  EXPECT_EQ(f->calls[1].params.graph("false_graph")->outputs[0]->kind, graph::Value::Kind::constant)
      << "the original is left alone";
  auto after = eigen::evaluate(g, {tensor({}, {5})});
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(numbers(before[i]), numbers(after[i]));
}

TEST(RemoveUnusedConstants, KeepsThoseOfInnerGraphs) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Var used = constant(g, tensor({2}, {1, 2}));
    constant(g, tensor({2}, {3, 4}));
    return if_else(
        g, x[0] > 0.0, [&](Graph& b) { return Vars{in(b, used) * 2.0}; }, [&](Graph&) { return Vars{used}; });
  });
  Graph g = *f;
  transform::remove_unused_constants(g);
  ASSERT_EQ(g.constants.size(), 1u);
  EXPECT_EQ(g.constants[0], f->constants[0]);
}

TEST(RemoveDeadCalls, AlsoInInnerGraphs) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Var kept = exp(x[0]);
    sin(kept);
    Vars r = if_else(
        g, x[0] > 0.0,
        [&](Graph& b) {
          cos(in(b, x[0]));
          return Vars{in(b, kept) * 2.0};
        },
        [&](Graph&) { return Vars{x[0]}; });
    Vars unused = if_else(
        g, x[0] > 0.0, [&](Graph& b) { return Vars{cos(in(b, x[0]))}; }, [&](Graph&) { return Vars{x[0]}; });
    return r;
  });
  Graph g = *f;
  transform::remove_dead_calls(g);
  EXPECT_EQ(names(g), "exp greater if");
  EXPECT_EQ(names(*g.calls[2].params.graph("true_graph")), "mul");
  EXPECT_EQ(f->calls[3].params.graph("true_graph")->calls.size(), 2u);
}

TEST(MergeEqualCalls, ByOperandsAndParameters) {
  auto f = trace({f64({3})}, [](Graph&, const Vars& x) {
    return Vars{
        exp(x[0] * 2.0) + exp(x[0] * 2.0), reverse(x[0], {0}), reverse(x[0], {0}), x[0] * 3.0, x[0] * -0.0, x[0] * 0.0};
  });
  Graph g = *f;
  transform::merge_equal_calls(g);
  EXPECT_EQ(names(g), "mul exp add reverse mul mul mul");
  EXPECT_EQ(g.outputs[1], g.outputs[2]);
}

TEST(MergeEqualCalls, ConstantsAreEqualByContent) {
  std::vector<double> many(1000, 2);
  const auto constant = [](const Tensor& t) { return graph::make_constant(t); };
  auto f = trace({f64({1000}), {DType::boolean, {}}}, [&](Graph& g, const Vars& x) {
    for (int k = 0; k < 2; ++k) g.constants.push_back(constant(tensor({1000}, many)));
    many[7] = 3;  // of what the hash does not read
    g.constants.push_back(constant(tensor({1000}, many)));
    g.constants.push_back(constant(tensor({10, 100}, std::vector<double>(1000, 2))));
    const auto at = [&](Graph& in, size_t k) { return Var{&in, g.constants[k]}; };
    Vars r = if_else(
        g, x[1], [&](Graph& b) { return Vars{exp(in(b, at(g, 1)))}; }, [&](Graph& b) { return Vars{in(b, at(g, 0))}; });
    return Vars{exp(at(g, 0)) * x[0], exp(at(g, 1)) * x[0], exp(at(g, 2)) * x[0], exp(at(g, 3)), r[0]};
  });
  Graph g = *f;
  transform::merge_equal_calls(g);
  ASSERT_EQ(g.constants.size(), 3u);
  EXPECT_EQ(g.outputs[0], g.outputs[1]);
  EXPECT_NE(g.outputs[0], g.outputs[2]);
  EXPECT_EQ(names(g), "if exp mul exp mul exp");
  EXPECT_NO_THROW(primitives::verify(g));
}

TEST(MergeEqualCalls, InnerGraphsSeeOuterArithmetic) {
  auto f = trace({f64({3}), {DType::boolean, {}}}, [](Graph& g, const Vars& x) {
    Var back = reverse(x[0], {0}), outer = exp(x[0]) + back;
    Vars r = if_else(
        g, x[1],
        [&](Graph& b) {
          Var v = in(b, x[0]), wave = sin(v), turned = reverse(v, {0}), scaled = exp(v) * turned;
          return Vars{scaled + wave};
        },
        [&](Graph& b) { return Vars{sin(in(b, x[0]))}; });
    Var wave = sin(x[0]), sum = r[0] + outer;
    return Vars{sum + wave};
  });
  Graph g = *f;
  transform::merge_equal_calls(g);
  EXPECT_EQ(names(g), "reverse exp add if sine add add") << "a branch's sine is not seen outside";
  EXPECT_EQ(names(*g.calls[3].params.graph("true_graph")), "sine reverse mul add") << "data movement is done again";
  EXPECT_NO_THROW(primitives::verify(g));
}

struct Rule {
  const char* what;
  std::function<Var(Graph&, Var)> make;
  std::string left;  // calls that remain
};

TEST(SimplifyAlgebra, ChangesOnlyWhatIsExact) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  Tensor value = tensor({2, 3}, {-0.0, 1.5, nan, inf, -2, 0.0});
  auto spread = [](Var like, double x) {
    return broadcast_in_dim(primitives::literal(*like.graph, x, f64_scalar), like.shape(), {});
  };
  const std::vector<Rule> rules = {
      {"x * 1", [](Graph&, Var x) { return x * 1.0; }, ""},
      {"1 * x", [&](Graph&, Var x) { return spread(x, 1) * x; }, ""},
      {"x / 1", [](Graph&, Var x) { return x / 1.0; }, ""},
      {"x - 0", [](Graph&, Var x) { return x - 0.0; }, ""},
      {"x - -0", [](Graph&, Var x) { return x - -0.0; }, "sub"},
      {"x + -0", [](Graph&, Var x) { return x + -0.0; }, ""},
      {"x + 0", [](Graph&, Var x) { return x + 0.0; }, "add"},
      {"x * 0", [](Graph&, Var x) { return x * 0.0; }, "mul"},
      {"x ^ 1", [&](Graph&, Var x) { return pow(x, spread(x, 3) - spread(x, 2)); }, ""},
      {"x ^ 2", [&](Graph&, Var x) { return pow(x, spread(x, 2)); }, "mul"},
      {"--x", [](Graph&, Var x) { return -(-x); }, ""},
      {"transpose",
       [](Graph&, Var x) {
         return transpose(transpose(x, {1, 0}), {1, 0});
       },
       ""},
      {"transpose 3",
       [](Graph&, Var x) {
         return transpose(transpose(reshape(x, {1, 2, 3}), {1, 2, 0}), {1, 2, 0});
       },
       "reshape transpose"},
      {"reshape",
       [](Graph&, Var x) {
         return reshape(reshape(x, {6}), {2, 3});
       },
       ""},
      {"broadcast",
       [](Graph&, Var x) {
         return broadcast_in_dim(broadcast_in_dim(x, {2, 3, 4}, {0, 1}), {5, 2, 3, 4}, {1, 2, 3});
       },
       "broadcast_in_dim"},
      {"select",
       [](Graph& g, Var x) {
         return select(primitives::literal(g, true, {DType::boolean, {}}), x, x * 0.0);
       },
       ""},
      {"broadcast transposing",
       [](Graph&, Var x) {
         return broadcast_in_dim(slice(x, {0, 0}, {2, 2}, {1, 1}), {2, 2}, {1, 0});
       },
       "static_slice broadcast_in_dim"},
      {"all of it",
       [](Graph&, Var x) {
         return slice(x, {0, 0}, {2, 3}, {1, 1});
       },
       ""},
      {"slice of a slice",
       [](Graph&, Var x) {
         return slice(slice(reshape(x, {6}), {1}, {6}, {2}), {1}, {3}, {1});  // 3, 5
       },
       "reshape static_slice"},
      {"slice of a slice with steps",
       [](Graph&, Var x) {
         return slice(slice(primitives::concatenate({x, -x, x * 2.0}, 1), {0, 0}, {2, 9}, {1, 2}), {0, 0}, {2, 5},
                      {1, 3});
       },
       "negate mul concatenate static_slice"},
      {"slice of a part",
       [](Graph&, Var x) {
         return slice(primitives::concatenate({x * 2.0, -x, x}, 1), {1, 3}, {2, 7},
                      {1, 2});  // the limit lies behind the part
       },
       "negate static_slice"},
      {"a part",
       [](Graph&, Var x) {
         return slice(primitives::concatenate({x * 2.0, x, x}, 0), {2, 0}, {4, 3}, {1, 1});
       },
       ""},
      {"slice of two parts",
       [](Graph&, Var x) {
         return slice(primitives::concatenate({x, -x}, 1), {0, 2}, {2, 4}, {1, 1});
       },
       "negate concatenate static_slice"},
      {"joined again",
       [](Graph&, Var x) {
         Var two = primitives::concatenate({x, -x}, 0);
         return primitives::concatenate({two, x, two}, 0);
       },
       "negate concatenate"},
      {"joined otherwise",
       [](Graph&, Var x) {
         Var two = primitives::concatenate({x, -x}, 0);
         return primitives::concatenate({two, two}, 1);
       },
       "negate concatenate concatenate"},
      {"joined of one", [](Graph&, Var x) { return primitives::concatenate({x}, 1); }, ""},
      {"folding", [&](Graph&, Var x) { return x + exp(spread(x, 2) * 3.0); }, "add"},
  };
  for (const Rule& rule : rules) {
    SCOPED_TRACE(rule.what);
    auto f = trace({f64({2, 3})}, [&](Graph& g, const Vars& x) { return Vars{rule.make(g, x[0])}; });
    Graph g = *f;
    transform::simplify_algebra(g);
    transform::remove_dead_calls(g);
    EXPECT_EQ(names(g), rule.left);
    EXPECT_NO_THROW(primitives::verify(g));
    Tensor before = eigen::evaluate(*f, {value})[0], after = eigen::evaluate(g, {value})[0];
    for (int64_t i = 0; i < elements(before.type.shape); ++i) {
      double a = element(before, i).as<double>(), b = element(after, i).as<double>();
      EXPECT_TRUE(element(before, i) == element(after, i) || (a != a && b != b)) << a << " and " << b;
    }
  }
}

TEST(SimplifyAlgebra, LeavesResultsOfAnotherAmbiguity) {
  auto f = trace({{DType::f64, {}, true}},
                 [](Graph& g, const Vars& x) { return Vars{x[0] * primitives::literal(g, 1, f64_scalar)}; });
  Graph g = *f;
  transform::simplify_algebra(g);
  EXPECT_EQ(g.outputs[0]->type, f64_scalar);
}

TEST(Optimize, CleansGradientsUp) {
  auto f = trace({f64({3})}, [](Graph&, const Vars& x) {
    return Vars{reduce_sum(pow(x[0], broadcast_in_dim(primitives::literal(*x[0].graph, 2, f64_scalar), {3}, {})), {0}) /
                3.0};
  });
  auto gradient = transform::gradient(*f, {true}, false);
  Tensor x = tensor({3}, {1, -2, 3});
  auto before = eigen::evaluate(*gradient, {x});
  transform::optimize(*gradient);
  EXPECT_LE(gradient->calls.size(), 2u) << print(*gradient);
  EXPECT_TRUE(gradient->constants.empty());
  auto after = eigen::evaluate(*gradient, {x});
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(numbers(before[0])[i], numbers(after[0])[i], 1e-15);
}

TEST(Optimize, TakesLinearTime) {
  auto f = trace({f64({3})}, [](Graph&, const Vars& x) {
    Var y = x[0];
    for (int i = 0; i < 20000; ++i) y = sin(y) + sin(y) * 1.0;
    return Vars{reduce_sum(y, {0})};
  });
  auto gradient = transform::gradient(*f, {true}, true);
  transform::optimize(*gradient);
  EXPECT_GT(gradient->calls.size(), 60000u);
}

TEST(Optimize, KeepsLoopsRunning) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {x[0], integer(g, 0)}, [](Graph& b, const Vars& s) { return s[1] < integer(b, 3); },
        [&](Graph& b, const Vars& s) {
          return Vars{s[0] * in(b, x[0]) * 1.0, s[1] + integer(b, 1)};
        });
    return Vars{r[0]};
  });
  auto gradient = transform::gradient(*f, {true}, true);
  transform::optimize(*gradient);
  EXPECT_NO_THROW(primitives::verify(*gradient));
  auto value = eigen::evaluate(*gradient, {tensor({}, {1.5})});
  EXPECT_DOUBLE_EQ(numbers(value[0])[0], std::pow(1.5, 4));
  EXPECT_DOUBLE_EQ(numbers(value[1])[0], 4 * std::pow(1.5, 3));
}

}  // namespace
}  // namespace anvil::testing
