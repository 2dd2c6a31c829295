// One walk over the calls of a graph that records them for a batch: batch.cpp has the walk,
// batch_by_axes.cpp what follows from properties, batch_ruled.cpp the rules of calls, batch_control.cpp and batch_loop.cpp the rules of control
// flow, batch_by_example.cpp the loop over the examples.
#pragma once
#include <unordered_map>
#include <vector>

#include "primitives/families/control.h"
#include "primitives/vocabulary/batching.h"
#include "transform/rewrite.h"

namespace anvil::transform {

using graph::TensorType;
using primitives::BatchStep;
using primitives::inner_graph;
using primitives::Var;
using primitives::Vars;
using primitives::vars;
using ValueList = std::vector<ValuePtr>;

// What `acts` and `axes` say; no results where they say nothing.
void batch_by_axes(BatchStep&);
// The call whose definition and rules are those of the call, batched.
void batch_ruled(BatchStep&);

class Batcher {
 public:
  Batcher(Graph& to, int64_t size) : to_(&to), size_(size) {}
  // The value of the batch that stands for one of an example.
  void bind(const ValuePtr& v, ValuePtr value, bool batched) { forms_[v.get()] = {std::move(value), batched}; }
  void run(const std::vector<Call>&);
  ValuePtr whole(const ValuePtr&) const;  // with the batch's dimension

 private:
  // What stands for a value of an example. That of a tape is a tape: a field of its records differs by example
  // where `fields` says so, and where not all examples made every record, a record has one more field, which
  // examples did.
  struct Form {
    ValuePtr value;
    bool batched = false;
    std::vector<bool> fields = {};
    bool masked = false;
    bool at_end = false;  // where masked: whether those that an example made are the last ones, not the first
  };
  using Flags = std::vector<bool>;
  // Sets what calls are recorded into, and for which examples, until the end of a scope.
  class Inside;
  struct Loop;  // batch_loop.cpp

  Form form(const ValuePtr&) const;
  bool batched(const ValuePtr& v) const { return form(v).batched; }
  bool reads_batched(const Call&) const;  // in an inner graph
  bool differs(const Call&) const;        // by example, or must be made for each
  ValuePtr given(const ValuePtr& v, bool batched) const { return batched ? whole(v) : form(v).value; }
  ValuePtr chosen(const ValuePtr& mask, const ValuePtr& yes, const ValuePtr& no) const;
  ValuePtr masked_by(const ValuePtr& condition) const;  // and by the mask around
  TensorType of_batch(TensorType) const;
  ValuePtr input(const ValuePtr&, bool batched);

  void step(const Call&);
  Call translated(const Call&, bool inputs) const;
  void if_any(const Call&);
  void apply(const Call&);
  void by_expansion(const Call&);
  void by_example(const Call&);
  void call_for_example(const Call&, const Var& example, Vars& results);
  Call of_example(const Call&, const Var& example);

  void checkpoint(const Call&);
  void branch(const Call&);
  void branch_by_example(const Call&);
  void loop(const Call&);
  void loop_together(const Loop&);
  void loop_by_example(const Loop&);
  void scan(const Call&);
  ValuePtr condition(const Graph&, const ValueList& state, const Flags&);
  ValuePtr scan_inputs(const Loop&, Graph& body);
  void give_records(const Loop&, const ValuePtr& mask);
  static std::vector<int64_t> new_counts(const Loop&, bool masked);
  ValueList record_loop(const Loop&, const ValueList& state, const GraphPtr& test, const GraphPtr& body, bool masked);
  void bind_tapes(const Loop&, const ValueList& results, bool masked, bool at_end);

  Graph* to_;
  int64_t size_;
  ValuePtr mask_;  // the examples that come here, a bool for each; null: all of them
  std::unordered_map<const Value*, Form> forms_;
  std::vector<GraphPtr> kept_;  // graphs whose values forms_ knows by address
};

class Batcher::Inside {
 public:
  Inside(Batcher& b, Graph& to, ValuePtr mask) : batcher_(b), to_(b.to_), mask_(b.mask_) {
    b.to_ = &to;
    b.mask_ = std::move(mask);
  }
  ~Inside() {
    batcher_.to_ = to_;
    batcher_.mask_ = mask_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Batcher& batcher_;
  Graph* to_;
  ValuePtr mask_;
};

}  // namespace anvil::transform
