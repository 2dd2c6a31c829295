// Whole graphs: literals, control flow, tapes, interruption.
#include "backend_eigen/tensors.h"
#include "primitives/families/control.h"
#include "support/interrupt_at.h"

namespace anvil::eigen {
namespace {

TEST(EvaluateGraph, ExpandsLiterals) {
  Graph g;
  g.outputs = primitives::record(
      g, primitives::registry().at("add"),
      {graph::make_literal(2, {DType::f32, {2, 2}}), graph::make_literal(0.5, {DType::f32, {2, 2}})});
  g.outputs.push_back(graph::make_literal(7, {DType::i8, {3}}));
  auto results = evaluate(g, {});
  expect_equal(numbers(results[0]), {2.5, 2.5, 2.5, 2.5});
  expect_equal(numbers(results[1]), {7, 7, 7});
}

TensorType i32_scalar{DType::i32, {}};

// while (i < limit) { (i, a, b) = (i + 1, b, a) }
Graph swapping_loop() {
  using primitives::record;
  using primitives::registry;
  Graph g;
  for (int i = 0; i < 3; ++i) g.inputs.push_back(make_value(graph::Value::Kind::input, i32_scalar));
  ValuePtr limit = g.inputs[2];
  auto cond = std::make_shared<Graph>(), body = std::make_shared<Graph>();
  for (auto& inner : {cond, body})
    for (int i = 0; i < 3; ++i) inner->inputs.push_back(make_value(graph::Value::Kind::input, i32_scalar));
  cond->outputs = record(*cond, registry().at("less"), {cond->inputs[0], limit});
  body->outputs = record(*body, registry().at("add"), {body->inputs[0], graph::make_literal(1, i32_scalar)});
  body->outputs.push_back(body->inputs[2]);
  body->outputs.push_back(body->inputs[1]);
  g.outputs = record(g, registry().at("while"), {graph::make_literal(0, i32_scalar), g.inputs[0], g.inputs[1]},
                     {{"cond_graph", cond}, {"body_graph", body}});
  return g;
}

TEST(EvaluateGraph, LoopsReplaceTheStateAtOnce) {
  Graph g = swapping_loop();
  for (double limit : {0, 1, 3}) {
    auto results =
        evaluate(g, {tensor(DType::i32, {}, {10}), tensor(DType::i32, {}, {20}), tensor(DType::i32, {}, {limit})});
    bool odd = limit != 0;
    EXPECT_EQ(numbers(results[0])[0], limit);
    EXPECT_EQ(numbers(results[1])[0], odd ? 20 : 10);
    EXPECT_EQ(numbers(results[2])[0], odd ? 10 : 20);
  }
}

TEST(EvaluateGraph, StopsWhenInterrupted) {
  Graph g = swapping_loop();
  const test::InterruptAt third(3);
  EXPECT_THROW(evaluate(g, {tensor(DType::i32, {}, {1}), tensor(DType::i32, {}, {2}), tensor(DType::i32, {}, {2e9})}),
               Interrupted);
}

TEST(EvaluateGraph, ShowsEveryResult) {
  Graph g = swapping_loop();
  std::string seen;
  Options options;
  options.observe = [&](const graph::Call& call, const Tensor&) { seen += call.primitive->name + " "; };
  evaluate(g, {tensor(DType::i32, {}, {1}), tensor(DType::i32, {}, {2}), tensor(DType::i32, {}, {1})}, options);
  EXPECT_EQ(seen, "less add less while while while ");
}

TEST(EvaluateGraph, TapesKeepTheStates) {
  using primitives::record;
  using primitives::registry;
  Graph g = swapping_loop();
  graph::Call& loop = g.calls[0];
  auto recording = std::make_shared<Graph>(*loop.params.graph("body_graph"));
  recording->outputs.insert(recording->outputs.end(), {recording->inputs[1], recording->inputs[0]});
  primitives::add_tape(loop, recording, 2);
  // carry = 10 carry + i, new records: (carry, a)
  auto body = std::make_shared<Graph>();
  for (int i = 0; i < 3; ++i) body->inputs.push_back(make_value(graph::Value::Kind::input, i32_scalar));
  ValuePtr scaled = record(*body, registry().at("mul"), {body->inputs[2], graph::make_literal(10, i32_scalar)})[0];
  body->outputs = record(*body, registry().at("add"), {scaled, body->inputs[1]});
  body->outputs.push_back(body->inputs[2]);
  body->outputs.push_back(body->inputs[0]);
  auto scan = [&](const ValuePtr& tape, const std::shared_ptr<Graph>& graph_of_step, int64_t last_first) {
    return record(g, registry().at("tape_scan"), {tape, graph::make_literal(0, i32_scalar)},
                  {{"body_graph", graph_of_step},
                   {"field_counts", Ints{2}},
                   {"last_first", Ints{last_first}},
                   {"new_field_counts", Ints{2}}});
  };
  auto forward = scan(loop.outputs.back(), body, 0);
  graph::Substitution first, second;
  auto backward = scan(g.calls[0].outputs.back(), clone(*body, first), 1);
  auto again = scan(backward[1], clone(*body, second), 0);  // reads the records (carry, a)
  g.outputs = {forward[0], backward[0], again[0]};
  primitives::verify(g);
  auto results = evaluate(g, {tensor(DType::i32, {}, {7}), tensor(DType::i32, {}, {8}), tensor(DType::i32, {}, {4})});
  expect_equal(numbers(results[0]), {123});
  expect_equal(numbers(results[1]), {3210});
  expect_equal(numbers(results[2]), {8787});
}

}  // namespace
}  // namespace anvil::eigen
