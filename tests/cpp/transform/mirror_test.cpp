// Mirrored values: which transposes go, and that nothing else changes.
#include <gtest/gtest.h>

#include <cmath>

#include "primitives/vocabulary/primitive.h"
#include "primitives/vocabulary/structured.h"
#include "support/random_index.h"
#include "support/random_program.h"
#include "transform/orders.h"
#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using transform::Ints;

std::string names(const Graph& g) {
  std::string s;
  for (const auto& c : g.calls) s += (s.empty() ? "" : " ") + c.primitive->name;
  return s;
}
Var turned(Var x) { return x.shape().size() < 2 ? x : transpose(x, reversal(x.shape().size())); }
// In row-major order, as StableHLO means it.
Var row_major(Var x, Shape shape) { return turned(reshape(turned(x), Shape(shape.rbegin(), shape.rend()))); }
Var tanh(Var x) { return primitives::record("tanh", {x}); }
std::vector<double> ramp(int64_t n) {
  std::vector<double> x;
  for (int64_t k = 0; k < n; ++k) x.push_back(std::sin(static_cast<double>(3 * k + 1)));
  return x;
}
Tensor ramp(const Shape& shape) { return tensor(shape, ramp(elements(shape))); }

void expect_near(const std::vector<Tensor>& got, const std::vector<Tensor>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t k = 0; k < got.size(); ++k) {
    ASSERT_EQ(got[k].type.shape, expected[k].type.shape) << what;
    auto a = numbers(got[k]), b = numbers(expected[k]);
    for (size_t i = 0; i < a.size(); ++i) {
      bool same = a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]) ||
                  std::fabs(a[i] - b[i]) <= tolerance * std::max(1.0, std::fabs(b[i]));
      ASSERT_TRUE(same) << what << ": result " << k << "[" << i << "] is " << a[i] << ", was " << b[i];
    }
  }
}
// The graph after the passes of the compiler; it has the same results.
Graph mirrored(const GraphPtr& f, const std::vector<Tensor>& at) {
  Graph g = *f;
  std::vector<Tensor> before = eigen::evaluate(g, at);
  transform::simplify_algebra(g);
  transform::mirror_values(g);
  transform::merge_equal_calls(g);
  transform::remove_dead_calls(g);
  transform::remove_unused_constants(g);
  primitives::verify(g);
  expect_near(eigen::evaluate(g, at), before, 1e-12, graph::print(g));
  EXPECT_NO_THROW(primitives::verify(*f)) << "the original is left alone";
  return g;
}

TEST(MirrorValues, ReshapesInRowMajorOrderLeaveTransposesAtTheEnds) {
  auto f = trace({f64({4, 6, 8}), f64({8, 5})}, [](Graph&, const Vars& x) {
    Var rows = row_major(exp(x[0]), {24, 8});
    Var product = dot_general(rows, x[1], {1}, {0}, {}, {});
    Var cube = row_major(tanh(product), {4, 6, 5});
    Var shifted = cube - broadcast_in_dim(reduce_max(cube, {2}), {4, 6, 5}, {0, 1});
    return Vars{row_major(shifted, {12, 10})};
  });
  Graph g = mirrored(f, {ramp({4, 6, 8}), ramp({8, 5})});
  EXPECT_EQ(names(g),
            "transpose exp reshape dot_general tanh reshape reduce_max broadcast_in_dim sub reshape transpose");
}

TEST(MirrorValues, AProductTakesItsOperandsAsTheyAre) {
  auto f = trace({f64({7, 4}), f64({7, 5}), f64({4, 5})}, [](Graph&, const Vars& x) {
    return Vars{dot_general(turned(x[0]), x[1], {1}, {0}, {}, {}) + x[2],
                dot_general(x[0], turned(x[2]), {1}, {1}, {}, {})};
  });
  EXPECT_EQ(names(mirrored(f, {ramp({7, 4}), ramp({7, 5}), ramp({4, 5})})), "dot_general add dot_general");
}

TEST(MirrorValues, WithoutReversalsNothingChanges) {
  auto f = trace({f64({2, 3, 4})}, [](Graph&, const Vars& x) {
    return Vars{reshape(transpose(x[0], {1, 0, 2}), {6, 4}), x[0] + 1.0};
  });
  Graph g = mirrored(f, {ramp({2, 3, 4})});
  EXPECT_EQ(names(g), "transpose reshape add");
  EXPECT_EQ(g.calls[2].outputs[0], f->calls[2].outputs[0]);
}

TEST(MirrorValues, ConstantsAreTurnedOnce) {
  auto f = trace({f64({3, 2})}, [](Graph& g, const Vars& x) {
    ValuePtr c = graph::make_constant(ramp({2, 3}));
    g.constants.push_back(c);
    Var w{&g, c};
    return Vars{row_major(row_major(w * 2.0, {3, 2}), {6}) + row_major(x[0], {6})};
  });
  Graph g = mirrored(f, {ramp({3, 2})});
  ASSERT_EQ(g.constants.size(), 1u);
  EXPECT_EQ(g.constants[0]->type.shape, (Shape{3, 2}));
  EXPECT_EQ(names(g).find("transpose"), names(g).rfind("transpose")) << names(g);
}

// That a vector at the end is turned costs nothing, so it is no reason to turn the data, which both products read.
TEST(MirrorValues, DataAreNotTurnedForAVector) {
  auto f = trace({f64({3, 1})}, [](Graph& g, const Vars& x) {
    ValuePtr c = graph::make_constant(ramp({40, 3}));
    g.constants.push_back(c);
    Var data{&g, c}, fitted = exp(dot_general(data, x[0], {1}, {0}, {}, {}));
    return Vars{turned(dot_general(fitted, data, {0}, {0}, {}, {}))};
  });
  Graph g = mirrored(f, {ramp({3, 1})});
  ASSERT_EQ(g.constants.size(), 1u);
  EXPECT_EQ(g.constants[0], f->constants[0]) << names(g);
}

// Every rule: parameters by dimension, positions, control flow that captures mirrored values.
TEST(MirrorValues, EveryRuleKeepsTheResults) {
  using Body = std::function<Var(Graph&, Var)>;
  const std::vector<std::pair<const char*, Body>> rules = {
      {"pad",
       [](Graph& g, Var x) {
         return pad(x, number(g, 2), {1, 0, 2}, {0, 3, -1}, {1, 0, 0});
       }},
      {"slice",
       [](Graph&, Var x) {
         return slice(x, {0, 1, 2}, {2, 3, 4}, {1, 1, 2});
       }},
      {"reverse",
       [](Graph&, Var x) {
         return reverse(x, {0, 2});
       }},
      {"concatenate",
       [](Graph&, Var x) {
         return primitives::concatenate({x, x * 2.0}, 1);
       }},
      {"cumsum",
       [](Graph&, Var x) {
         return primitives::record("cumsum", {x}, {{"dim", int64_t(2), true}});
       }},
      {"dynamic_slice",
       [](Graph& g, Var x) {
         return dynamic_slice(x, {integer(g, 0), integer(g, 1), integer(g, 2)}, {2, 2, 1});
       }},
      {"dynamic_update_slice",
       [](Graph& g, Var x) {
         return dynamic_update_slice(x, slice(x, {0, 0, 0}, {1, 2, 2}, {1, 1, 1}) * 5.0,
                                     {integer(g, 1), integer(g, 0), integer(g, 2)});
       }},
      {"reduce", [](Graph&, Var x) { return reduce_sum(x, {1}); }},
      {"reduce, kept",
       [](Graph&, Var x) {
         return reduce_max(x, {0, 2}, false);
       }},
      {"broadcast",
       [](Graph&, Var x) {
         return broadcast_in_dim(x, {5, 3, 2, 4}, {2, 1, 3});
       }},
      {"batched product", [](Graph&, Var x) { return dot_general(x, x * 3.0, {2}, {2}, {0}, {0}); }},
      {"two batches",
       [](Graph&, Var x) {
         return dot_general(x, x * 3.0, {1}, {1}, {2, 0}, {2, 0});
       }},
      {"outer product", [](Graph&, Var x) { return dot_general(x, reduce_sum(x, {0}), {1}, {0}, {}, {}); }},
      {"transpose",
       [](Graph&, Var x) {
         return transpose(x, {1, 2, 0});
       }},
      {"select", [](Graph&, Var x) { return select(x > 0.0, x, -x); }},
      {"if",
       [](Graph& g, Var x) {
         return if_else(
             g, number(g, 1) > 0.5,
             [&](Graph& b) {
               return Vars{row_major(in(b, x), {6, 4}) * 2.0};
             },
             [&](Graph& b) {
               return Vars{row_major(in(b, x), {6, 4})};
             })[0];
       }},
      {"while",
       [](Graph& g, Var x) {
         return while_loop(
             g, {integer(g, 0), x}, [](Graph& c, const Vars& s) { return s[0] < integer(c, 3); },
             [&](Graph& b, const Vars& s) {
               Var y = row_major(tanh(row_major(s[1], {6, 4})), {2, 3, 4});
               return Vars{s[0] + integer(b, 1), y + in(b, x) * 0.5};
             })[1];
       }},
  };
  for (const auto& [what, rule] : rules) {
    auto f = trace({f64({6, 4})}, [&, rule = &rule](Graph& g, const Vars& x) {
      Var y = (*rule)(g, row_major(tanh(x[0]), {2, 3, 4}));
      return Vars{y.shape().empty() ? y : row_major(exp(y), {elements(y.shape())}), y};
    });
    SCOPED_TRACE(what);
    mirrored(f, {ramp({6, 4})});
    // and with the rule in front of the reshape
    f = trace({f64({2, 3, 4})}, [&, rule = &rule](Graph& g, const Vars& x) {
      Var y = (*rule)(g, sin(x[0]));
      return Vars{row_major(cos(y), {elements(y.shape())}), y};
    });
    mirrored(f, {ramp({2, 3, 4})});
  }
}

// Elements of a row lie apart in memory that is column-major. A table that the graph makes is kept mirrored where its rows
// are looked up; one of the user's stays where it is.
TEST(MirrorValues, RowsThatAreLookedUpLieTogether) {
  const primitives::IndexDims rows{{1}, {0}, {}, {}, {0}, 1}, columns{{0}, {1}, {}, {}, {1}, 1};
  const auto graph = [&](int64_t n, const primitives::IndexDims& dims, bool of_results, bool to_zeros = false) {
    const bool by_row = dims.map[0] == 0;
    const Shape table = by_row ? Shape{5, 8} : Shape{8, 5}, slices = by_row ? Shape{1, 8} : Shape{8, 1};
    return trace({f64(table), {DType::i32, {n}}}, [=](Graph& g, const Vars& x) {
      const Var made = of_results ? tanh(x[0]) : x[0];
      const Var rows_of_made = gather(made, x[1], slices, dims) * 2.0;
      const Var to = to_zeros ? broadcast_in_dim(number(g, 0), table, {}) : made;
      const Var added = scatter(to, x[1], rows_of_made, dims, "add", false);
      return Vars{reduce_sum(added, {0, 1})};
    });
  };
  const auto turned_calls = [&](const GraphPtr& f) {
    const Shape table = f->inputs[0]->type.shape;
    const int64_t n = f->inputs[1]->type.shape[0];
    std::vector<double> places;
    for (int64_t k = 0; k < n; ++k) places.push_back(static_cast<double>(k * 7 % 6));
    return names(mirrored(f, {ramp(table), tensor({n}, places, DType::i32)}));
  };
  EXPECT_EQ(turned_calls(graph(20, rows, true)), "transpose tanh gather mul scatter reduce_sum");
  EXPECT_EQ(turned_calls(graph(20, rows, true, true)), "transpose tanh gather mul scatter reduce_sum") << "to zeros";
  EXPECT_EQ(turned_calls(graph(20, columns, true)), "tanh gather mul scatter reduce_sum");
  EXPECT_EQ(turned_calls(graph(20, rows, false)), "gather mul scatter reduce_sum") << "of an input";
}

TEST(MirrorValues, PlacesOfAllKinds) {
  std::mt19937_64 random(7);
  const test::RandomIndex::Below below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  int scatters = 0;
  for (int k = 0; k < 400; ++k) {
    Shape shape;
    for (int d = 1 + below(4); d-- > 0;) shape.push_back(1 + below(4));
    const test::RandomIndex index(shape, below);
    const Tensor places = index.values(DType::i32, shape, below), table = ramp(shape);
    GraphPtr f = trace({f64(shape), places.type},
                       [&](Graph&, const Vars& x) { return Vars{gather(x[0], x[1], index.slice_sizes, index.dims)}; });
    std::vector<Tensor> at = {table, places};
    if (below(2) == 0) {
      const Shape windows = f->outputs[0]->type.shape;
      f = trace({f64(shape), places.type, f64(windows)}, [&](Graph&, const Vars& x) {
        return Vars{scatter(x[0], x[1], x[2], index.dims, below(2) == 0 ? "sub" : "", false)};
      });
      at.push_back(ramp(windows));
    }
    graph::Call call = f->calls.back();
    const primitives::Primitive& p = primitives::primitive_of(call);
    if (p.mirrors && !p.mirrors(call)) continue;
    p.mirror(call);
    scatters += at.size() == 3;
    std::vector<TensorType> types;
    for (const Tensor& t : at) types.push_back(t.type);
    const GraphPtr g = trace(types, [&](Graph& to, const Vars& x) {
      std::vector<ValuePtr> inputs;
      for (const Var& v : x) inputs.push_back(turned(v).value);
      const auto made = primitives::record(to, p, std::move(inputs), call.params);
      return Vars{turned({&to, made.at(0)})};
    });
    SCOPED_TRACE(k);
    expect_near(eigen::evaluate(*g, at), eigen::evaluate(*f, at), 0, graph::print(*f) + graph::print(*g));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(scatters, 50);
}

TEST(MirrorValues, GradientsThroughControlFlow) {
  auto f = trace({f64({2, 3, 4}), f64({4, 4})}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {integer(g, 0), x[0]}, [](Graph& c, const Vars& s) { return s[0] < integer(c, 3); },
        [&](Graph& b, const Vars& s) {
          Var y = dot_general(row_major(s[1], {6, 4}), in(b, x[1]), {1}, {0}, {}, {});
          return Vars{s[0] + integer(b, 1), row_major(tanh(y), {2, 3, 4})};
        });
    Vars chosen = if_else(
        g, number(g, 1) > 0.5, [&](Graph& b) { return Vars{row_major(in(b, r[1]), {24})}; },
        [&](Graph& b) { return Vars{row_major(in(b, x[0]), {24})}; });
    return Vars{reduce_sum(chosen[0] * chosen[0], {0})};
  });
  mirrored(transform::gradient(*f, {true, true}, true), {ramp({2, 3, 4}), ramp({4, 4})});
}

// Random programs of the whole registry, with transposes to and fro at half of their operands.
GraphPtr with_detours(const Graph& from, uint64_t seed) {
  auto g = std::make_shared<Graph>(from);
  g->calls.clear();
  auto detour = [&](ValuePtr& v) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    if (v->type.shape.size() >= 2 && seed >> 63) v = turned(turned({g.get(), v})).value;
  };
  for (graph::Call c : from.calls) {
    for (ValuePtr& v : c.inputs) detour(v);
    g->calls.push_back(std::move(c));
  }
  for (ValuePtr& v : g->outputs) detour(v);
  return g;
}
TEST(MirrorValues, RandomProgramsKeepTheirResults) {
  int changed = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    bool smooth = seed % 3 != 0;
    test::RandomProgram program(seed, {smooth, false, 14});
    GraphPtr f = with_detours(program.graph, seed);
    Graph g = *f;
    transform::mirror_values(g);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_THROW(primitives::verify(g)) << graph::print(*f) << graph::print(g);
    changed += names(g) != names(*f);
    if (!smooth) continue;  // sums in another order may round to the other side of a step
    expect_near(eigen::evaluate(g, program.inputs), eigen::evaluate(*f, program.inputs), 1e-7, graph::print(*f));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(changed, 100);
}

}  // namespace
}  // namespace anvil::testing
