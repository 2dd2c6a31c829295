// What a loop makes at each step of values that are the same at each step, where that is linear, is made before it:
//
//   while                              %v = reverse (%x)
//     %v = reverse (%x)                while
//     %p = %v[%i]                        %p = %v[%i]
//
// so that the cotangent of %v grows in place, an element a step, and is taken back to %x once. A call that is not
// linear stays: where its slope is infinite the cotangent has to be known to be zero, which is known in the loop.
// So does one whose result is larger than what it reads, since that would have to be kept.
#include <algorithm>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "transform/activity.h"
#include "transform/needed.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

bool is_linear(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  int64_t largest = 0;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (is_float(c.inputs[i]->type.dtype) && !p.linear.contains(i, c.inputs.size())) return false;
    largest = std::max(largest, elements(c.inputs[i]->type.shape));
  }
  return !p.bilinear && !p.selects && subgraphs(c).empty() && c.outputs.size() == 1 &&
         elements(c.outputs[0]->type.shape) <= largest;
}

class LinearHoister {
 public:
  explicit LinearHoister(const Activity& active) : active_(active) {}

  void visit(Graph& g) {
    std::vector<Call> calls;
    for (Call& call : g.calls) {
      poll();
      rewrite_subgraphs(call, [this](Graph& inner) { visit(inner); });
      if (primitives::repeats(call)) {
        Graph& body = *call.params.graph("body_graph");
        Values moving = addresses(body.inputs);
        take(body, moving, calls);
      }
      calls.push_back(std::move(call));
    }
    g.calls = std::move(calls);
  }
  bool any() const { return any_; }

 private:
  // Of a body and the branches in it; `moving` grows by what stays.
  void take(Graph& g, Values& moving, std::vector<Call>& before) {
    std::vector<Call> stay;
    for (Call& c : g.calls) {
      const ValueList list = reads(c);
      const bool moves =
          std::any_of(list.begin(), list.end(), [&](const ValuePtr& v) { return moving.count(v.get()) != 0; });
      if (!moves && active_.reaches(c) && is_linear(c)) {
        any_ = true;
        before.push_back(std::move(c));
        continue;
      }
      for (const ValuePtr& v : c.outputs) moving.insert(v.get());
      const auto control = primitives::control_of(c);
      if (control == primitives::Control::branch || control == primitives::Control::once)
        rewrite_subgraphs(c, [&](Graph& inner) { take(inner, moving, before); });
      stay.push_back(std::move(c));
    }
    g.calls = std::move(stay);
  }

  const Activity& active_;
  bool any_ = false;
};

}  // namespace

void hoist_linear(Graph& g, const Activity& active) {
  const KeptValues kept(g);
  LinearHoister hoister(active);
  hoister.visit(g);
  if (hoister.any()) list_inner_constants(g);
}

}  // namespace anvil::transform
