// Reverse mode through loops. A loop records, at each step, what the way back reads (loop_record.cpp);
// integers that count are counted back. A while_record and a tape_scan are loops too, and the
// cotangent of a tape is a tape: it holds the cotangents of the float fields, record by record in
// the order of the original. So derivatives of every order are made of the same two primitives.
#include "transform/reverse_loop.h"

#include <algorithm>
#include <optional>

#include "primitives/vocabulary/var.h"
#include "transform/needed.h"
#include "transform/segments.h"
#include "transform/simplify.h"
#include "transform/trip_count.h"

namespace anvil::transform {

using primitives::Var;

namespace {

ValuePtr new_input(const TensorType& type) { return make_value(Value::Kind::input, type); }
ValuePtr zeros(const TensorType& type) { return graph::make_literal(0, type); }

std::vector<TensorType> float_fields(const ValueList& fields) {
  std::vector<TensorType> floats;
  for (const ValuePtr& v : fields)
    if (is_float(v->type.dtype)) floats.push_back(v->type);
  return floats;
}

// Of a carried integer k with k + x or k - x as its next value, x the same at each step: what
// gives k from that next value.
std::optional<std::function<Var(const Var&)>> way_back(const Graph& body, const ValuePtr& k, const ValuePtr& next) {
  if (!is_integer(k->type.dtype)) return std::nullopt;
  const auto call = std::find_if(body.calls.begin(), body.calls.end(),
                                 [&](const Call& c) { return c.outputs.size() == 1 && c.outputs[0] == next; });
  if (call == body.calls.end()) return std::nullopt;
  const auto op = primitives::primitive_of(*call).op;
  const bool sum = op == loops::Op::add;
  if (!sum && op != loops::Op::sub) return std::nullopt;
  const bool first = call->inputs[0] == k;
  if (!first && !(sum && call->inputs[1] == k)) return std::nullopt;
  const ValuePtr x = call->inputs[first ? 1 : 0];
  const auto made_here = [&x](const ValuePtr& v) { return v == x; };
  if (std::any_of(body.inputs.begin(), body.inputs.end(), made_here)) return std::nullopt;
  for (const Call& c : body.calls)
    if (std::any_of(c.outputs.begin(), c.outputs.end(), made_here)) return std::nullopt;
  return [sum, x](const Var& after) { return sum ? after - Var{after.graph, x} : after + Var{after.graph, x}; };
}

}  // namespace

ValueList Pullback::Backward::from_behind() const {
  ValueList list;
  for (const Carried& c : carries) list.push_back(c.in);
  for (const Captured& c : captures) list.push_back(c.in);
  for (const Carried& c : counters) list.push_back(c.in);
  return list;
}

Pullback::Backward Pullback::backward_body(const Loop& loop, const std::vector<bool>& carries) const {
  Backward b;
  Graph& body = *b.body;
  for (size_t i = 0; i < loop.fields; ++i) b.fields.push_back(new_input(loop.body.inputs[i]->type));
  for (size_t i = 0; i < loop.carried; ++i) {
    const ValuePtr& carry = loop.carry(i);
    if (auto back = way_back(loop.body, carry, loop.body.outputs[i])) {
      b.counters.push_back({i, new_input(carry->type), nullptr});
      b.states.push_back(b.counters.back().out = (*back)({&body, b.counters.back().in}).value);
    } else {
      b.states.push_back(new_input(carry->type));
    }
  }
  ValueList arguments = b.fields, targets;
  append(arguments, b.states);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (depends(loop.body.inputs[i])) targets.push_back(arguments[i]);
  const ValueList captured = active_captures(loop.body);
  append(targets, captured);

  b.outputs = inline_calls(loop.body, arguments, body);
  const std::vector<Call> calls = body.calls;
  b.remade = made_by(calls);
  Pullback inner(calls, targets, body);
  inner.moving_ = addresses(b.states);
  for (const auto& c : b.counters) inner.moving_.erase(c.out.get());
  add_dependent(calls, inner.moving_);
  for (const ValuePtr& v : captured) {
    b.captures.push_back({v, new_input(v->type), nullptr});
    inner.seed(v, b.captures.back().in);
  }
  for (size_t i = 0; i < loop.carried; ++i) {
    if (!carries[i]) continue;
    b.carries.push_back({i, new_input(loop.carry(i)->type), nullptr});
    inner.seed(b.outputs[i], b.carries.back().in);
  }
  size_t next = loop.carried;
  for (size_t t = 0; t < loop.new_counts.size(); ++t) {
    b.new_fields.emplace_back();
    for (int64_t k = 0; k < loop.new_counts[t]; ++k) {
      const ValuePtr recorded = b.outputs[next++];
      if (!is_float(recorded->type.dtype) || !cotangent(loop.new_tape(t))) continue;
      b.new_fields[t].push_back(new_input(recorded->type));
      inner.seed(recorded, b.new_fields[t].back());
    }
  }
  inner.run();
  b.remade.merge(inner.begun_);

  for (const ValuePtr& v : b.states) b.reached.push_back(inner.cotangent(v) != nullptr);
  for (auto& c : b.carries) {
    const ValuePtr g = inner.cotangent(b.states[c.place]);
    c.out = g ? g : zeros(c.in->type);
  }
  for (auto& c : b.captures) c.out = inner.cotangent(c.value);
  std::erase_if(b.captures, [](const Backward::Captured& c) { return c.out == c.in; });
  size_t field = 0;
  for (int64_t count : loop.counts) {
    ValueList found;
    bool any = false;
    for (int64_t i = 0; i < count; ++i, ++field) {
      if (!is_float(b.fields[field]->type.dtype)) continue;
      ValuePtr g = inner.cotangent(b.fields[field]);
      any = any || g;
      found.push_back(g ? g : zeros(b.fields[field]->type));
    }
    b.field_slopes.push_back(any ? found : ValueList());
  }
  return b;
}

// The loop in segments takes the place of the loop; one that is not in `to_` is run once more, as it is
// when it begins to record.
void Pullback::reverse_in_segments(const Call& call, int64_t length) {
  const Call cut = in_segments(call, length);
  if (const auto found = places_.find(call.outputs[0].get()); found != places_.end()) to_.calls[found->second] = cut;
  active_.propagate(std::vector<Call>{cut});
  carry_back(cut);
}

// A loop whose number of steps is not known: its first steps are recorded, and there may be no others.
void Pullback::reverse_split(const Call& call, const std::array<Call, 2>& parts) {
  const auto& [first, rest] = parts;
  const size_t place = places_.at(call.outputs[0].get());
  to_.calls[place] = first;
  to_.calls.insert(to_.calls.begin() + static_cast<std::ptrdiff_t>(place) + 1, rest);
  for (auto& [value, at] : places_) at += at > place ? 1 : 0;
  std::unordered_map<size_t, std::vector<Call>> augmented;
  for (auto& [at, calls] : augmented_) augmented[at + (at > place ? 1 : 0)] = std::move(calls);
  augmented_ = std::move(augmented);
  places_[first.outputs[0].get()] = place;
  places_[rest.outputs[0].get()] = place + 1;
  for (const ValuePtr& v : first.outputs) begun_.insert(v.get());
  active_.propagate(std::vector<Call>{first, rest});
  carry_back(rest);
  carry_back(first);
}

// What comes back through a loop: nothing of it was taken where nothing of the results was, or the loop does not run;
// then what comes back to a result goes on to where its value started from.
void Pullback::reverse_loop(const Call& call) {
  const Loop loop(call);
  ValueList results, targets = active_captures(loop.body);
  for (const ValuePtr& v : call.outputs) results.push_back(cotangent(v));
  for (size_t i = 0; i < loop.carried; ++i)
    if (depends(loop.initial(i)) && !contains(targets, loop.initial(i))) targets.push_back(loop.initial(i));
  std::vector<ValueList> others;  // what comes back to each target by other ways
  for (const ValuePtr& v : targets) {
    others.push_back({cotangent(v)});
    for (size_t i = 0; i < loop.carried; ++i)
      if (loop.initial(i) == v) others.back().push_back(results[i]);
    std::erase(others.back(), nullptr);
  }
  carry_back(call);
  const bool may_not_run =
      primitives::control_of(call) == primitives::Control::loop && trip_count(call).value_or(0) == 0;
  const bool follows = selected_.contain(results);
  if (!may_not_run && !follows) return;
  const GraphPtr go_on = may_not_run ? call.params.graph("cond_graph") : nullptr;
  for (size_t k = 0; k < targets.size(); ++k) {
    if (!others[k].empty() && !selected_.contain(others[k])) continue;
    const auto weights = [this, go_on, state = call.inputs, type = targets[k]->type, other = others[k],
                          through = follows ? results : ValueList()](Graph& to) {
      Var taken = any_taken(through, type.dtype, to);
      if (go_on) taken = taken * convert(Var{&to, inline_calls(*go_on, state, to).at(0)}, type.dtype);
      Var all = broadcast_in_dim(taken, type.shape, {});
      for (const ValuePtr& v : other) all = all + Var{&to, selected_.taken(v, to)};
      return all.value;
    };
    ValueList from = others[k];
    if (follows) append(from, results);
    selected_.insert(cotangent(targets[k]), weights, from, to_);
  }
}

void Pullback::carry_back(const Call& call) {
  const bool can_be_cut = primitives::control_of(call) == primitives::Control::loop && !primitives::records(call);
  if (const int64_t length = stated_length(call); can_be_cut && length > 0) return reverse_in_segments(call, length);
  const Loop loop(call);
  std::vector<bool> carries(loop.carried);
  for (size_t i = 0; i < loop.carried; ++i) carries[i] = cotangent(call.outputs[i]) && depends(loop.carry(i));
  Backward b = backward_body(loop, carries);
  for (bool grows = true; grows;) {  // cotangents of further values appear as the loop goes on
    grows = false;
    for (size_t i = 0; i < loop.carried; ++i) grows = grows || (b.reached[i] && !carries[i]);
    if (!grows) break;
    for (size_t i = 0; i < loop.carried; ++i) carries[i] = carries[i] || b.reached[i];
    b = backward_body(loop, carries);
  }

  std::vector<int64_t> new_counts;
  for (const auto& c : b.carries) b.body->outputs.push_back(c.out);
  for (const auto& c : b.captures) b.body->outputs.push_back(c.out);
  for (const ValueList& slopes : b.field_slopes) {
    append(b.body->outputs, slopes);
    if (!slopes.empty()) new_counts.push_back(static_cast<int64_t>(slopes.size()));
  }
  Step step = forward_step(loop, b);
  if (can_be_cut) {
    const int64_t bytes = step.bytes;
    const bool outermost = moving_.empty(), is_there = places_.count(call.outputs[0].get()) != 0;
    if (const int64_t length = segment_length(call, bytes)) return reverse_in_segments(call, length);
    const int64_t length = outermost ? recorded_steps(call, bytes) : steps_like_state(call, bytes);
    const Rest rest = outermost ? Rest::in_segments : Rest::in_one;
    if (length > 0 && is_there) return reverse_split(call, split(call, length, rest));
  }
  const std::vector<Record> records = record(loop, b, std::move(step));
  Graph& body = *b.body;
  auto end_of_carried = body.outputs.begin() + static_cast<std::ptrdiff_t>(b.carries.size() + b.captures.size());
  for (const auto& c : b.counters) end_of_carried = body.outputs.insert(end_of_carried, c.out) + 1;

  // The operand tapes are read in the other direction, what this loop wrote from its end.
  ValueList operands(call.inputs.begin(), call.inputs.begin() + static_cast<std::ptrdiff_t>(loop.counts.size()));
  std::vector<int64_t> counts = loop.counts, last_first;
  if (loop.is_scan())
    for (int64_t flag : call.params.ints("last_first")) last_first.push_back(1 - flag);
  body.inputs = b.fields;
  auto read_from_end = [&](const ValuePtr& tape, const ValueList& fields) {
    operands.push_back(tape);
    counts.push_back(static_cast<int64_t>(fields.size()));
    last_first.push_back(1);
    append(body.inputs, fields);
  };
  for (const Record& r : records) read_from_end(r.tape, r.fields);
  for (size_t t = 0; t < b.new_fields.size(); ++t)
    if (!b.new_fields[t].empty()) read_from_end(cotangent(loop.new_tape(t)), b.new_fields[t]);
  append(body.inputs, b.from_behind());
  list_constants(body);
  for (const auto& c : b.carries) {
    const ValuePtr g = cotangent(call.outputs[c.place]);
    operands.push_back(g ? g : zeros(c.in->type));
  }
  for (const auto& c : b.captures) {
    const ValuePtr sum = cotangent(c.value);
    operands.push_back(sum ? sum : zeros(c.value->type));
  }
  for (const auto& c : b.counters) operands.push_back(call.outputs[c.place]);

  auto results = primitives::scan_tapes(to_, std::move(operands), {b.body, counts, last_first, new_counts});
  // the sums of captured values contain what was found before, so they come first
  const size_t first_captured = b.carries.size();
  for (size_t i = 0; i < b.captures.size(); ++i) replace(b.captures[i].value, results[first_captured + i]);
  for (size_t i = 0; i < b.carries.size(); ++i) accumulate(loop.initial(b.carries[i].place), results[i]);
  size_t next = b.from_behind().size(), field = 0;
  for (size_t t = 0; t < loop.counts.size(); ++t) {
    const auto first = b.fields.begin() + static_cast<std::ptrdiff_t>(field);
    field += static_cast<size_t>(loop.counts[t]);
    const Layout layout = float_fields({first, first + static_cast<std::ptrdiff_t>(loop.counts[t])});
    if (b.field_slopes[t].empty()) continue;
    ValuePtr tape = results[next++];  // its records follow the steps on the way back
    accumulate(call.inputs[t], call.params.ints("last_first")[t] ? tape : reverse_tape(layout, tape), layout);
  }
}

// ---- cotangents of tapes --------------------------------------------------------------

ValuePtr Pullback::add_tapes(const Layout& layout, const ValuePtr& a, const ValuePtr& b) {
  auto body = std::make_shared<Graph>();
  const size_t n = layout.size();
  for (size_t i = 0; i < 2 * n; ++i) body->inputs.push_back(new_input(layout[i % n]));
  for (size_t i = 0; i < n; ++i)
    body->outputs.push_back((Var{body.get(), body->inputs[i]} + Var{body.get(), body->inputs[n + i]}).value);
  const auto count = static_cast<int64_t>(n);
  return primitives::scan_tapes(to_, {a, b}, {body, {count, count}, {0, 0}, {count}}).at(0);
}

ValuePtr Pullback::reverse_tape(const Layout& layout, const ValuePtr& tape) {
  auto body = std::make_shared<Graph>();
  for (const TensorType& type : layout) body->inputs.push_back(new_input(type));
  body->outputs = body->inputs;
  const auto count = static_cast<int64_t>(layout.size());
  return primitives::scan_tapes(to_, {tape}, {body, {count}, {1}, {count}}).at(0);
}

}  // namespace anvil::transform
