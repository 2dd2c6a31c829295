// Mirrors parts of a graph so that transposes vanish. In memory that is column-major, a
// reshape in row-major order, as other tools mean it, stands between two transposes:
//
//   %1: f32[4, 6, 8] = tanh (%x1)               %1: f32[8, 6, 4] = transpose [3, 2, 1] (%x1)
//   %2: f32[8, 6, 4] = transpose [3, 2, 1] (%1) %2: f32[8, 6, 4] = tanh (%1)
//   %3: f32[8, 24] = reshape (%2)               %3: f32[8, 24] = reshape (%2)
//   %4: f32[24, 8] = transpose [2, 1] (%3)      %4: f32[5, 24] = dot_general (%x2, %3), 1 by 1
//   %5: f32[24, 5] = dot_general (%4, %x2)      %5: f32[5, 6, 4] = reshape (%4)
//   %6: f32[5, 24] = transpose [2, 1] (%5)      %6: f32[4, 6, 5] = transpose [3, 2, 1] (%5)
//   %7: f32[5, 6, 4] = reshape (%6)
//   %8: f32[4, 6, 5] = transpose [3, 2, 1] (%7)
//
// The values between the first and the last transpose are computed with their dimensions
// reversed (mirrored), which costs nothing: parameters are renumbered, the operands of a
// product change places. What is left stands where a program's inputs and results, which
// are column-major, meet what is mirrored, and is part of the nests there. Which values are
// mirrored is decided in orders.cpp.
//
// The same could be done on loops, by choosing the order in which buffers are stored; but
// there a function of the runtime is opaque, and every pass would have to know about orders.
// On graphs the result is a graph like any other, which the evaluator checks.
#include <algorithm>
#include <cstring>

#include "base/interrupt.h"
#include "primitives/vocabulary/var.h"
#include "transform/orders.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

using graph::Param;
using primitives::Axes;
using primitives::ParamSpec;

graph::TensorType mirrored(graph::TensorType t) {
  t.shape = reversed(t.shape);
  return t;
}
// A constant's elements in the other order.
ValuePtr mirrored_constant(const graph::Tensor& from) {
  graph::Tensor to = graph::allocate(mirrored(from.type));
  const Shape& shape = from.type.shape;
  std::vector<int64_t> index(shape.size(), 0), steps = reversed(strides(to.type.shape));
  size_t size = size_of(from.type.dtype);
  const char* next = from.as<char>();
  if (elements(shape) > 0) do {
      int64_t place = 0;
      for (size_t d = 0; d < index.size(); ++d) place += index[d] * steps[d];
      std::memcpy(to.as<char>() + static_cast<size_t>(place) * size, next, size);
      next += size;
    } while (next_index(index, shape));
  return graph::make_constant(std::move(to));
}

// Parameters of a call on tensors of one rank, its lists by dimension reversed.
void mirror_parameters(Call& c, size_t rank) {
  for (const ParamSpec& spec : primitives::primitive_of(c).parameters)
    for (Param& p : c.params.items) {
      if (p.name != spec.name) continue;
      switch (spec.kind) {
        case ParamSpec::Kind::axis: p.value = mirrored_axis(std::get<int64_t>(p.value), rank); break;
        case ParamSpec::Kind::axes:
          for (int64_t& d : std::get<Ints>(p.value)) d = mirrored_axis(d, rank);
          std::reverse(std::get<Ints>(p.value).begin(), std::get<Ints>(p.value).end());
          break;
        case ParamSpec::Kind::shape:
        case ParamSpec::Kind::starts:
        case ParamSpec::Kind::limits:
        case ParamSpec::Kind::sizes: p.value = reversed(std::get<Ints>(p.value)); break;
        default: break;
      }
    }
}

class Mirror {
 public:
  explicit Mirror(const Orders& orders) : orders_(orders) {}

  void visit(Graph& g) {
    std::vector<Call> calls = std::move(g.calls);
    g.calls.clear();
    Graph* outer = std::exchange(graph_, &g);
    size_t others = made_here_.size();
    for (const ValuePtr& v : g.inputs) {
      location_ = kept_mirrored(v) ? location_of_reader(v, calls) : -1;
      made(v, v, false);
    }
    std::vector<int> made_at;
    for (const ValuePtr& v : g.outputs) made_at.push_back(kept_mirrored(v) ? graph::location_of(v, calls) : -1);
    for (Call& c : calls) {
      poll();
      visit(std::move(c));
    }
    for (size_t k = 0; k < g.outputs.size(); ++k) {
      location_ = made_at[k];
      g.outputs[k] = get(g.outputs[k], false);
    }
    if (outer != nullptr)
      list_constants(g);
    else
      for (ValuePtr& v : g.constants) v = get(v, orders_.mirrored(v));
    for (; made_here_.size() > others; made_here_.pop_back()) other_.erase(made_here_.back());
    graph_ = outer;
  }

 private:
  bool kept_mirrored(const ValuePtr& v) const { return orders_.mirrored(v); }

  // ---- values ----
  static int location_of_reader(const ValuePtr& v, const std::vector<Call>& calls) {
    const auto reads = [&v](const std::vector<ValuePtr>& values) {
      return std::find(values.begin(), values.end(), v) != values.end();
    };
    for (const Call& c : calls) {
      const std::vector<GraphPtr> inner = subgraphs(c);
      if (reads(c.inputs) ||
          std::any_of(inner.begin(), inner.end(), [&](const GraphPtr& g) { return reads(captures(*g)); }))
        return c.location;
    }
    return -1;
  }
  ValuePtr transposed(const ValuePtr& v, Ints permutation) {
    if (std::is_sorted(permutation.begin(), permutation.end())) return v;
    ValuePtr result = primitives::transpose({graph_, v}, std::move(permutation)).value;
    graph_->calls.back().location = location_;
    return result;
  }
  ValuePtr turned(const ValuePtr& v) { return transposed(v, reversal(v->type.shape.size())); }
  void remember_other(const Value* v, const ValuePtr& form) {
    if (other_.emplace(v, form).second) made_here_.push_back(v);
  }
  // v was computed as `form`, which is mirrored or not.
  void made(const ValuePtr& v, const ValuePtr& form, bool is_mirrored) {
    if (v->type.shape.size() < 2 || is_mirrored == kept_mirrored(v)) {
      kept_[v.get()] = form;
    } else {
      kept_[v.get()] = turned(form);
      remember_other(v.get(), form);
    }
  }
  ValuePtr get(const ValuePtr& v, bool want_mirrored) {
    if (v->type.shape.size() < 2) want_mirrored = false;
    if (v->kind == Value::Kind::literal) return want_mirrored ? graph::make_literal(v->literal, mirrored(v->type)) : v;
    if (v->kind == Value::Kind::constant && kept_.count(v.get()) == 0)
      kept_[v.get()] = kept_mirrored(v) ? mirrored_constant(v->constant) : v;
    auto known = kept_.find(v.get());
    if (known == kept_.end()) throw InternalError("mirror: a value is used before it is made");
    if (v->type.shape.size() < 2 || kept_mirrored(v) == want_mirrored) return known->second;
    auto other = other_.find(v.get());
    if (other != other_.end()) return other->second;
    ValuePtr form = turned(known->second);
    remember_other(v.get(), form);
    return form;
  }
  // A result in the form in which a call makes it: itself, or a new value.
  static ValuePtr result(const ValuePtr& v, bool is_mirrored) {
    return is_mirrored && v->type.shape.size() >= 2 ? graph::make_value(Value::Kind::result, mirrored(v->type)) : v;
  }

  // ---- calls ----
  void visit(Call c) {
    location_ = c.location;
    switch (mirroring(c)) {
      case Axes::permuted: return permuted(std::move(c));
      case Axes::kept:
      case Axes::reduced: return together(std::move(c));
      case Axes::spread: return spread(std::move(c));
      case Axes::paired: return product(std::move(c));
      case Axes::regrouped:
      case Axes::other: break;
    }
    rewrite_subgraphs(c, [this](Graph& inner) { visit(inner); });
    location_ = c.location;
    finish(std::move(c), false);
  }
  // Records the call on operands and results that are all mirrored or all not.
  void finish(Call c, bool is_mirrored) {
    for (ValuePtr& v : c.inputs) v = get(v, is_mirrored);
    std::vector<ValuePtr> originals = c.outputs;
    for (ValuePtr& v : c.outputs) v = result(v, is_mirrored);
    std::vector<ValuePtr> forms = c.outputs;
    graph_->calls.push_back(std::move(c));
    for (size_t k = 0; k < forms.size(); ++k) made(originals[k], forms[k], is_mirrored);
  }
  void together(Call c) {
    const bool is_mirrored = kept_mirrored(mirroring(c) == Axes::reduced ? c.inputs[0] : c.outputs[0]);
    const auto& mirror = primitives::primitive_of(c).mirror;
    if (is_mirrored && mirror) {
      mirror(c);
    } else if (is_mirrored) {
      mirror_parameters(c, c.inputs[0]->type.shape.size());
      const primitives::Operands& positions = primitives::primitive_of(c).indices;  // one a dimension, at the end
      const auto is_position = [&, k = size_t(0)](const ValuePtr&) mutable {
        return positions.contains(k++, c.inputs.size());
      };
      std::reverse(std::find_if(c.inputs.begin(), c.inputs.end(), is_position), c.inputs.end());
    }
    finish(std::move(c), is_mirrored);
  }

  void permuted(Call c) {
    ValuePtr from = c.inputs[0], to = c.outputs[0];
    const Ints& permutation = c.params.ints("permutation");
    size_t rank = permutation.size();
    bool a = kept_mirrored(from), b = kept_mirrored(to);
    Ints direct(rank);
    for (size_t d = 0; d < rank; ++d) {
      int64_t source = permutation[d];
      direct[b ? rank - 1 - d : d] = a ? mirrored_axis(source, rank) : source;
    }
    ValuePtr operand = get(from, a);
    if (std::is_sorted(direct.begin(), direct.end())) {
      kept_[to.get()] = operand;
      return;
    }
    c.params.set("permutation", direct);
    c.inputs[0] = operand;
    c.outputs[0] = result(to, b);
    kept_[to.get()] = c.outputs[0];
    graph_->calls.push_back(std::move(c));
  }

  void spread(Call c) {
    ValuePtr to = c.outputs[0];
    size_t rank = to->type.shape.size();
    bool b = kept_mirrored(to);
    if (c.inputs.empty()) {
      if (b) mirror_parameters(c, rank);
      return finish(std::move(c), b);
    }
    bool a = kept_mirrored(c.inputs[0]);
    Ints dims = c.params.ints("broadcast_dimensions");
    if (a) std::reverse(dims.begin(), dims.end());
    if (b)
      for (int64_t& d : dims) d = mirrored_axis(d, rank);
    c.params.set("broadcast_dimensions", dims);
    c.inputs[0] = get(c.inputs[0], a);
    c.outputs[0] = kept_[to.get()] = result(to, b);
    c.params.set("shape", c.outputs[0]->type.shape);
    graph_->calls.push_back(std::move(c));
  }

  // One operand of a product as it is kept: its dimensions there by those of the graph's.
  struct Side {
    ValuePtr value;
    Ints contracting, batch, free;  // of the value as it is kept; free ones in its order
    std::vector<size_t> original;   // by dimension as it is kept
  };
  Side side(const ValuePtr& v, const Ints& contracting, const Ints& batch) {
    bool m = kept_mirrored(v);
    size_t rank = v->type.shape.size();
    Side s{get(v, m), contracting, batch, {}, {}};
    for (Ints* list : {&s.contracting, &s.batch})
      for (int64_t& d : *list) d = m ? mirrored_axis(d, rank) : d;
    for (size_t d = 0; d < rank; ++d) {
      auto dim = static_cast<int64_t>(d);
      s.original.push_back(m ? rank - 1 - d : d);
      if (!std::count(s.contracting.begin(), s.contracting.end(), dim) &&
          !std::count(s.batch.begin(), s.batch.end(), dim))
        s.free.push_back(dim);
    }
    return s;
  }
  // Which dimension of the result, as the graph counts them, each one is that is made: the
  // batching ones, then the free ones of both sides, reversed as a whole where `reverse`.
  static std::vector<size_t> made_order(const Side (&sides)[2], size_t batches, bool reverse) {
    std::vector<size_t> order, places[2];
    for (size_t d = 0; d < batches; ++d) order.push_back(reverse ? batches - 1 - d : d);
    size_t first = batches;
    for (size_t k : {0, 1}) {
      const Side& s = sides[k];
      auto original = [&s](int64_t d) { return s.original[static_cast<size_t>(d)]; };
      for (int64_t d : s.free)
        places[k].push_back(first + static_cast<size_t>(std::count_if(s.free.begin(), s.free.end(), [&](int64_t e) {
                              return original(e) < original(d);
                            })));
      first += s.free.size();
    }
    for (size_t k : {0, 1}) {
      const auto& side = places[reverse ? 1 - k : k];
      order.insert(order.end(), side.begin(), side.end());
    }
    return order;
  }
  void product(Call c) {
    using Pairs = graph::IntegerLists;
    ValuePtr to = c.outputs[0];
    size_t rank = to->type.shape.size();
    bool reverse = kept_mirrored(to);
    Pairs contracting = c.params.get<Pairs>("contracting_dims"), batch = c.params.get<Pairs>("batching_dims");
    if (reverse)
      for (Ints& list : batch) std::reverse(list.begin(), list.end());
    const Side sides[2] = {side(c.inputs[0], contracting[0], batch[0]), side(c.inputs[1], contracting[1], batch[1])};
    std::vector<size_t> order = made_order(sides, batch[0].size(), reverse);
    Ints back(rank);  // from what is made to what is kept
    graph::TensorType type = to->type;
    for (size_t d = 0; d < rank; ++d) {
      back[reverse ? rank - 1 - order[d] : order[d]] = static_cast<int64_t>(d);
      type.shape[d] = to->type.shape[order[d]];
    }
    const Side &l = sides[reverse ? 1 : 0], &r = sides[reverse ? 0 : 1];
    c.inputs = {l.value, r.value};
    c.params.set("contracting_dims", Pairs{l.contracting, r.contracting});
    c.params.set("batching_dims", Pairs{l.batch, r.batch});
    bool as_before = !reverse && std::is_sorted(back.begin(), back.end());
    ValuePtr out = as_before ? to : graph::make_value(Value::Kind::result, type);
    c.outputs = {out};
    graph_->calls.push_back(std::move(c));
    kept_[to.get()] = transposed(out, back);
  }

  const Orders& orders_;
  Graph* graph_ = nullptr;
  int location_ = -1;
  graph::Substitution kept_, other_;     // each value as it is kept, and in the other form
  std::vector<const Value*> made_here_;  // keys of other_, which are known in one graph only
};

}  // namespace

void mirror_values(Graph& g) {
  const KeptValues kept(g);
  Orders orders(g);
  if (orders.any()) Mirror(orders).visit(g);
}

}  // namespace anvil::transform
