// Algebra on calls, each rule exact for every float: the list of what is allowed follows
// IEEE 754 (x + 0 is no identity: -0 + 0 is 0; x + -0 is one).
#include <algorithm>
#include <optional>

#include "base/interrupt.h"
#include "primitives/primitive.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

using Ints = std::vector<int64_t>;

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
    const std::string& name = call.primitive->name;
    if (ValuePtr folded = fold(call)) return folded;
    if (name == "mul") return is(call, 1, 1) ? call.inputs[0] : is(call, 0, 1) ? call.inputs[1] : nullptr;
    if (name == "divide") return is(call, 1, 1) ? call.inputs[0] : nullptr;
    if (name == "sub") return is(call, 1, 0.0) ? call.inputs[0] : nullptr;
    if (name == "add") return is(call, 1, -0.0) ? call.inputs[0] : is(call, 0, -0.0) ? call.inputs[1] : nullptr;
    if (name == "power") return power(call);
    if (name == "negate") return before_negation(call.inputs[0]);
    if (name == "transpose") return transpose(call);
    if (name == "reshape") return reshape(call);
    if (name == "broadcast_in_dim") return broadcast(call);
    if (name == "select") return select(call);
    if (name == "convert") return call.inputs[0];
    return nullptr;
  }

  const Call* maker(const ValuePtr& v, std::string_view primitive) const {
    auto it = makers_.find(v.get());
    return it != makers_.end() && it->second->primitive->name == primitive ? it->second : nullptr;
  }
  ValuePtr before_negation(const ValuePtr& v) const {
    const Call* inner = maker(v, "negate");
    return inner ? inner->inputs[0] : nullptr;
  }

  // The one number that all elements are, when that is known.
  static std::optional<Scalar> splat(const ValuePtr& v) {
    if (v->kind == Value::Kind::literal) return v->literal.rounded_to(v->type.dtype);
    return std::nullopt;
  }
  // 0 and -0 differ for floats; integers have one zero.
  bool is(const Call& call, size_t operand, double x) const {
    DType dtype = call.inputs[operand]->type.dtype;
    if (!is_numeric(dtype)) return false;
    auto value = splat(call.inputs[operand]);
    return value && *value == Scalar(x).rounded_to(dtype);
  }

  // A call that makes equal elements of equal elements: an elementwise one is evaluated once,
  // by the formula that would run.
  static ValuePtr fold(const Call& call) {
    static const std::unordered_set<std::string_view> moving = {"broadcast_in_dim", "reshape",      "transpose",
                                                                "reverse",          "static_slice", "dynamic_slice"};
    const auto& primitive = primitives::primitive_of(call);
    const graph::TensorType& type = call.outputs[0]->type;
    if (primitive.name == "fill")
      return graph::make_literal(call.params.get<Scalar>("value").rounded_to(type.dtype), type);
    if (moving.count(primitive.name) != 0) {
      auto value = splat(call.inputs[0]);
      return value ? graph::make_literal(*value, type) : nullptr;
    }
    if (!primitive.elementwise || call.inputs.empty() || primitive.name == "bitcast_convert" || has_effect(call))
      return nullptr;
    std::vector<graph::Tensor> operands;
    for (const ValuePtr& v : call.inputs) {
      auto value = splat(v);
      if (!value) return nullptr;
      operands.push_back(graph::full({v->type.dtype, {}}, *value));
    }
    std::vector<const graph::Tensor*> pointers;
    for (const auto& t : operands) pointers.push_back(&t);
    graph::Tensor result = graph::allocate({type.dtype, {}});
    primitive.elementwise(pointers, result, call.params);
    return graph::make_literal(element(result, 0), type);
  }

  ValuePtr power(Call& call) {
    if (is(call, 1, 1)) return call.inputs[0];
    if (!is(call, 1, 2) || call.inputs[0]->type.ambiguous != call.outputs[0]->type.ambiguous) return nullptr;
    call.primitive = &primitives::registry().at("mul");
    call.inputs[1] = call.inputs[0];
    return nullptr;
  }

  static ValuePtr select(const Call& call) {
    auto condition = splat(call.inputs[0]);
    return condition                          ? call.inputs[condition->as<bool>() ? 1 : 2]
           : call.inputs[1] == call.inputs[2] ? call.inputs[1]
                                              : nullptr;
  }

  ValuePtr transpose(Call& call) {
    Ints& permutation = std::get<Ints>(call.params.items[0].value);
    if (const Call* inner = maker(call.inputs[0], "transpose")) {
      const Ints& first = inner->params.ints("permutation");
      for (int64_t& d : permutation) d = first[static_cast<size_t>(d)];
      call.inputs[0] = inner->inputs[0];
    }
    return std::is_sorted(permutation.begin(), permutation.end()) ? call.inputs[0] : nullptr;
  }
  ValuePtr reshape(Call& call) {
    if (const Call* inner = maker(call.inputs[0], "reshape")) call.inputs[0] = inner->inputs[0];
    return call.inputs[0]->type.shape == call.outputs[0]->type.shape ? call.inputs[0] : nullptr;
  }
  ValuePtr broadcast(Call& call) {
    const Ints& dims = call.params.ints("broadcast_dimensions");
    if (const Call* inner = maker(call.inputs[0], "broadcast_in_dim")) {
      Ints composed;
      for (int64_t d : inner->params.ints("broadcast_dimensions")) composed.push_back(dims[static_cast<size_t>(d)]);
      for (graph::Param& p : call.params.items)
        if (p.name == "broadcast_dimensions") p.value = composed;
      call.inputs[0] = inner->inputs[0];
    }
    bool in_place = call.inputs[0]->type.shape == call.outputs[0]->type.shape;
    const Ints& now = call.params.ints("broadcast_dimensions");
    return in_place && std::is_sorted(now.begin(), now.end()) ? call.inputs[0] : nullptr;
  }

  graph::Substitution map_;
  std::unordered_map<const Value*, const Call*> makers_;  // of the graph that is visited and those around it
};

}  // namespace

void simplify_algebra(Graph& g) { Algebra().visit(g); }

}  // namespace anvil::transform
