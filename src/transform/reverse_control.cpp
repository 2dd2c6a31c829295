// Reverse mode through control flow. A branch is computed again on the way back. A loop
// records, at the start of each iteration, the carried elements that the way back reads;
// the way back is a tape_scan from the last record to the first, whose body computes one
// iteration again and pulls its cotangents back. A while_record and a tape_scan are loops
// too, and the cotangent of a tape is a tape: it holds the cotangents of the float fields,
// record by record in the order of the original. So derivatives of every order are made of
// the same two primitives.
#include <algorithm>

#include "primitives/vocabulary/var.h"
#include "transform/pullback.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {

using primitives::record_layout;
using primitives::Var;

namespace {

ValuePtr new_input(const TensorType& type) { return make_value(Value::Kind::input, type); }
ValuePtr zeros(const TensorType& type) { return graph::make_literal(0, type); }

std::vector<TensorType> float_fields(const std::vector<TensorType>& layout) {
  std::vector<TensorType> floats;
  std::copy_if(layout.begin(), layout.end(), std::back_inserter(floats),
               [](const TensorType& t) { return is_float(t.dtype); });
  return floats;
}

// Everything that the calls and outputs of a graph read, inner graphs included.
void collect_reads(const Graph& g, std::unordered_set<const Value*>& read, ValueList& tensors) {
  auto use = [&](const ValuePtr& v) {
    if (read.insert(v.get()).second && v->kind == Value::Kind::constant) tensors.push_back(v);
  };
  for (const Call& c : g.calls) {
    for (const ValuePtr& v : c.inputs) use(v);
    for (const auto& inner : subgraphs(c)) collect_reads(*inner, read, tensors);
  }
  for (const ValuePtr& v : g.outputs) use(v);
}

// Lists what an inner graph takes from outside.
void list_constants(Graph& g) {
  std::unordered_set<const Value*> read;
  collect_reads(g, read, g.constants);
  append(g.constants, captures(g));
}

GraphPtr copy_of(const GraphPtr& g) {
  graph::Substitution fresh;
  return clone(*g, fresh);
}

}  // namespace

ValueList Pullback::active_captures(const Graph& inner) const {
  ValueList found;
  for (const ValuePtr& v : captures(inner)) {
    if (!depends(v)) continue;
    if (v->type.tape) throw InternalError("reverse: a tape is read in an inner graph");
    found.push_back(v);
  }
  return found;
}

// ---- if -----------------------------------------------------------------------------

void Pullback::reverse_if(const Call& call) {
  std::vector<GraphPtr> branches = subgraphs(call), backward;
  ValueList targets;
  for (const auto& branch : branches)
    for (const ValuePtr& v : active_captures(*branch))
      if (std::find(targets.begin(), targets.end(), v) == targets.end()) targets.push_back(v);
  std::vector<bool> reached(targets.size(), false);
  for (const auto& branch : branches) {
    auto back = std::make_shared<Graph>();
    ValueList outputs = inline_calls(*branch, {}, *back);
    std::vector<Call> calls = back->calls;
    Pullback inner(calls, targets, *back);
    for (const ValuePtr& v : targets)
      if (ValuePtr sum = cotangent(v)) inner.seed(v, sum);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (ValuePtr g = cotangent(call.outputs[i])) inner.seed(outputs[i], g);
    inner.run();
    for (size_t i = 0; i < targets.size(); ++i) {
      back->outputs.push_back(inner.cotangent(targets[i]));
      reached[i] = reached[i] || back->outputs.back() != cotangent(targets[i]);
    }
    backward.push_back(std::move(back));
  }
  ValueList found;
  for (size_t i = 0; i < targets.size(); ++i)
    if (reached[i]) found.push_back(targets[i]);
  if (found.empty()) return;
  for (const GraphPtr& back : backward) {
    ValueList outputs;
    for (size_t i = 0; i < targets.size(); ++i)
      if (reached[i]) outputs.push_back(back->outputs[i] ? back->outputs[i] : zeros(targets[i]->type));
    back->outputs = std::move(outputs);
    remove_dead_calls(*back);
    list_constants(*back);
  }
  auto results = primitives::branch(to_, call.inputs[0], backward[0], backward[1]);
  for (size_t i = 0; i < found.size(); ++i) replace(found[i], results[i]);
}

// ---- loops --------------------------------------------------------------------------

struct Pullback::Loop {
  explicit Loop(const Call& c) : call(c), body(*c.params.graph("body_graph")) {
    if (is_scan()) counts = c.params.ints("field_counts");
    for (int64_t n : counts) fields += static_cast<size_t>(n);
    carried = body.inputs.size() - fields;
  }
  bool is_scan() const { return primitives::control_of(call) == primitives::Control::scan; }
  const ValuePtr& initial(size_t i) const { return call.inputs[counts.size() + i]; }
  const ValuePtr& carry(size_t i) const { return body.inputs[fields + i]; }
  size_t new_tapes() const { return call.outputs.size() - carried; }

  const Call& call;
  const Graph& body;
  std::vector<int64_t> counts;  // fields of each operand tape
  size_t fields = 0, carried = 0;
};

struct Pullback::Backward {
  GraphPtr body = std::make_shared<Graph>();
  ValueList fields,
      states;  // inputs: records of the operand tapes, carried elements at the start of the step
  std::vector<ValueList>
      new_fields;                 // inputs: for each new tape the cotangents of its record, none where they are zero
  ValueList carry_in, carry_out;  // cotangents of the chosen carried elements after and before the step
  ValueList captured, captured_in, captured_out;  // outer values, the sums of their cotangents
  std::vector<ValueList> tape_out;  // for each operand tape the cotangents of its record, none where they are zero
  std::vector<bool> carries;        // what has to be chosen, at least
};

Pullback::Backward Pullback::backward_body(const Loop& loop, const std::vector<bool>& carries) const {
  Backward b;
  b.carries = carries;
  for (size_t i = 0; i < loop.body.inputs.size(); ++i)
    (i < loop.fields ? b.fields : b.states).push_back(new_input(loop.body.inputs[i]->type));
  ValueList arguments = b.fields, targets;
  append(arguments, b.states);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (depends(loop.body.inputs[i])) targets.push_back(arguments[i]);
  b.captured = active_captures(loop.body);
  append(targets, b.captured);

  ValueList outputs = inline_calls(loop.body, arguments, *b.body);
  std::vector<Call> calls = b.body->calls;
  Pullback inner(calls, targets, *b.body);
  for (const ValuePtr& v : b.captured) {
    b.captured_in.push_back(new_input(v->type));
    inner.seed(v, b.captured_in.back());
  }
  for (size_t i = 0; i < loop.carried; ++i) {
    if (!carries[i]) continue;
    b.carry_in.push_back(new_input(loop.carry(i)->type));
    inner.seed(outputs[i], b.carry_in.back());
  }
  size_t next = loop.carried;
  for (size_t t = 0; t < loop.new_tapes(); ++t) {
    b.new_fields.emplace_back();
    auto layout = record_layout(loop.call, loop.carried + t);
    for (size_t k = 0; k < layout.size(); ++k) {
      ValuePtr recorded =
          loop.is_scan() ? outputs[next++] : b.states[static_cast<size_t>(loop.call.params.ints("fields")[k])];
      if (!is_float(layout[k].dtype) || !cotangent(loop.call.outputs[loop.carried + t])) continue;
      b.new_fields[t].push_back(new_input(layout[k]));
      inner.seed(recorded, b.new_fields[t].back());
    }
  }
  inner.run();

  for (size_t i = 0; i < loop.carried; ++i) {
    ValuePtr g = inner.cotangent(b.states[i]);
    if (g) b.carries[i] = true;
    if (carries[i]) b.carry_out.push_back(g ? g : zeros(b.states[i]->type));
  }
  ValueList reached, sums;
  for (size_t i = 0; i < b.captured.size(); ++i) {
    ValuePtr sum = inner.cotangent(b.captured[i]);
    if (sum == b.captured_in[i]) continue;
    reached.push_back(b.captured[i]);
    sums.push_back(b.captured_in[i]);
    b.captured_out.push_back(sum);
  }
  b.captured = std::move(reached);
  b.captured_in = std::move(sums);
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
    b.tape_out.push_back(any ? found : ValueList());
  }
  return b;
}

void Pullback::reverse_loop(const Call& call) {
  Loop loop(call);
  std::vector<bool> carries(loop.carried);
  for (size_t i = 0; i < loop.carried; ++i) carries[i] = cotangent(call.outputs[i]) && depends(loop.carry(i));
  Backward b = backward_body(loop, carries);
  while (b.carries != carries) {  // cotangents of further elements appear as the loop goes on
    carries = b.carries;
    b = backward_body(loop, carries);
  }

  Graph& body = *b.body;
  body.outputs = b.carry_out;
  append(body.outputs, b.captured_out);
  std::vector<int64_t> new_counts;
  for (const ValueList& record : b.tape_out) {
    append(body.outputs, record);
    if (!record.empty()) new_counts.push_back(static_cast<int64_t>(record.size()));
  }
  remove_dead_calls(body);

  std::unordered_set<const Value*> read;
  collect_reads(body, read, body.constants);
  std::vector<size_t> needed;
  for (size_t i = 0; i < loop.carried; ++i)
    if (read.count(b.states[i].get())) needed.push_back(i);
  Recorded recorded = record_carries(loop, needed);

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
  if (recorded.tape) {
    ValueList fields;
    for (size_t i : recorded.elements) fields.push_back(b.states[i]);
    read_from_end(recorded.tape, fields);
  }
  for (size_t t = 0; t < b.new_fields.size(); ++t)
    if (!b.new_fields[t].empty()) read_from_end(cotangent(call.outputs[loop.carried + t]), b.new_fields[t]);
  append(body.inputs, b.carry_in);
  append(body.inputs, b.captured_in);
  append(body.constants, captures(body));
  for (size_t i = 0; i < loop.carried; ++i) {
    if (!carries[i]) continue;
    ValuePtr g = cotangent(call.outputs[i]);
    operands.push_back(g ? g : zeros(loop.carry(i)->type));
  }
  for (const ValuePtr& v : b.captured) {
    ValuePtr sum = cotangent(v);
    operands.push_back(sum ? sum : zeros(v->type));
  }

  auto results = primitives::scan_tapes(to_, std::move(operands), {b.body, counts, last_first, new_counts});
  // the sums of captured values contain what was found before, so they come first
  size_t next = b.carry_in.size();
  for (const ValuePtr& v : b.captured) replace(v, results[next++]);
  size_t carry = 0;
  for (size_t i = 0; i < loop.carried; ++i)
    if (carries[i]) accumulate(loop.initial(i), results[carry++]);
  size_t field = 0;
  for (size_t t = 0; t < loop.counts.size(); ++t) {
    Layout layout;
    for (int64_t i = 0; i < loop.counts[t]; ++i) layout.push_back(b.fields[field++]->type);
    layout = float_fields(layout);
    if (b.tape_out[t].empty()) continue;
    ValuePtr tape = results[next++];  // its records follow the steps on the way back
    accumulate(call.inputs[t], call.params.ints("last_first")[t] ? tape : reverse_tape(layout, tape), layout);
  }
}

// ---- tapes --------------------------------------------------------------------------

// A tape of the carried elements that the way back needs. The loop that stands in `to_`
// begins to record them; a loop that is not there, or whose record lacks something, is run
// once more. A loop without operand tapes needs one in any case, for its length.
Pullback::Recorded Pullback::record_carries(const Loop& loop, std::vector<size_t> needed) {
  if (!loop.is_scan()) return record_states(loop.call, std::move(needed));
  if (needed.empty()) return {};
  return record_scan(loop, needed);
}

Pullback::Recorded Pullback::record_states(const Call& call, std::vector<size_t> needed) {
  if (primitives::records(call)) {
    std::vector<size_t> fields(call.params.ints("fields").begin(), call.params.ints("fields").end());
    auto recorded = [&](size_t i) { return std::find(fields.begin(), fields.end(), i) != fields.end(); };
    if (std::all_of(needed.begin(), needed.end(), recorded)) return {call.outputs.back(), fields};
  }
  if (needed.empty()) {
    auto bytes = [](const ValuePtr& v) {  // something that has bytes at all
      int64_t n = elements(v->type.shape) * static_cast<int64_t>(size_of(v->type.dtype));
      return n == 0 ? std::numeric_limits<int64_t>::max() : n;
    };
    auto smallest = std::min_element(call.inputs.begin(), call.inputs.end(),
                                     [&](const ValuePtr& a, const ValuePtr& b) { return bytes(a) < bytes(b); });
    needed.push_back(static_cast<size_t>(smallest - call.inputs.begin()));
  }
  const std::vector<int64_t> fields(needed.begin(), needed.end());
  auto found = primitives::records(call) ? loops_.end() : loops_.find(call.outputs[0].get());
  if (found != loops_.end()) return {primitives::begin_recording(to_.calls[found->second], fields), needed};
  auto results = primitives::recording_loop(to_, call.inputs, copy_of(call.params.graph("cond_graph")),
                                            copy_of(call.params.graph("body_graph")), fields);
  return {results.back(), needed};
}

Pullback::Recorded Pullback::record_scan(const Loop& loop, const std::vector<size_t>& needed) {
  auto found = loops_.find(loop.call.outputs[0].get());
  Call again = found != loops_.end() ? to_.calls[found->second] : loop.call;
  GraphPtr body = copy_of(again.params.graph("body_graph"));
  for (size_t i : needed) body->outputs.push_back(body->inputs[loop.fields + i]);
  for (graph::Param& p : again.params.items) {
    if (p.name == "body_graph") p.value = body;
    if (p.name == "new_field_counts")
      std::get<std::vector<int64_t>>(p.value).push_back(static_cast<int64_t>(needed.size()));
  }
  if (found == loops_.end())
    return {primitives::record(to_, primitives::primitive_of(again), again.inputs, again.params).back(), needed};
  again.outputs.push_back(make_value(Value::Kind::result, graph::tape_type));
  to_.calls[found->second] = again;
  return {again.outputs.back(), needed};
}

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
