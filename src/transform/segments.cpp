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
#include "transform/nested_tapes.h"
#include "transform/rewrite.h"
#include "transform/trip_count.h"

namespace anvil::transform {

using primitives::Var;
using primitives::Vars;
using primitives::vars;

namespace {

// Makes of `loop` one that is not cut any more; `kept` as kept_records() gives it.
void is_whole(Call& loop, std::optional<int64_t> kept = std::nullopt) {
  std::erase_if(loop.params.items, [](const graph::Param& p) { return p.name == "segment"; });
  loop.params.items.push_back({"segment", kept ? -1 - *kept : int64_t(0)});
}

// At most the first `length` steps from `state`, recorded in `g` with one more carried value, the number of steps;
// gives the state after them.
Vars first_steps(Graph& g, const Call& loop, Vars state, int64_t length) {
  const auto but_count = [](const Vars& now) { return Vars(now.begin(), now.end() - 1); };
  state.push_back(primitives::literal(g, 0, {DType::i64, {}}));
  const auto go_on = [&](Graph& test, const Vars& now) {
    const Var more = inlined(*loop.params.graph("cond_graph"), but_count(now), test).at(0);
    return more & (now.back() < static_cast<double>(length));
  };
  state = primitives::loop(g, state, go_on, [&](Graph& body, const Vars& now) {
    Vars next = inlined(*loop.params.graph("body_graph"), but_count(now), body);
    next.push_back(now.back() + 1.0);
    return next;
  });
  for (Call& c : g.calls) is_whole(c), c.location = loop.location;
  return but_count(state);
}

}  // namespace

Call in_segments(const Call& loop, int64_t length) {
  const Graph& condition = *loop.params.graph("cond_graph");
  std::vector<graph::TensorType> types;
  for (const ValuePtr& v : loop.inputs) types.push_back(v->type);
  const GraphPtr outer =
      primitives::inner_graph(types, [&](Graph& g, const Vars& state) { return first_steps(g, loop, state, length); });

  Call result = loop;
  graph::Substitution fresh;
  result.params.set("cond_graph", clone(condition, fresh));
  result.params.set("body_graph", outer);
  is_whole(result);
  return result;
}

std::array<Call, 2> split(const Call& loop, int64_t length, Rest rest) {
  Graph first;
  Call others = loop;
  others.inputs = primitives::values(first_steps(first, loop, vars(first, loop.inputs), length));
  if (rest == Rest::in_segments) return {first.calls.at(0), in_segments(others, length)};
  constexpr int64_t all = int64_t(1) << 53;
  others = in_segments(others, all);
  is_whole(first.calls.at(0), length);
  is_whole(others, 0);
  return {first.calls.at(0), others};
}

int64_t stated_length(const Call& loop) {
  return loop.params.find("segment") == nullptr ? -1 : std::max<int64_t>(0, loop.params.integer("segment"));
}

std::optional<int64_t> kept_records(const Call& loop) {
  constexpr int64_t expected = 32;
  const int64_t segment = loop.params.find("segment") == nullptr ? INT64_MIN : loop.params.integer("segment");
  if (segment == 0) return std::nullopt;
  const bool scans = primitives::control_of(loop) == primitives::Control::scan;
  if (const auto steps = scans ? std::nullopt : trip_count(loop)) return steps;
  return segment < 0 ? std::min(expected, -1 - std::max(segment, -1 - expected)) : expected;
}

int64_t steps_like_state(const Call& loop, int64_t record_bytes) {
  if (loop.params.find("segment") != nullptr || trip_count(loop) || record_bytes == 0) return 0;
  int64_t state = 0;
  for (const ValuePtr& v : loop.inputs) state += size_in_bytes(v);
  const int64_t tape = handle_bytes + *kept_records(loop) * record_bytes;
  return state > tape ? state / record_bytes : 0;
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
