// Dimensions that a reshape merges stay apart as long as nothing needs them to be one:
//
//   %1: f32[4, 32, 2] = tanh (%x)                  %1: f32[4, 32, 2] = tanh (%x)
//   %2: f32[128, 2] = reshape (%1)                 %2: f32[4, 32, 2] = reshape (%y)
//   %3: f32[128, 2] = multiply (%2, %y)            %3: f32[4, 32, 2] = multiply (%1, %2)
//                                                  %4: f32[128, 2] = reshape (%3)
//
// To split a dimension is a matter of indices, i + 4 j, and so a part of the loops that read. To merge two would be
// one of quotients and remainders: what is read through such a reshape is stored first, as the memory of both is the
// same. So calls per element, reductions, transposes and broadcasts happen before it, and the operands that have the
// merged dimension are split.
#include <algorithm>

#include "base/interrupt.h"
#include "primitives/vocabulary/infer.h"
#include "primitives/vocabulary/var.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

using primitives::Acts;
using primitives::Axes;
using primitives::take;
using Ints = std::vector<int64_t>;
using Parts = std::vector<Shape>;  // the sizes that each dimension is the product of, none of them 1

Shape joined(const Parts& parts) {
  Shape all;
  for (const Shape& part : parts) append(all, part);
  return all;
}
Parts whole(const Shape& shape) {
  Parts parts;
  for (const int64_t size : shape) parts.push_back(size == 1 ? Shape{} : Shape{size});
  return parts;
}
// The coarsest sizes that both lists of one product can be merged from: (4, 6) and (8, 3) give (4, 2, 3), (4, 6) and
// (6, 4) none.
std::optional<Shape> refined(Shape a, Shape b) {
  Shape all;
  for (size_t i = 0, j = 0; i < a.size();) {
    const int64_t size = std::min(a[i], b[j]);
    if (a[i] % size != 0 || b[j] % size != 0) return std::nullopt;
    all.push_back(size);
    if ((a[i] /= size) == 1) ++i;
    if ((b[j] /= size) == 1) ++j;
  }
  return all;
}
std::optional<Parts> refined(const Parts& a, const Parts& b) {
  Parts all;
  for (size_t d = 0; d < a.size(); ++d) {
    std::optional<Shape> part = refined(a[d], b[d]);
    if (!part) return std::nullopt;
    all.push_back(std::move(*part));
  }
  return all;
}

// The dimensions that each of the merged ones is made of.
std::vector<Ints> places_of(const Parts& parts) {
  std::vector<Ints> places(parts.size());
  int64_t place = 0;
  for (size_t d = 0; d < parts.size(); ++d)
    for (size_t k = 0; k < parts[d].size(); ++k) places[d].push_back(place++);
  return places;
}

class LateMerges {
 public:
  void visit(Graph& g) {
    std::vector<Call> calls;
    calls.swap(g.calls);
    for (const Call& c : calls)
      if (has_axes(c, Axes::paired))
        for (const ValuePtr& v : c.inputs) ++products_of_[v.get()];
    Graph* outer = std::exchange(graph_, &g);
    for (Call& c : calls) {
      poll();
      substitute_all(map_, c.inputs);
      const size_t before = graph_->calls.size();
      if (put_off(c))
        graph::locate(graph_->calls, before, c.location, c.derivative);
      else
        record(std::move(c));
    }
    substitute_all(map_, g.outputs);
    substitute_all(map_, g.constants);
    for (const ValuePtr& v : g.outputs) merge(v);
    graph_ = outer;
  }
  bool any() const { return !forms_.empty() || !map_.empty(); }

 private:
  // A value whose dimensions are kept apart: `apart` has those of its `parts`. The call is what made it before.
  struct Form {
    ValuePtr apart;
    Parts parts;
    int location;
    bool derivative, merged = false;
  };

  bool put_off(const Call& c) {
    if (c.outputs.size() != 1 || elements(c.outputs[0]->type.shape) == 0 || !subgraphs(c).empty()) return false;
    const primitives::Primitive& p = primitives::primitive_of(c);
    if (p.effect || p.as_stored) return false;
    switch (p.axes) {
      case Axes::regrouped: return regrouped(c);
      case Axes::kept: return p.acts == Acts::per_element && per_element(c);
      case Axes::reduced: return p.acts == Acts::reduces && p.monoid != nullptr && c.inputs.size() == 1 && reduced(c);
      case Axes::permuted: return permuted(c);
      case Axes::spread: return c.inputs.size() == 1 && spread(c);
      case Axes::paired: return product(c);
      default: return false;
    }
  }

  // As it is, on merged operands.
  void record(Call c) {
    for (const ValuePtr& v : c.inputs) merge(v);
    for (const GraphPtr& inner : subgraphs(c))
      for (const ValuePtr& v : captures(*inner)) merge(v);
    rewrite_subgraphs(c, [this](Graph& inner) { visit(inner); });
    if (primitives::primitive_of(c).acts != Acts::other)
      for (const ValuePtr& v : c.outputs) makers_[v.get()] = primitives::primitive_of(c).acts;
    graph_->calls.push_back(std::move(c));
  }
  void merge(const ValuePtr& v) {
    const auto found = forms_.find(v.get());
    if (found == forms_.end() || found->second.merged) return;
    Form& form = found->second;
    form.merged = true;
    const size_t before = graph_->calls.size();
    primitives::reshape({graph_, form.apart}, v->type.shape);
    graph_->calls.back().outputs[0] = v;
    graph::locate(graph_->calls, before, form.location, form.derivative);
  }

  const Form* form_of(const ValuePtr& v) const {
    const auto found = forms_.find(v.get());
    return found == forms_.end() ? nullptr : &found->second;
  }
  bool is_apart(const ValuePtr& v) const { return form_of(v) != nullptr; }
  bool any_apart(const Call& c) const {
    return std::any_of(c.inputs.begin(), c.inputs.end(), [this](const ValuePtr& v) { return is_apart(v); });
  }
  Parts parts(const ValuePtr& v) const { return is_apart(v) ? form_of(v)->parts : whole(v->type.shape); }
  const ValuePtr& as_made(const ValuePtr& v) const { return is_apart(v) ? form_of(v)->apart : v; }
  ValuePtr in_shape(const ValuePtr& v, const Shape& shape) const {
    return v->type.shape == shape ? v : primitives::reshape({graph_, v}, shape).value;
  }
  // The value with these parts, which are those that it has or parts of them.
  ValuePtr apart(const ValuePtr& v, const Parts& parts) {
    const ValuePtr& from = as_made(v);
    if (from->kind == Value::Kind::literal)
      return graph::make_literal(from->literal, {from->type.dtype, joined(parts), from->type.ambiguous});
    return in_shape(from, joined(parts));
  }
  // `value` is the result of `c` with its dimensions apart.
  bool made(const Call& c, ValuePtr value, Parts parts, Acts acts) {
    const ValuePtr& result = c.outputs[0];
    const bool is_whole = parts == whole(result->type.shape);
    if (is_whole) map_[result.get()] = value = in_shape(value, result->type.shape);
    makers_[value.get()] = acts;
    if (!is_whole) forms_[result.get()] = {value, std::move(parts), c.location, c.derivative};
    return true;
  }
  bool again(const Call& c, std::vector<ValuePtr> inputs, const graph::Params& params, Parts parts) {
    const primitives::Primitive& p = primitives::primitive_of(c);
    return made(c, primitives::record(*graph_, p, std::move(inputs), params).at(0), std::move(parts), p.acts);
  }

  bool regrouped(const Call& c) {
    const ValuePtr& x = c.inputs[0];
    const Shape &to = c.outputs[0]->type.shape, from = joined(parts(x));
    if (!is_apart(x) && makers_.count(x.get()) == 0) return false;  // in memory anyway
    const std::optional<Shape> both = refined(from, joined(whole(to)));
    if (!both) return false;
    Parts parts;
    const auto places = primitives::splits(to, *both);
    for (const Ints& part : places.value()) parts.push_back(take(*both, part));
    if (!is_apart(x) && parts == whole(to)) return false;  // nothing is merged
    const ValuePtr& value = as_made(x);
    return made(c, in_shape(value, *both), std::move(parts), makers_.at(value.get()));
  }

  bool per_element(const Call& c) {
    const Shape& shape = c.outputs[0]->type.shape;
    if (!any_apart(c)) return false;
    Parts all = whole(shape);
    for (const ValuePtr& v : c.inputs) {
      if (v->type.shape != shape) continue;
      // The loops of a product that are there already had better go on.
      const auto maker = makers_.find(v.get());
      if (!is_apart(v) && maker != makers_.end() && maker->second == Acts::contracts) return false;
      std::optional<Parts> both = refined(all, parts(v));
      if (!both) return false;
      all = std::move(*both);
    }
    std::vector<ValuePtr> inputs;
    for (const ValuePtr& v : c.inputs) {
      const bool is_whole = v->type.shape == shape;
      if (!is_whole) merge(v);
      inputs.push_back(is_whole ? apart(v, all) : v);
    }
    return again(c, std::move(inputs), c.params, std::move(all));
  }

  bool reduced(const Call& c) {
    const Form* form = form_of(c.inputs[0]);
    if (form == nullptr) return false;
    const Ints& dims = c.params.ints("dims");
    const std::vector<Ints> places = places_of(form->parts);
    Ints gone;
    Parts left;
    for (size_t d = 0; d < places.size(); ++d) {
      const bool goes = std::count(dims.begin(), dims.end(), static_cast<int64_t>(d)) != 0;
      if (goes) append(gone, places[d]);
      if (!goes || !c.params.flag("drop")) left.push_back(goes ? Shape{} : form->parts[d]);
    }
    graph::Params params = c.params;
    params.set("dims", gone);
    params.set("drop", true);
    return again(c, {form->apart}, params, std::move(left));
  }

  bool permuted(const Call& c) {
    const Form* form = form_of(c.inputs[0]);
    if (form == nullptr) return false;
    const Ints& permutation = c.params.ints("permutation");
    graph::Params params = c.params;
    params.set("permutation", joined(take(places_of(form->parts), permutation)));
    return again(c, {form->apart}, params, take(form->parts, permutation));
  }

  bool spread(const Call& c) {
    const ValuePtr& x = c.inputs[0];
    const Form* form = form_of(x);
    if (form == nullptr) return false;
    const Ints& to = c.params.ints("broadcast_dimensions");
    Parts all = whole(c.outputs[0]->type.shape);
    for (size_t d = 0; d < to.size(); ++d)
      if (x->type.shape[d] != 1) all[static_cast<size_t>(to[d])] = form->parts[d];
    const std::vector<Ints> places = places_of(all);
    Ints dims;
    for (size_t d = 0; d < to.size(); ++d)
      if (x->type.shape[d] != 1) append(dims, places[static_cast<size_t>(to[d])]);
    graph::Params params = c.params;
    params.set("shape", joined(all));
    params.set("broadcast_dimensions", dims);
    return again(c, {form->apart}, params, std::move(all));
  }

  bool product(const Call& c) {
    if (!any_apart(c)) return false;
    // What several products read in another order than it lies in had better be stored in theirs.
    if (std::any_of(c.inputs.begin(), c.inputs.end(), [&](const ValuePtr& v) {
          return is_apart(v) && makers_.at(as_made(v).get()) == Acts::moves && products_of_.at(v.get()) > 1;
        }))
      return false;
    using Pairs = graph::IntegerLists;
    const Pairs &contracting = c.params.get<Pairs>("contracting_dims"), &batch = c.params.get<Pairs>("batching_dims");
    Parts sides[2] = {parts(c.inputs[0]), parts(c.inputs[1])};
    for (const Pairs* pairs : {&batch, &contracting})
      for (size_t k = 0; k < (*pairs)[0].size(); ++k) {
        Shape &l = sides[0][static_cast<size_t>((*pairs)[0][k])], &r = sides[1][static_cast<size_t>((*pairs)[1][k])];
        const std::optional<Shape> both = refined(l, r);
        if (!both || (both->size() > 1 && pairs == &contracting)) return false;
        l = r = *both;
      }
    std::vector<ValuePtr> inputs;
    Pairs apart_contracting, apart_batch;
    Parts all = take(sides[0], batch[0]);
    for (const size_t k : {0, 1}) {
      const std::vector<Ints> places = places_of(sides[k]);
      append(all, take(sides[k], primitives::other_axes(sides[k].size(), batch[k], contracting[k])));
      apart_contracting.push_back(joined(take(places, contracting[k])));
      apart_batch.push_back(joined(take(places, batch[k])));
      inputs.push_back(apart(c.inputs[k], sides[k]));
    }
    graph::Params params = c.params;
    params.set("contracting_dims", apart_contracting);
    params.set("batching_dims", apart_batch);
    return again(c, std::move(inputs), params, std::move(all));
  }

  Graph* graph_ = nullptr;
  std::unordered_map<const Value*, Form> forms_;
  graph::Substitution map_;                            // what needs no parts
  std::unordered_map<const Value*, Acts> makers_;      // what makes a value, where loops may go on with it
  std::unordered_map<const Value*, int> products_of_;  // how many read a value
};

}  // namespace

bool merge_late(Graph& g) {
  const KeptValues kept(g);
  LateMerges merges;
  merges.visit(g);
  if (merges.any()) list_inner_constants(g);
  return merges.any();
}

}  // namespace anvil::transform
