// Batching of loops. Where the condition is the same for all examples the loop stays what it is. Where it
// differs, the loop carries a mask, the examples that go on, and ends when none does:
//
//   while (x < limit) x = f(x)       m = x < limit
//                                    while (any(m)) { x = m ? f(x) : x; m = m & x < limit }
//
// What is the same for all examples that go on, such as a counter, is carried once for those, so that it may
// be a position in memory, and once more for each example as it was at its end. A tape that such a loop records
// holds the mask of each step as well; a scan of it leaves examples as they are in steps that were not theirs.
#include <optional>

#include "transform/batcher.h"

namespace anvil::transform {

struct Batcher::Loop {
  explicit Loop(const Call& c)
      : call(c),
        body(*c.params.graph("body_graph")),
        new_counts(primitives::new_field_counts(c)),
        carried(primitives::carried(c)) {
    if (primitives::control_of(c) == primitives::Control::scan)
      counts = c.params.ints("field_counts");
    else
      test = c.params.graph("cond_graph").get();
    fields = body.inputs.size() - carried;
  }
  const ValuePtr& initial(size_t i) const { return call.inputs[counts.size() + i]; }
  const ValuePtr& carry(size_t i) const { return body.inputs[fields + i]; }
  bool passes(size_t i) const { return body.outputs[i] == carry(i); }

  const Call& call;
  const Graph& body;
  const Graph* test = nullptr;
  std::vector<int64_t> counts, new_counts;  // fields of each operand tape, of each new tape
  size_t fields = 0, carried;
  Flags batched = {};    // what is carried
  bool differs = false;  // which steps examples make
};

// A new input that stands for v.
ValuePtr Batcher::input(const ValuePtr& v, bool batched) {
  const ValuePtr made = make_value(Value::Kind::input, batched ? of_batch(v->type) : v->type);
  bind(v, made, batched);
  return made;
}
static ValuePtr new_mask(int64_t size) { return make_value(Value::Kind::input, {DType::boolean, {size}}); }
static Var any(Graph& g, const ValuePtr& mask) { return primitives::reduce_max({&g, mask}, {0}); }

// The condition in a state, for each example.
ValuePtr Batcher::condition(const Graph& test, const ValueList& state, const Flags& flags) {
  graph::Substitution map;
  const GraphPtr again = graph::clone(test, map);
  kept_.push_back(again);
  for (size_t i = 0; i < state.size(); ++i) bind(again->inputs[i], state[i], flags[i]);
  run(again->calls);
  return whole(again->outputs[0]);
}

// What a body gives for the records of new tapes, each with the mask, if there is one.
void Batcher::give_records(const Loop& l, const ValuePtr& mask) {
  size_t next = l.carried;
  for (int64_t count : l.new_counts) {
    for (int64_t k = 0; k < count; ++k) to_->outputs.push_back(form(l.body.outputs[next++]).value);
    if (mask) to_->outputs.push_back(mask);
  }
}
std::vector<int64_t> Batcher::new_counts(const Loop& l, bool masked) {
  std::vector<int64_t> counts = l.new_counts;
  for (int64_t& n : counts) n += masked;
  return counts;
}
void Batcher::bind_tapes(const Loop& l, const ValueList& results, bool masked, bool at_end) {
  size_t next = l.carried, result = results.size() - l.new_counts.size();
  for (size_t t = 0; t < l.new_counts.size(); ++t) {
    Form f{results[result + t], masked, {}, masked, at_end};
    for (int64_t k = 0; k < l.new_counts[t]; ++k) {
      f.fields.push_back(batched(l.body.outputs[next++]));
      f.batched = f.batched || f.fields.back();
    }
    forms_[l.call.outputs[l.carried + t].get()] = f;
  }
}

// ---- loops with a condition -------------------------------------------------------------------

void Batcher::loop(const Call& c) {
  Loop l(c);
  for (const ValuePtr& v : c.inputs) l.batched.push_back(batched(v));
  for (bool grows = true; grows;) {  // what is carried may come to differ in a later step
    const Flags before = l.batched;
    Graph tried;
    {
      const Inside inside(*this, tried, mask_);
      for (size_t i = 0; i < l.carried; ++i) input(l.test->inputs[i], before[i]);
      run(l.test->calls);
      l.differs = batched(l.test->outputs[0]);
    }
    const Inside inside(*this, tried, l.differs ? new_mask(size_) : mask_);
    for (size_t i = 0; i < l.carried; ++i) input(l.carry(i), before[i]);
    run(l.body.calls);
    for (size_t i = 0; i < l.carried; ++i) l.batched[i] = before[i] || batched(l.body.outputs[i]);
    grows = l.batched != before;
  }
  l.differs ? loop_by_example(l) : loop_together(l);
}

// Where no example comes here the loop must not begin: it might never end.
void Batcher::loop_together(const Loop& l) {
  ValueList state;
  auto test = std::make_shared<Graph>(), body = std::make_shared<Graph>();
  for (size_t i = 0; i < l.carried; ++i) {
    state.push_back(given(l.initial(i), l.batched[i]));
    test->inputs.push_back(input(l.test->inputs[i], l.batched[i]));
    body->inputs.push_back(input(l.carry(i), l.batched[i]));
  }
  const ValuePtr wanted = mask_ ? any(*to_, mask_).value : nullptr;
  {
    const Inside inside(*this, *test, mask_);
    run(l.test->calls);
    const Var more{to_, form(l.test->outputs[0]).value};
    test->outputs = {wanted ? (more & Var{to_, wanted}).value : more.value};
  }
  {
    const Inside inside(*this, *body, mask_);
    run(l.body.calls);
    for (size_t i = 0; i < l.carried; ++i) body->outputs.push_back(given(l.body.outputs[i], l.batched[i]));
    give_records(l, nullptr);
  }
  const ValueList results = record_loop(l, state, test, body, false);
  for (size_t i = 0; i < l.carried; ++i) bind(l.call.outputs[i], results[i], l.batched[i]);
  bind_tapes(l, results, false, false);
}

ValueList Batcher::record_loop(const Loop& l, const ValueList& state, const GraphPtr& test, const GraphPtr& body,
                               bool masked) {
  for (const GraphPtr& g : {test, body}) list_constants(*g);
  graph::Params params = l.call.params;
  params.set("cond_graph", test);
  params.set("body_graph", body);
  if (!l.new_counts.empty()) params.set("new_field_counts", new_counts(l, masked));
  return record(*to_, primitives::primitive_of(l.call), state, std::move(params), l.call.location);
}

void Batcher::loop_by_example(const Loop& l) {
  ValueList start;
  std::vector<size_t> counters;  // the same for all examples that go on, but not where they end
  for (size_t i = 0; i < l.carried; ++i) {
    start.push_back(given(l.initial(i), l.batched[i]));
    if (!l.batched[i] && !l.passes(i)) counters.push_back(i);
  }
  ValueList state = {masked_by(condition(*l.test, start, l.batched))};
  append(state, start);
  for (size_t i : counters) state.push_back(whole(l.initial(i)));

  auto test = std::make_shared<Graph>(), body = std::make_shared<Graph>();
  for (const GraphPtr& g : {test, body})
    for (const ValuePtr& v : state) g->inputs.push_back(make_value(Value::Kind::input, v->type));
  test->outputs = {any(*test, test->inputs[0]).value};
  {
    const ValuePtr mask = body->inputs[0];
    const Inside inside(*this, *body, mask);
    for (size_t i = 0; i < l.carried; ++i) bind(l.carry(i), body->inputs[1 + i], l.batched[i]);
    run(l.body.calls);
    ValueList next, ends;
    for (size_t i = 0; i < l.carried; ++i) {
      const ValuePtr made = given(l.body.outputs[i], l.batched[i]);
      next.push_back(l.batched[i] ? chosen(mask, made, body->inputs[1 + i]) : made);
    }
    for (size_t k = 0; k < counters.size(); ++k)
      ends.push_back(chosen(mask, whole(l.body.outputs[counters[k]]), body->inputs[1 + l.carried + k]));
    body->outputs = {masked_by(condition(*l.test, next, l.batched))};
    append(body->outputs, next);
    append(body->outputs, ends);
    give_records(l, mask);
  }
  const ValueList results = record_loop(l, state, test, body, true);
  for (size_t i = 0; i < l.carried; ++i) bind(l.call.outputs[i], results[1 + i], l.batched[i]);
  for (size_t k = 0; k < counters.size(); ++k) bind(l.call.outputs[counters[k]], results[1 + l.carried + k], true);
  bind_tapes(l, results, true, false);
}

// ---- scans of tapes -----------------------------------------------------------------------------

// The inputs of a scan's body: the fields of all tapes and what is carried; gives the mask of the step, or null.
ValuePtr Batcher::scan_inputs(const Loop& l, Graph& body) {
  ValuePtr mask;
  size_t field = 0;
  for (size_t t = 0; t < l.counts.size(); ++t) {
    const Form tape = form(l.call.inputs[t]);
    for (int64_t k = 0; k < l.counts[t]; ++k)
      body.inputs.push_back(input(l.body.inputs[field++], !tape.fields.empty() && tape.fields[static_cast<size_t>(k)]));
    if (!tape.masked) continue;
    body.inputs.push_back(new_mask(size_));
    mask = body.inputs.back();
  }
  for (size_t i = 0; i < l.carried; ++i) body.inputs.push_back(input(l.carry(i), l.batched[i]));
  return mask;
}

// The examples of a step are the same on all tapes that are read: where one has those of an example at
// the end, as the scan reads them, all have.
static void check_sides(std::optional<bool>& at_end, bool here) {
  if (at_end && *at_end != here) throw InternalError("batch: a scan reads tapes whose records are not of one step");
  at_end = here;
}

void Batcher::scan(const Call& c) {
  Loop l(c);
  const auto& last_first = c.params.ints("last_first");
  std::optional<bool> at_end;
  std::vector<int64_t> counts = l.counts;
  ValueList operands;
  for (size_t t = 0; t < counts.size(); ++t) {
    const Form tape = form(c.inputs[t]);
    operands.push_back(tape.value);
    counts[t] += tape.masked;
    if (tape.masked) check_sides(at_end, tape.at_end != (last_first[t] != 0));
  }
  l.differs = at_end.has_value();
  for (size_t i = 0; i < l.carried; ++i) l.batched.push_back(batched(l.initial(i)) || (l.differs && !l.passes(i)));

  auto body = std::make_shared<Graph>();
  for (bool grows = true; grows;) {
    const Flags before = l.batched;
    body = std::make_shared<Graph>();
    const ValuePtr mask = scan_inputs(l, *body);
    const Inside inside(*this, *body, mask_);
    if (mask) mask_ = masked_by(mask);
    run(l.body.calls);
    for (size_t i = 0; i < l.carried; ++i) l.batched[i] = before[i] || batched(l.body.outputs[i]);
    grows = l.batched != before;
    if (grows) continue;
    for (size_t i = 0; i < l.carried; ++i) {
      const ValuePtr next = given(l.body.outputs[i], l.batched[i]);
      body->outputs.push_back(mask && l.batched[i] ? chosen(mask, next, form(l.carry(i)).value) : next);
    }
    give_records(l, mask);
  }
  list_constants(*body);
  for (size_t i = 0; i < l.carried; ++i) operands.push_back(given(l.initial(i), l.batched[i]));
  const ValueList results =
      primitives::scan_tapes(*to_, std::move(operands), {body, counts, last_first, new_counts(l, l.differs)});
  for (size_t i = 0; i < l.carried; ++i) bind(c.outputs[i], results[i], l.batched[i]);
  bind_tapes(l, results, l.differs, at_end.value_or(false));
}

}  // namespace anvil::transform
