// Running products, extremes and sums of exponentials along a dimension, as running combinations by a region.
// An extreme so far comes with its place, the last of equal ones; after a NaN it is that NaN.
#include "primitives/families/families.h"
#include "primitives/families/fold.h"
#include "primitives/families/gather.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

using graph::Call;
using graph::Graph;
using graph::GraphPtr;
using loops::Op;

Types infer_running(const Types& t, const Params& params) {
  check_axis("dim", params.integer("dim"), static_cast<int64_t>(t[0].shape.size()));
  return t;
}

// The combination of the elements so far by a function of two.
template <class F>
Var so_far(const Var& x, Scalar start, int64_t dim, F combined) {
  const GraphPtr body = region_of({x.dtype()}, [&](const Vars& v) { return Vars{combined(v[0], v[1])}; });
  return cumulate({x}, {literal(*x.graph, start, {x.dtype(), {}})}, dim, body)[0];
}

// ---- one number so far --------------------------------------------------------------------
// Small floats are rounded once, at the end.

template <class F>
Primitive running(const char* name, Group group, Scalar start, F combined) {
  Primitive p = make_primitive("reduce", name, {"operand"}, {{"dim", Kind::axis}});
  p.group = group;
  p.infer = infer_running;
  p.expand = [start, combined](Graph& to, const Call& c) -> std::vector<ValuePtr> {
    const Var stored{&to, c.inputs[0]}, x = convert(stored, compute_type(stored.dtype()));
    return {convert(so_far(x, start, c.params.integer("dim"), combined), stored.dtype()).value};
  };
  return p;
}

// log(exp(a) + exp(b)); equal ones, infinite ones too, have the difference 0.
Var log_add_exp(const Var& a, const Var& b) {
  const Var larger = maximum(a, b), apart = select(a == b, zeros_like(a), minimum(a, b) - larger);
  return larger + record("log1p", {exp(apart)});
}

// ---- extremes and their places --------------------------------------------------------------

Types infer_running_extreme(const Types& t, const Params& params) {
  infer_running(t, params);
  check_counts_in_i32("The dimension `dim` of `operand`", t[0].shape[static_cast<size_t>(params.integer("dim"))]);
  return {t[0], {DType::i32, t[0].shape}};
}

// Three running extremes of numbers: of the elements, of the places of those that equal it, and of those of NaN, whose
// first one stays.
std::vector<ValuePtr> expand_running_extreme(const Monoid& m, Graph& to, const Call& c) {
  const Var x{&to, c.inputs[0]};
  const int64_t dim = c.params.integer("dim"), n = x.shape()[static_cast<size_t>(dim)];
  const auto extreme_so_far = [&](const Monoid& by, const Var& of) {
    return so_far(of, by.start(of.dtype()), dim, [&](const Var& a, const Var& b) {
      return record(by.operation, {a, b});
    });
  };
  const Var extreme = extreme_so_far(m, x), place = iota(to, dim, DType::i32, x.shape());
  const Var last = extreme_so_far(*find_monoid(Op::maximum), select(x == extreme, place, literal(place, Scalar(0))));
  if (!is_float(x.dtype())) return {extreme.value, last.value};
  const Var broken = extreme_so_far(*find_monoid(Op::minimum), select(x != x, place, literal(place, Scalar(n))));
  return {extreme.value, select(extreme == extreme, last, broken).value};
}

// The element at the place has it all, a NaN has none.
void reverse_extreme_so_far(ReverseStep& step) {
  if (!flows(step, 0)) return;
  const Var x = operand(step, 0), y = result(step, 0), g = only_where(y == y, cotangent(step, 0));
  const IndexDims places = places_along(step.call.params.integer("dim"), x.shape().size());
  set(step, 0, scatter(zeros_like(x), result(step, 1), g, places, "add"));
}

Primitive running_extreme(const char* name, Op op) {
  Primitive p = make_primitive("reduce", name, {"operand"}, {{"dim", Kind::axis}});
  p.group = Group::numeric;
  p.infer = infer_running_extreme;
  p.index_results = {1};
  p.selects = true;
  p.expand = [op](Graph& to, const Call& c) { return expand_running_extreme(*find_monoid(op), to, c); };
  p.reverse = reverse_extreme_so_far;
  return p;
}

}  // namespace

void register_running(Registry& r) {
  r.add(running("cumprod", Group::numeric, Scalar(1), [](const Var& a, const Var& b) { return a * b; }));
  r.add(running("cumlogsumexp", Group::floating, Scalar(-INFINITY), log_add_exp));
  r.add(running_extreme("cummax", Op::maximum));
  r.add(running_extreme("cummin", Op::minimum));
}

}  // namespace anvil::primitives
