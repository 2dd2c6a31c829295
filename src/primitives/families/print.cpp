// print [format] (operands...): the first operand, and prints all of them when it runs: that one alone where
// the format is empty, otherwise the format with the operands in it (base/printing.h). In the order of the
// calls, whenever they run; what is computed again for a derivative prints nothing again, as long as nobody
// reads the result: nv_print() gives the operand itself.
#include "primitives/families/families.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

Types infer_print(const Types& t, const Params&) {
  if (t.empty()) throw Error("argument", "There must be an operand to print.");
  return {t[0]};
}

void reverse_print(ReverseStep& step) {
  if (flows(step, 0)) set(step, 0, cotangent(step));
}
bool forward_print(ForwardStep& step) {
  step.results = {step.tangents[0]};
  return true;
}

// The numbers of the runtime's function: runtime/functions.cpp.
void lower_print(Lowering& l, const graph::Call& c) {
  Ints numbers = described(c.inputs);
  append_text(numbers, c.params.string("format"));
  l.call("print", {}, c.inputs, numbers);
  l.alias(c.outputs[0], c.inputs[0]);
}

}  // namespace

void register_print(Registry& r) {
  Primitive p = make_primitive("control", "print", {"operand", "..."}, {{"format", Kind::string}});
  p.effect = true;
  p.as_stored = true;
  p.axes = Axes::kept;
  p.infer = infer_print;
  p.reverse = reverse_print;
  p.forward = forward_print;
  p.hlo = {"stablehlo.custom_call", {}, special};
  p.lower = lower_print;
  r.add(std::move(p));
}

}  // namespace anvil::primitives
