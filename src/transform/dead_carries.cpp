// What a loop carries although nobody reads it, neither after the loop nor for what is read:
//
//   %s, %d = while (%s0, %d0): (s, d) -> (f(s), g(s, d))      %s = while (%s0): (s) -> (f(s))
//
// with %d unused. How values flow is what the regions of the primitives say.
#include <algorithm>

#include "primitives/families/control.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

using primitives::Control;
using primitives::Flow;
using primitives::Region;
using Places = std::vector<bool>;
Places needed_inputs(const std::vector<Region>& regions, const Places& results);
bool repeats(const Call& c) {
  return primitives::control_of(c) == Control::loop || primitives::control_of(c) == Control::scan;
}
template <class IsRead>
Places read_results(const Call& c, IsRead&& is_read) {
  Places results;
  for (const ValuePtr& v : c.outputs) results.push_back(is_read(v));
  return results;
}

// What a call reads for those of its results that are read.
void read_operands(const Call& c, Values& read) {
  for (const GraphPtr& inner : subgraphs(c)) collect_reads(*inner, read);
  if (!repeats(c)) {
    for (const ValuePtr& v : c.inputs) read.insert(v.get());
    return;
  }
  const std::vector<Region> regions = primitives::primitive_of(c).regions(c);
  const Places needed =
      needed_inputs(regions, read_results(c, [&](const ValuePtr& v) { return read.count(v.get()) != 0; }));
  for (const Flow& f : regions.back().enter)
    if (needed[f.to]) read.insert(c.inputs[f.from].get());
}

// The inputs of a graph that these outputs need.
Places inputs_for(const Graph& g, const Places& outputs) {
  Values read;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i]) read.insert(g.outputs[i].get());
  for (auto call = g.calls.rbegin(); call != g.calls.rend(); ++call) {
    const bool needed = has_effect(*call) || std::any_of(call->outputs.begin(), call->outputs.end(),
                                                         [&](const ValuePtr& v) { return read.count(v.get()) != 0; });
    if (needed) read_operands(*call, read);
  }
  Places inputs;
  for (const ValuePtr& v : g.inputs) inputs.push_back(read.count(v.get()) != 0);
  return inputs;
}

// Which inputs of the last region, the body, are needed for some of the results.
Places needed_inputs(const std::vector<Region>& regions, const Places& results) {
  std::vector<Places> inputs, outputs;
  for (const Region& r : regions) {
    const bool decides = r.leave.empty() && r.pass.empty();  // a condition
    inputs.emplace_back(r.graph->inputs.size(), false);
    outputs.emplace_back(r.graph->outputs.size(), decides);
    for (const Flow& f : r.leave)
      if (results[f.to]) outputs.back()[f.from] = true;
    for (const Flow& f : r.pass)
      if (results[f.to]) inputs.back()[f.from] = true;
  }
  for (bool grows = true; grows;) {
    grows = false;
    const auto add = [&grows](Places& to, size_t i) {
      grows = grows || !to[i];
      to[i] = true;
    };
    for (size_t k = 0; k < regions.size(); ++k) {
      const Places found = inputs_for(*regions[k].graph, outputs[k]);
      for (size_t i = 0; i < found.size(); ++i)
        if (found[i]) add(inputs[k], i);
      for (const Flow& f : regions[k].carry)
        if (inputs[k][f.to]) add(outputs.back(), f.from);
    }
  }
  // what any region needs of a carried value, the body has to carry
  for (size_t k = 0; k + 1 < regions.size(); ++k)
    for (const Flow& f : regions[k].carry)
      if (inputs[k][f.to])
        for (const Flow& own : regions.back().carry)
          if (own.from == f.from) inputs.back()[own.to] = true;
  return inputs.back();
}

// Of the values from place `first` on, those that `keep` keeps.
void keep_only(const Places& keep, size_t first, std::vector<ValuePtr>& values) {
  size_t i = 0;
  std::erase_if(values, [&](const ValuePtr&) {
    const size_t k = i++;
    return k >= first && k < first + keep.size() && !keep[k - first];
  });
}

}  // namespace

void drop_dead_carries(Call& call, const std::function<bool(const ValuePtr&)>& is_read) {
  if (!repeats(call)) return;
  const Control control = primitives::control_of(call);
  const std::vector<Region> regions = primitives::primitive_of(call).regions(call);
  const Places results = read_results(call, is_read);
  const Places inputs = needed_inputs(regions, results);
  const size_t carried = regions.back().carry.size(), fields = inputs.size() - carried;
  const size_t tapes = control == Control::scan ? call.inputs.size() - carried : 0;
  Places keep(inputs.begin() + static_cast<std::ptrdiff_t>(fields), inputs.end());
  for (size_t i = 0; i < carried; ++i) keep[i] = keep[i] || results[i];
  const auto kept = std::count(keep.begin(), keep.end(), true);
  if (kept == static_cast<std::ptrdiff_t>(carried) || (kept == 0 && control == Control::loop))
    return;  // it has a state

  rewrite_subgraphs(call, [](Graph&) {});  // copies of our own
  keep_only(keep, tapes, call.inputs);
  keep_only(keep, 0, call.outputs);
  for (const GraphPtr& g : subgraphs(call)) keep_only(keep, fields, g->inputs);
  keep_only(keep, 0, call.params.graph("body_graph")->outputs);
  if (!primitives::records(call)) return;
  std::vector<int64_t> recorded = call.params.ints("fields");
  for (int64_t& f : recorded) f = std::count(keep.begin(), keep.begin() + f, true);
  call.params.set("fields", std::move(recorded));
}

}  // namespace anvil::transform
