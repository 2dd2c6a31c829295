// What a loop records for its way back. The body of the way back computes a step again; of all that
// it could compute it from, the values of least size are recorded (a minimum cut):
//
//   the step           %p = %y[%i - 1]               recorded, of an array %y of any size: %p
//                      %y = %y with %a * %p at %i
//   the way back       %ga = %ga + %g[%i] * %p
//
// Values that do not change from step to step, counters and the records of operand tapes are
// there for nothing, and so nearly is what the loop records already.
#include <algorithm>

#include "primitives/vocabulary/var.h"
#include "transform/cut.h"
#include "transform/reverse_loop.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

ValueList reads(const Call& c) {
  ValueList list = c.inputs;
  for (const GraphPtr& inner : subgraphs(c)) append(list, captures(*inner));
  return list;
}

// Grows by the results of the calls that read a value of the set.
void add_dependent(const std::vector<Call>& calls, Values& set) {
  for (const Call& c : calls) {
    const ValueList list = reads(c);
    if (std::any_of(list.begin(), list.end(), [&](const ValuePtr& v) { return set.count(v.get()) != 0; }))
      for (const ValuePtr& v : c.outputs) set.insert(v.get());
  }
}
Values addresses(const ValueList& list) {
  Values set;
  for (const ValuePtr& v : list) set.insert(v.get());
  return set;
}

// The values of `body` from which, with what does not depend on `states`, all can be computed that
// depends on `later` or leaves the body.
ValueList values_to_record(const Graph& body, const ValueList& states, const Values& later, const Values& recorded) {
  Values moving = addresses(states);
  add_dependent(body.calls, moving);
  Network network;
  std::unordered_map<const Value*, size_t> nodes;
  ValueList values;
  const auto node = [&](const ValuePtr& v) {
    if (auto known = nodes.find(v.get()); known != nodes.end()) return known->second;
    constexpr int64_t field = 1, byte = 16;
    const bool tape = v->type.tape;
    const int64_t size = elements(v->type.shape) * static_cast<int64_t>(size_of(v->type.dtype));
    values.push_back(v);
    return nodes[v.get()] = network.node(tape                      ? Network::unlimited
                                         : recorded.count(v.get()) ? field
                                                                   : 2 * field + byte * size);
  };
  for (const ValuePtr& v : states) network.source(node(v));
  for (const Call& c : body.calls) {
    const bool is_later = later.count(c.outputs[0].get()) != 0;
    for (const ValuePtr& v : reads(c)) {
      if (moving.count(v.get()) == 0 || later.count(v.get()) != 0) continue;
      if (is_later)
        network.sink(node(v));
      else
        for (const ValuePtr& made : c.outputs) network.edge(node(v), node(made));
    }
  }
  for (const ValuePtr& v : body.outputs)
    if (moving.count(v.get()) != 0 && later.count(v.get()) == 0) network.sink(node(v));
  ValueList cut;
  for (size_t n : network.minimum_cut()) cut.push_back(values[n]);
  return cut;
}

}  // namespace

std::vector<Pullback::Record> Pullback::record(const Loop& loop, Backward& b) {
  Graph& body = *b.body;
  Graph step = body;  // the step, and what the way back makes of it alone
  remove_dead_calls(body);
  const auto end_of_carried = b.outputs.begin() + static_cast<std::ptrdiff_t>(loop.carried);
  Values recorded = addresses({end_of_carried, b.outputs.end()});
  ValueList inputs = b.from_behind();
  for (const ValueList& slopes : b.new_fields) append(inputs, slopes);
  Values later = addresses(inputs);
  ValueList states = b.states;
  std::erase_if(states, [&](const ValuePtr& v) {
    return std::any_of(b.counters.begin(), b.counters.end(), [&](const auto& c) { return c.out == v; });
  });
  for (const auto& c : b.counters) later.erase(c.in.get());
  add_dependent(step.calls, later);
  ValueList cut = values_to_record(body, states, later, recorded);

  std::vector<Record> records;
  const auto take = [&cut](const ValuePtr& v) {  // an input of the body in the place of a recorded value
    auto found = std::find(cut.begin(), cut.end(), v);
    if (found == cut.end()) return make_value(Value::Kind::input, v->type);
    return *cut.erase(found), v;
  };
  ValueList replaced = cut;
  auto field = end_of_carried;
  for (size_t t = 0; t < loop.new_counts.size(); ++t) {
    const ValueList old(field, field + static_cast<std::ptrdiff_t>(loop.new_counts[t]));
    field += static_cast<std::ptrdiff_t>(loop.new_counts[t]);
    const bool read = std::any_of(old.begin(), old.end(),
                                  [&](const ValuePtr& v) { return std::find(cut.begin(), cut.end(), v) != cut.end(); });
    if (!read && !(cut.empty() && records.empty() && !loop.is_scan())) continue;
    records.push_back({loop.new_tape(t), {}});
    for (const ValuePtr& v : old) records.back().fields.push_back(take(v));
  }
  if (!cut.empty() || (records.empty() && !loop.is_scan())) {
    // The loop's new body: the step with the new record.
    std::erase_if(step.calls, [&](const Call& c) {
      return later.count(c.outputs[0].get()) != 0 ||
             std::any_of(b.counters.begin(), b.counters.end(), [&](const auto& k) { return k.out == c.outputs[0]; });
    });
    step.inputs = b.fields;
    append(step.inputs, b.states);
    step.outputs = b.outputs;
    append(step.outputs, cut);
    graph::Substitution fresh;
    const GraphPtr forward = clone(step, fresh);
    remove_dead_calls(*forward);
    list_constants(*forward);
    records.push_back({add_tape(loop.call, forward, cut.size()), cut});
  }
  for (Call& c : body.calls)
    for (ValuePtr& v : c.outputs)
      if (std::find(replaced.begin(), replaced.end(), v) != replaced.end()) v = make_value(v->kind, v->type);
  for (const ValuePtr& v : replaced) v->kind = Value::Kind::input;
  remove_dead_calls(body);
  Values read;
  collect_reads(body, read);
  std::erase_if(b.counters, [&](const auto& c) { return read.count(c.out.get()) == 0; });
  return records;
}

// The loop that stands in `to_` records one more tape; one that is not there is run once more.
ValuePtr Pullback::add_tape(const Call& loop, GraphPtr body, size_t fields) {
  const auto found = loops_.find(loop.outputs[0].get());
  if (found != loops_.end()) return primitives::add_tape(to_.calls[found->second], std::move(body), fields);
  graph::Substitution fresh;
  graph::Params params = loop.params;
  for (graph::Param& p : params.items)
    if (auto* inner = std::get_if<GraphPtr>(&p.value)) *inner = clone(**inner, fresh);
  primitives::record(to_, primitives::primitive_of(loop), loop.inputs, params);
  return primitives::add_tape(to_.calls.back(), std::move(body), fields);
}

}  // namespace anvil::transform
