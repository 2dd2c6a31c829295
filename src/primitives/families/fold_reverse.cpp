// Derivatives of reductions by a region that is a sum, a product, a maximum or a minimum, of both modes.
#include "primitives/families/fold.h"
#include "primitives/vocabulary/region.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {

using graph::Call;
using loops::Op;

namespace {

std::optional<Op> operation(const Call& c) { return single_operation(*c.params.graph("body")); }
Var sum_of_all(const Var& x) { return x.shape().empty() ? x : reduce_sum(x, all_axes(x.shape().size())); }
Var one_if(const Var& condition, const Var& like) { return convert(condition, like.dtype()); }

// Of the elements along a dimension, those from `first` to before `end`.
Var cut(const Var& x, int64_t dim, int64_t first, int64_t end) {
  Ints starts(x.shape().size(), 0), limits = x.shape();
  starts[static_cast<size_t>(dim)] = first, limits[static_cast<size_t>(dim)] = end;
  return slice(x, starts, limits, Ints(starts.size(), 1));
}
// The cumulative along `dim` of two tensors, from two scalars, by a region that combines (a, b) so far
// with (c, d); its second result.
template <class Combine>
Var running(const Var& x, const Var& y, Scalar initial_x, const Var& initial_y, int64_t dim, Combine&& combine) {
  const auto body = region_of({x.dtype(), y.dtype()}, [&](const Vars& v) {
    const auto [first, second] = combine(v[0], v[1], v[2], v[3]);
    return Vars{first, second};
  });
  return cumulate({x, y}, {literal(*x.graph, initial_x, {x.dtype(), {}}), initial_y}, dim, body)[1];
}
Var zero_of(const Var& x) { return literal(*x.graph, 0, {x.dtype(), {}}); }
}  // namespace

Var neighbours(const Var& x, int64_t dim, int by, const Var& beyond) {
  Shape edge = x.shape();
  int64_t& n = edge[static_cast<size_t>(dim)];
  Var inner = by < 0 ? cut(x, dim, 0, n - 1) : cut(x, dim, 1, n);
  n = 1;
  Var border = broadcast_in_dim(beyond, edge, {});
  return concatenate(by < 0 ? Vars{border, inner} : Vars{inner, border}, dim);
}

Var combined_runs(const char* joins, const Var& begins, const Var& x, int64_t dim) {
  return running(begins, x, false, zero_of(x), dim,
                 [joins](const Var& begun, const Var& so_far, const Var& begin, const Var& next) {
                   Var any = begun | begin, longer = record(joins, {so_far, next});
                   return std::pair{any, select(begin, next, longer)};
                 });
}

namespace {

// b[j] = x[j] + a[j] * b[j - 1], with b[-1] given: the maps b -> x + a * b, one after the other.
Var linear_recurrence(const Var& a, const Var& x, const Var& before, int64_t dim) {
  return running(a, x, 1, before, dim, [](const Var& slope, const Var& value, const Var& next_slope, const Var& next) {
    Var both = slope * next_slope;
    return std::pair{both, next + next_slope * value};
  });
}

// With the sum of all that comes back to the product before each element, s[j] = g[j] + x[j + 1] * s[j + 1],
// the element has s[j] times that product. No division: exact at zeros, and for every order.
void reverse_running_product(ReverseStep& step) {
  Var x = operand(step, 0), initial = operand(step, 1), y = result(step), g = cotangent(step);
  const int64_t dim = step.call.params.integer("dim");
  Var one = literal(step.graph, 1, {x.dtype(), {}}), next = neighbours(x, dim, 1, one);
  Var factors = reverse(next, {dim}), summands = reverse(g, {dim});
  Var s = reverse(linear_recurrence(factors, summands, zero_of(g), dim), {dim});
  if (step.required[0]) set(step, 0, s * neighbours(y, dim, -1, initial));
  if (!step.required[1]) return;
  Var first = cut(s, dim, 0, 1);
  set(step, 1, sum_of_all(first * cut(x, dim, 0, 1)));
}

// A running extreme is the last element so far that equals it, or the initial value when none does; a
// NaN is nobody.
void reverse_running_extreme(ReverseStep& step) {
  Var x = operand(step, 0), y = result(step);
  const int64_t dim = step.call.params.integer("dim");
  Var is_number = y == y, g = only_where(is_number, cotangent(step)), by_x = x == y;
  if (step.required[0]) {
    Var last = neighbours(by_x, dim, 1, literal(step.graph, true, {DType::boolean, {}}));
    Var begins = reverse(last, {dim}), summands = reverse(g, {dim});
    set(step, 0, only_where(by_x, reverse(combined_runs("add", begins, summands, dim), {dim})));
  }
  if (step.required[1]) {
    Var found = cumsum(convert(by_x, DType::i64), dim);
    set(step, 1, sum_of_all(only_where(found == 0.0, g)));
  }
}

}  // namespace

bool reverses_reduce(const Call& c) {
  const auto op = operation(c);
  return c.outputs.size() == 1 && (op == Op::add || op == Op::maximum || op == Op::minimum);
}
bool reverses_cumulative(const Call& c) {
  return reverses_reduce(c) || (c.outputs.size() == 1 && operation(c) == Op::mul);
}
bool takes_extremes(const Call& c) {
  const auto op = operation(c);
  return reverses_reduce(c) && op != Op::add;
}

// An initial value that is neutral shares with no element: it is that of reduce_max and reduce_min.
void reverse_reduce(ReverseStep& step) {
  Var x = operand(step, 0), initial = operand(step, 1), y = result(step), g = cotangent(step);
  const Ints& dims = step.call.params.ints("dims");
  auto spread = [&, kept = other_axes(x.shape().size(), dims)](const Var& v) {
    return dims.empty() ? v : broadcast_in_dim(v, x.shape(), kept);
  };
  const Op op = *operation(step.call);
  if (op == Op::add) {
    if (step.required[0]) set(step, 0, spread(g));
    if (step.required[1]) set(step, 1, sum_of_all(g));
    return;
  }
  Var by_x = x == spread(y), of_x = one_if(by_x, y);
  Var count = dims.empty() ? of_x : reduce_sum(of_x, dims);
  Var shares = y != literal(y, find_monoid(op)->start(y.dtype())), alone = count == 0.0;
  Var is_initial = broadcast_to_like(initial, y) == y, by_initial = is_initial & (shares | alone);
  count = count + one_if(by_initial, y);
  Var share = g / maximum(count, literal(count, 1));
  if (step.required[0]) set(step, 0, only_where(by_x, spread(share)));
  if (step.required[1]) set(step, 1, sum_of_all(only_where(by_initial, share)));
}

void reverse_cumulative(ReverseStep& step) {
  const int64_t dim = step.call.params.integer("dim");
  Var g = cotangent(step);
  if (elements(g.shape()) == 0) return;
  const Op op = *operation(step.call);
  if (op == Op::mul) return reverse_running_product(step);
  if (op != Op::add) return reverse_running_extreme(step);
  if (step.required[0]) set(step, 0, reverse(cumsum(reverse(g, {dim}), dim), {dim}));
  if (step.required[1]) set(step, 1, sum_of_all(g));
}

// A running product p has the tangent t[j] p[j - 1] + x[j] p'[j - 1], a running extreme that of the last
// element so far that equals it.
bool forward_cumulative(ForwardStep& step) {
  if (!reverses_cumulative(step.call)) return false;
  const int64_t dim = step.call.params.integer("dim");
  Var x = operand(step, 0), y = result(step), t = tangent(step, 0), initial = tangent(step, 1);
  const Op op = *operation(step.call);
  if (op == Op::add) {
    step.results = record(step.graph, primitive_of(step.call), {t.value, initial.value}, step.call.params);
  } else if (elements(x.shape()) == 0) {
    return true;
  } else if (op == Op::mul) {
    Var before = neighbours(y, dim, -1, operand(step, 1));
    step.results[0] = linear_recurrence(x, t * before, initial, dim).value;
  } else {
    Var last = running(x == y, t, false, initial, dim,
                       [](const Var& any, const Var& so_far, const Var& equal, const Var& next) {
                         Var either = any | equal;
                         return std::pair{either, select(equal, next, so_far)};
                       });
    step.results[0] = only_where(y == y, last).value;
  }
  return true;
}

}  // namespace anvil::primitives
