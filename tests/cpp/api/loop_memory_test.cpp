// What compiled gradients of loops record, in bytes: on tapes, or among a program's other temporaries.
#include <gtest/gtest.h>

#include "primitives/families/control.h"
#include "runtime/tape.h"
#include "support/gradient_check.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

using graph::Graph;
using Vars = std::vector<Var>;

Var position(Graph& g, int64_t x) { return primitives::literal(g, Scalar(x), {DType::i32, {}, false}); }

// while (i < steps) state = step(i, state), from i = 0.
Vars repeat(Graph& g, int64_t steps, const Var& start, const std::function<Var(Graph&, Var, Var)>& step,
            int64_t checkpoint = 0) {
  auto condition = std::make_shared<Graph>(), body = std::make_shared<Graph>();
  for (auto& inner : {condition, body}) {
    input(*inner, {DType::i32, {}, false});
    input(*inner, start.type());
  }
  const Var i{body.get(), body->inputs[0]}, s{body.get(), body->inputs[1]};
  condition->outputs = {(Var{condition.get(), condition->inputs[0]} < position(*condition, steps)).value};
  body->outputs = {(i + position(*body, 1)).value, step(*body, i, s).value};
  auto r = primitives::record(g, primitives::registry().at("while"), {position(g, 0).value, start.value},
                              {{"cond_graph", condition}, {"body_graph", body}});
  if (checkpoint > 0) g.calls.back().params.items.push_back({"segment", checkpoint});
  return {{&g, r[0]}, {&g, r[1]}};
}

// Runs the gradient, compiled; gives the bytes of its temporaries, and the most that its tapes hold at a time.
int64_t recorded(const Program& program, const std::vector<Tensor>& at, std::vector<Tensor>* slopes = nullptr) {
  Graph g = build(program, at);
  weigh(g, 1);
  const auto gradient = transform::gradient(g, std::vector<bool>(at.size(), true), false);
  const int64_t before = runtime::tape_statistics().now;
  runtime::reset_tape_statistics();
  load_llvm();
  const graph::GraphPtr copy = optimized(*gradient);
  const loops::Program loops = compiler::compile(*copy, target_for(*copy));
  auto results = run_loops(loops, *copy, at);
  if (slopes != nullptr) *slopes = results;
  EXPECT_EQ(runtime::tape_statistics().now, before) << "tapes end with the run";
  return loops.arena_bytes + runtime::tape_statistics().most - before;
}

constexpr int64_t steps = 2000, slack = 2;  // chunks double

TEST(LoopMemory, AnArrayWrittenElementByElementTakesOneElementAStep) {
  const Program program = [](Graph& g, const Vars& x) {
    return Vars{repeat(g, steps, x[1], [&](Graph& b, Var i, Var y) {
      const Var last = reshape(primitives::dynamic_slice(y, {i}, {1}), {});
      const Var next = sin(Var{&b, x[0].value} * last);
      return primitives::dynamic_update_slice(y, reshape(next, {1}), {i + position(b, 1)});
    })[1]};
  };
  const int64_t bytes = recorded(program, {tensor(DType::f64, {}, {0.9}), spread_values(DType::f64, {steps + 1})});
  EXPECT_LE(bytes, 3 * 8 * (steps + 1) + 1024) << "the records, the array and its cotangent";
  EXPECT_GE(bytes, 8 * steps);
}

Program iteration(int64_t checkpoint) {
  return [checkpoint](Graph& g, const Vars& x) {
    return Vars{repeat(
        g, steps, x[0], [](Graph&, Var, Var s) { return sin(s * 1.1); }, checkpoint)[1]};
  };
}

TEST(LoopMemory, SegmentsTakeTheirStatesAndTheRecordsOfOne) {
  const std::vector<Tensor> at = {spread_values(DType::f64, {100})};
  std::vector<Tensor> plain, cut;
  EXPECT_GE(recorded(iteration(0), at, &plain), 800 * steps);
  EXPECT_LE(recorded(iteration(50), at, &cut), slack * (800 + 8) * (steps / 50 + 50) + 4096);
  for (int64_t i = 0; i < 100; ++i) EXPECT_TRUE(element(plain[0], i) == element(cut[0], i)) << i;
}

// An inner loop records again at each step of the outer one, on tapes that end with the step.
TEST(LoopMemory, InnerLoopsTakeTheRecordsOfOne) {
  const Program program = [](Graph& g, const Vars& x) {
    return Vars{repeat(g, 40, x[0], [](Graph& b, Var, Var s) {
      return repeat(b, 50, s, [](Graph&, Var, Var t) { return sin(t * 1.1); })[1];
    })[1]};
  };
  EXPECT_LE(recorded(program, {spread_values(DType::f64, {100})}), slack * 800 * (40 + 50) + 4096);
}

// y[j] = sin(w y[j]) for j = 0, 1, ... as long as j^2 <= 20; w is the last of the 1000 elements of y.
Var part_changed(Graph& to, Var y) {
  const auto below = [](Graph& c, const Vars& s) { return s[0] * s[0] <= position(c, 20); };
  return primitives::loop(to, {position(to, 0), {&to, y.value}}, below, [](Graph& c, const Vars& s) {
    const Var w = primitives::slice(s[1], {999}, {1000}, {1}), at = s[0];
    const Var next = sin(primitives::dynamic_slice(s[1], {at}, {1}) * w);
    return Vars{at + position(c, 1), primitives::dynamic_update_slice(s[1], next, {at})};
  })[1];
}
using Step = std::function<Var(Graph&, Var, Var)>;
Var changed(Graph& b, Var, Var y) { return part_changed(b, y); }
Var changed_twice(Graph& b, Var, Var y) { return repeat(b, 2, y, changed)[1]; }
Var changed_in_a_branch(Graph& b, Var i, Var y) {
  const auto yes = std::make_shared<Graph>(), no = std::make_shared<Graph>();
  yes->outputs = {part_changed(*yes, y).value};
  no->outputs = {y.value};
  for (const auto& inner : {yes, no}) primitives::list_constants(*inner);
  return {&b, primitives::branch(b, (i < position(b, steps / 2)).value, yes, no)[0]};
}

// A few short tapes are recorded in the place of a thousand numbers.
TEST(LoopMemory, LoopsOfUnknownLengthInLoopsTakeTheirOwnRecords) {
  const std::vector<Tensor> at = {spread_values(DType::f64, {1000})};
  for (const Step& step : {Step(changed), Step(changed_twice), Step(changed_in_a_branch)}) {
    const Program program = [&step](Graph& g, const Vars& x) { return Vars{repeat(g, steps, x[0], step)[1]}; };
    std::vector<Tensor> slopes;
    EXPECT_LE(recorded(program, at, &slopes), 700 * steps);
    Graph g = build(program, at);
    weigh(g, 1);
    const auto expected = eigen::evaluate(*transform::gradient(g, {true}, false), at)[0];
    for (int64_t i = 0; i < 1000; ++i)
      EXPECT_NEAR(element(slopes[0], i).as<double>(), element(expected, i).as<double>(), 1e-12) << i;
  }
  // of segments it is the states, and the records of one
  const Program cut = [](Graph& g, const Vars& x) { return Vars{repeat(g, steps, x[0], changed, 50)[1]}; };
  EXPECT_LE(recorded(cut, at), slack * 8008 * (steps / 50) + 300 * 50);
}

// y[j mod 1000] = sin(w y[j mod 1000]), far more often than there are elements, which nobody knows as the condition is
// written: steps whose records take as much as the state are recorded, and then the state once more.
TEST(LoopMemory, LongLoopsOfUnknownLengthInLoopsTakeNoMoreThanTheStates) {
  constexpr int64_t outer = 10, inner = 5'000, state = 8'000;
  const auto program = [](bool known) {
    const Step often = [known](Graph& b, Var, Var y) {
      const auto below = [known](Graph& c, const Vars& s) {
        return known ? s[0] < position(c, inner) : s[0] * s[0] < position(c, inner * inner);
      };
      return primitives::loop(b, {position(b, 0), {&b, y.value}}, below, [](Graph& c, const Vars& s) {
        const Var at = primitives::record("remainder", {s[0], position(c, 1000)});
        const Var next = sin(primitives::dynamic_slice(s[1], {at}, {1}) * 1.1);
        return Vars{s[0] + position(c, 1), primitives::dynamic_update_slice(s[1], next, {at})};
      })[1];
    };
    return Program([often](Graph& g, const Vars& x) { return Vars{repeat(g, outer, x[0], often)[1]}; });
  };
  const std::vector<Tensor> at = {spread_values(DType::f64, {1000})};
  std::vector<Tensor> slopes, expected;
  EXPECT_LE(recorded(program(false), at, &slopes), slack * (outer * (2 * state + 1000) + 16 * inner));
  recorded(program(true), at, &expected);
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(element(slopes[0], i), element(expected[0], i)) << i;
}

}  // namespace
}  // namespace anvil::test
