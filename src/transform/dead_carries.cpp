// What a loop carries although nobody reads it, neither after the loop nor for what is read:
//
//   %s, %d = while (%s0, %d0): (s, d) -> (f(s), g(s, d))      %s = while (%s0): (s) -> (f(s))
//
// with %d unused; what a loop records for nobody, and results of branches, likewise. How values flow
// is what the regions of the primitives say.
#include <algorithm>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

using primitives::Control;
using primitives::Flow;
using primitives::Region;
using primitives::repeats;
using Places = std::vector<bool>;

// How many of the operands are tapes. They stay, whether or not their fields are read.
size_t tapes(const Call& c, const std::vector<Region>& regions) {
  return primitives::control_of(c) == Control::scan ? c.inputs.size() - regions.back().carry.size() : 0;
}

// The values that are needed, backwards from those that are marked. The set only grows: where loops are
// nested, an inner one that has been walked before costs one more look, not a search of its own.
class Needs {
 public:
  bool contain(const ValuePtr& v) const { return needed_.count(v.get()) != 0; }
  void mark(const ValuePtr& v) { needed_.insert(v.get()); }
  void mark(const std::vector<ValuePtr>& values) {
    for (const ValuePtr& v : values) mark(v);
  }
  void walk_loop(const Call& c, const std::vector<Region>& regions) {
    for (const Region& r : regions) {
      if (r.leave.empty() && r.pass.empty()) mark(r.graph->outputs);  // a condition
      follow(r.leave, r.graph->outputs, c.outputs);
      follow(r.pass, r.graph->inputs, c.outputs);
    }
    for (size_t before = 0; needed_.size() > before;) {
      before = needed_.size();
      for (const Region& r : regions) {
        walk(*r.graph);
        follow(r.carry, regions.back().graph->outputs, r.graph->inputs);
      }
    }
  }

 private:
  void walk(const Graph& g) {
    for (auto call = g.calls.rbegin(); call != g.calls.rend(); ++call) {
      poll();
      const bool needed = has_effect(*call) || std::any_of(call->outputs.begin(), call->outputs.end(),
                                                           [this](const ValuePtr& v) { return contain(v); });
      if (needed) walk(*call);
    }
  }
  void walk(const Call& c) {
    if (!repeats(c)) {
      mark(c.inputs);
      for (const GraphPtr& inner : subgraphs(c)) {
        mark(inner->outputs);
        walk(*inner);
      }
      return;
    }
    const std::vector<Region> regions = primitives::primitive_of(c).regions(c);
    walk_loop(c, regions);
    for (const Region& r : regions) follow(r.enter, c.inputs, r.graph->inputs);
    for (size_t i = 0; i < tapes(c, regions); ++i) mark(c.inputs[i]);  // which say how many steps there are
  }
  // What flows to a needed value is needed.
  void follow(const std::vector<Flow>& flows, const std::vector<ValuePtr>& from, const std::vector<ValuePtr>& to) {
    for (const Flow& f : flows)
      if (contain(to[f.to])) mark(from[f.from]);
  }
  Values needed_;
};

// Of the values from place `first` on, those that `keep` keeps.
void keep_only(const Places& keep, size_t first, std::vector<ValuePtr>& values) {
  size_t i = 0;
  std::erase_if(values, [&](const ValuePtr&) {
    const size_t k = i++;
    return k >= first && k < first + keep.size() && !keep[k - first];
  });
}

using IsRead = std::function<bool(const ValuePtr&)>;

void drop_dead_tapes(Call& call, const IsRead& is_read) {
  Places keep;
  for (size_t i = primitives::carried(call); i < call.outputs.size(); ++i) keep.push_back(is_read(call.outputs[i]));
  if (std::find(keep.begin(), keep.end(), false) != keep.end()) primitives::keep_tapes(call, keep);
}

// Results of inner graphs that run at most once.
void drop_dead_results(Call& call, const IsRead& is_read) {
  Places keep;
  for (const ValuePtr& v : call.outputs) keep.push_back(is_read(v));
  if (std::find(keep.begin(), keep.end(), false) == keep.end()) return;
  rewrite_subgraphs(call, [&](Graph& g) { keep_only(keep, 0, g.outputs); });
  keep_only(keep, 0, call.outputs);
}

}  // namespace

void drop_dead_carries(Call& call, const IsRead& is_read) {
  if (primitives::control_of(call) != Control::none && !repeats(call)) return drop_dead_results(call, is_read);
  if (!repeats(call)) return;
  drop_dead_tapes(call, is_read);
  const Control control = primitives::control_of(call);
  const std::vector<Region> regions = primitives::primitive_of(call).regions(call);
  Needs needs;
  for (const ValuePtr& v : call.outputs)
    if (is_read(v)) needs.mark(v);
  needs.walk_loop(call, regions);
  const size_t carried = regions.back().carry.size(), fields = regions.back().graph->inputs.size() - carried;
  Places keep(carried, false);
  for (const Region& r : regions)  // carried value i is output i of the body
    for (const Flow& f : r.carry) keep[f.from] = keep[f.from] || needs.contain(r.graph->inputs[f.to]);
  for (size_t i = 0; i < carried; ++i) keep[i] = keep[i] || is_read(call.outputs[i]);
  const auto kept = std::count(keep.begin(), keep.end(), true);
  if (kept == static_cast<std::ptrdiff_t>(carried) || (kept == 0 && control == Control::loop))
    return;  // it has a state

  rewrite_subgraphs(call, [](Graph&) {});  // copies of our own
  keep_only(keep, tapes(call, regions), call.inputs);
  keep_only(keep, 0, call.outputs);
  for (const GraphPtr& g : subgraphs(call)) keep_only(keep, fields, g->inputs);
  keep_only(keep, 0, call.params.graph("body_graph")->outputs);
}

}  // namespace anvil::transform
