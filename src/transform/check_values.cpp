#include "transform/check_values.h"

#include <numeric>

#include "primitives/families/check.h"
#include "primitives/families/control.h"
#include "transform/rewrite.h"

namespace anvil::transform {
namespace {

using primitives::Var;

bool has_floats(const ValuePtr& v) { return is_float(v->type.dtype) && !v->type.tape; }

// Whether the call can make a fault: of floats, which it computes.
bool may_be_at_fault(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  return p.control == primitives::Control::none && p.acts != primitives::Acts::moves && !c.inputs.empty() &&
         std::any_of(c.outputs.begin(), c.outputs.end(), has_floats);
}

class Checks {
 public:
  explicit Checks(Faults faults) : faults_(faults) {}

  void visit(Graph& g) {
    for (Call& c : std::exchange(g.calls, {})) {
      if (primitives::control_of(c) != primitives::Control::none) visit_regions(g, c);
      g.calls.push_back(c);
      if (may_be_at_fault(c)) check(g, c);
    }
  }

 private:
  // What a region reads from around it is looked at there, once. Flags of its own values are known to it alone.
  void visit_regions(Graph& g, Call& c) {
    for (const GraphPtr& inner : subgraphs(c))
      for (const ValuePtr& v : captures(*inner))
        if (has_floats(v)) at_fault(g, v);
    rewrite_subgraphs(c, [this](Graph& inner) {
      Checks own(*this);
      own.visit(inner);
      list_constants(inner);
    });
  }

  void check(Graph& g, const Call& c) {
    const auto any = [&](const std::vector<ValuePtr>& values) {
      std::optional<Var> found;
      for (const ValuePtr& v : values)
        if (has_floats(v)) found = found ? *found | at_fault(g, v) : at_fault(g, v);
      return found;
    };
    Var holds = !*any(c.outputs);
    if (const auto before = any(c.inputs)) holds = holds | *before;
    const std::string what = faults_ == Faults::nan ? "NaN" : "NaN or Inf";
    std::string message =
        "`" + c.primitive->name + "` produced " + what + ".\ni It is the first call that did: no operand has one.";
    if (c.derivative) message += "\ni It belongs to the derivative of the call that is named here.";
    primitives::check(holds, "nan", message, c.location);
  }

  // Whether some element is: a flag, made where it is first asked for.
  Var at_fault(Graph& g, const ValuePtr& v) {
    ValuePtr& known = flags_[v.get()];
    if (!known) {
      const Var x{&g, v};
      const Var wrong = faults_ == Faults::nan ? x != x : !is_finite(x);
      std::vector<int64_t> dims(v->type.shape.size());
      std::iota(dims.begin(), dims.end(), 0);
      known = (dims.empty() ? wrong : reduce_max(wrong, dims)).value;
    }
    return {&g, known};
  }

  Faults faults_;
  std::unordered_map<const Value*, ValuePtr> flags_;
};

}  // namespace

void check_values(Graph& g, Faults faults) { Checks(faults).visit(g); }

}  // namespace anvil::transform
