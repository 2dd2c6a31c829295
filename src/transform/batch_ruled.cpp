// Composites with derivatives of their own. The call for the batch has the definition of the call and its rules,
// batched: a rule is recorded for one example, with values in the place of what it gets, and that graph is batched.
//
//   y = f(x)  with  dx = rule(x, y, dy)        Y = F(X)  with  dX = Rule(X, Y, dY)
#include "primitives/vocabulary/composite.h"
#include "transform/batch.h"
#include "transform/batcher.h"

namespace anvil::transform {

using primitives::ForwardStep;
using primitives::Primitive;
using primitives::primitive_of;
using primitives::ReverseStep;

namespace {

// What a rule records for one example; inputs stand for what it gets, and know what that is in the batch.
struct Example {
  Call call;  // of one example
  std::vector<bool> batched;
  int64_t size;

  struct Rule {
    Graph graph;
    ValueList given;  // in the batch, for each input
    std::vector<bool> batched;
  };
  static ValuePtr input(Rule& rule, const ValuePtr& given, bool batched) {
    if (!given) return nullptr;
    TensorType type = given->type;
    if (batched) type.shape.pop_back();
    rule.graph.inputs.push_back(make_value(Value::Kind::input, type));
    rule.given.push_back(given);
    rule.batched.push_back(batched);
    return rule.graph.inputs.back();
  }
  static ValueList inputs(Rule& rule, const ValueList& given) {
    ValueList list;
    for (const ValuePtr& v : given) list.push_back(input(rule, v, true));
    return list;
  }
  Call call_in(Rule& rule, const Call& of_batch) const {
    Call one = call;
    for (size_t i = 0; i < one.inputs.size(); ++i) one.inputs[i] = input(rule, of_batch.inputs[i], batched[i]);
    one.outputs = inputs(rule, of_batch.outputs);
    return one;
  }
  // The results of the rule for the batch, null where they are.
  ValueList of_batch(Rule& rule, const ValueList& results, Graph& to) const {
    rule.graph.outputs.clear();
    for (const ValuePtr& v : results)
      if (v) rule.graph.outputs.push_back(v);
    const GraphPtr together = batch(rule.graph, rule.batched, size);
    primitives::add_constants(to, *together);
    const ValueList made = inline_calls(*together, rule.given, to);
    ValueList list;
    auto next = made.begin();
    for (const ValuePtr& v : results) list.push_back(v ? *next++ : nullptr);
    return list;
  }

  void reverse(ReverseStep& step) const {
    Rule rule;
    const Call one = call_in(rule, step.call);
    ReverseStep back{rule.graph, one, inputs(rule, step.cotangents), step.required, ValueList(one.inputs.size())};
    back.sums.resize(one.inputs.size());
    back.taken.resize(one.inputs.size());
    back.residuals = inputs(rule, step.residuals);
    primitive_of(call).reverse(back);
    step.results = of_batch(rule, back.results, step.graph);
    for (size_t i = 0; i < batched.size(); ++i)  // of what all examples share: the sum
      if (ValuePtr& g = step.results[i]; g && !batched[i])
        g = reduce_sum(Var{&step.graph, g}, {static_cast<int64_t>(g->type.shape.size()) - 1}).value;
  }
  bool forward(ForwardStep& step) const {
    Rule rule;
    const Call one = call_in(rule, step.call);
    ForwardStep moved{rule.graph, one, {}, ValueList(one.outputs.size())};
    for (size_t i = 0; i < batched.size(); ++i) moved.tangents.push_back(input(rule, step.tangents[i], batched[i]));
    if (!primitive_of(call).forward(moved)) return false;
    step.results = of_batch(rule, moved.results, step.graph);
    return true;
  }
  ValueList augment(Graph& to, const Call& whole) const {
    Rule rule;
    const Call one = call_in(rule, whole);
    return of_batch(rule, primitive_of(call).augment(rule.graph, one), to);
  }
};

}  // namespace

void batch_ruled(BatchStep& step) {
  const Primitive& p = primitive_of(step.call);
  const auto example = std::make_shared<const Example>(Example{step.call, step.batched, step.size});
  Primitive rules = primitives::composite(p.name, nullptr);
  if (p.reverse) rules.reverse = [example](ReverseStep& s) { example->reverse(s); };
  if (p.forward) rules.forward = [example](ForwardStep& s) { return example->forward(s); };
  if (p.augment) rules.augment = [example](Graph& to, const Call& c) { return example->augment(to, c); };
  const GraphPtr definition = batch(*step.call.params.graph("definition"), step.batched, step.size);
  step.results = primitives::record_ruled(step.graph, std::make_shared<const Primitive>(std::move(rules)),
                                          step.operands, definition, primitives::residuals_of(step.call));
}

}  // namespace anvil::transform
