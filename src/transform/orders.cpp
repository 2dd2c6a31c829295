#include "transform/orders.h"

#include <algorithm>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "transform/rewrite.h"

namespace anvil::transform {

using graph::Call;
using graph::Graph;
using graph::Value;
using graph::ValuePtr;
using primitives::Axes;

namespace {

constexpr double loop_visits = 8;  // assumed of a body
// What copies cost relative to each other: one in front of a reshape stands alone, one of an input or
// result is part of the nest that reads or makes it, a product only runs slower. A constant is copied
// once, and yet stays as it is, as an argument would, rather than make a product faster.
constexpr double at_reshape = 1.2, at_result = 0.9, at_input = 0.8, at_product = 0.25, at_constant = 0.3;
// Rows that lie together are moved faster, but are stored before what is done with them; whole columns
// are looked up where they are used, which takes less once a cache does not hold the rows.
constexpr double at_lookup = 0.6, most_bytes_of_rows = 4 << 20;

Shape without_ones(Shape s) {
  std::erase(s, 1);
  return s;
}
// That a copy in the other order takes; what has one dimension lies in both.
double bytes(const ValuePtr& v) {
  if (without_ones(v->type.shape).size() < 2) return 0;
  return static_cast<double>(elements(v->type.shape)) * static_cast<double>(size_of(v->type.dtype));
}
// All tensors have the same dimensions, but for scalars.
bool of_one_rank(const Call& c) {
  if (c.outputs.empty()) return false;
  const size_t rank = c.outputs[0]->type.shape.size();
  auto fits = [&](const ValuePtr& v) { return v->type.shape.empty() || v->type.shape.size() == rank; };
  return std::all_of(c.inputs.begin(), c.inputs.end(), fits) && std::all_of(c.outputs.begin(), c.outputs.end(), fits);
}

// Whether a batch of products of matrices has so large ones that each had better lie together in memory.
bool of_large_matrices(const Call& c) {
  constexpr int64_t large = 32;
  const auto& batching = c.params.get<graph::IntegerLists>("batching_dims");
  const Shape& shape = c.outputs[0]->type.shape;
  int64_t batch = 1;
  for (size_t d = 0; d < batching[0].size(); ++d) batch *= shape[d];
  if (batch < 2) return false;
  const auto free = [&](size_t side) {
    int64_t n = elements(c.inputs[side]->type.shape) / batch;
    for (int64_t d : c.params.get<graph::IntegerLists>("contracting_dims")[side])
      n /= std::max<int64_t>(1, c.inputs[side]->type.shape[static_cast<size_t>(d)]);
    return n;
  };
  return free(0) >= large && free(1) >= large;
}
// Whether an operand has the batch of a product, which comes first in the result, behind its other dimensions.
bool batch_is_last(const Call& c, size_t side) {
  const Ints& batch = c.params.get<graph::IntegerLists>("batching_dims")[side];
  const size_t others = c.inputs[side]->type.shape.size() - batch.size();
  return !batch.empty() && others > 0 &&
         std::all_of(batch.begin(), batch.end(), [&](int64_t d) { return static_cast<size_t>(d) >= others; });
}
}  // namespace

Axes mirroring(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  if (p.mirror) {
    const Value::Kind kind = c.inputs[0]->kind;
    const bool lies_there = kind == Value::Kind::input || kind == Value::Kind::constant;
    return !lies_there && (!p.mirrors || p.mirrors(c)) ? Axes::kept : Axes::other;
  }
  const Axes axes = p.axes;
  const auto shape = [](const ValuePtr& v) { return without_ones(v->type.shape); };
  if (axes == Axes::regrouped) return shape(c.inputs[0]) == shape(c.outputs[0]) ? Axes::kept : Axes::other;
  return axes == Axes::kept && !of_one_rank(c) ? Axes::other : axes;
}

Orders::Orders(const Graph& g) {
  members_.push_back({0, false});
  visit(g, 1);
  if (!turning_seen_) return;
  for (const ValuePtr& v : g.inputs) plain(v, at_input * bytes(v));
  for (const ValuePtr& v : g.constants) plain(v, at_constant * bytes(v));
  std::stable_sort(wishes_.begin(), wishes_.end(), [](const Wish& a, const Wish& b) { return a.price > b.price; });
  for (const Wish& w : wishes_) {
    Member a = root(w.a), b = root(w.b);
    if (a.parent == b.parent) continue;
    if (a.parent < b.parent) std::swap(a, b);  // so that 0 stays a root
    members_[a.parent] = {b.parent, a.opposite != (b.opposite != w.opposite)};
  }
  for (size_t k = 1; k < members_.size() && !any_; ++k) {
    Member r = root(k);
    any_ = r.parent == 0 && r.opposite;
  }
}

bool Orders::mirrored(const ValuePtr& v) const {
  auto it = ids_.find(v.get());
  if (!any_ || it == ids_.end()) return false;
  size_t k = it->second;
  bool opposite = false;
  for (; members_[k].parent != k; k = members_[k].parent) opposite = opposite != members_[k].opposite;
  return k == 0 && opposite;
}

// The root of a member and whether the member is its opposite; paths are halved on the way.
Orders::Member Orders::root(size_t k) {
  bool opposite = false;
  while (members_[k].parent != k) {
    Member& m = members_[k];
    const Member up = members_[m.parent];
    if (up.parent != m.parent) m = {up.parent, m.opposite != up.opposite};
    opposite = opposite != m.opposite;
    k = m.parent;
  }
  return {k, opposite};
}

std::optional<size_t> Orders::id(const ValuePtr& v) {
  if (v->kind == Value::Kind::literal || v->type.shape.size() < 2) return std::nullopt;
  auto [it, fresh] = ids_.try_emplace(v.get(), members_.size());
  if (fresh) members_.push_back({members_.size(), false});
  return it->second;
}
void Orders::wish(const ValuePtr& a, const ValuePtr& b, bool opposite, double price) {
  auto x = id(a), y = id(b);
  if (x && y) wishes_.push_back({*x, *y, opposite, price});
}
void Orders::plain(const ValuePtr& v, double price) {
  if (auto x = id(v)) wishes_.push_back({*x, 0, false, price});
}
void Orders::turned(const ValuePtr& v, double price) {
  turning_seen_ = true;
  if (auto x = id(v)) wishes_.push_back({*x, 0, true, price});
}

void Orders::visit(const Graph& g, double visits) {
  for (const Call& c : g.calls) {
    poll();
    visit(c, visits);
  }
  for (const ValuePtr& v : g.outputs) plain(v, at_result * visits * bytes(v));
}

// What lies at a place that is looked up is moved together, and had better lie together.
void Orders::lookup(const Call& c, double visits) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  if (!p.window) return;
  const Shape window = p.window(c);
  if (window.size() < 2 || std::max(window.front(), window.back()) < 4 * std::min(window.front(), window.back()))
    return;
  const ValuePtr& moved = p.acts == primitives::Acts::moves ? c.outputs[0] : c.inputs.back();
  const double size = visits * bytes(moved);
  if (window.front() > window.back() || bytes(moved) > most_bytes_of_rows)
    plain(c.outputs[0], size);
  else
    turned(c.outputs[0], at_lookup * size);
}

void Orders::visit(const Call& c, double visits) {
  auto price = [&](const ValuePtr& v, double factor = 1) { return factor * visits * bytes(v); };
  auto each_operand = [&](double factor) {
    for (const ValuePtr& v : c.inputs) wish(v, c.outputs[0], false, price(v, factor));
  };
  switch (mirroring(c)) {
    case Axes::permuted: {
      if (!reverses_all(c)) return;
      turning_seen_ = true;
      return wish(c.inputs[0], c.outputs[0], true, price(c.inputs[0]));
    }
    case Axes::kept: lookup(c, visits); return each_operand(1);
    case Axes::spread: return each_operand(1);
    case Axes::reduced: return wish(c.inputs[0], c.outputs[0], false, price(c.outputs[0]));
    case Axes::paired:
      if (of_large_matrices(c)) turned(c.outputs[0], price(c.outputs[0]));
      for (size_t k : {0, 1}) wish(c.inputs[k], c.outputs[0], batch_is_last(c, k), price(c.inputs[k], at_product));
      return;
    case Axes::regrouped:
    case Axes::other: break;
  }
  const bool loop = primitives::repeats(c);
  for (const graph::GraphPtr& inner : graph::subgraphs(c)) {
    double inside = loop ? loop_visits * visits : visits;
    for (const ValuePtr& v : inner->inputs) plain(v, at_input * inside * bytes(v));
    visit(*inner, inside);
  }
  double factor = primitives::primitive_of(c).axes == Axes::regrouped ? at_reshape : 1;
  for (const ValuePtr& v : c.inputs) plain(v, price(v, factor));
  for (const ValuePtr& v : c.outputs) plain(v, price(v, factor));
}

}  // namespace anvil::transform
