// One backward walk: the cotangents found so far, and the rules of control flow. reverse.cpp has the walk, reverse_branch.cpp and
// reverse_loop.cpp the rules of control flow. Cotangents that are zero are never made: they are null.
#pragma once
#include <array>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "primitives/families/control.h"
#include "transform/activity.h"
#include "transform/selected.h"

namespace anvil::transform {

struct Loop;  // loop.h

class Pullback {
 public:
  // Derivatives of `calls` with respect to `targets`, recorded in `to`. Those of `calls` that stand in
  // `to` as well begin to keep there what the way back reads: loops record, others are augmented.
  Pullback(const std::vector<Call>& calls, const ValueList& targets, Graph& to)
      : Pullback(calls, Activity(targets, calls), to) {}
  Pullback(const std::vector<Call>& calls, Activity, Graph& to);
  bool depends(const ValuePtr& v) const { return active_.contains(v); }
  void seed(const ValuePtr& output, const ValuePtr& cotangent);
  void run();
  ValuePtr cotangent(const ValuePtr&) const;

 private:
  using Layout = std::vector<TensorType>;  // of the records of a tape

  void step(const Call&);
  void apply_rule(const Call&);
  ValueList augment(const Call&);
  void put_augmented();
  void keep_zeros(const primitives::ReverseStep&, ValueList& results);
  Selected::Weights weights_of(const primitives::ReverseStep&, size_t operand);
  primitives::Var any_taken(const ValueList& cotangents, DType, Graph& to);
  void reverse_checkpoint(const Call&);
  void reverse_if(const Call&);
  // What comes back to a call with inner graphs: the cotangents of its results, and the sums so far of `targets`.
  struct Flow {
    ValueList targets, sums, cotangents;
  };
  Flow flow_into(const Call&, ValueList targets) const;
  // Another graph that computes the outputs of an inner one again and then the sums of the cotangents of the
  // targets: the sum so far, itself, where nothing comes back, null where there is none. Or, as weights, which of
  // their elements were taken (selected.h).
  struct Again {
    GraphPtr back;
    ValueList results;                        // those of the call
    std::unordered_set<const Value*> remade;  // all that the forward graph makes
    std::vector<bool> selected;               // of which sums there may be elements that were not taken
  };
  Again recomputed(const Graph& inner, const Flow&, bool weights);
  std::vector<GraphPtr> weights_through(const std::vector<GraphPtr>& inner, const Flow&);
  void keep_zeros(const ValuePtr& sum, const std::function<ValueList(Graph&)>& weights, const Flow&,
                  const ValuePtr& target);
  void keep_of_branches(const Call&, std::vector<Again>&);
  void reverse_loop(const Call&);
  void carry_back(const Call&);
  ValueList active_captures(const Graph& inner) const;
  struct Backward;  // the body of the loop that carries cotangents back
  struct Step;      // what that body needs of a step forwards
  struct Record {   // a tape of what that body reads, and which of its inputs the fields are
    ValuePtr tape;
    ValueList fields;
  };
  Backward backward_body(const Loop&, const std::vector<bool>& carries) const;
  void reverse_in_segments(const Call&, int64_t length);
  void reverse_split(const Call&, const std::array<Call, 2>& parts);
  static Step forward_step(const Loop&, Backward&);
  static Step smallest_step(const Loop&, Backward&);
  std::vector<Record> record(const Loop&, Backward&, Step);
  ValuePtr add_tape(const Call&, GraphPtr body, size_t fields);
  // `layout` tells what a tape of cotangents holds.
  void accumulate(const ValuePtr& value, const ValuePtr& cotangent, const Layout& layout = {});
  void replace(const ValuePtr& value, const ValuePtr& sum);  // by a sum that contains the one so far
  ValuePtr add_tapes(const Layout&, const ValuePtr& a, const ValuePtr& b);
  ValuePtr reverse_tape(const Layout&, const ValuePtr& tape);

  const std::vector<Call>& calls_;
  Graph& to_;
  Activity active_;
  std::unordered_map<const Value*, ValuePtr> cotangents_;
  Selected selected_;  // of cotangents
  // The places in `to` of control flow and of calls that can be augmented, by their first result.
  std::unordered_map<const Value*, size_t> places_;
  std::unordered_map<size_t, std::vector<Call>> augmented_;  // what comes to stand in these places
  std::unordered_set<const Value*> begun_;                   // by the first steps of loops that were split
  // In the body of a loop: what is not the same at each step, but for counters.
  std::unordered_set<const Value*> moving_;
};

}  // namespace anvil::transform
