// reduce and cumulative: reductions and running reductions of any number of tensors at once
// by a region, from initial values. The region combines the values so far with those of one
// more element and is associative; elements come in row-major order. With the initial values
// it should form a monoid.
#include "primitives/families/fold.h"
#include "primitives/families/families.h"

#include <algorithm>

#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/region.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {

using graph::Call;
using graph::Graph;
using graph::GraphPtr;

static Vars record_fold(const char* primitive, const Vars& operands, const Vars& initial, Params params) {
  Vars inputs = operands;
  inputs.insert(inputs.end(), initial.begin(), initial.end());
  Graph& g = *operands[0].graph;
  return vars(g, record(g, registry().at(primitive), values(inputs), std::move(params)));
}

GraphPtr region_of(const std::vector<DType>& dtypes, const std::function<Vars(const Vars&)>& combined) {
  Types both;
  for (int side = 0; side < 2; ++side)
    for (const DType t : dtypes) both.push_back({t, {}});
  return inner_graph(both, [&combined](Graph&, const Vars& v) { return combined(v); });
}

Vars fold(const Vars& operands, const Vars& initial, Ints dims, const GraphPtr& body) {
  DType t = operands[0].dtype();
  const Monoid* m = operands.size() == 1 ? monoid_of(*body, t) : nullptr;
  // over no dimensions a reduction is its operand, and a fold joins the initial value to that
  if (m && known(initial[0].value) == (dims.empty() ? neutral(*m, t) : m->start(t)).rounded_to(t))
    return {record(m->reduction, {operands[0]}, {{"dims", std::move(dims), true}, {"drop", true}})};
  return record_fold("reduce", operands, initial, {{"dims", std::move(dims), true}, {"body", body}});
}

Vars cumulate(const Vars& operands, const Vars& initial, int64_t dim, const GraphPtr& body) {
  return record_fold("cumulative", operands, initial, {{"dim", dim, true}, {"body", body}});
}

size_t check_fold(const char* primitive, const Types& t, const Graph& body) {
  size_t n = t.size() / 2;
  if (n == 0 || t.size() % 2 != 0)
    throw Error("argument", "`" + std::string(primitive) + "` takes tensors and as many initial values.",
                {"x Got " + std::to_string(t.size()) + " operands."});
  Types scalars;
  for (size_t k = 0; k < n; ++k) {
    std::string name = ".." + std::to_string(k + 1), start = ".." + std::to_string(n + k + 1);
    if (t[k].shape != t[0].shape)
      throw Error("shape", "The tensors of `" + std::string(primitive) + "` must have one shape.",
                  {"x Got " + in_parentheses(t[0].shape) + " and " + in_parentheses(t[k].shape) + "."});
    check_has_shape(start.c_str(), t[n + k], {});
    check_same_dtype(name.c_str(), t[k], start.c_str(), t[n + k]);
    scalars.push_back({t[k].dtype, {}});
  }
  Types both = scalars;
  both.insert(both.end(), scalars.begin(), scalars.end());
  check_region(primitive, body, both, scalars);
  return n;
}

namespace {

using loops::Op;

struct Given {
  std::vector<ValuePtr> tensors, initial;
  explicit Given(const Call& c) {
    auto middle = c.inputs.begin() + static_cast<std::ptrdiff_t>(c.inputs.size() / 2);
    tensors.assign(c.inputs.begin(), middle);
    initial.assign(middle, c.inputs.end());
  }
  const Shape& shape() const { return tensors[0]->type.shape; }
  Lowering::Exprs first(Lowering& l) const {
    Lowering::Exprs values;
    for (const ValuePtr& v : initial) values.push_back(l.load(v, {}));
    return values;
  }
  // The accumulators after the elements at an index.
  Lowering::Exprs next(Lowering& l, const Graph& body, const Index& at, Lowering::Exprs accumulators) const {
    for (const ValuePtr& v : tensors) accumulators.push_back(l.load(v, at));
    return lower_region(l, body, accumulators);
  }
};

// ---- reduce -----------------------------------------------------------------------------

Types infer_reduce(const Types& t, const Params& params) {
  size_t n = check_fold("reduce", t, *params.graph("body"));
  const Ints& dims = params.ints("dims");
  check_axes("dims", dims, static_cast<int64_t>(t[0].shape.size()));
  Types results;
  for (size_t k = 0; k < n; ++k) results.push_back({t[k].dtype, take(t[0].shape, other_axes(t[0].shape.size(), dims))});
  return results;
}

// The operation of a region, where the order of its operands is free.
std::optional<Op> free_order(const Graph& body, DType t) {
  if (is_small(t)) return std::nullopt;  // the body rounds at every step
  const auto op = single_operation(body);
  const Monoid* m = op ? find_monoid(*op) : nullptr;
  return m ? std::optional(is_bool(t) ? m->op_on_bool : m->op) : std::nullopt;
}

void lower_reduce(Lowering& l, const Call& c) {
  Given x(c);
  Ints dims = c.params.ints("dims"), kept = other_axes(x.shape().size(), dims);
  std::sort(dims.begin(), dims.end());
  const Graph& body = *c.params.graph("body");
  auto place = [&](const Index& o, const Index& r) {
    Index at(x.shape().size());
    for (size_t k = 0; k < dims.size(); ++k) at[static_cast<size_t>(dims[k])] = r[k];
    for (size_t k = 0; k < kept.size(); ++k) at[static_cast<size_t>(kept[k])] = o[k];
    return at;
  };
  Shape extents = take(x.shape(), dims);
  auto op = free_order(body, x.tensors[0]->type.dtype);
  if (op && x.tensors.size() == 1 && is_literal(x.initial[0]))
    return l.reduce(c.outputs[0], extents, *op, x.initial[0]->literal,
                    [&](const Index& o, const Index& r) { return l.load(x.tensors[0], place(o, r)); });
  l.fold(
      c.outputs, extents, [&](const Index&) { return x.first(l); },
      [&](const Index& o, const Index& r, const Lowering::Exprs& a) { return x.next(l, body, place(o, r), a); });
}

// ---- cumulative -------------------------------------------------------------------------

Types infer_cumulative(const Types& t, const Params& params) {
  size_t n = check_fold("cumulative", t, *params.graph("body"));
  check_axis("dim", params.integer("dim"), static_cast<int64_t>(t[0].shape.size()));
  Types results;
  for (size_t k = 0; k < n; ++k) results.push_back({t[k].dtype, t[k].shape});
  return results;
}

void lower_cumulative(Lowering& l, const Call& c) {
  Given x(c);
  const Graph& body = *c.params.graph("body");
  l.running(
      c.outputs, c.params.integer("dim"), [&](const Index&) { return x.first(l); },
      [&](const Index& i, const Lowering::Exprs& a) { return x.next(l, body, i, a); });
}

// ---- as calls of others, which reverse mode differentiates --------------------------------

Vars combined(Graph& to, const Graph& body, const Vars& a, const Vars& b) {
  Vars both = a;
  both.insert(both.end(), b.begin(), b.end());
  return lift(to, body, both, a[0].shape());
}
// Elements from, from + step, ... below `end` along one dimension.
Vars along(const Vars& list, size_t dim, int64_t from, int64_t end, int64_t step = 1) {
  Vars cut;
  for (const Var& x : list) {
    Ints starts(x.shape().size(), 0), limits = x.shape(), strides(x.shape().size(), 1);
    starts[dim] = from, limits[dim] = end, strides[dim] = step;
    cut.push_back(slice(x, starts, limits, strides));
  }
  return cut;
}
Vars joined(const Vars& a, const Vars& b, size_t dim) {
  Vars list;
  for (size_t k = 0; k < a.size(); ++k) list.push_back(concatenate({a[k], b[k]}, static_cast<int64_t>(dim)));
  return list;
}
Vars spread(const Vars& scalars, const Shape& shape) {
  Vars list;
  for (const Var& x : scalars) list.push_back(shape.empty() ? x : broadcast_in_dim(x, shape, {}));
  return list;
}

// Neighbours are combined until one element is left: a tree that keeps the order.
std::vector<ValuePtr> expand_reduce(Graph& to, const Call& c) {
  Given given(c);
  const Graph& body = *c.params.graph("body");
  Vars x = vars(to, given.tensors), initial = spread(vars(to, given.initial), c.outputs[0]->type.shape);
  Ints dims = c.params.ints("dims");
  std::sort(dims.rbegin(), dims.rend());
  for (int64_t axis : dims) {
    auto d = static_cast<size_t>(axis);
    if (given.shape()[d] == 0) return values(initial);
    for (int64_t n = x[0].shape()[d]; n > 1; n = (n + 1) / 2) {
      int64_t paired = n / 2 * 2;
      Vars half = combined(to, body, along(x, d, 0, paired, 2), along(x, d, 1, paired, 2));
      x = paired == n ? half : joined(half, along(x, d, paired, n), d);
    }
  }
  for (Var& v : x) v = reshape(v, c.outputs[0]->type.shape);
  return values(combined(to, body, initial, x));
}

// a[0], b[0], a[1], b[1], ...; the first of each pair may have one more element.
Vars interleaved(const Vars& a, const Vars& b, size_t dim) {
  const int64_t pairs = b[0].shape()[dim], rest = a[0].shape()[dim] - pairs;
  Shape apart = b[0].shape(), whole = apart;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(dim), 1);
  whole[dim] = 2 * pairs;
  Vars list;
  const Vars first = along(a, dim, 0, pairs);
  for (size_t k = 0; k < a.size(); ++k) {
    Var left = reshape(first[k], apart), right = reshape(b[k], apart);
    list.push_back(reshape(concatenate({left, right}, static_cast<int64_t>(dim)), whole));
  }
  return rest == 0 ? list : joined(list, along(a, dim, pairs, pairs + 1), dim);
}

// All running combinations of x, in linear work: those of neighbouring pairs are every second one, and
// each of the others is the one before it with one more element.
Vars scanned(Graph& to, const Graph& body, const Vars& x, size_t d) {
  const int64_t n = x[0].shape()[d], paired = n / 2 * 2;
  if (n < 2) return x;
  const Vars left = along(x, d, 0, paired, 2), right = along(x, d, 1, paired, 2);
  const Vars second = scanned(to, body, combined(to, body, left, right), d);
  Vars first = along(x, d, 0, 1);
  if (n > 2) {
    const Vars before = along(second, d, 0, (n - 1) / 2), next = along(x, d, 2, n, 2);
    first = joined(first, combined(to, body, before, next), d);
  }
  return interleaved(first, second, d);
}
std::vector<ValuePtr> expand_cumulative(Graph& to, const Call& c) {
  Given given(c);
  const Graph& body = *c.params.graph("body");
  Vars x = scanned(to, body, vars(to, given.tensors), static_cast<size_t>(c.params.integer("dim")));
  return values(combined(to, body, spread(vars(to, given.initial), given.shape()), x));
}

// ---- argmax and argmin --------------------------------------------------------------------
// The place of the first of the largest elements along `dim`; a NaN is larger than all of them, as for reduce_max.

Types infer_extreme(const Types& t, const Params& params) {
  Shape shape = t[0].shape;
  check_axis("dim", params.integer("dim"), static_cast<int64_t>(shape.size()));
  const auto dim = static_cast<size_t>(params.integer("dim"));
  if (shape[dim] == 0)
    throw Error(
        "shape", "There is no extreme along an empty dimension.",
        {"x `operand` has shape " + in_parentheses(t[0].shape) + ", `dim` is " + std::to_string(dim + 1) + "."});
  check_counts_in_i32("The dimension `dim` of `operand`", shape[dim]);
  shape[dim] = 1;
  if (params.flag("drop")) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
  return {{DType::i32, shape}};
}

// (v, i) or (w, j), whichever is further; of equal ones the first.
GraphPtr further(const Monoid& m, DType t) {
  return region_of({t, DType::i32}, [&m](const Vars& x) {
    const Var v = x[0], i = x[1], w = x[2], j = x[3];
    const Var left = (m.op == Op::maximum ? v > w : v < w) | (v != v), first = (v == w) & (i < j);
    return Vars{select(left, v, w), select(left | first, i, j)};
  });
}
// Among few, pairs of element and place; among many the least place of an element that is the extreme, by two reductions
// of numbers, which run side by side along the dimension, too.
Var place_of_extreme(const Monoid& m, const Var& x, int64_t dim) {
  constexpr int64_t few = 200;
  const int64_t n = x.shape()[static_cast<size_t>(dim)];
  const Var place = iota(*x.graph, dim, DType::i32, x.shape());
  if (n <= few) {
    const Vars start = {literal(*x.graph, m.start(x.dtype()), {x.dtype(), {}}),
                        literal(*x.graph, Scalar(0), {DType::i32, {}})};
    return fold({x, place}, start, {dim}, further(m, x.dtype()))[1];
  }
  const Params along = {{"dims", Ints{dim}, true}, {"drop", true}};
  const Var found = record(m.reduction, {x}, along);
  const Var all = broadcast_in_dim(found, x.shape(), other_axes(x.shape().size(), {dim}));
  const Var hit = is_float(x.dtype()) ? (x == all) | (x != x) : x == all;
  return record("reduce_min", {select(hit, place, literal(place, Scalar(n)))}, along);
}
std::vector<ValuePtr> expand_extreme(const Monoid& m, Graph& to, const Call& c) {
  const Var place = place_of_extreme(m, {&to, c.inputs[0]}, c.params.integer("dim"));
  return {c.params.flag("drop") ? place.value : reshape(place, c.outputs[0]->type.shape).value};
}

Primitive extreme(const char* name, Op op) {
  Primitive p = make_primitive("reduce", name, {"operand"}, {{"dim", Kind::axis}, {"drop", Kind::flag}});
  p.group = Group::numeric;
  p.infer = infer_extreme;
  p.index_results = {0};
  p.zero_derivative = true;
  p.expand = [op](Graph& to, const Call& c) { return expand_extreme(*find_monoid(op), to, c); };
  return p;
}

}  // namespace

void register_fold(Registry& r) {
  r.add(extreme("argmax", Op::maximum));
  r.add(extreme("argmin", Op::minimum));
  Primitive reduce = make_primitive("reduce", "reduce", {"..."}, {{"dims", Kind::axes}, {"body", Kind::graph}});
  reduce.as_stored = true;
  reduce.batch = batch_fold;
  reduce.infer = infer_reduce;
  reduce.lower = lower_reduce;
  reduce.expand = expand_reduce;
  reduce.reverse = reverse_reduce;
  reduce.reverses = reverses_reduce;
  reduce.selects = true;
  reduce.hlo = {"stablehlo.reduce", {}, special};
  r.add(std::move(reduce));
  Primitive cumulative = make_primitive("reduce", "cumulative", {"..."}, {{"dim", Kind::axis}, {"body", Kind::graph}});
  cumulative.as_stored = true;
  cumulative.batch = batch_fold;
  cumulative.infer = infer_cumulative;
  cumulative.lower = lower_cumulative;
  cumulative.selects_if = takes_extremes;
  cumulative.expand = expand_cumulative;
  cumulative.reverse = reverse_cumulative;
  cumulative.reverses = reverses_cumulative;
  cumulative.forward = forward_cumulative;
  cumulative.hlo = {"stablehlo.reduce_window", {}, special};
  r.add(std::move(cumulative));
}

}  // namespace anvil::primitives
