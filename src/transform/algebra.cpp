// Algebra on calls, each rule exact for every float: the list of what is allowed follows
// IEEE 754 (x + 0 is no identity: -0 + 0 is 0; x + -0 is one). The rules are the primitives';
// what follows from their properties is here.
#include <algorithm>

#include "base/interrupt.h"
#include "primitives/vocabulary/simplification.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

using primitives::Acts;
using primitives::Primitive;
using primitives::splat;

class Algebra {
 public:
  void visit(Graph& g) {
    for (Call& call : g.calls) {
      poll();
      substitute_all(map_, call.inputs);
      rewrite_subgraphs(call, [this](Graph& inner) { visit(inner); });
      if (call.outputs.size() != 1) continue;
      if (ValuePtr same = equivalent(call); same && same->type == call.outputs[0]->type) {
        map_[call.outputs[0].get()] = same;
        continue;
      }
      makers_[call.outputs[0].get()] = &call;
    }
    std::erase_if(g.calls,
                  [this](const Call& c) { return c.outputs.size() == 1 && map_.count(c.outputs[0].get()) != 0; });
    substitute_all(map_, g.outputs);
    substitute_all(map_, g.constants);
  }

 private:
  // A value that is known to be the result of the call already. May change the call into
  // a cheaper one instead.
  ValuePtr equivalent(Call& call) {
    const Primitive& p = primitives::primitive_of(call);
    if (p.effect) return nullptr;
    if (ValuePtr folded = p.acts == Acts::per_element ? evaluated(p, call)
                          : p.acts == Acts::moves     ? moved(p, call)
                                                      : nullptr)
      return folded;
    primitives::Simplification s(call, maker_);
    for (const auto& [k, number] : p.identities)
      if (s.is(k, number)) return call.inputs[1 - k];
    return p.simplify ? p.simplify(s) : nullptr;
  }

  // Equal elements make equal elements: one is evaluated, by the formula that would run.
  static ValuePtr evaluated(const Primitive& p, const Call& call) {
    if (call.inputs.empty()) return nullptr;
    std::vector<graph::Tensor> operands;
    for (const ValuePtr& v : call.inputs) {
      auto value = splat(v);
      if (!value) return nullptr;
      operands.push_back(graph::full({v->type.dtype, {}}, *value));
    }
    std::vector<const graph::Tensor*> pointers;
    for (const auto& t : operands) pointers.push_back(&t);
    const graph::TensorType& type = call.outputs[0]->type;
    graph::Tensor result = graph::allocate({type.dtype, {}});
    p.elementwise(pointers, result, call.params);
    return graph::make_literal(element(result, 0), type);
  }

  // What is moved from tensors of the same equal elements.
  static ValuePtr moved(const Primitive& p, const Call& call) {
    std::optional<Scalar> all;
    for (size_t k = 0; k < call.inputs.size(); ++k) {
      if (p.indices.contains(k, call.inputs.size())) continue;
      auto value = splat(call.inputs[k]);
      if (!value || (all && !(*all == *value))) return nullptr;
      all = value;
    }
    return all ? graph::make_literal(*all, call.outputs[0]->type) : nullptr;
  }

  graph::Substitution map_;
  std::unordered_map<const Value*, const Call*> makers_;  // of the graph that is visited and those around it
  const primitives::Maker maker_ = [this](const ValuePtr& v) -> const Call* {
    auto it = makers_.find(v.get());
    return it != makers_.end() ? it->second : nullptr;
  };
};

}  // namespace

void simplify_algebra(Graph& g) {
  const KeptValues kept(g);
  Algebra().visit(g);
}

}  // namespace anvil::transform
