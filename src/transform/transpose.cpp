// Forward mode from reverse rules. A reverse rule maps the cotangents g of the results to J'g, with J the
// derivative of the call. Recorded for symbolic g and pulled back itself, it maps the tangents t of the
// operands to (J')'t = Jt, and what is left of it does not read g:
//
//   y = sort(x)           J'g = scatter(0, %p, g)      %p, the places that the elements came from
//                         Jt = gather(t, %p)
//
// So both modes take the same convention at kinks, and a primitive that has one of them has the other.
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

// The operands' cotangents, recorded into `to`, from those of the results; null where they have no tangent.
ValueList reverse_rule(const ForwardStep& step, const ValueList& cotangents, const ValueList& residuals, Graph& to) {
  const size_t n = step.call.inputs.size();
  ReverseStep back{to, step.call, cotangents, {}, ValueList(n), ValueList(n), std::vector<bool>(n), residuals};
  for (const ValuePtr& t : step.tangents) back.required.push_back(t != nullptr);
  primitive_of(step.call).reverse(back);
  return back.results;
}

void check_reads_no(const ValueList& cotangents, const Graph& part, const ForwardStep& step) {
  Values read;
  collect_reads(part, read);
  for (const ValuePtr& g : cotangents)
    if (g && read.count(g.get()) != 0)
      throw Error("gradient", "There is no forward derivative of `" + step.call.primitive->name + "`.",
                  {"x It follows from the backward rule only where that is linear in the gradients of the outputs."});
}

}  // namespace

void transpose_reverse(ForwardStep& step, const ValueList& residuals) {
  ValueList g, targets, tangents;
  for (const ValuePtr& v : step.call.outputs) {
    g.push_back(is_float(v->type.dtype) ? make_value(Value::Kind::input, v->type) : nullptr);
    if (g.back()) targets.push_back(g.back());
  }
  Graph rule;
  const ValueList found = reverse_rule(step, g, residuals, rule);
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i] || !step.tangents[i]) continue;
    rule.outputs.push_back(found[i]);
    tangents.push_back(step.tangents[i]);
  }
  const GraphPtr part = differentiable(rule, targets, primitives::Reader::reverse).graph;
  const Values of_rule = made_by(part->calls);
  ValueList results = pull_back(part->calls, part->outputs, tangents, targets, *part);
  part->outputs.clear();
  for (const ValuePtr& v : results)
    if (v) part->outputs.push_back(v);
  remove_dead_calls(*part, of_rule);
  check_reads_no(g, *part, step);
  append(step.graph.calls, part->calls);
  append(step.graph.constants, part->constants);
  auto next = results.begin();
  for (size_t k = 0; k < g.size(); ++k)
    if (g[k]) step.results[k] = *next++;
}

}  // namespace anvil::transform
