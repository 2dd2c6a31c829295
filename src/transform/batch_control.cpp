// Batching of checkpoints and branches.
#include "transform/batcher.h"

namespace anvil::transform {

void Batcher::checkpoint(const Call& c) {
  const Graph& of_one = *c.params.graph("body_graph");
  auto body = std::make_shared<Graph>();
  {
    const Inside inside(*this, *body, mask_);
    run(of_one.calls);
  }
  for (const ValuePtr& v : of_one.outputs) body->outputs.push_back(form(v).value);
  list_constants(*body);
  const ValueList results = primitives::checkpoint(*to_, body);
  for (size_t i = 0; i < results.size(); ++i) bind(c.outputs[i], results[i], batched(of_one.outputs[i]));
}

// All examples take the same side.
void Batcher::branch(const Call& c) {
  const GraphPtr sides[] = {c.params.graph("true_graph"), c.params.graph("false_graph")};
  const GraphPtr made[] = {std::make_shared<Graph>(), std::make_shared<Graph>()};
  Flags flags(c.outputs.size());
  for (size_t k : {0, 1}) {
    const Inside inside(*this, *made[k], mask_);
    run(sides[k]->calls);
    for (size_t i = 0; i < flags.size(); ++i) flags[i] = flags[i] || batched(sides[k]->outputs[i]);
  }
  for (size_t k : {0, 1}) {
    const Inside inside(*this, *made[k], mask_);
    for (size_t i = 0; i < flags.size(); ++i) to_->outputs.push_back(given(sides[k]->outputs[i], flags[i]));
    list_constants(*to_);
  }
  const ValueList results = primitives::branch(*to_, form(c.inputs[0]).value, made[0], made[1]);
  for (size_t i = 0; i < results.size(); ++i) bind(c.outputs[i], results[i], flags[i]);
}

// Both sides, each for the examples that take it: a loop there ends when these are done.
void Batcher::branch_by_example(const Call& c) {
  const Graph &yes = *c.params.graph("true_graph"), &no = *c.params.graph("false_graph");
  const ValuePtr condition = form(c.inputs[0]).value;
  {
    const Inside inside(*this, *to_, masked_by(condition));
    run(yes.calls);
  }
  {
    const Inside inside(*this, *to_, masked_by((!Var{to_, condition}).value));
    run(no.calls);
  }
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    const Form a = form(yes.outputs[i]), b = form(no.outputs[i]);
    if (a.value == b.value)
      bind(c.outputs[i], a.value, a.batched);
    else
      bind(c.outputs[i], chosen(condition, whole(yes.outputs[i]), whole(no.outputs[i])), true);
  }
}

}  // namespace anvil::transform
