// A loop of a known number of steps that is about to give some of its calls away, to be made for all steps at once
// ahead of it or behind it: what its steps read, and what they leave behind.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "primitives/vocabulary/var.h"
#include "transform/loop.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"
#include "transform/trip_count.h"

namespace anvil::transform {

// A value of a step that is an element of a tensor from outside of the loop, along one dimension.
struct StepRead {
  ValuePtr whole, place;
  int64_t dim;
  int64_t steps() const { return whole->type.shape[static_cast<size_t>(dim)]; }
};

class StepLoop {
 public:
  StepLoop(Graph& around, Call& loop, int64_t steps);

 protected:
  static constexpr int64_t most_kept = int64_t(64) << 20;  // bytes, for all steps

  const Call* maker_of(const ValuePtr&) const;
  int reads(const ValuePtr& v) const;  // by calls and outputs of the step; twice where inner graphs may do so
  // The same value where it is the same at every step, as it is known around the loop.
  ValuePtr invariant(const ValuePtr&) const;
  std::optional<StepRead> read_of_step(const ValuePtr&) const;
  int direction(const ValuePtr& place);  // direction_of() the loop; as its body was, until it is changed
  bool is_tested(size_t carried);        // whether the condition reads a carried value

  // 0, 1, ... at the steps.
  ValuePtr number_of_step();
  // What a value is at all steps, after the loop, where a step has a place of its own: it is the last dimension.
  ValuePtr record(const ValuePtr&, const ValuePtr& place);
  // One more carried value; gives it as it is after the loop.
  ValuePtr carry(const ValuePtr& value, const ValuePtr& initial, const ValuePtr& next);
  // The loop no longer carries what it carried first at these places, ascending.
  void drop_carried(const std::vector<size_t>& places);

  Graph& around_;
  Call& loop_;
  const Loop seen_;  // its first carried values stay where they are until they are dropped
  Graph& body_;
  const int64_t steps_;
  const std::vector<Call> calls_;

 private:
  Graph* condition_ = nullptr;
  std::optional<Counter> count_;
  ValuePtr number_;
  size_t carried_;  // with what was added
  std::unordered_map<const Value*, const Call*> makers_;
  std::unordered_map<const Value*, int> reads_;
  std::unordered_map<const Value*, size_t> inputs_;
  Values tested_;
  std::unordered_map<const Value*, int> directions_;
  std::map<std::pair<const Value*, const Value*>, ValuePtr> recorded_;
};

// What becomes of a loop: nothing, a loop in its place, or one that is in the graph already, with what follows it.
enum class Rewritten : uint8_t { no, in_place, with_what_follows };
using LoopRewrite = std::function<Rewritten(Graph& around, Call& loop, int64_t steps)>;
// Of each loop of a known number of steps, inner ones first. Whether anything has changed.
bool rewrite_loops(Graph&, const LoopRewrite&);

}  // namespace anvil::transform
