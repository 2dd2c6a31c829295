// A call of a loop primitive, seen as a tape_scan: a while has no operand tapes.
#pragma once
#include "primitives/families/control.h"
#include "transform/activity.h"

namespace anvil::transform {

struct Loop {
  explicit Loop(const Call& c)
      : call(c),
        body(*c.params.graph("body_graph")),
        new_counts(primitives::new_field_counts(c)),
        carried(primitives::carried(c)) {
    if (is_scan()) counts = c.params.ints("field_counts");
    for (int64_t n : counts) fields += static_cast<size_t>(n);
  }
  bool is_scan() const { return primitives::control_of(call) == primitives::Control::scan; }
  const ValuePtr& initial(size_t i) const { return call.inputs[counts.size() + i]; }
  const ValuePtr& carry(size_t i) const { return body.inputs[fields + i]; }
  const ValuePtr& new_tape(size_t t) const { return call.outputs[carried + t]; }

  const Call& call;
  const Graph& body;
  std::vector<int64_t> counts, new_counts;  // fields of each operand tape, of each new tape
  size_t fields = 0, carried = 0;
};

// A while that records nothing.
inline bool is_plain(const Call& c) {
  return primitives::control_of(c) == primitives::Control::loop && !primitives::records(c);
}

}  // namespace anvil::transform
