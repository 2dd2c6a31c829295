// Transposes around row-major reshapes. What such a reshape is in R's order stands between two calls that reverse
// dimensions; those that are there already, as where R's own reshape was written as text and read again, take
// these back, others become one with them:
//
//   %1 = transpose [permutation = (2, 1)] (%x)        %3 = reshape [shape = (6, 2)] (%x)
//   %2 = transpose [permutation = (2, 1)] (%1)
//   %3 = reshape [shape = (6, 2)] (%2)
//
// Transposes that stand at no reshape stay as they are.
#include <algorithm>

#include "base/interrupt.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

using primitives::Axes;
using Ints = std::vector<int64_t>;

class Turns {
 public:
  explicit Turns(const Graph& g) {
    each_call(g, [this](const Call& c) {
      if (!has_axes(c, Axes::regrouped) || keeps_row_major(c.inputs[0]->type.shape, c.outputs[0]->type.shape)) return;
      reshaped_.insert(c.inputs[0].get());
      reshaped_.insert(c.outputs[0].get());
    });
    each_call(g, [this](const Call& c) {
      if (reverses_all(c) && at_reshape(c)) turns_.insert(c.outputs[0].get());
    });
  }

  void visit(Graph& g) {
    for (Call& call : g.calls) {
      poll();
      substitute_all(map_, call.inputs);
      rewrite_subgraphs(call, [this](Graph& inner) { visit(inner); });
      if (has_axes(call, Axes::permuted)) join(call);
    }
    substitute_all(map_, g.outputs);
    substitute_all(map_, g.constants);
  }

 private:
  struct Transpose {
    ValuePtr x;
    Ints permutation;
    bool turns;
  };

  template <class F>
  static void each_call(const Graph& g, F f) {
    for (const Call& c : g.calls) {
      f(c);
      for (const GraphPtr& inner : subgraphs(c)) each_call(*inner, f);
    }
  }
  bool at_reshape(const Call& c) const {
    return reshaped_.count(c.inputs[0].get()) != 0 || reshaped_.count(c.outputs[0].get()) != 0;
  }
  void join(Call& c) {
    const ValuePtr& result = c.outputs[0];
    const bool turns = turns_.count(result.get()) != 0;
    const auto before = made_.find(c.inputs[0].get());
    Ints permutation = c.params.ints("permutation");
    if (before != made_.end() && (turns || before->second.turns)) {
      for (int64_t& d : permutation) d = before->second.permutation[static_cast<size_t>(d)];
      c.inputs[0] = before->second.x;
      c.params.set("permutation", permutation);
      if (std::is_sorted(permutation.begin(), permutation.end())) map_[result.get()] = c.inputs[0];
    }
    made_[result.get()] = {c.inputs[0], std::move(permutation), turns};
  }

  Values reshaped_;  // operands and results of row-major reshapes
  Values turns_;     // results of transposes that stand there
  std::unordered_map<const Value*, Transpose> made_;
  graph::Substitution map_;
};

}  // namespace

bool keeps_row_major(Shape from, Shape to) {
  std::erase(from, 1);
  std::erase(to, 1);
  return from == to;
}

void join_turns(Graph& g) { Turns(g).visit(g); }

}  // namespace anvil::transform
