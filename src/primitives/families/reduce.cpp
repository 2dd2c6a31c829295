// Reductions over chosen dimensions, and running sums. No dimensions means no reduction:
// the operand unchanged. On bool, sums and maxima are "or", products and minima "and".
#include <algorithm>

#include "primitives/families/families.h"
#include "primitives/families/monoid.h"
#include "primitives/vocabulary/region.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

using loops::Op;

// The dimensions that stay, and where the result has them: all of its dimensions, or with
// drop = FALSE those that are not reduced.
struct Reduced {
  Ints dims, kept, places;
  Reduced(const Shape& from, const Params& params) : dims(params.ints("dims")), kept(other_axes(from.size(), dims)) {
    std::sort(dims.begin(), dims.end());
    places = params.flag("drop") ? all_axes(kept.size()) : kept;
  }
};

Types infer_reduction(const Types& t, const Params& params) {
  check_axes("dims", params.ints("dims"), static_cast<int64_t>(t[0].shape.size()));
  Reduced r(t[0].shape, params);
  Shape shape = take(t[0].shape, r.kept);
  if (!params.flag("drop")) {
    shape = t[0].shape;
    for (int64_t d : r.dims) shape[static_cast<size_t>(d)] = 1;
  }
  return {{t[0].dtype, shape, t[0].ambiguous && !is_bool(t[0].dtype)}};
}

// A result, or its cotangent, over all the elements that it came from.
Var spread(ReverseStep& step, const Var& x) {
  const Shape& to = operand(step, 0).shape();
  Ints dims = step.call.params.flag("drop") ? Reduced(to, step.call.params).kept : all_axes(to.size());
  return broadcast_in_dim(x, to, dims);
}

std::function<void(Lowering&, const graph::Call&)> lower_with(const Monoid& m) {
  return [&m](Lowering& l, const graph::Call& c) {
    ValuePtr x = c.inputs[0], result = c.outputs[0];
    Reduced r(x->type.shape, c.params);
    if (r.dims.empty()) return lower_identity(l, result, x);
    DType t = x->type.dtype;
    l.reduce(result, take(x->type.shape, r.dims), is_bool(t) ? m.op_on_bool : m.op, m.start(t),
             [&l, x, r](const Index& o, const Index& inner) {
               Index at(x->type.shape.size());
               for (size_t k = 0; k < r.dims.size(); ++k) at[static_cast<size_t>(r.dims[k])] = inner[k];
               for (size_t k = 0; k < r.kept.size(); ++k)
                 at[static_cast<size_t>(r.kept[k])] = o[static_cast<size_t>(r.places[k])];
               return l.load(x, at);
             });
  };
}

// ---- derivatives ------------------------------------------------------------------------

void reverse_sum(ReverseStep& step) { set(step, 0, spread(step, cotangent(step))); }

// The elements that equal the extreme share its cotangent; when it is NaN, nobody gets any.
void reverse_extreme(ReverseStep& step) {
  Var x = operand(step, 0), g = cotangent(step);
  const Params& params = step.call.params;
  Var taken = x == spread(step, result(step));
  Var count = reduce_sum(convert(taken, x.dtype()), params.ints("dims"), params.flag("drop"));
  count = maximum(count, literal(count, 1));
  set(step, 0, select(taken, spread(step, g / count), zeros_like(x)));
}

// For every element the product of all others in `dims`: halves are multiplied with each
// other until one element is left, then each half's products are completed with the other
// half. Linear work, no division, and so exact at zeros and for every order.
Var products_of_others(const Var& x, const Ints& dims) {
  auto long_one =
      std::find_if(dims.begin(), dims.end(), [&](int64_t d) { return x.shape()[static_cast<size_t>(d)] > 1; });
  if (long_one == dims.end()) return literal(x, 1);
  auto d = static_cast<size_t>(*long_one);
  size_t rank = x.shape().size();
  int64_t n = x.shape()[d], half = (n + 1) / 2;
  Ints zero(rank, 0), one(rank, 1), middle = zero, low_end = x.shape(), extra = zero;
  middle[d] = low_end[d] = half;
  extra[d] = 2 * half - n;
  Var low = slice(x, zero, low_end, one), high = slice(x, middle, x.shape(), one);
  if (extra[d] > 0) high = pad(high, literal(*x.graph, 1, {x.dtype(), {}}), zero, extra, zero);
  Var others = products_of_others(low * high, dims);
  Var joined = concatenate({others * high, others * low}, static_cast<int64_t>(d));
  return extra[d] > 0 ? slice(joined, zero, x.shape(), one) : joined;
}
void reverse_product(ReverseStep& step) {
  set(step, 0, spread(step, cotangent(step)) * products_of_others(operand(step, 0), step.call.params.ints("dims")));
}

// ---- the family -------------------------------------------------------------------------

constexpr Monoid table[] = {
    {"reduce_sum", "add", "or", Op::add, Op::bit_or, [](DType) { return Scalar(0); }, Group::any, reverse_sum, false},
    {"reduce_prod", "mul", "and", Op::mul, Op::bit_and, [](DType) { return Scalar(1); }, Group::any, reverse_product,
     false},
    {"reduce_max", "maximum", "maximum", Op::maximum, Op::bit_or, lowest, Group::any, reverse_extreme, true},
    {"reduce_min", "minimum", "minimum", Op::minimum, Op::bit_and, highest, Group::any, reverse_extreme, true},
    {"reduce_any", "or", "or", Op::bit_or, Op::bit_or, lowest, Group::boolean, nullptr, true},
    {"reduce_all", "and", "and", Op::bit_and, Op::bit_and, highest, Group::boolean, nullptr, true}};

Primitive make_cumsum() {
  Primitive p = make_primitive("reduce", "cumsum", {"operand"}, {{"dim", Kind::axis}});
  p.group = Group::numeric;
  p.axes = Axes::kept;
  p.linear = Operands::all();
  p.infer = [](const Types& t, const Params& params) {
    check_axis("dim", params.integer("dim"), static_cast<int64_t>(t[0].shape.size()));
    return Types{t[0]};
  };
  p.reverse = [](ReverseStep& step) {
    int64_t dim = step.call.params.integer("dim");
    set(step, 0, reverse(cumsum(reverse(cotangent(step), {dim}), dim), {dim}));
  };
  p.hlo = {"stablehlo.reduce_window", {}, special};
  p.lower = [](Lowering& l, const graph::Call& c) {
    ValuePtr x = c.inputs[0];
    l.scan(c.outputs[0], c.params.integer("dim"), Op::add, 0, [&l, x](const Index& i) { return l.load(x, i); });
  };
  return p;
}

}  // namespace

std::span<const Monoid> monoids() { return table; }

// A reshape that gives the reduced dimensions back, as ones.
bool keep_dimensions(graph::Call& reduction, const graph::Call& reader, const Maker&) {
  if (primitive_of(reader).axes != Axes::regrouped || !reduction.params.flag("drop")) return false;
  Shape kept = reduction.inputs[0]->type.shape;
  for (int64_t d : reduction.params.ints("dims")) kept[static_cast<size_t>(d)] = 1;
  if (kept != reader.outputs[0]->type.shape) return false;
  reduction.params.set("drop", false);
  return true;
}

Primitive reduction(const Monoid& m) {
  Primitive p = make_primitive("reduce", m.reduction, {"operand"}, {{"dims", Kind::axes}, {"drop", Kind::flag}});
  p.absorb = keep_dimensions;
  p.group = m.group;
  p.acts = Acts::reduces;
  p.axes = Axes::reduced;
  p.monoid = &m;
  if (m.op == Op::add) p.linear = Operands::all();
  p.selects = m.idempotent && m.reverse != nullptr;
  p.infer = infer_reduction;
  if (m.reverse != nullptr) p.reverse = m.reverse;
  p.zero_derivative = m.reverse == nullptr;
  p.hlo = {"stablehlo.reduce", {{"dimensions", "dims", Attribute::i64_array}}, special};
  p.lower = lower_with(m);
  return p;
}

const Monoid* find_monoid(Op op) {
  const auto* row = std::find_if(std::begin(table), std::end(table), [op](const Monoid& m) { return m.op == op; });
  return row == std::end(table) ? nullptr : row;
}

Scalar neutral(const Monoid& m, DType t) { return is_float(t) && m.op == Op::add ? Scalar(-0.0) : m.start(t); }

const Monoid* monoid_of(const graph::Graph& region, DType t) {
  const auto op = single_operation(region);
  const Monoid* m = op ? find_monoid(*op) : nullptr;
  return m && (is_bool(t) || !m->only_bool()) ? m : nullptr;
}

void register_reduce(Registry& r) {
  for (const Monoid& m : table) r.add(reduction(m));
  r.add(make_cumsum());
}

}  // namespace anvil::primitives
