// check [error, message] (holds, values...): the flags `holds`, and the run ends with an Error of that kind at the
// first of them that is false. The text has the values in that place (base/check.h), and names the user's call
// that made this one.
#include "primitives/families/check.h"

#include "primitives/families/families.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

Types infer_check(const Types& t, const Params& params) {
  const std::string& error = params.string("error");
  if (error.empty() || error.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string::npos)
    throw Error("argument", "`error` must be a name of lower-case letters.", {"x Got \"" + error + "\"."});
  for (const TensorType& type : t)
    if (type.shape != t[0].shape)
      throw Error("shape", "The tensors of a check must have the same shape.",
                  {"x Got " + text(t[0]) + " and " + text(type) + "."});
  return {t[0]};
}

void lower_check(Lowering& l, const graph::Call& c) {
  Ints numbers = described(c.inputs);
  append_text(numbers, c.params.string("error"));
  append_text(numbers, c.params.string("message"));
  numbers.push_back(c.location);
  l.call("check", {}, c.inputs, numbers);
  l.alias(c.outputs[0], c.inputs[0]);
}

}  // namespace

void check(const Var& holds, const std::string& error, const std::string& message, int location) {
  record(*holds.graph, registry().at("check"), {holds.value}, {{"error", error}, {"message", message}}, location);
}

void register_check(Registry& r) {
  Primitive p =
      make_primitive("control", "check", {"holds", "..."}, {{"error", Kind::string}, {"message", Kind::string}});
  p.group = Group::boolean;
  p.effect = true;
  p.as_stored = true;
  p.axes = Axes::kept;
  p.zero_derivative = true;
  p.infer = infer_check;
  p.hlo = {"stablehlo.custom_call", {}, special};
  p.lower = lower_check;
  r.add(std::move(p));
}

}  // namespace anvil::primitives
