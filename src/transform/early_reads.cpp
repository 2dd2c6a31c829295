// In loops, what is read of the result of calls per element is read of their operands:
//
//   while                                while
//     %v = sine (%x)                       %p = %x[%i]
//     %p = %v[%i]                          %q = sine (%p)        with %q in the place of %p
//
// so that a step of the way back touches what the step has read and nothing else. Unlike what is linear
// (hoist_linear.cpp) these calls cannot be made before the loop: where their slope is infinite the cotangent has to
// be known to be zero, which is known in the loop. The result is read as it is where the part is not small, since
// then it had better be made once.
#include <algorithm>
#include <set>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "primitives/vocabulary/var.h"
#include "transform/activity.h"
#include "transform/needed.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

using primitives::Acts;
using primitives::Control;
using primitives::Var;

// To read one element of a result that is there takes as long as to go back through so many in vector registers.
constexpr int64_t least_of_a_part = 16;

// Elements of its first operand, at places that the others tell.
bool is_read(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  if (p.acts != Acts::moves || !p.view || c.outputs.size() != 1) return false;
  for (size_t k = 1; k < c.inputs.size(); ++k)
    if (!p.indices.contains(k, c.inputs.size())) return false;
  return elements(c.outputs[0]->type.shape) * least_of_a_part <= elements(c.inputs.at(0)->type.shape);
}
bool is_per_element(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  return p.acts == Acts::per_element && !p.effect && c.outputs.size() == 1 && subgraphs(c).empty();
}
// One number everywhere.
bool is_spread(const Call& c) {
  return has_axes(c, primitives::Axes::spread) && c.inputs.size() == 1 && elements(c.inputs[0]->type.shape) == 1;
}

// A read of some other tensors of the shape of the one that it reads, recorded into a graph.
class Reader {
 public:
  Reader(const Call& read, Graph& to) : read_(read), to_(to), whole_(read.inputs[0]->type.shape) {}

  // Of the result of a call.
  void take(const Call& c) {
    const Shape& part = read_.outputs[0]->type.shape;
    const size_t before = to_.calls.size();
    ValueList made;
    if (is_spread(c)) {
      const Var number = primitives::reshape({&to_, c.inputs[0]}, {});
      made.push_back(primitives::broadcast_in_dim(number, part, {}).value);
    } else {
      ValueList inputs;
      for (const ValuePtr& v : c.inputs) inputs.push_back(v->type.shape == whole_ ? of(v) : v);
      made = primitives::record(to_, primitives::primitive_of(c), std::move(inputs), c.params);
    }
    graph::locate(to_.calls, before, c.location, c.derivative);
    parts_[c.outputs[0].get()] = made.at(0);
  }
  ValuePtr of(const ValuePtr& v) {
    ValuePtr& part = parts_[v.get()];
    if (part) return part;
    if (v->kind == Value::Kind::literal) {
      const TensorType type{v->type.dtype, read_.outputs[0]->type.shape, v->type.ambiguous};
      return part = graph::make_literal(v->literal, type);
    }
    ValueList inputs = read_.inputs;
    inputs[0] = v;
    return part = primitives::record(to_, primitives::primitive_of(read_), std::move(inputs), read_.params).at(0);
  }

 private:
  const Call& read_;
  Graph& to_;
  const Shape whole_;
  graph::Substitution parts_;
};

class EarlyReads {
 public:
  explicit EarlyReads(const Activity& active) : active_(active) {}

  void visit(Graph& g, bool in_loop) {
    std::vector<Call> calls;
    calls.swap(g.calls);
    for (Call& call : calls) {
      poll();
      visit_inner(call, in_loop);
      if (in_loop && is_read(call) && read_early(call, g)) continue;
      if (in_loop && active_.reaches(call)) add(call);
      g.calls.push_back(std::move(call));
    }
  }
  bool any() const { return any_; }

 private:
  void add(const Call& c) {
    if (!is_per_element(c) && !is_spread(c)) return;
    numbers_[c.outputs[0].get()] = makers_.size();
    makers_.push_back(c);
  }

  // What is made outside of a loop is made once, and so is read there by the steps of the loop.
  void visit_inner(Call& call, bool in_loop) {
    const auto control = primitives::control_of(call);
    if (control == Control::none) return;
    const bool within = control == Control::branch || control == Control::once;
    std::unordered_map<const Value*, size_t> around;
    if (!within) around.swap(numbers_);
    rewrite_subgraphs(call, [&](Graph& inner) { visit(inner, in_loop || !within); });
    if (!within) numbers_.swap(around);
  }

  // Whether the calls that now stand at the end of `g` make the result.
  bool read_early(const Call& read, Graph& g) {
    const std::set<size_t> calls = made_by_calls(read.inputs[0]);
    if (calls.empty()) return false;
    const size_t before = g.calls.size();
    Reader reader(read, g);
    for (const size_t number : calls) reader.take(makers_[number]);
    const ValuePtr& result = read.outputs[0];
    if (g.calls.back().outputs[0]->type != result->type) {
      g.calls.resize(before);
      return false;
    }
    g.calls.back().outputs[0] = result;
    graph::locate(g.calls, before, read.location, read.derivative);
    for (size_t k = before; k < g.calls.size(); ++k) add(g.calls[k]);  // of which less may be read
    return any_ = true;
  }

  // Calls that a value comes from, place by place, in their order; the last one makes it.
  std::set<size_t> made_by_calls(const ValuePtr& v) const {
    std::set<size_t> found;
    ValueList waiting = {v};
    while (!waiting.empty()) {
      const ValuePtr at = waiting.back();
      waiting.pop_back();
      const auto number = numbers_.find(at.get());
      if (at->type.shape != v->type.shape || number == numbers_.end()) continue;
      if (found.insert(number->second).second) append(waiting, makers_[number->second].inputs);
    }
    return found;
  }

  const Activity& active_;
  std::unordered_map<const Value*, size_t> numbers_;  // of the calls that make them, in the loop that is visited
  std::vector<Call> makers_;
  bool any_ = false;
};

}  // namespace

bool read_early(Graph& g, const Activity& active) {
  const KeptValues kept(g);
  EarlyReads reads(active);
  reads.visit(g, false);
  if (reads.any()) list_inner_constants(g);
  return reads.any();
}

}  // namespace anvil::transform
