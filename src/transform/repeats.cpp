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
#include <optional>

#include "base/interrupt.h"
#include "primitives/vocabulary/var.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

using primitives::Axes;
using primitives::Var;
using Ints = std::vector<int64_t>;

bool reverses(const Call& c) {
  return has_axes(c, Axes::permuted) && c.params.ints("permutation") == reversal(c.inputs[0]->type.shape.size());
}

// The dimensions of `from`, those in reverse that become one of `to` in row-major order; nothing where one becomes
// several.
std::optional<Ints> merging_order(const Shape& from, const Shape& to) {
  Ints order;
  for (const int64_t size : to) {
    size_t first = order.size();
    for (int64_t covered = 1; covered != size;) {
      if (order.size() == from.size() || covered > size) return std::nullopt;
      covered *= from[order.size()];
      order.push_back(static_cast<int64_t>(order.size()));
      if (covered == 1) first = order.size();
    }
    std::reverse(order.begin() + static_cast<std::ptrdiff_t>(first), order.end());
  }
  for (; order.size() < from.size() && from[order.size()] == 1;) order.push_back(static_cast<int64_t>(order.size()));
  return order.size() == from.size() ? std::optional(order) : std::nullopt;
}

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
    const Call* reshape = reverses(last) ? maker(last, Axes::regrouped) : nullptr;
    if (has_axes(last, Axes::regrouped) && result->type.shape.size() == 1) reshape = &last;  // nothing to reverse
    const Call* turn = reshape ? maker(*reshape, Axes::permuted) : nullptr;
    const Call* spread = turn && reverses(*turn) ? maker(*turn, Axes::spread) : nullptr;
    if (spread == nullptr) return false;
    const Shape& wide = spread->outputs[0]->type.shape;
    const std::optional<Ints> order = merging_order(wide, result->type.shape);
    if (!order) return false;
    Shape shape;
    Ints places(wide.size()), dims;
    for (size_t k = 0; k < wide.size(); ++k) {
      shape.push_back(wide[static_cast<size_t>((*order)[k])]);
      places[static_cast<size_t>((*order)[k])] = static_cast<int64_t>(k);
    }
    const std::vector<int64_t>& spread_to = spread->params.ints("broadcast_dimensions");
    Shape narrow;
    for (size_t d = 0; d < spread_to.size(); ++d)
      if (const int64_t size = spread->inputs[0]->type.shape[d]; size != 1) {
        narrow.push_back(size);
        dims.push_back(places[static_cast<size_t>(spread_to[d])]);
      }
    if (!std::is_sorted(dims.begin(), dims.end())) return false;
    const size_t before = g.calls.size();
    const Var x = primitives::reshape({&g, spread->inputs[0]}, narrow);
    const Var repeated = primitives::broadcast_in_dim(x, shape, dims);
    map_[result.get()] = primitives::reshape(repeated, result->type.shape).value;
    graph::locate(g.calls, before, last.location, last.derivative);
    return true;
  }

  std::unordered_map<const Value*, Call> makers_;
  graph::Substitution map_;
};

}  // namespace

bool merge_repeats(Graph& g) {
  Repeats repeats;
  repeats.visit(g);
  return repeats.any();
}

}  // namespace anvil::transform
