// Primitives that make or move elements without computing with them: constants, spreading,
// new shapes, permutations, joining and padding.
#include <algorithm>
#include <optional>

#include "primitives/families/families.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

Index origin(const ValuePtr& v) { return Index(v->type.shape.size()); }

// ---- constants --------------------------------------------------------------------------

Primitive make_fill() {
  Primitive p = make_primitive(
      "shape", "fill", {},
      {{"value", Kind::real}, {"dtype", Kind::dtype}, {"shape", Kind::shape}, {"ambiguous", Kind::flag}});
  p.infer = [](const Types&, const Params& params) {
    check_shape(params.ints("shape"));
    return Types{{params.dtype("dtype"), params.ints("shape"), params.flag("ambiguous")}};
  };
  p.zero_derivative = true;
  p.axes = Axes::spread;
  p.view = true;
  p.simplify = [](Simplification& s) {
    return graph::make_literal(s.call.params.get<Scalar>("value").rounded_to(s.type().dtype), s.type());
  };
  p.hlo = {"stablehlo.constant", {}, special};
  p.lower = [](Lowering& l, const graph::Call& c) {
    Expr value = l.exprs().constant(c.params.get<Scalar>("value"), c.outputs[0]->type.dtype);
    l.map(c.outputs[0], [=](const Index&) { return value; });
  };
  return p;
}

Primitive make_iota() {
  std::vector<ParamSpec> parameters = {{"dim", Kind::axis},
                                       {"dtype", Kind::dtype},
                                       {"shape", Kind::shape},
                                       {"start", Kind::integer},
                                       {"ambiguous", Kind::flag}};
  Primitive p = make_primitive("shape", "iota", {}, parameters);
  p.infer = [](const Types&, const Params& params) {
    DType dtype = params.dtype("dtype");
    if (!contains(Group::numeric, dtype))
      throw Error("dtype", std::string("`dtype` must be ") + name(Group::numeric) + ".",
                  {"x Got <" + std::string(anvil::name(dtype)) + ">."});
    check_shape(params.ints("shape"));
    check_axis("dim", params.integer("dim"), static_cast<int64_t>(params.ints("shape").size()), "`shape`");
    auto dim = static_cast<size_t>(params.integer("dim"));
    add_sizes(params.integer("start"), params.ints("shape")[dim], dim);
    return Types{{dtype, params.ints("shape"), params.flag("ambiguous")}};
  };
  p.zero_derivative = true;
  p.axes = Axes::spread;
  p.view = true;
  p.hlo = {"stablehlo.iota", {{"iota_dimension", "dim", Attribute::i64, "dim"}}, special};
  p.lower = [](Lowering& l, const graph::Call& c) {
    const TensorType& type = c.outputs[0]->type;
    auto dim = static_cast<size_t>(c.params.integer("dim"));
    int64_t start = c.params.integer("start"), size = type.shape[dim], most = int64_t(1) << 30;
    // Vectors convert i32 to floats in one instruction, i64 not everywhere.
    bool narrow = is_float(type.dtype) && size < most && start > -most && start < most;
    l.map(c.outputs[0], [&l, dim, start, narrow, dtype = type.dtype](const Index& i) {
      loops::ExprPool& e = l.exprs();
      Expr number = e.index(i[dim] + start);
      return e.convert(narrow ? e.convert(number, DType::i32) : number, dtype);
    });
  };
  return p;
}

// ---- new shapes -------------------------------------------------------------------------

Types infer_broadcast(const Types& t, const Params& params) {
  const Shape &from = t[0].shape, &to = params.ints("shape");
  const Ints& dims = params.ints("broadcast_dimensions");
  check_shape(to);
  check_length("broadcast_dimensions", dims, static_cast<int64_t>(from.size()));
  check_axes("broadcast_dimensions", dims, static_cast<int64_t>(to.size()), "`shape`");
  for (size_t d = 0; d < from.size(); ++d) {
    int64_t size = to[static_cast<size_t>(dims[d])];
    if (from[d] == 1 || from[d] == size) continue;
    throw Error(
        "shape", "`operand` of shape " + in_parentheses(from) + " can't be broadcast to " + in_parentheses(to) + ".",
        {"x Dimension " + std::to_string(d + 1) + " of `operand` has size " + std::to_string(from[d]) + ", dimension " +
             std::to_string(dims[d] + 1) + " of `shape` has size " + std::to_string(size) + ".",
         "i A dimension that is broadcast must have size 1."});
  }
  return {{t[0].dtype, to, t[0].ambiguous}};
}

// The sum over everything an element was spread to. The dimensions that are left stand in
// the order of the result; a transpose brings them back when the operand's was another.
void reverse_broadcast(ReverseStep& step) {
  Var g = cotangent(step);
  const Shape& from = operand(step, 0).shape();
  const Ints& dims = step.call.params.ints("broadcast_dimensions");
  Ints added = other_axes(g.shape().size(), dims), spread;
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] == 1 && g.shape()[static_cast<size_t>(dims[d])] != 1) spread.push_back(dims[d]);
  std::sort(spread.begin(), spread.end());
  Ints order = all_axes(from.size());  // operand dimensions in the order of the result's
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return dims[static_cast<size_t>(a)] < dims[static_cast<size_t>(b)]; });

  if (added.empty() && !spread.empty()) {
    g = reduce_sum(g, spread, false);
  } else if (!added.empty()) {
    Ints all = added;
    all.insert(all.end(), spread.begin(), spread.end());
    std::sort(all.begin(), all.end());
    g = reduce_sum(g, all);
    if (!spread.empty()) g = reshape(g, take(from, order));
  }
  if (!std::is_sorted(order.begin(), order.end())) g = transpose(g, inverse(order));
  set(step, 0, g);
}

ValuePtr simplify_broadcast(Simplification& s) {
  if (const graph::Call* inner = s.inner()) {
    const Ints& dims = s.call.params.ints("broadcast_dimensions");
    Ints composed = take(dims, inner->params.ints("broadcast_dimensions"));
    s.call.params.set("broadcast_dimensions", std::move(composed));
    s.call.inputs[0] = inner->inputs[0];
  }
  const Ints& dims = s.call.params.ints("broadcast_dimensions");
  return s.operand(0)->type.shape == s.type().shape && std::is_sorted(dims.begin(), dims.end()) ? s.operand(0)
                                                                                                : nullptr;
}

Primitive make_broadcast() {
  Primitive p = make_view("shape", "broadcast_in_dim", {"operand"},
                          {{"shape", Kind::shape}, {"broadcast_dimensions", Kind::axes}}, Axes::spread);
  p.simplify = simplify_broadcast;
  p.infer = infer_broadcast;
  p.reverse = reverse_broadcast;
  p.hlo = {"stablehlo.broadcast_in_dim",
           {{"broadcast_dimensions", "broadcast_dimensions", Attribute::i64_array, "dims"}}};
  p.lower = [](Lowering& l, const graph::Call& c) {
    ValuePtr x = c.inputs[0];
    l.map(c.outputs[0], [&l, x, dims = c.params.ints("broadcast_dimensions")](const Index& i) {
      Index at = take(i, dims);
      for (size_t d = 0; d < at.size(); ++d)
        if (x->type.shape[d] == 1) at[d] = Affine{};
      return l.load(x, at);
    });
  };
  return p;
}

// When each dimension of `from` is one dimension of `to`, or several with the first of them
// fastest: those dimensions, for each of `from`. Extents of 1 may come and go.
std::optional<std::vector<Ints>> splits(const Shape& from, const Shape& to) {
  std::vector<Ints> parts(from.size());
  size_t t = 0;
  for (size_t d = 0; d < from.size(); ++d)
    for (int64_t covered = 1; covered != from[d]; ++t) {
      if (t == to.size() || covered > from[d]) return std::nullopt;
      covered *= to[t];
      if (to[t] != 1) parts[d].push_back(static_cast<int64_t>(t));
    }
  return parts;
}

void lower_reshape(Lowering& l, const graph::Call& c) {
  ValuePtr x = c.inputs[0];
  const Shape& to = c.outputs[0]->type.shape;
  if (is_literal(x)) return l.map(c.outputs[0], [&l, x](const Index&) { return l.load(x, origin(x)); });
  auto parts = elements(to) == 0 ? std::nullopt : splits(x->type.shape, to);
  if (!parts) return l.alias(c.outputs[0], x);
  l.map(c.outputs[0], [&l, x, to, parts](const Index& i) {
    Index at = origin(x);
    for (size_t d = 0; d < at.size(); ++d) {
      int64_t step = 1;
      for (int64_t t : (*parts)[d]) {
        at[d] = at[d] + i[static_cast<size_t>(t)] * step;
        step *= to[static_cast<size_t>(t)];
      }
    }
    return l.load(x, at);
  });
}

Primitive make_reshape() {
  Primitive p = make_view("shape", "reshape", {"operand"}, {{"shape", Kind::shape}}, Axes::regrouped);
  p.simplify = [](Simplification& s) {
    if (const graph::Call* inner = s.inner()) s.call.inputs[0] = inner->inputs[0];
    return s.operand(0)->type.shape == s.type().shape ? s.operand(0) : nullptr;
  };
  p.infer = [](const Types& t, const Params& params) {
    const Shape& shape = params.ints("shape");
    check_shape(shape);
    const auto said = [](const Shape& s) {
      const int64_t n = elements(s);
      return in_parentheses(s) + " (" + std::to_string(n) + (n == 1 ? " element)" : " elements)");
    };
    if (elements(shape) != elements(t[0].shape))
      throw Error("shape", "Size of output must equal to size of operand.",
                  {"x `operand` has shape " + said(t[0].shape) + ", `shape` is " + said(shape) + "."});
    return Types{{t[0].dtype, shape, t[0].ambiguous}};
  };
  p.reverse = [](ReverseStep& step) { set(step, 0, reshape(cotangent(step), operand(step, 0).shape())); };
  p.hlo = {"stablehlo.reshape", {}, special};
  p.lower = lower_reshape;
  return p;
}

Primitive make_transpose() {
  Primitive p = make_view("shape", "transpose", {"operand"}, {{"permutation", Kind::axes}}, Axes::permuted);
  p.simplify = [](Simplification& s) {
    if (const graph::Call* inner = s.inner()) {
      s.call.params.set("permutation", take(inner->params.ints("permutation"), s.call.params.ints("permutation")));
      s.call.inputs[0] = inner->inputs[0];
    }
    const Ints& permutation = s.call.params.ints("permutation");
    return std::is_sorted(permutation.begin(), permutation.end()) ? s.operand(0) : nullptr;
  };
  p.infer = [](const Types& t, const Params& params) {
    const Ints& permutation = params.ints("permutation");
    check_permutation("permutation", permutation, static_cast<int64_t>(t[0].shape.size()));
    return Types{{t[0].dtype, take(t[0].shape, permutation), t[0].ambiguous}};
  };
  p.reverse = [](ReverseStep& step) {
    set(step, 0, transpose(cotangent(step), inverse(step.call.params.ints("permutation"))));
  };
  p.hlo = {"stablehlo.transpose", {{"permutation", "permutation", Attribute::i64_array, "dims"}}, special};
  p.lower = [](Lowering& l, const graph::Call& c) {
    ValuePtr x = c.inputs[0];
    l.map(c.outputs[0],
          [&l, x, back = inverse(c.params.ints("permutation"))](const Index& i) { return l.load(x, take(i, back)); });
  };
  return p;
}

Primitive make_reverse() {
  Primitive p = make_view("shape", "reverse", {"operand"}, {{"dims", Kind::axes}}, Axes::kept);
  p.infer = [](const Types& t, const Params& params) {
    check_axes("dims", params.ints("dims"), static_cast<int64_t>(t[0].shape.size()));
    return Types{t[0]};
  };
  p.reverse = [](ReverseStep& step) { set(step, 0, reverse(cotangent(step), step.call.params.ints("dims"))); };
  p.hlo = {"stablehlo.reverse", {{"dimensions", "dims", Attribute::i64_array, "dims"}}};
  p.lower = [](Lowering& l, const graph::Call& c) {
    ValuePtr x = c.inputs[0];
    l.map(c.outputs[0], [&l, x, dims = c.params.ints("dims")](Index i) {
      for (int64_t axis : dims) {
        auto d = static_cast<size_t>(axis);
        i[d] = i[d] * -1 + (x->type.shape[d] - 1);
      }
      return l.load(x, i);
    });
  };
  return p;
}

// ---- joining and padding ----------------------------------------------------------------

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

Primitive make_concatenate() {
  Primitive p = make_view("shape", "concatenate", {"..."}, {{"dimension", Kind::axis}}, Axes::kept);
  p.infer = infer_concatenate;
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

Primitive make_pad() {
  Primitive p = make_view(
      "shape", "pad", {"operand", "padding_value"},
      {{"edge_padding_low", Kind::sizes}, {"edge_padding_high", Kind::sizes}, {"interior_padding", Kind::sizes}},
      Axes::kept);
  p.infer = infer_pad;
  p.reverse = reverse_pad;
  p.hlo = {"stablehlo.pad",
           {{"edge_padding_low", "edge_padding_low", Attribute::i64_array, "low"},
            {"edge_padding_high", "edge_padding_high", Attribute::i64_array, "high"},
            {"interior_padding", "interior_padding", Attribute::i64_array, "interior"}}};
  p.lower = lower_pad;
  return p;
}

}  // namespace

void register_shape(Registry& r) {
  for (Primitive (*make_one)() :
       {make_fill, make_iota, make_broadcast, make_reshape, make_transpose, make_concatenate, make_pad, make_reverse})
    r.add(make_one());
}

}  // namespace anvil::primitives
