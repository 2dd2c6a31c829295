// One forward walk: the tangents found so far, and how those of a call's results follow. forward.cpp has
// the walk and what follows from properties, transpose.cpp what follows from reverse rules,
// forward_control.cpp the inner graphs. Tangents that are zero are never made: they are null.
#pragma once
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "transform/activity.h"
#include "transform/selected.h"

namespace anvil::transform {

struct Loop;  // loop.h

class Pushforward {
 public:
  explicit Pushforward(Activity active) : active_(std::move(active)) {}
  void seed(const ValuePtr& v, const ValuePtr& tangent) { tangents_[v.get()] = tangent; }
  ValuePtr tangent(const ValuePtr&) const;
  // Appends `calls` to a graph, with those that make the tangents of their results.
  void run(const std::vector<Call>& calls, Graph& to);

 private:
  void step(const Call&, Graph& to);
  void apply_rule(const Call&, Graph& to);
  void by_rule(primitives::ForwardStep&);
  void per_element(primitives::ForwardStep&);
  static void transposed(primitives::ForwardStep&);
  void keep_zeros(primitives::ForwardStep&);
  ValuePtr kept_zeros(const Call&, Graph& to, size_t operand, const ValuePtr& term);
  // inner graphs
  void forward_once(const Call&, Graph& to);
  void forward_loop(const Call&, Graph& to);
  void enter_tapes(const Loop&, Call& made, Graph& body);
  void leave_tapes(const Loop&, Call& made, Graph& body);
  ValuePtr tangent_or_zero(const ValuePtr&) const;

  // The tangent of a tape is a tape of the tangents of some fields.
  struct TapeTangent {
    ValuePtr tape;
    std::vector<size_t> fields;
  };
  Activity active_;
  std::unordered_map<const Value*, ValuePtr> tangents_;
  std::unordered_map<const Value*, TapeTangent> tapes_;
  Selected selected_;  // of tangents
};

// The tangents of the results of a call with a reverse rule, from those of its operands; appends what makes
// them to `step.graph`. The rule maps cotangents of the results linearly to those of the operands, and its
// transpose is what is looked for.
void transpose_reverse(primitives::ForwardStep& step, const ValueList& residuals);
// The other way, for a call that has a forward rule only.
void transpose_forward(primitives::ReverseStep& step);

}  // namespace anvil::transform
