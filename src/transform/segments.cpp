// With `cond` and `body` as the graphs of the loop and at most k steps in a segment:
//
//   %s = while (%s0)                    %s = while (%s0)
//     as long as cond(%s)                 as long as cond(%s)
//     %s = body(%s)                       %s, %j = while (%s, 0)
//                                           as long as cond(%s) and %j < k
//                                           %s, %j = body(%s), %j + 1
//
// and split: the inner loop once, then the loop on the right.
#include "transform/segments.h"

#include <algorithm>
#include <cmath>

#include "primitives/families/control.h"
#include "primitives/vocabulary/var.h"
#include "transform/rewrite.h"
#include "transform/trip_count.h"

namespace anvil::transform {

using primitives::Var;

namespace {

GraphPtr with_inputs(const std::vector<ValuePtr>& like) {
  auto g = std::make_shared<Graph>();
  for (const ValuePtr& v : like) g->inputs.push_back(make_value(Value::Kind::input, v->type));
  return g;
}

// Of a loop: its condition and its body with one more carried value, the number of steps, and at most `length`.
struct Counted {
  GraphPtr condition, body;
};
ValuePtr number_of_steps(int64_t n) { return graph::make_literal(Scalar(n), {DType::i64, {}, false}); }

Counted counted(const Call& loop, int64_t length) {
  std::vector<ValuePtr> state = loop.inputs;
  state.push_back(number_of_steps(0));
  const GraphPtr go_on = with_inputs(state), step = with_inputs(state);
  const auto but_count = [](const GraphPtr& g) { return std::vector(g->inputs.begin(), g->inputs.end() - 1); };
  const Var more{go_on.get(), inline_calls(*loop.params.graph("cond_graph"), but_count(go_on), *go_on).at(0)};
  const Var steps{go_on.get(), go_on->inputs.back()};
  go_on->outputs = {(more & (steps < Var{go_on.get(), number_of_steps(length)})).value};
  step->outputs = inline_calls(*loop.params.graph("body_graph"), but_count(step), *step);
  step->outputs.push_back((Var{step.get(), step->inputs.back()} + 1.0).value);
  for (const GraphPtr& g : {go_on, step}) list_constants(*g);
  return {go_on, step};
}

// Makes of `loop` one that is not cut any more.
void is_whole(Call& loop) {
  std::erase_if(loop.params.items, [](const graph::Param& p) { return p.name == "segment"; });
  loop.params.items.push_back({"segment", int64_t(0)});
}

// The first `length` steps from `start`, recorded in `g`; gives the state after them.
std::vector<ValuePtr> first_steps(Graph& g, const Call& loop, std::vector<ValuePtr> start, int64_t length) {
  const Counted once = counted(loop, length);
  start.push_back(number_of_steps(0));
  std::vector<ValuePtr> state = primitives::loop(g, std::move(start), once.condition, once.body);
  state.pop_back();
  for (Call& c : g.calls) is_whole(c), c.location = loop.location;
  return state;
}

}  // namespace

Call in_segments(const Call& loop, int64_t length) {
  const Graph& condition = *loop.params.graph("cond_graph");
  const GraphPtr outer = with_inputs(loop.inputs);
  outer->outputs = first_steps(*outer, loop, outer->inputs, length);
  list_constants(*outer);

  Call result = loop;
  graph::Substitution fresh;
  result.params.set("cond_graph", clone(condition, fresh));
  result.params.set("body_graph", outer);
  is_whole(result);
  return result;
}

std::array<Call, 2> split(const Call& loop, int64_t length) {
  Graph first;
  Call rest = loop;
  rest.inputs = first_steps(first, loop, loop.inputs, length);
  return {first.calls.at(0), in_segments(rest, length)};
}

int64_t stated_length(const Call& loop) {
  return loop.params.find("segment") == nullptr ? -1 : loop.params.integer("segment");
}

int64_t segment_length(const Call& loop, int64_t record_bytes) {
  if (const int64_t stated = stated_length(loop); stated >= 0) return stated;
  const auto known = trip_count(loop);
  if (!known) return 0;
  const auto steps = static_cast<double>(*known), record = static_cast<double>(record_bytes);
  if (steps * record <= most_recorded) return 0;
  double state = 0;
  for (const ValuePtr& v : loop.inputs) state += static_cast<double>(size_in_bytes(v));
  const double length = std::ceil(std::sqrt(steps * state / record));  // where states and records take the same
  return steps / length * state + length * record < steps * record ? static_cast<int64_t>(length) : 0;
}

int64_t recorded_steps(const Call& loop, int64_t record_bytes) {
  if (stated_length(loop) >= 0 || trip_count(loop)) return 0;
  const double steps = std::floor(most_recorded / std::max(1.0, static_cast<double>(record_bytes)));
  return steps > most_waited_for ? 0 : std::max<int64_t>(1, static_cast<int64_t>(steps));
}

}  // namespace anvil::transform
