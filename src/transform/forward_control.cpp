// Forward mode through inner graphs. They give the tangents of what they give, and what they read from
// outside has its tangents there. A loop carries the tangents of what it carries:
//
//   %s = while (%s0)                  %s, %t = while (%s0, %t0)
//     as long as cond(%s)               as long as cond(%s)
//     %s = f(%s)                        %s, %t = f(%s), f'(%s) %t
//
// What it records it records with its tangents, on a tape of their own, so that loops of reverse mode
// are loops like any other.
#include "transform/loop.h"
#include "transform/pushforward.h"
#include "transform/rewrite.h"

namespace anvil::transform {

namespace {

ValuePtr input_like(const ValuePtr& v) { return make_value(Value::Kind::input, v->type); }
ValuePtr result_like(const ValuePtr& v) { return make_value(Value::Kind::result, v->type); }

}  // namespace

// An inner graph without inputs, or several of which one runs.
void Pushforward::forward_once(const Call& call, Graph& to) {
  Call made = call;
  std::vector<GraphPtr> inner;
  for (graph::Param& p : made.params.items)
    if (auto* g = std::get_if<GraphPtr>(&p.value)) {
      inner.push_back(std::make_shared<Graph>());
      run((*g)->calls, *inner.back());
      inner.back()->outputs = (*g)->outputs;
      *g = inner.back();
    }
  for (size_t k = 0; k < call.outputs.size(); ++k) {
    const ValuePtr& v = call.outputs[k];
    bool flows = false;
    for (const GraphPtr& g : inner) flows = flows || tangent(g->outputs[k]);
    if (!flows) continue;
    for (const GraphPtr& g : inner) g->outputs.push_back(tangent_or_zero(g->outputs[k]));
    made.outputs.push_back(result_like(v));
    seed(v, made.outputs.back());
  }
  for (const GraphPtr& g : inner) list_constants(*g);
  to.calls.push_back(std::move(made));
}

// The operands that are tapes: those of the call, then their tangents, read side by side with them.
void Pushforward::enter_tapes(const Loop& loop, Call& made, Graph& body) {
  made.inputs.resize(loop.counts.size());
  body.inputs.resize(loop.fields);
  if (!loop.is_scan()) return;
  std::vector<int64_t> counts = loop.counts, last_first = loop.call.params.ints("last_first");
  auto field = loop.body.inputs.begin();
  for (size_t t = 0; t < loop.counts.size(); ++t, field += loop.counts[t - 1]) {
    const auto found = tapes_.find(loop.call.inputs[t].get());
    if (found == tapes_.end()) continue;
    made.inputs.push_back(found->second.tape);
    counts.push_back(static_cast<int64_t>(found->second.fields.size()));
    last_first.push_back(last_first[t]);
    for (const size_t k : found->second.fields) {
      const ValuePtr& v = field[static_cast<std::ptrdiff_t>(k)];
      body.inputs.push_back(input_like(v));
      seed(v, body.inputs.back());
    }
  }
  made.params.set("field_counts", std::move(counts));
  made.params.set("last_first", std::move(last_first));
}

// What the body records: after the fields of the call's tapes those of their tangents.
void Pushforward::leave_tapes(const Loop& loop, Call& made, Graph& body) {
  const ValueList& outputs = loop.body.outputs;
  append(body.outputs, ValueList(outputs.begin() + static_cast<std::ptrdiff_t>(loop.carried), outputs.end()));
  for (size_t t = 0; t < loop.new_counts.size(); ++t) made.outputs.push_back(loop.new_tape(t));
  std::vector<int64_t> counts = loop.new_counts;
  size_t field = loop.carried;
  for (size_t t = 0; t < loop.new_counts.size(); ++t) {
    TapeTangent found;
    for (size_t k = 0; k < static_cast<size_t>(loop.new_counts[t]); ++k)
      if (const ValuePtr moved = tangent(outputs[field++])) {
        body.outputs.push_back(moved);
        found.fields.push_back(k);
      }
    if (found.fields.empty()) continue;
    counts.push_back(static_cast<int64_t>(found.fields.size()));
    found.tape = result_like(loop.new_tape(t));
    made.outputs.push_back(found.tape);
    tapes_[loop.new_tape(t).get()] = found;
  }
  if (!loop.new_counts.empty()) made.params.set("new_field_counts", std::move(counts));
}

void Pushforward::forward_loop(const Call& call, Graph& to) {
  const Loop loop(call);
  const auto body = std::make_shared<Graph>(loop.body);
  body->calls.clear();
  Call made = call;
  enter_tapes(loop, made, *body);
  ValueList moving;  // what is carried with a tangent
  for (size_t i = 0; i < loop.carried; ++i) {
    body->inputs.push_back(loop.carry(i));
    made.inputs.push_back(loop.initial(i));
    if (active_.contains(loop.carry(i))) moving.push_back(loop.carry(i));
  }
  for (const ValuePtr& v : moving) {
    body->inputs.push_back(input_like(v));
    seed(v, body->inputs.back());
  }
  run(loop.body.calls, *body);

  made.outputs.resize(loop.carried);
  body->outputs.resize(loop.carried);
  for (size_t i = 0; i < loop.carried; ++i) {
    if (!active_.contains(loop.carry(i))) continue;
    made.inputs.push_back(tangent_or_zero(loop.initial(i)));
    body->outputs.push_back(tangent_or_zero(loop.body.outputs[i]));
    made.outputs.push_back(result_like(call.outputs[i]));
    seed(call.outputs[i], made.outputs.back());
  }
  leave_tapes(loop, made, *body);
  list_constants(*body);
  made.params.set("body_graph", body);
  if (!loop.is_scan()) {
    const auto condition = std::make_shared<Graph>(*call.params.graph("cond_graph"));
    for (const ValuePtr& v : moving) condition->inputs.push_back(input_like(v));
    made.params.set("cond_graph", condition);
  }
  to.calls.push_back(std::move(made));
}

}  // namespace anvil::transform
