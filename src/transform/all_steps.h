// Calls on the few numbers that a step of a loop has, as calls on those of all steps: step_calls.cpp.
#pragma once
#include "primitives/vocabulary/var.h"
#include "transform/rewrite.h"

namespace anvil::transform {

// What things take, in operations on a register.
namespace step_costs {
constexpr int of_division = 8, of_function = 24;
constexpr int of_record = 2;   // to write a number and to read it
constexpr int of_waiting = 4;  // for the sum of the step before
}  // namespace step_costs

constexpr int64_t few_numbers = 4;  // of a step: more fill a register by themselves
inline bool is_few(const ValuePtr& v) { return elements(v->type.shape) <= few_numbers; }

constexpr size_t most_moved = 1000;  // calls: machine code for registers takes longer to make than for numbers

bool can_move(const Call&);      // to all steps at once
int cost_of_moved(const Call&);  // of the call in a step

// Values of a step as those of all steps, along one more dimension that is the last one.
class AllSteps {
 public:
  AllSteps(Graph& to, int64_t steps) : to_(to), steps_(steps) {}

  void set(const ValuePtr& v, const primitives::Var& all) { all_[v.get()] = all.value; }
  void same(const ValuePtr& v, const ValuePtr& at_every_step) { same_[v.get()] = at_every_step; }
  Shape shape(Shape step) const {
    step.push_back(steps_);
    return step;
  }
  bool has(const ValuePtr& v) const { return all_.count(v.get()) + same_.count(v.get()) != 0; }

  // A tensor that has the steps along another dimension, or from the last one on.
  primitives::Var turned(const ValuePtr& whole, int64_t dim, bool backwards) const;
  // A value, in a call whose result has this shape at a step.
  primitives::Var of(const ValuePtr&, const Shape& step) const;
  void add(const Call&);  // which can move

 private:
  Graph& to_;
  const int64_t steps_;
  std::unordered_map<const Value*, ValuePtr> all_, same_;
};

// Those of a loop that are made ahead of it. Whether there are any.
bool move_early(Graph& around, Call& loop, int64_t steps);
// Those that are made behind it: the loop is in the graph then. Whether there are any.
bool move_late(Graph& around, Call& loop, int64_t steps);

}  // namespace anvil::transform
