// What both modes of differentiation begin with: which values a derivative flows through, and graphs made
// ready, so that each call it flows through has a rule.
#pragma once
#include <unordered_set>
#include <vector>

#include "primitives/vocabulary/composite.h"

namespace anvil::transform {

using graph::Call;
using graph::Graph;
using graph::GraphPtr;
using graph::TensorType;
using graph::Value;
using graph::ValuePtr;
using ValueList = std::vector<ValuePtr>;

// The values that depend on some given ones in a differentiable way, inner graphs included.
class Activity {
 public:
  Activity(const ValueList& sources, const std::vector<Call>&);
  void propagate(const std::vector<Call>&);
  bool contains(const ValuePtr& v) const { return values_.count(v.get()) != 0; }
  bool reaches(const Call&) const;  // whether it contains a result
  // Error("gradient") where a call whose rules speak of its operands only reads one of the values besides.
  void check_reads(const Call&) const;

 private:
  void propagate(const Call&);
  void propagate_regions(const Call&, const std::vector<primitives::Region>&);
  void mark(const ValuePtr&);
  std::unordered_set<const Value*> values_;
};

// A copy of a graph, in which those calls are expanded that a derivative by `sources` flows through and that
// have no rule for this mode. Loops read what they would carry unchanged where it comes from, and what is linear in
// what does not change is made before them. Other values are shared.
struct Differentiable {
  GraphPtr graph;
  Activity active;
};
Differentiable differentiable(const Graph&, const ValueList& sources, primitives::Reader mode);

// What loops make, in a linear way, of values that are the same at each step is made before them: hoist_linear.cpp.
void hoist_linear(Graph&, const Activity&);
// What loops read of the result of calls per element becomes such calls on what they read: early_reads.cpp. Gives
// whether there was any.
bool read_early(Graph&, const Activity&);

// The inputs that are marked; Error("gradient") where one is no float.
ValueList marked_inputs(const Graph&, const std::vector<bool>& wrt);
// A derivative as a result: of exactly this type, ambiguity included; null is zero.
ValuePtr as_result(const ValuePtr& derivative, const TensorType&, Graph& to);

}  // namespace anvil::transform
