// Primitives that make or move elements without computing with them: constants, spreading,
// new shapes and permutations.
#include <algorithm>
#include <optional>

#include "primitives/families/families.h"
#include "primitives/vocabulary/simplification.h"
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

// iota + start, where no number in between is rounded.
bool start_iota(graph::Call& iota, const graph::Call& reader, const Maker&) {
  if (primitive_of(reader).op != loops::Op::add || iota.params.integer("start") != 0) return false;
  const TensorType& type = iota.outputs[0]->type;
  const auto start = splat(reader.inputs[reader.inputs[0] == iota.outputs[0] ? 1 : 0]);
  if (!start) return false;
  const int64_t first = start->as<int64_t>(), size = type.shape.at(static_cast<size_t>(iota.params.integer("dim")));
  const int64_t room = (int64_t(1) << (is_float(type.dtype) ? descriptor(type.dtype).mantissa_bits + 1 : 53)) - size;
  if (!(*start == Scalar(first).rounded_to(type.dtype)) || first > room || first < -room) return false;
  iota.params.set("start", first);
  return true;
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
  p.absorb = start_iota;
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

}  // namespace

void register_shape(Registry& r) {
  for (Primitive (*make_one)() : {make_fill, make_iota, make_broadcast, make_reshape, make_transpose, make_reverse})
    r.add(make_one());
}

}  // namespace anvil::primitives
