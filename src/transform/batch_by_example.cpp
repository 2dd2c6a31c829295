// A loop over the examples, for calls that are made for one at a time: those without any other rule, and
// those with an effect.
//
//   y = call(x, shared)      i = 0; y = 0
//                            while (i < size) { y[.., i] = call(x[.., i], shared); i = i + 1 }
#include <algorithm>

#include "transform/batcher.h"

namespace anvil::transform {

using primitives::primitive_of;

static Var element_of(const Var& batch, const Var& example) { return element(batch, last_dimension(batch), example); }

// The call on what the example has of the values of the batch.
Call Batcher::of_example(const Call& c, const Var& example) {
  Call one{c.primitive, {}, c.params, {}, c.location, c.derivative};
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
void Batcher::call_for_example(const Call& c, const Var& example, Vars& results) {
  const auto made = [&] {
    const Call one = of_example(c, example);
    return record(*to_, primitive_of(one), one.inputs, one.params, one.location);
  };
  ValueList parts;
  if (!mask_) {
    parts = made();
  } else {
    const GraphPtr yes = inner_graph({}, [&](Graph& g, const Vars&) {
      const Inside inside(*this, g, mask_);
      return vars(g, made());
    });
    const GraphPtr no = inner_graph({}, [&](Graph& g, const Vars&) {
      Vars old;
      for (const Var& v : results) old.push_back(element_of({&g, v.value}, {&g, example.value}));
      return old;
    });
    parts = primitives::branch(*to_, element_of({to_, mask_}, example).value, yes, no);
  }
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = with_element(results[i], last_dimension(results[i]), example, {to_, parts[i]});
}

void Batcher::by_example(const Call& c) {
  const Var end = primitives::literal(*to_, size_, {DType::i64, {}});
  Vars results;
  for (const ValuePtr& v : c.outputs) results.push_back(primitives::literal(*to_, 0, of_batch(v->type)));
  const auto step = [&](Graph& g, const Var& example, Vars now) {
    const Inside inside(*this, g, mask_);
    call_for_example(c, example, now);
    return now;
  };
  results = primitives::counting_loop(*to_, end, results, step);
  for (size_t i = 0; i < c.outputs.size(); ++i) bind(c.outputs[i], results[i].value, true);
}

}  // namespace anvil::transform
