// Repeats in row-major order. What other tools repeat, elements, rows or heads, is spread over a new dimension that a
// reshape merges with its neighbour; in row-major order the last dimension of those that become one is the fastest:
//
//   %1: f32[4, 32, 2] = broadcast_in_dim [dims = (1, 2)] (%x)   %1: f32[4, 2, 32] = broadcast_in_dim [dims = (1, 3)] (%x)
//   %2: f32[2, 32, 4] = transpose [3, 2, 1] (%1)                %4: f32[4, 64] = reshape (%1)
//   %3: f32[64, 4] = reshape (%2)
//   %4: f32[4, 64] = transpose [2, 1] (%3)
//
// To spread with the dimensions in R's order costs nothing, where those of %x stay in theirs.
#include <algorithm>

#include "base/interrupt.h"
#include "primitives/vocabulary/infer.h"
#include "primitives/vocabulary/var.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

using primitives::Axes;
using primitives::Var;
using Ints = std::vector<int64_t>;

class Repeats {
 public:
  void visit(Graph& g) {
    std::vector<Call> calls;
    calls.swap(g.calls);
    for (Call& c : calls) {
      poll();
      substitute_all(map_, c.inputs);
      rewrite_subgraphs(c, [this](Graph& inner) { visit(inner); });
      if (merge(c, g)) continue;
      if (has_axes(c, Axes::permuted) || has_axes(c, Axes::regrouped) || has_axes(c, Axes::spread))
        makers_[c.outputs[0].get()] = c;
      g.calls.push_back(std::move(c));
    }
    substitute_all(map_, g.outputs);
    substitute_all(map_, g.constants);
  }
  bool any() const { return !map_.empty(); }

 private:
  const Call* maker(const Call& reader, Axes axes) const {
    const auto found = makers_.find(reader.inputs[0].get());
    return found != makers_.end() && has_axes(found->second, axes) ? &found->second : nullptr;
  }
  bool merge(const Call& last, Graph& g) {
    if (last.outputs.size() != 1) return false;
    const ValuePtr& result = last.outputs[0];
    const Call* reshape = reverses_all(last) ? maker(last, Axes::regrouped) : nullptr;
    if (has_axes(last, Axes::regrouped) && result->type.shape.size() == 1) reshape = &last;  // nothing to reverse
    const Call* turn = reshape ? maker(*reshape, Axes::permuted) : nullptr;
    const Call* spread = turn && reverses_all(*turn) ? maker(*turn, Axes::spread) : nullptr;
    if (spread == nullptr) return false;
    const Shape& wide = spread->outputs[0]->type.shape;
    if (elements(wide) == 0) return false;
    const auto parts = primitives::splits(result->type.shape, wide);
    if (!parts) return false;
    Ints order, dims;  // of those that are not 1
    for (const Ints& part : *parts) order.insert(order.end(), part.rbegin(), part.rend());
    const Ints& spread_to = spread->params.ints("broadcast_dimensions");
    Shape narrow;
    for (size_t d = 0; d < spread_to.size(); ++d)
      if (const int64_t size = spread->inputs[0]->type.shape[d]; size != 1) {
        narrow.push_back(size);
        dims.push_back(std::find(order.begin(), order.end(), spread_to[d]) - order.begin());
      }
    if (!std::is_sorted(dims.begin(), dims.end())) return false;
    const size_t before = g.calls.size();
    const Var x = primitives::reshape({&g, spread->inputs[0]}, narrow);
    const Var repeated = primitives::broadcast_in_dim(x, primitives::take(wide, order), dims);
    map_[result.get()] = primitives::reshape(repeated, result->type.shape).value;
    graph::locate(g.calls, before, last.location, last.derivative);
    return true;
  }

  std::unordered_map<const Value*, Call> makers_;
  graph::Substitution map_;
};

}  // namespace

bool merge_repeats(Graph& g) {
  if (std::none_of(g.calls.begin(), g.calls.end(), [](const Call& c) { return anywhere(c, reverses_all); }))
    return false;
  Repeats repeats;
  repeats.visit(g);
  return repeats.any();
}

}  // namespace anvil::transform
