// With `cond` and `body` as the graphs of the loop and at most k steps in a segment:
//
//   %s = while (%s0)                    %s = while (%s0)
//     as long as cond(%s)                 as long as cond(%s)
//     %s = body(%s)                       %s, %j = while (%s, 0)
//                                           as long as cond(%s) and %j < k
//                                           %s, %j = body(%s), %j + 1
#include "transform/segments.h"

#include <algorithm>
#include <cmath>

#include "primitives/families/control.h"
#include "primitives/vocabulary/var.h"
#include "transform/rewrite.h"
#include "transform/trip_count.h"

namespace anvil::transform {

using graph::TensorType;
using primitives::Var;

namespace {

GraphPtr with_inputs(const std::vector<ValuePtr>& like) {
  auto g = std::make_shared<Graph>();
  for (const ValuePtr& v : like) g->inputs.push_back(make_value(Value::Kind::input, v->type));
  return g;
}

// Makes of `loop` one that is not cut any more.
void is_whole(Call& loop) {
  std::erase_if(loop.params.items, [](const graph::Param& p) { return p.name == "segment"; });
  loop.params.items.push_back({"segment", int64_t(0)});
}

}  // namespace

Call in_segments(const Call& loop, int64_t length) {
  const Graph &condition = *loop.params.graph("cond_graph"), &body = *loop.params.graph("body_graph");
  const TensorType count{DType::i64, {}, false};
  const GraphPtr outer = with_inputs(loop.inputs);
  std::vector<ValuePtr> state = outer->inputs;
  state.push_back(graph::make_literal(Scalar(0), count));
  const GraphPtr go_on = with_inputs(state), step = with_inputs(state);
  const auto but_count = [](const GraphPtr& g) { return std::vector(g->inputs.begin(), g->inputs.end() - 1); };
  const Var more{go_on.get(), inline_calls(condition, but_count(go_on), *go_on).at(0)};
  const Var steps{go_on.get(), go_on->inputs.back()};
  go_on->outputs = {(more & (steps < primitives::literal(*go_on, Scalar(length), count))).value};
  step->outputs = inline_calls(body, but_count(step), *step);
  step->outputs.push_back((Var{step.get(), step->inputs.back()} + 1.0).value);
  for (const GraphPtr& g : {go_on, step}) list_constants(*g);
  outer->outputs = primitives::loop(*outer, state, go_on, step);
  outer->outputs.pop_back();
  for (Call& c : outer->calls) is_whole(c), c.location = loop.location;
  list_constants(*outer);

  Call result = loop;
  graph::Substitution fresh;
  result.params.set("cond_graph", clone(condition, fresh));
  result.params.set("body_graph", outer);
  is_whole(result);
  return result;
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

}  // namespace anvil::transform
