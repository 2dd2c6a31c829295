// Regions on whole tensors: every scalar becomes a tensor of the wanted shape.
#include "primitives/vocabulary/region.h"

#include <algorithm>

#include "base/interrupt.h"

namespace anvil::primitives {

using graph::Call;
using graph::Graph;

namespace {

// Primitives that leave a scalar as it is.
bool keeps_scalars(const Call& c) { return primitive_of(c).acts == Acts::moves && c.inputs.size() == 1; }
bool is_branch(const Call& c) { return primitive_of(c).control == Control::branch; }

bool all_scalar(const std::vector<ValuePtr>& values) {
  return std::all_of(values.begin(), values.end(), [](const ValuePtr& v) { return v->type.shape.empty(); });
}

void check_calls(const char* primitive, const Graph& region) {
  for (const Call& c : region.calls) {
    bool known = primitive_of(c).elementwise || keeps_scalars(c) || is_branch(c);
    if (!known || !all_scalar(c.inputs) || !all_scalar(c.outputs))
      throw Error("argument",
                  "The function of `" + std::string(primitive) + "` must consist of elementwise operations on scalars.",
                  {"x It calls `" + c.primitive->name + "`."});
    for (const auto& inner : subgraphs(c)) check_calls(primitive, *inner);
  }
}

std::string listed(const std::vector<TensorType>& types) {
  std::string text;
  for (const TensorType& t : types)
    text += (text.empty() ? "" : ", ") + std::string(name(t.dtype)) +
            (t.shape.empty() ? "" : "[" + join(t.shape, ", ") + "]");
  return text.empty() ? "nothing" : text;
}
void check_types(const char* primitive, const char* what, const std::vector<ValuePtr>& got,
                 const std::vector<TensorType>& expected) {
  std::vector<TensorType> types;
  for (const ValuePtr& v : got) types.push_back(v->type);
  bool same = std::equal(types.begin(), types.end(), expected.begin(), expected.end(),
                         [](const TensorType& a, const TensorType& b) { return same_type(a, b); });
  if (!same)
    throw Error("argument",
                "The function of `" + std::string(primitive) + "` must " + what + " " + listed(expected) + ".",
                {"x Got " + listed(types) + "."});
}

class Lift {
 public:
  Lift(Graph& to, const Shape& shape) : to_(to), shape_(shape) {}
  void bind(const ValuePtr& v, const ValuePtr& tensor) { map_[v.get()] = tensor; }

  std::vector<Var> run(const Graph& region) {
    for (const Call& c : region.calls) {
      poll();
      call(c);
    }
    std::vector<Var> results;
    for (const ValuePtr& v : region.outputs) results.push_back(tensor(v));
    return results;
  }

 private:
  Var tensor(const ValuePtr& v) {
    if (auto it = map_.find(v.get()); it != map_.end()) return {&to_, it->second};
    Var spread = v->kind == graph::Value::Kind::literal ? literal(to_, v->literal, {v->type.dtype, shape_})
                 : shape_.empty()                       ? Var{&to_, v}
                                                        : broadcast_in_dim({&to_, v}, shape_, {});
    bind(v, spread.value);
    return spread;
  }
  void call(const Call& c) {
    if (is_branch(c)) return branch(c);
    if (keeps_scalars(c)) return bind(c.outputs[0], tensor(c.inputs[0]).value);
    std::vector<ValuePtr> operands;
    for (const ValuePtr& v : c.inputs) operands.push_back(tensor(v).value);
    std::vector<ValuePtr> results = record(to_, primitive_of(c), operands, c.params, c.location);
    for (size_t i = 0; i < results.size(); ++i) bind(c.outputs[i], results[i]);
  }
  void branch(const Call& c) {
    Var condition = tensor(c.inputs[0]);
    std::vector<Var> yes = run(*c.params.graph("true_graph")), no = run(*c.params.graph("false_graph"));
    for (size_t i = 0; i < yes.size(); ++i) bind(c.outputs[i], select(condition, yes[i], no[i]).value);
  }

  Graph& to_;
  Shape shape_;
  graph::Substitution map_;
};

}  // namespace

void check_region(const char* primitive, const Graph& region, const std::vector<TensorType>& inputs,
                  const std::vector<TensorType>& outputs) {
  check_types(primitive, "take", region.inputs, inputs);
  check_types(primitive, "give", region.outputs, outputs);
  check_calls(primitive, region);
}

std::vector<Var> lift(Graph& to, const Graph& region, const std::vector<Var>& arguments, const Shape& shape) {
  Lift lifted(to, shape);
  for (size_t i = 0; i < arguments.size(); ++i) lifted.bind(region.inputs[i], arguments[i].value);
  return lifted.run(region);
}

graph::GraphPtr flipped(const Graph& region) {
  graph::Substitution same;
  const graph::GraphPtr f = graph::clone(region, same);
  const auto half = static_cast<std::ptrdiff_t>(f->inputs.size() / 2);
  std::rotate(f->inputs.begin(), f->inputs.begin() + half, f->inputs.end());
  return f;
}

std::optional<loops::Op> single_operation(const Graph& region) {
  using loops::Op;
  static constexpr Op commutative[] = {Op::add,     Op::mul,    Op::maximum, Op::minimum,
                                       Op::bit_and, Op::bit_or, Op::bit_xor};
  if (region.calls.size() != 1 || region.inputs.size() != 2 || region.outputs.size() != 1) return std::nullopt;
  const Call& c = region.calls[0];
  const std::vector<ValuePtr>& in = region.inputs;
  const bool both = c.inputs == in || (c.inputs.size() == 2 && c.inputs[0] == in[1] && c.inputs[1] == in[0]);
  const auto op = primitive_of(c).op;
  const bool known = op && std::find(std::begin(commutative), std::end(commutative), *op) != std::end(commutative);
  return both && known && region.outputs[0] == c.outputs[0] ? op : std::nullopt;
}

}  // namespace anvil::primitives
