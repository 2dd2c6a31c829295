// Which values a derivative flows through, forwards from the targets. In loops a carried
// element may become active in a later iteration, so their bodies are walked until nothing
// changes.
#include "base/interrupt.h"
#include "transform/pullback.h"

namespace anvil::transform {

Activity::Activity(const ValueList& sources) {
  for (const ValuePtr& v : sources) mark(v);
}

void Activity::mark(const ValuePtr& v) {
  bool carries_derivative = is_float(v->type.dtype) || v->type.dtype == DType::tape;
  if (carries_derivative && v->kind != Value::Kind::literal && v->kind != Value::Kind::constant)
    values_.insert(v.get());
}

void Activity::propagate(const std::vector<Call>& calls) {
  for (const Call& c : calls) {
    poll();
    propagate(c);
  }
}

void Activity::propagate(const Call& call) {
  const std::string& name = call.primitive->name;
  if (name == "if") {
    for (const auto& branch : subgraphs(call)) {
      propagate(branch->calls);
      for (size_t i = 0; i < call.outputs.size(); ++i)
        if (contains(branch->outputs[i])) mark(call.outputs[i]);
    }
  } else if (name == "while" || name == "while_record") {
    const Graph& body = *call.params.graph("body_graph");
    propagate_loop(call, body, 0, 0);
    if (name == "while_record")
      for (int64_t field : call.params.ints("fields"))
        if (contains(body.inputs[static_cast<size_t>(field)])) mark(call.outputs.back());
  } else if (name == "tape_scan") {
    const Graph& body = *call.params.graph("body_graph");
    const auto &counts = call.params.ints("field_counts"), &new_counts = call.params.ints("new_field_counts");
    size_t carried = call.inputs.size() - counts.size(), field = 0;
    for (size_t t = 0; t < counts.size(); ++t)
      for (int64_t i = 0; i < counts[t]; ++i, ++field)
        if (contains(call.inputs[t])) mark(body.inputs[field]);
    propagate_loop(call, body, field, counts.size());
    field = carried;
    for (size_t t = 0; t < new_counts.size(); ++t)
      for (int64_t i = 0; i < new_counts[t]; ++i)
        if (contains(body.outputs[field++])) mark(call.outputs[carried + t]);
  } else if (!primitives::primitive_of(call).zero_derivative) {
    bool any = false;
    for (const ValuePtr& v : call.inputs) any = any || contains(v);
    for (size_t i = 0; any && i < call.outputs.size(); ++i) mark(call.outputs[i]);
  }
}

void Activity::propagate_loop(const Call& call, const Graph& body, size_t first_carry, size_t first_operand) {
  size_t carried = body.inputs.size() - first_carry;
  for (size_t i = 0; i < carried; ++i)
    if (contains(call.inputs[first_operand + i])) mark(body.inputs[first_carry + i]);
  for (bool grows = true; grows;) {
    size_t before = values_.size();
    propagate(body.calls);
    for (size_t i = 0; i < carried; ++i)
      if (contains(body.outputs[i])) mark(body.inputs[first_carry + i]);
    grows = values_.size() > before;
  }
  for (size_t i = 0; i < carried; ++i)
    if (contains(body.inputs[first_carry + i])) mark(call.outputs[i]);
}

}  // namespace anvil::transform
