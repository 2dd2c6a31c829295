// Which values a derivative flows through, forwards from the targets.
#include "base/interrupt.h"
#include "transform/pullback.h"

namespace anvil::transform {

Activity::Activity(const ValueList& sources, const std::vector<Call>& calls) {
  for (const ValuePtr& v : sources) mark(v);
  propagate(calls);
}

void Activity::mark(const ValuePtr& v) {
  bool carries_derivative = is_float(v->type.dtype) || v->type.tape;
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
  const primitives::Primitive& p = primitives::primitive_of(call);
  if (p.control != primitives::Control::none) return propagate_regions(call, p.regions(call));
  if (p.zero_derivative) return;
  bool any = false;
  for (const ValuePtr& v : call.inputs) any = any || contains(v);
  for (size_t i = 0; any && i < call.outputs.size(); ++i) mark(call.outputs[i]);
}

void Activity::propagate_regions(const Call& call, const std::vector<primitives::Region>& regions) {
  const auto flow = [this](const std::vector<primitives::Flow>& flows, const ValueList& from, const ValueList& to) {
    for (const auto& [source, target] : flows)
      if (contains(from[source])) mark(to[target]);
  };
  for (const primitives::Region& r : regions) flow(r.enter, call.inputs, r.graph->inputs);
  for (bool grows = true; grows;) {  // a carried value may become active in a later iteration
    const size_t before = values_.size();
    for (const primitives::Region& r : regions) {
      propagate(r.graph->calls);
      flow(r.carry, regions.back().graph->outputs, r.graph->inputs);
    }
    grows = values_.size() > before && !regions.back().carry.empty();
  }
  for (const primitives::Region& r : regions) {
    flow(r.leave, r.graph->outputs, call.outputs);
    flow(r.pass, r.graph->inputs, call.outputs);
  }
}

}  // namespace anvil::transform
