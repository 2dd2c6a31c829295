// What batching promises beyond right numbers, which api/batch_test.cpp is about: what is shared is computed once,
// loops end, effects happen once for each example, and what has no rule is looped over.
#include "support/batches.h"
#include "support/gradient_check.h"

#include <algorithm>

#include "primitives/families/control.h"
#include "primitives/vocabulary/composite.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using graph::Call;
using graph::Params;
using primitives::Primitive;
using test::batch_disagreement;

const TensorType i32_scalar{DType::i32, {}};
Tensor integers(const std::vector<double>& values) {
  return tensor({static_cast<int64_t>(values.size())}, values, DType::i32);
}

Tensor spread(const Shape& shape) { return test::spread_values(DType::f64, shape); }

int64_t count(const Graph& g, const std::string& name) {
  int64_t n = 0;
  for (const Call& c : g.calls) {
    n += c.primitive->name == name;
    for (const auto& inner : subgraphs(c)) n += count(*inner, name);
  }
  return n;
}
std::vector<double> batched_numbers(const GraphPtr& g, const std::vector<Tensor>& inputs,
                                    const std::vector<bool>& batched, int64_t size) {
  const GraphPtr together = transform::batch(*g, batched, size);
  primitives::verify(*together);
  return numbers(eigen::evaluate(*together, inputs).at(0));
}

TEST(Batch, WhatIsSharedIsComputedOnce) {
  const auto g = trace({f64({4}), f64({4})}, [](Graph&, const Vars& x) { return Vars{exp(x[0]) * x[1]}; });
  const GraphPtr together = transform::batch(*g, {false, true}, 3);
  const Call& first = together->calls.at(0);
  EXPECT_EQ(first.primitive->name, "exp");
  EXPECT_EQ(first.outputs[0]->type.shape, (Shape{4}));
  EXPECT_EQ(count(*together, "broadcast_in_dim"), 1);
}

TEST(Batch, AProductIsOneProduct) {
  const auto g = trace({f64({4, 2}), f64({2, 5})},
                       [](Graph&, const Vars& x) { return Vars{dot_general(x[0], x[1], {1}, {0}, {}, {})}; });
  const std::vector<std::pair<std::vector<bool>, int>> transposes = {
      {{true, false}, 1}, {{false, true}, 0}, {{true, true}, 1}};
  for (const auto& [flags, expected] : transposes) {
    const GraphPtr together = transform::batch(*g, flags, 3);
    EXPECT_EQ(count(*together, "dot_general"), 1);
    EXPECT_EQ(count(*together, "transpose"), expected);
    EXPECT_EQ(together->calls.size(), static_cast<size_t>(1 + expected));
  }
}

TEST(Batch, ABatchOfNothingIsEmpty) {
  const auto g = trace({f64({2}), f64({2})}, [](Graph& inner, const Vars& x) {
    return Vars{x[0] * x[1], while_loop(
                                 inner, {x[0]}, [](Graph&, const Vars& s) { return reduce_sum(s[0], {0}) < 1.0; },
                                 [](Graph&, const Vars& s) { return Vars{s[0] + 1.0}; })[0]};
  });
  const GraphPtr together = transform::batch(*g, {true, false}, 0);
  primitives::verify(*together);
  for (const Tensor& t : eigen::evaluate(*together, {tensor({2, 0}, {}), tensor({2}, {1, 2})}))
    EXPECT_EQ(t.type.shape, (Shape{2, 0}));
}

// ---- loops --------------------------------------------------------------------------------------

// The steps from x to `end`, one at a time: it never arrives from above.
Var steps_to(Graph& g, Var x, Var end) {
  return while_loop(
      g, {x, integer(g, 0)}, [&](Graph& t, const Vars& s) { return s[0] != in(t, end); },
      [](Graph& b, const Vars& s) {
        return Vars{s[0] + integer(b, 1), s[1] + integer(b, 1)};
      })[1];
}

TEST(BatchOfLoops, EndForEveryExampleByItself) {
  const auto g =
      trace({i32_scalar, i32_scalar}, [](Graph& inner, const Vars& x) { return Vars{steps_to(inner, x[0], x[1])}; });
  EXPECT_EQ(batched_numbers(g, {integers({1, 4, 2}), tensor({}, {4}, DType::i32)}, {true, false}, 3),
            (std::vector<double>{3, 0, 2}));
  EXPECT_EQ(batched_numbers(g, {tensor({}, {1}, DType::i32), integers({2, 1, 5})}, {false, true}, 3),
            (std::vector<double>{1, 0, 4}));
}

// An example that does not take a branch does not keep the loops of that branch going.
TEST(BatchOfLoops, EndWhereNoExampleComes) {
  const auto in_branch = trace({i32_scalar, i32_scalar}, [](Graph& g, const Vars& x) {
    return if_else(
        g, x[0] <= x[1], [&](Graph& yes) { return Vars{steps_to(yes, in(yes, x[0]), x[1])}; },
        [](Graph& no) { return Vars{integer(no, -1)}; });
  });
  EXPECT_EQ(batched_numbers(in_branch, {integers({1, 9, 2}), tensor({}, {4}, DType::i32)}, {true, false}, 3),
            (std::vector<double>{3, -1, 2}));
  // the loop is the same for all examples, but none comes there
  const auto shared = trace({i32_scalar, i32_scalar, i32_scalar}, [](Graph& g, const Vars& x) {
    return if_else(
        g, x[0] > integer(g, 0), [&](Graph& yes) { return Vars{steps_to(yes, in(yes, x[1]), x[2])}; },
        [&](Graph& no) { return Vars{integer(no, -1)}; });
  });
  const auto scalar = [](double x) { return tensor({}, {x}, DType::i32); };
  EXPECT_EQ(batched_numbers(shared, {integers({-1, 0, -2}), scalar(9), scalar(4)}, {true, false, false}, 3),
            (std::vector<double>{-1, -1, -1}));
  EXPECT_EQ(batched_numbers(shared, {integers({-1, 5, -2}), scalar(1), scalar(4)}, {true, false, false}, 3),
            (std::vector<double>{-1, 3, -1}));
}

// ... nor one that is done with the loop around.
TEST(BatchOfLoops, EndInsideOfOthers) {
  const auto g = trace({i32_scalar}, [](Graph& outer, const Vars& x) {
    return Vars{while_loop(
        outer, {x[0], integer(outer, 0)}, [](Graph& t, const Vars& s) { return s[0] < integer(t, 3); },
        [](Graph& b, const Vars& s) {
          const Var steps = steps_to(b, s[0], integer(b, 3));
          return Vars{s[0] + integer(b, 1), s[1] + steps};
        })[1]};
  });
  EXPECT_EQ(batched_numbers(g, {integers({0, 2, 8})}, {true}, 3), (std::vector<double>{6, 1, 0}));
}

TEST(BatchOfLoops, NothingComesFromStepsAfterTheEnd) {
  const auto g = trace({f64_scalar}, [](Graph& outer, const Vars& x) {
    return Vars{while_loop(
        outer, {x[0]}, [](Graph&, const Vars& s) { return s[0] >= 1.0; },
        [](Graph&, const Vars& s) { return Vars{sqrt(s[0] - 1.0)}; })[0]};
  });
  const std::vector<Tensor> x = {tensor({3}, {0.5, 6.0, 1.5})};
  EXPECT_EQ(batch_disagreement(*g, x, {true}, 3), "");
  EXPECT_EQ(batch_disagreement(*transform::gradient(*g, {true}, true), x, {true}, 3), "");
  Graph sum = *transform::batch(*g, {true}, 3);
  sum.outputs = {primitives::reduce_sum({&sum, sum.outputs[0]}, {0}).value};
  const auto slopes = numbers(eigen::evaluate(*transform::gradient(sum, {true}, false), x)[0]);
  for (size_t i = 0; i < 3; ++i) {
    const auto alone =
        eigen::evaluate(*transform::gradient(*g, {true}, false), {test::example(x[0], static_cast<int64_t>(i))});
    EXPECT_NEAR(slopes[i], numbers(alone[0])[0], 1e-12);
  }
}

// A counter is a position in memory that is the same for all that go on: no gather.
TEST(BatchOfLoops, CountersStayPositions) {
  const auto g = trace({f64({5}), i32_scalar}, [](Graph& outer, const Vars& x) {
    const Vars r = while_loop(
        outer, {integer(outer, 0), number(outer, 0)}, [&](Graph& t, const Vars& s) { return s[0] < in(t, x[1]); },
        [&](Graph& b, const Vars& s) {
          const Var element = reshape(dynamic_slice(in(b, x[0]), {s[0]}, {1}), {});
          return Vars{s[0] + integer(b, 1), s[1] + element};
        });
    return Vars{r[1], r[0]};
  });
  const GraphPtr together = transform::batch(*g, {true, true}, 2);
  EXPECT_EQ(count(*together, "gather"), 0);
  const std::vector<Tensor> x = {tensor({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), integers({2, 4})};
  const auto results = eigen::evaluate(*together, x);
  EXPECT_EQ(numbers(results[0]), (std::vector<double>{3, 30}));
  EXPECT_EQ(numbers(results[1]), (std::vector<double>{2, 4}));
}

// ---- what has no rule, and effects ----------------------------------------------------------------

TEST(BatchByExample, WithoutARule) {
  Primitive bare = primitives::registry().at("top_k");
  bare.batch = nullptr;
  EXPECT_EQ(transform::batched_by(bare), transform::BatchedBy::loop);
  Graph g;
  g.inputs = {graph::make_value(graph::Value::Kind::input, f64({4}))};
  g.outputs = record(g, bare, g.inputs, Params{{"k", int64_t(2)}});
  EXPECT_EQ(batch_disagreement(g, {spread({4, 3})}, {true}, 3), "");
  Graph sum = g;
  sum.outputs = {reduce_sum(Var{&sum, g.outputs[0]}, {0}).value};
  EXPECT_EQ(batch_disagreement(*transform::gradient(sum, {true}, true), {spread({4, 3})}, {true}, 3), "");
  Graph together = *transform::batch(sum, {true}, 3);
  together.outputs = {primitives::reduce_sum({&together, together.outputs[0]}, {0}).value};
  const auto slopes = transform::gradient(together, {true}, false);
  EXPECT_EQ(numbers(eigen::evaluate(*slopes, {tensor({4, 3}, {1, 2, 3, 4, 8, 7, 6, 5, 1, 3, 2, 4})})[0]),
            (std::vector<double>{0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1}));
}

// A derivative of one's own is kept: that of the expansion would be another.
TEST(BatchByExample, WithADerivativeOfItsOwn) {
  Primitive twice =
      primitives::composite("twice", [](primitives::ReverseStep& step) { set(step, 0, cotangent(step) * 100.0); });
  EXPECT_EQ(transform::batched_by(twice), transform::BatchedBy::expansion);
  EXPECT_EQ(transform::batched_by(primitives::composite("plain", {})), transform::BatchedBy::expansion);
  const auto definition = trace({f64_scalar}, [](Graph&, const Vars& x) { return Vars{x[0] * 2.0}; });
  const auto g = trace({f64_scalar}, [&](Graph& inner, const Vars& x) {
    return Vars{{&inner, record(inner, twice, {x[0].value}, {{"definition", definition}})[0]}};
  });
  EXPECT_EQ(batched_numbers(g, {tensor({2}, {1, 5})}, {true}, 2), (std::vector<double>{2, 10}));
  Graph together = *transform::batch(*g, {true}, 2);
  together.outputs = {primitives::reduce_sum({&together, together.outputs[0]}, {0}).value};
  EXPECT_EQ(numbers(eigen::evaluate(*transform::gradient(together, {true}, false), {tensor({2}, {1, 5})})[0]),
            (std::vector<double>{100, 100}));
}

// What an inner graph reads may differ by example: of a reduction it is no reduction any more.
TEST(BatchByExample, RegionsThatReadTheBatch) {
  const auto g = trace({f64({4}), f64_scalar}, [](Graph& inner, const Vars& x) {
    const auto body = trace({f64_scalar, f64_scalar},
                            [&](Graph& b, const Vars& v) { return Vars{v[0] + v[1] + v[0] * v[1] * in(b, x[1])}; });
    body->constants = captures(*body);
    return Vars{{&inner, record(inner, primitives::registry().at("reduce"), {x[0].value, number(inner, 0.5).value},
                                {{"dims", std::vector<int64_t>{0}, true}, {"body", body}})[0]}};
  });
  EXPECT_EQ(batch_disagreement(*g, {spread({4}), spread({3})}, {false, true}, 3), "");
}

// Writes down what comes to it.
struct Noted {
  std::vector<double> values;
  Primitive primitive = primitives::registry().at("negate");
  Noted() {
    primitive.effect = true;
    primitive.elementwise = [this](const std::vector<const Tensor*>& x, const Tensor& out, const Params&) {
      values.push_back(element(*x[0], 0).as<double>());
      set_element(out, 0, Scalar(-values.back()));
    };
  }
  Var operator()(Graph& g, Var x) const { return {&g, record(g, primitive, {x.value})[0]}; }
};

TEST(BatchByExample, EffectsHappenForEachExample) {
  Noted note;
  const auto g = trace({f64_scalar, f64_scalar}, [&](Graph& inner, const Vars& x) {
    const Var first = note(inner, x[0]);
    return Vars{first + note(inner, x[1])};
  });
  EXPECT_EQ(batched_numbers(g, {tensor({3}, {1, 2, 3}), tensor({}, {7})}, {true, false}, 3),
            (std::vector<double>{-8, -9, -10}));
  EXPECT_EQ(note.values, (std::vector<double>{1, 2, 3, 7, 7, 7}));
  note.values.clear();
  EXPECT_EQ(batched_numbers(g, {tensor({0}, {}), tensor({}, {7})}, {true, false}, 0), std::vector<double>());
  EXPECT_EQ(note.values, std::vector<double>());
}
TEST(BatchByExample, EffectsHappenWhereAnExampleComes) {
  Noted note;
  const auto g = trace({f64_scalar}, [&](Graph& outer, const Vars& x) {
    return if_else(
        outer, x[0] > 0.0, [&](Graph& yes) { return Vars{note(yes, x[0])}; },
        [&](Graph& no) { return Vars{note(no, in(no, x[0]) * 10.0)}; });
  });
  EXPECT_EQ(batched_numbers(g, {tensor({3}, {1, -2, 3})}, {true}, 3), (std::vector<double>{-1, 20, -3}));
  EXPECT_EQ(note.values, (std::vector<double>{1, 3, -20}));
  note.values.clear();
  const auto loop = trace({f64_scalar}, [&](Graph& outer, const Vars& x) {
    return while_loop(
        outer, {x[0]}, [](Graph&, const Vars& s) { return s[0] < 3.0; },
        [&](Graph& b, const Vars& s) { return Vars{note(b, s[0]) * -1.0 + 1.0}; });
  });
  EXPECT_EQ(batched_numbers(loop, {tensor({3}, {1, 5, 2})}, {true}, 3), (std::vector<double>{3, 5, 3}));
  EXPECT_EQ(note.values, (std::vector<double>{1, 2, 2}));
}

// ---- rules at their edges ---------------------------------------------------------------------------

TEST(BatchOfSlices, StartsAreClampedWhateverTheyAreStoredIn) {
  for (DType t : {DType::i8, DType::ui8, DType::i64, DType::ui64}) {
    const TensorType start{t, {}};
    const auto g = trace({f64({300}), f64({2}), start}, [](Graph&, const Vars& x) {
      return Vars{dynamic_slice(x[0], {x[2]}, {2}), dynamic_update_slice(x[0], x[1], {x[2]})};
    });
    Tensor starts = graph::allocate({t, {4}});
    for (int64_t i = 0; i < 4; ++i)
      set_element(starts, i,
                  std::vector<Scalar>{lowest(t), highest(t), Scalar(0), Scalar(100)}[static_cast<size_t>(i)]);
    for (const bool x : {true, false})
      for (const bool update : {true, false}) {
        const std::vector<Tensor> inputs = {spread(x ? Shape{300, 4} : Shape{300}),
                                            spread(update ? Shape{2, 4} : Shape{2}), starts};
        EXPECT_EQ(batch_disagreement(*g, inputs, {x, update, true}, 4), "") << name(t);
      }
  }
}

TEST(BatchOfMatrices, FactorsAndSystems) {
  for (const bool lower : {true, false})
    for (const bool left : {true, false}) {
      const auto g = trace({f64({3, 3}), f64({3, 3})}, [&](Graph&, const Vars& x) {
        const Var a = dot_general(x[0], x[0], {1}, {1}, {}, {}) + primitives::iota(*x[0].graph, 0, DType::f64, {3, 3});
        const Var root = primitives::record("cholesky", {a}, {{"lower", lower}});
        return Vars{root, triangular_solve(root, x[1], left, lower, false, lower)};
      });
      for (const std::vector<bool>& flags : {std::vector<bool>{true, false}, {false, true}, {true, true}}) {
        const std::vector<Tensor> inputs = {spread(flags[0] ? Shape{3, 3, 2} : Shape{3, 3}),
                                            spread(flags[1] ? Shape{3, 3, 2} : Shape{3, 3})};
        EXPECT_EQ(batch_disagreement(*g, inputs, flags, 2), "");
      }
    }
}

TEST(BatchOfRandomBits, AreThoseOfEachState) {
  const std::vector<Shape> shapes = {{}, {5}, {3, 4}, {2, 3, 3}, {0, 2}};
  for (DType t : {DType::ui8, DType::i16, DType::ui32, DType::f32, DType::ui64, DType::f64, DType::f16})
    for (const Shape& shape : shapes) {
      Graph g;
      g.inputs = {graph::make_value(graph::Value::Kind::input, {DType::ui64, {2}})};
      g.outputs = record(g, primitives::registry().at("rng_bit_generator"), g.inputs,
                         {{"rng_algorithm", std::string("THREE_FRY")}, {"dtype", t}, {"shape", shape}});
      Tensor states = graph::allocate({DType::ui64, {2, 3}});
      for (int i = 0; i < 6; ++i)
        set_element(states, i, Scalar(uint64_t(0x9e3779b97f4a7c15) * static_cast<uint64_t>(i + 1)));
      EXPECT_EQ(batch_disagreement(g, {states}, {true}, 3), "") << name(t);
    }
}

}  // namespace
}  // namespace anvil::testing
