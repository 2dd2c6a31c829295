// Passes that remove: constants of one element, unused constants, dead calls.
#include "transform/simplify.h"

#include <algorithm>

#include "base/interrupt.h"
#include "transform/rewrite.h"
#include "transform/tapes.h"

namespace anvil::transform {
namespace {

class ScalarConstants {
 public:
  void visit(Graph& g) {
    for (Call& c : g.calls) {
      poll();
      for (ValuePtr& v : c.inputs) v = literal(v);
      rewrite_subgraphs(c, [this](Graph& inner) { visit(inner); });
    }
    for (ValuePtr& v : g.outputs) v = literal(v);
    std::erase_if(g.constants, is_scalar);
  }

 private:
  static bool is_scalar(const ValuePtr& v) { return v->kind == Value::Kind::constant && elements(v->type.shape) == 1; }
  // One literal for each constant, however often it is read.
  ValuePtr literal(const ValuePtr& v) {
    if (!is_scalar(v)) return v;
    ValuePtr& made = literals_[v.get()];
    if (!made) made = graph::make_literal(element(v->constant, 0), v->type);
    return made;
  }
  graph::Substitution literals_;
};

// Walks from the outputs back: a call lives when it has an effect, unless that has been had, or a result is read.
void keep_live(Graph& g, Values& read, const Values& again, bool all_again = false) {
  auto use = [&](const ValuePtr& v) { read.insert(v.get()); };
  std::for_each(g.outputs.begin(), g.outputs.end(), use);
  std::vector<Call> live;
  for (auto call = g.calls.rbegin(); call != g.calls.rend(); ++call) {
    poll();
    const auto is_made_again = [&](const Call& c) { return makes_any_of(c, again); };
    const bool made_again = all_again || (!again.empty() && anywhere(*call, is_made_again));
    if (!makes_any_of(*call, read) && (made_again || !has_effect(*call))) continue;
    drop_dead_carries(*call, [&](const ValuePtr& v) { return read.count(v.get()) != 0; });
    std::for_each(call->inputs.begin(), call->inputs.end(), use);
    rewrite_subgraphs(*call, [&](Graph& inner) { keep_live(inner, read, again, made_again); });
    live.push_back(std::move(*call));
  }
  std::reverse(live.begin(), live.end());
  g.calls = std::move(live);
}

void keep_read_constants(Graph& g, const Values& read) {
  std::erase_if(g.constants, [&](const ValuePtr& v) { return read.count(v.get()) == 0; });
  for (Call& c : g.calls) rewrite_subgraphs(c, [&](Graph& inner) { keep_read_constants(inner, read); });
}

}  // namespace

void collect_reads(const Graph& g, Values& read) {
  for (const Call& c : g.calls) {
    poll();
    for (const ValuePtr& v : c.inputs) read.insert(v.get());
    for (const GraphPtr& inner : subgraphs(c)) collect_reads(*inner, read);
  }
  for (const ValuePtr& v : g.outputs) read.insert(v.get());
}

void inline_scalar_constants(Graph& g) { ScalarConstants().visit(g); }

// What an inner graph lists but only another one reads stays listed; that harms nobody.
void remove_unused_constants(Graph& g) {
  Values read;
  collect_reads(g, read);
  keep_read_constants(g, read);
}

void remove_dead_calls(Graph& g, const Values& again) {
  Values read;
  keep_live(g, read, again);
}

void simplify(Graph& g) {
  inline_scalar_constants(g);
  simplify_algebra(g);
  merge_equal_calls(g);
  remove_dead_calls(g);
  remove_unused_constants(g);
}

void optimize(Graph& g) {
  fit_tapes(g);
  inline_scalar_constants(g);
  capture_invariants(g);
  simplify_algebra(g);
  mirror_values(g);
  if (merge_late(g)) remove_dead_calls(g);
  merge_equal_calls(g);
  join_step_products(g);
  turn_sliced_inputs(g);
  if (hoist_invariants(g)) merge_equal_calls(g);
  if (carry_last_writes(g)) remove_dead_calls(g);
  if (join_step_calls(g)) merge_equal_calls(g);
  remove_dead_calls(g);
  if (block_centred_sums(g)) remove_dead_calls(g);
  remove_unused_constants(g);
}

}  // namespace anvil::transform
