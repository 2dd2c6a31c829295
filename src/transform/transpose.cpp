// Each mode from the rules of the other. A reverse rule maps the cotangents g of the results to J'g, with J the
// derivative of the call. Recorded for symbolic g and pulled back itself, it maps the tangents t of the
// operands to (J')'t = Jt, and what is left of it does not read g:
//
//   y = sort(x)           J'g = scatter(0, %p, g)      %p, the places that the elements came from
//                         Jt = gather(t, %p)
//
// So both modes take the same convention at kinks, and a primitive that has one of them has the other: a
// forward rule, which maps t to Jt, gives J'g likewise.
#include <functional>

#include "transform/forward.h"
#include "transform/needed.h"
#include "transform/pushforward.h"
#include "transform/reverse.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {

using primitives::ForwardStep;
using primitives::primitive_of;
using primitives::ReverseStep;

namespace {

// Of a rule, recorded into a graph: from `symbols`, null where nothing flows in, to its results, null where
// nothing comes out. What comes to stand at the symbols when `given` is pulled back from the results, null where zero.
struct Rule {
  const Call& call;
  const char *missing, *why;  // messages, where it is not linear
  ValueList symbols = {};
  Graph graph = {};
  ValueList results = {};

  ValueList transposed(const ValueList& given, Graph& to);
};

ValueList symbols_for(const ValueList& values, const std::function<bool(size_t)>& flows) {
  ValueList list;
  for (size_t i = 0; i < values.size(); ++i)
    list.push_back(flows(i) ? make_value(Value::Kind::input, values[i]->type) : nullptr);
  return list;
}

void check_reads_no(const ValueList& symbols, const Graph& part, const Rule& rule) {
  Values read;
  collect_reads(part, read);
  for (const ValuePtr& v : symbols)
    if (v && read.count(v.get()) != 0)
      throw NotLinear("gradient", rule.missing + (" `" + rule.call.primitive->name) + "`.", {rule.why});
}

ValueList Rule::transposed(const ValueList& given, Graph& to) {
  ValueList targets, seeds;
  for (const ValuePtr& v : symbols)
    if (v) targets.push_back(v);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i] || !given[i]) continue;
    graph.outputs.push_back(results[i]);
    seeds.push_back(given[i]);
  }
  const GraphPtr part = differentiable(graph, targets, primitives::Reader::reverse).graph;
  const Values of_rule = made_by(part->calls);
  const ValueList found = pull_back(part->calls, part->outputs, seeds, targets, *part);
  part->outputs.clear();
  for (const ValuePtr& v : found)
    if (v) part->outputs.push_back(v);
  remove_dead_calls(*part, of_rule);
  check_reads_no(symbols, *part, *this);
  append(to.calls, part->calls);
  append(to.constants, part->constants);
  ValueList list;
  auto next = found.begin();
  for (const ValuePtr& v : symbols) list.push_back(v ? *next++ : nullptr);
  return list;
}

}  // namespace

void transpose_reverse(ForwardStep& step, const ValueList& residuals) {
  const size_t n = step.call.inputs.size();
  const ValueList& outputs = step.call.outputs;
  Rule rule{step.call, "There is no forward derivative of",
            "x It follows from the backward rule only where that is linear in the gradients of the outputs, which no "
            "test of a loop may read."};
  rule.symbols = symbols_for(outputs, [&](size_t k) { return is_float(outputs[k]->type.dtype); });
  ReverseStep back{rule.graph,   step.call,    rule.symbols,         {},
                   ValueList(n), ValueList(n), std::vector<bool>(n), residuals};
  for (const ValuePtr& t : step.tangents) back.required.push_back(t != nullptr);
  primitive_of(step.call).reverse(back);
  rule.results = back.results;
  step.results = rule.transposed(step.tangents, step.graph);
}

void transpose_forward(ReverseStep& step) {
  Rule rule{step.call, "There is no reverse derivative of",
            "x It follows from the jvp rule only where that is linear in the tangents of the inputs."};
  rule.symbols = symbols_for(step.call.inputs, [&](size_t i) { return step.required[i]; });
  ForwardStep moved{rule.graph, step.call, rule.symbols, ValueList(step.call.outputs.size())};
  if (!primitive_of(step.call).forward(moved))
    throw Error("gradient", "No reverse rule for primitive " + step.call.primitive->name + ".",
                {"x Cannot compute gradient through this primitive."});
  rule.results = moved.results;
  step.results = rule.transposed(step.cotangents, step.graph);
}

}  // namespace anvil::transform
