// Joining tensors along a dimension, and padding around and between elements.
#include <algorithm>

#include "primitives/families/families.h"
#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/simplification.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

Types infer_concatenate(const Types& t, const Params& params) {
  if (t.empty()) throw Error("argument", "`concatenate` needs at least one tensor.");
  int64_t dim = params.integer("dimension");
  check_axis("dimension", dim, static_cast<int64_t>(t[0].shape.size()), "each tensor");
  auto d = static_cast<size_t>(dim);
  TensorType result = t[0];
  for (size_t k = 1; k < t.size(); ++k) {
    check_same_dtype("..1", t[0], (".." + std::to_string(k + 1)).c_str(), t[k]);
    bool fits = t[k].shape.size() == result.shape.size();
    for (size_t a = 0; fits && a < result.shape.size(); ++a) fits = a == d || t[k].shape[a] == result.shape[a];
    if (!fits) {
      std::string shapes;
      for (size_t m = 0; m < t.size(); ++m) shapes += (m ? ", " : "") + in_parentheses(t[m].shape);
      throw Error("shape", "All tensors must have the same shape (except for the concatenation dimension).",
                  {"x Got shapes " + shapes + " and dimension " + std::to_string(dim + 1) + "."});
    }
    result.shape[d] = add_sizes(result.shape[d], t[k].shape[d], d);
    result.ambiguous = result.ambiguous && t[k].ambiguous;
  }
  return {result};
}

void reverse_concatenate(ReverseStep& step) {
  Var g = cotangent(step);
  auto d = static_cast<size_t>(step.call.params.integer("dimension"));
  Ints start(g.shape().size(), 0), limit = g.shape(), one(g.shape().size(), 1);
  for (size_t k = 0; k < step.call.inputs.size(); ++k) {
    limit[d] = start[d] + operand(step, k).shape()[d];
    if (step.required[k]) set(step, k, slice(g, start, limit, one));
    start[d] = limit[d];
  }
}

// What is joined of parts that were joined along the same dimension is joined of all of them; of one it is that one.
ValuePtr simplify_concatenate(Simplification& s) {
  constexpr size_t most = 32;  // parts: each is a loop
  const int64_t dim = s.call.params.integer("dimension");
  for (size_t k = 0; k < s.call.inputs.size(); ++k) {
    const graph::Call* inner = s.inner(k);
    if (!inner || inner->params.integer("dimension") != dim || s.call.inputs.size() + inner->inputs.size() > most + 1)
      continue;
    std::vector<ValuePtr> parts = inner->inputs;
    s.call.inputs.erase(s.call.inputs.begin() + ptrdiff_t(k));
    s.call.inputs.insert(s.call.inputs.begin() + ptrdiff_t(k), parts.begin(), parts.end());
    k += parts.size() - 1;
  }
  return s.call.inputs.size() == 1 ? s.operand(0) : nullptr;
}

Primitive make_concatenate() {
  Primitive p = make_view("shape", "concatenate", {"..."}, {{"dimension", Kind::axis}}, Axes::kept);
  p.infer = infer_concatenate;
  p.simplify = simplify_concatenate;
  p.reverse = reverse_concatenate;
  p.hlo = {"stablehlo.concatenate", {{"dimension", "dimension", Attribute::i64, "dim"}}};
  p.lower = [](Lowering& l, const graph::Call& c) {
    auto d = static_cast<size_t>(c.params.integer("dimension"));
    std::vector<Lowering::Part> parts;
    int64_t start = 0;
    for (const ValuePtr& x : c.inputs) {
      if (elements(x->type.shape) > 0)
        parts.push_back({x->type.shape,
                         [d, start](Index i) {
                           i[d] = i[d] + start;
                           return i;
                         },
                         [&l, x](const Index& i) { return l.load(x, i); }});
      start += x->type.shape[d];
    }
    if (parts.size() > 1) return l.parts(c.outputs[0], std::move(parts));
    auto holds_elements = [](const ValuePtr& v) { return elements(v->type.shape) > 0; };
    lower_identity(l, c.outputs[0], *std::find_if(c.inputs.begin(), c.inputs.end() - 1, holds_elements));
  };
  return p;
}

Types infer_pad(const Types& t, const Params& params) {
  const Ints &low = params.ints("edge_padding_low"), &high = params.ints("edge_padding_high"),
             &interior = params.ints("interior_padding");
  auto rank = static_cast<int64_t>(t[0].shape.size());
  check_same_dtype("operand", t[0], "padding_value", t[1]);
  check_has_shape("padding_value", t[1], {});
  check_length("edge_padding_low", low, rank);
  check_length("edge_padding_high", high, rank);
  check_length("interior_padding", interior, rank);
  TensorType result = t[0];
  for (size_t d = 0; d < low.size(); ++d) {
    int64_t n = t[0].shape[d];
    if (interior[d] < 0)
      throw Error("argument", "`interior_padding` must not be negative.",
                  {"x Got " + std::to_string(interior[d]) + " in dimension " + std::to_string(d + 1) + "."});
    for (int64_t x : {low[d], high[d], interior[d]}) add_sizes(x, 0, d);
    int64_t between = multiply_sizes(std::max<int64_t>(n - 1, 0), interior[d], d);
    result.shape[d] = add_sizes(add_sizes(low[d], add_sizes(n, between, d), d), high[d], d);
    if (result.shape[d] < 0)
      throw Error(
          "shape", "Negative `edge_padding_low` and `edge_padding_high` must not crop more than there is.",
          {"x Dimension " + std::to_string(d + 1) + " would have size " + std::to_string(result.shape[d]) + "."});
  }
  return {result};
}

// The operand's share are the elements at its places, zero where they were cropped; the
// padding value's is the sum of all others.
void reverse_pad(ReverseStep& step) {
  Var g = cotangent(step);
  const Params& params = step.call.params;
  const Shape& from = operand(step, 0).shape();
  const Ints &low = params.ints("edge_padding_low"), &high = params.ints("edge_padding_high"),
             &interior = params.ints("interior_padding");
  if (step.required[0]) {
    Ints before(from.size()), after(from.size()), start(from.size()), limit(from.size()), stride(from.size());
    for (size_t d = 0; d < from.size(); ++d) {
      before[d] = std::max<int64_t>(-low[d], 0);
      after[d] = std::max<int64_t>(-high[d], 0);
      start[d] = std::max<int64_t>(low[d], 0);
      limit[d] = start[d] + from[d] + std::max<int64_t>(from[d] - 1, 0) * interior[d];
      stride[d] = interior[d] + 1;
    }
    bool cropped = std::any_of(low.begin(), low.end(), [](int64_t x) { return x < 0; }) ||
                   std::any_of(high.begin(), high.end(), [](int64_t x) { return x < 0; });
    Var zero = literal(step.graph, 0, {g.dtype(), {}});
    Var uncropped = cropped ? pad(g, zero, before, after, Ints(from.size(), 0)) : g;
    set(step, 0, slice(uncropped, start, limit, stride));
  }
  if (step.required[1]) {
    Var inside = literal(step.graph, true, {DType::boolean, from});
    Var taken = pad(inside, literal(step.graph, false, {DType::boolean, {}}), low, high, interior);
    set(step, 1, reduce_sum(select(taken, zeros_like(g), g), all_axes(g.shape().size())));
  }
}

// The padding around the operand as boxes that do not overlap, or, where it also lies
// between the elements, as one box below them.
void lower_pad(Lowering& l, const graph::Call& c) {
  ValuePtr result = c.outputs[0], x = c.inputs[0], value = c.inputs[1];
  const Shape &from = x->type.shape, &to = result->type.shape;
  const Ints &low = c.params.ints("edge_padding_low"), &interior = c.params.ints("interior_padding");
  size_t rank = from.size();
  auto padding = [&l, value](const Index&) { return l.load(value, {}); };
  auto up = [](int64_t a, int64_t b) { return a <= 0 ? 0 : (a - 1) / b + 1; };

  // Elements skip .. skip + kept of the operand are visible, the first of them at `begin`.
  Ints step(rank), skip(rank), begin(rank);
  Shape kept(rank);
  bool dense = true;
  for (size_t d = 0; d < rank; ++d) {
    step[d] = interior[d] + 1;
    skip[d] = up(-low[d], step[d]);
    kept[d] = std::max<int64_t>(std::min(from[d], up(to[d] - low[d], step[d])) - skip[d], 0);
    begin[d] = low[d] + skip[d] * step[d];
    dense = dense && (step[d] == 1 || kept[d] <= 1);
  }
  Ints one(rank, 1);
  auto element = [&l, x, at = strided(skip, one)](const Index& i) { return l.load(x, at(i)); };
  if (elements(kept) == 0) return l.map(result, padding);
  if (kept == to) return l.map(result, element);

  std::vector<Lowering::Part> parts;
  if (!dense) parts.push_back({to, strided(Ints(rank, 0), one), padding});
  Shape box = to;  // what is left between the slabs of the dimensions done
  Ints at(rank, 0);
  for (size_t d = rank; dense && d-- > 0;) {
    for (auto [first, last] : {std::pair{int64_t(0), begin[d]}, std::pair{begin[d] + kept[d], to[d]}}) {
      box[d] = last - first;
      at[d] = first;
      if (elements(box) > 0) parts.push_back({box, strided(at, one), padding});
    }
    box[d] = kept[d];
    at[d] = begin[d];
  }
  parts.push_back({kept, strided(begin, step), element});
  l.parts(result, std::move(parts));
}

// Padding that differs by example is put in its place afterwards.
void batch_pad(BatchStep& step) {
  if (!step.batched[1]) return record_alongside(step, 1);
  const Params params = extended(step);
  const Ints &low = params.ints("edge_padding_low"), &high = params.ints("edge_padding_high"),
             &interior = params.ints("interior_padding");
  const auto scalar = [&](Scalar x, DType t) { return literal(step.graph, x, {t, {}}); };
  Var x = batched(step, 0), inside = literal(step.graph, true, {DType::boolean, x.shape()});
  Var taken = pad(inside, scalar(false, DType::boolean), low, high, interior);
  Var padded = pad(x, scalar(0, x.dtype()), low, high, interior);
  set(step, {select(taken, padded, broadcast_in_dim(operand(step, 1), padded.shape(), {rank(step, 0)}))});
}

Primitive make_pad() {
  Primitive p = make_view("shape", "pad", {"operand", "padding_value"},
                          {{"edge_padding_low", Kind::sizes, false, 0},
                           {"edge_padding_high", Kind::sizes, false, 0},
                           {"interior_padding", Kind::sizes, false, 0}},
                          Axes::kept);
  p.infer = infer_pad;
  p.batch = batch_pad;
  p.reverse = reverse_pad;
  p.hlo = {"stablehlo.pad",
           {{"edge_padding_low", "edge_padding_low", Attribute::i64_array, "low"},
            {"edge_padding_high", "edge_padding_high", Attribute::i64_array, "high"},
            {"interior_padding", "interior_padding", Attribute::i64_array, "interior"}}};
  p.lower = lower_pad;
  return p;
}

}  // namespace

void register_joining(Registry& r) {
  r.add(make_concatenate());
  r.add(make_pad());
}

}  // namespace anvil::primitives
