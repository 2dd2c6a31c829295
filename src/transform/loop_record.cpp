// What a loop records for its way back. The body of the way back computes a step again; of all that
// it could compute it from, the values of least size are recorded (a minimum cut), and sums of many products:
//
//   the step           %p = %y[%i - 1]               recorded, of an array %y of any size: %p
//                      %y = %y with %a * %p at %i
//   the way back       %ga = %ga + %g[%i] * %p
//
// Values that do not change from step to step, counters and the records of operand tapes are
// there for nothing, and so nearly is what the loop records already. What an inner loop would record on the way
// back is a value too: a tensor where it is of a known size, else its tape (nested_tapes.h).
#include <algorithm>

#include "primitives/vocabulary/var.h"
#include "transform/needed.h"
#include "transform/nested_tapes.h"
#include "transform/reverse_loop.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"
#include "transform/tapes.h"

namespace anvil::transform {

Pullback::Step Pullback::forward_step(const Loop& loop, Backward& b) {
  const GraphPtr with_tapes = b.body, with_tensors = fitting_tapes_as_tensors(*b.body);
  Step step = smallest_step(loop, b);
  if (!with_tensors) return step;
  b.body = with_tensors;
  Step other = smallest_step(loop, b);
  if (other.bytes < step.bytes) return other;
  b.body = with_tapes;
  return step;
}

Pullback::Step Pullback::smallest_step(const Loop& loop, Backward& b) {
  Step step{*b.body, {}, 0};
  remove_dead_calls(*b.body, b.remade);
  ValueList counted, states, behind = b.from_behind();
  for (const auto& c : b.counters) counted.push_back(c.out);
  for (const ValuePtr& v : b.states)
    if (!contains(counted, v)) states.push_back(v);
  for (const ValueList& slopes : b.new_fields) append(behind, slopes);
  Values later = addresses(behind);
  for (const auto& c : b.counters) later.erase(c.in.get());
  add_dependent(step.graph.calls, later);
  const auto end_of_carried = b.outputs.begin() + static_cast<std::ptrdiff_t>(loop.carried);
  const Values recorded = addresses({end_of_carried, b.outputs.end()});
  step.needed = cheapest(*b.body, states, later, Nearest::to_use, recorded, counted);
  for (const ValuePtr& v : step.needed)
    if (recorded.count(v.get()) == 0)
      step.bytes += v->type.tape ? expected_bytes(*b.body, v).value_or(0) : size_in_bytes(v);

  const Values counts = addresses(counted);
  std::erase_if(step.graph.calls, [&](const Call& c) { return makes_any_of(c, later) || makes_any_of(c, counts); });
  step.graph.inputs = b.fields;
  append(step.graph.inputs, b.states);
  step.graph.outputs = b.outputs;
  return step;
}

// The tapes that hold what the way back needs: those that the loop records already, as far as they do,
// and one more. A loop without operand tapes needs one in any case, for its length.
std::vector<Pullback::Record> Pullback::record(const Loop& loop, Backward& b, Step step) {
  std::vector<Record> records;
  ValueList missing = step.needed;
  const bool without_length = !loop.is_scan();
  auto field = b.outputs.begin() + static_cast<std::ptrdiff_t>(loop.carried);
  for (size_t t = 0; t < loop.new_counts.size(); ++t) {
    const ValueList fields(field, field + static_cast<std::ptrdiff_t>(loop.new_counts[t]));
    field += static_cast<std::ptrdiff_t>(loop.new_counts[t]);
    const bool is_read =
        std::any_of(fields.begin(), fields.end(), [&](const ValuePtr& v) { return contains(missing, v); });
    if (!is_read && !(without_length && records.empty() && missing.empty())) continue;
    records.push_back({loop.new_tape(t), {}});
    for (const ValuePtr& v : fields) {
      const bool taken = std::erase(missing, v) > 0;
      records.back().fields.push_back(taken ? v : make_value(Value::Kind::input, v->type));
    }
  }
  if (!missing.empty() || (without_length && records.empty())) {
    append(step.graph.outputs, missing);
    graph::Substitution fresh;
    const GraphPtr forward = clone(step.graph, fresh);
    remove_dead_calls(*forward);
    list_constants(*forward);
    records.push_back({add_tape(loop.call, forward, missing.size()), missing});
  }
  // what is read is not made any more
  for (Call& c : b.body->calls)
    for (ValuePtr& v : c.outputs)
      if (contains(step.needed, v)) {
        v = make_value(v->kind, v->type);
        b.remade.insert(v.get());
      }
  for (const ValuePtr& v : step.needed) v->kind = Value::Kind::input;
  remove_dead_calls(*b.body, b.remade);
  Values read;
  collect_reads(*b.body, read);
  std::erase_if(b.counters, [&](const auto& c) { return read.count(c.out.get()) == 0; });
  return records;
}

// The loop that stands in `to_` records one more tape; one that is not there is run once more.
ValuePtr Pullback::add_tape(const Call& loop, GraphPtr body, size_t fields) {
  const auto found = places_.find(loop.outputs[0].get());
  if (found != places_.end()) return primitives::add_tape(to_.calls[found->second], std::move(body), fields);
  graph::Substitution fresh;
  graph::Params params = loop.params;
  for (graph::Param& p : params.items)
    if (auto* inner = std::get_if<GraphPtr>(&p.value)) *inner = clone(**inner, fresh);
  primitives::record(to_, primitives::primitive_of(loop), loop.inputs, params);
  return primitives::add_tape(to_.calls.back(), std::move(body), fields);
}

}  // namespace anvil::transform
