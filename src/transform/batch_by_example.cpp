// A loop over the examples, for calls that are made for one at a time: those without any other rule, and
// those with an effect.
//
//   y = call(x, shared)      i = 0; y = 0
//                            while (i < size) { y[.., i] = call(x[.., i], shared); i = i + 1 }
#include <algorithm>

#include "transform/batcher.h"

namespace anvil::transform {

using primitives::primitive_of;

namespace {

using Vars = std::vector<Var>;

Var position(Graph& g, int64_t x) { return primitives::literal(g, x, {DType::i64, {}}); }
// The places of one example's elements in the batch's.
Vars starts(Var example, size_t rank) {
  Vars list(rank, position(*example.graph, 0));
  list.push_back(example);
  return list;
}
Var element_of(Var batch, Var example) {
  Shape shape = batch.shape(), part = shape;
  part.back() = 1;
  shape.pop_back();
  return reshape(dynamic_slice(batch, starts(example, shape.size()), part), shape);
}
Var with_element(Var batch, Var x, Var example) {
  Shape part = x.shape();
  part.push_back(1);
  return dynamic_update_slice(batch, reshape(x, part), starts(example, x.shape().size()));
}

}  // namespace

// The call on what the example has of the values of the batch.
Call Batcher::of_example(const Call& c, Var example) {
  Call one{c.primitive, {}, c.params, {}, c.location};
  graph::Substitution map;
  const auto value = [&](const ValuePtr& v) {
    const Form f = form(v);
    return f.batched ? element_of({to_, f.value}, example).value : f.value;
  };
  for (const ValuePtr& v : c.inputs) one.inputs.push_back(value(v));
  for (graph::Param& p : one.params.items)
    if (auto* g = std::get_if<GraphPtr>(&p.value)) {
      for (const ValuePtr& v : captures(**g)) map[v.get()] = value(v);
      *g = graph::clone(**g, map);
    }
  return one;
}

// What the batch's results become by the call for one example, if it comes here at all.
void Batcher::call_for_example(const Call& c, Var example, ValueList& results) {
  const auto made = [&] {
    const Call one = of_example(c, example);
    return record(*to_, primitive_of(one), one.inputs, one.params, one.location);
  };
  ValueList parts;
  if (!mask_) {
    parts = made();
  } else {
    auto yes = std::make_shared<Graph>(), no = std::make_shared<Graph>();
    const ValuePtr mask = mask_;
    {
      const Inside inside(*this, *yes, mask);
      yes->outputs = made();
    }
    for (const ValuePtr& v : results) no->outputs.push_back(element_of({no.get(), v}, {no.get(), example.value}).value);
    for (const GraphPtr& g : {yes, no}) list_constants(*g);
    parts = primitives::branch(*to_, element_of({to_, mask}, example).value, yes, no);
  }
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = with_element({to_, results[i]}, {to_, parts[i]}, example).value;
}

void Batcher::by_example(const Call& c) {
  auto condition = std::make_shared<Graph>(), body = std::make_shared<Graph>();
  ValueList state = {position(*to_, 0).value};
  for (const ValuePtr& v : c.outputs) state.push_back(graph::make_literal(0, of_batch(v->type)));
  for (const GraphPtr& g : {condition, body})
    for (const ValuePtr& v : state) g->inputs.push_back(make_value(Value::Kind::input, v->type));
  condition->outputs = {(Var{condition.get(), condition->inputs[0]} < position(*condition, size_)).value};
  ValueList results(body->inputs.begin() + 1, body->inputs.end());
  const Var example{body.get(), body->inputs[0]};
  {
    const Inside inside(*this, *body, mask_);
    call_for_example(c, example, results);
  }
  body->outputs = {(example + position(*body, 1)).value};
  append(body->outputs, results);
  for (const GraphPtr& g : {condition, body}) list_constants(*g);
  const ValueList made = primitives::loop(*to_, state, condition, body);
  for (size_t i = 0; i < c.outputs.size(); ++i) bind(c.outputs[i], made[i + 1], true);
}

}  // namespace anvil::transform
