// Derivatives of reductions by a region that is a sum, a maximum or a minimum.
#include "primitives/families/fold.h"
#include "primitives/vocabulary/region.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {

using graph::Call;
using Vars = std::vector<Var>;

namespace {

bool is_sum(const ReverseStep& step) { return single_operation(*step.call.params.graph("body")) == loops::Op::add; }
Var sum_of_all(Var x) { return x.shape().empty() ? x : reduce_sum(x, all_axes(x.shape().size())); }
Var one_if(Var condition, Var like) { return convert(condition, like.dtype()); }
Var only_where(Var condition, Var x) { return select(condition, x, zeros_like(x)); }

// Of the elements along a dimension, all but the first or all but the last.
Var cut(Var x, size_t dim, int64_t first, int64_t end) {
  Ints starts(x.shape().size(), 0), limits = x.shape();
  starts[dim] = first, limits[dim] = end;
  return slice(x, starts, limits, Ints(starts.size(), 1));
}

// Running sums along `dim` that begin anew where `begins` says so.
Var sums_of_runs(Var begins, Var x, int64_t dim) {
  auto body = std::make_shared<graph::Graph>();
  Vars v;
  for (DType t : {DType::boolean, x.dtype(), DType::boolean, x.dtype()}) {
    body->inputs.push_back(graph::make_value(graph::Value::Kind::input, {t, {}}));
    v.push_back({body.get(), body->inputs.back()});
  }
  Var any = v[0] | v[2], sum = v[1] + v[3];
  body->outputs = {any.value, select(v[2], v[3], sum).value};
  graph::Graph& g = *x.graph;
  ValuePtr none = literal(g, false, {DType::boolean, {}}).value, zero = literal(g, 0, {x.dtype(), {}}).value;
  return {&g, record(g, registry().at("cumulative"), {begins.value, x.value, none, zero},
                     {{"dim", dim, true}, {"body", body}})[1]};
}

}  // namespace

bool reverses_fold(const Call& c) {
  using loops::Op;
  const auto op = single_operation(*c.params.graph("body"));
  return c.outputs.size() == 1 && (op == Op::add || op == Op::maximum || op == Op::minimum);
}

void reverse_reduce(ReverseStep& step) {
  Var x = operand(step, 0), initial = operand(step, 1), y = result(step), g = cotangent(step);
  const Ints& dims = step.call.params.ints("dims");
  auto spread = [&, kept = other_axes(x.shape().size(), dims)](Var v) {
    return dims.empty() ? v : broadcast_in_dim(v, x.shape(), kept);
  };
  if (is_sum(step)) {
    if (step.required[0]) set(step, 0, spread(g));
    if (step.required[1]) set(step, 1, sum_of_all(g));
    return;
  }
  Var by_x = x == spread(y), by_initial = broadcast_to_like(initial, y) == y;
  Var count = one_if(by_initial, y), of_x = one_if(by_x, y);
  count = count + (dims.empty() ? of_x : reduce_sum(of_x, dims));
  Var share = g / maximum(count, literal(count, 1));
  if (step.required[0]) set(step, 0, only_where(by_x, spread(share)));
  if (step.required[1]) set(step, 1, sum_of_all(only_where(by_initial, share)));
}

// A running extreme stays the same over a run of elements. Within it the elements that are the
// extreme, so far, share the cotangent of each of its places.
void reverse_cumulative(ReverseStep& step) {
  Var x = operand(step, 0), initial = operand(step, 1), y = result(step), g = cotangent(step);
  int64_t dim = step.call.params.integer("dim");
  auto d = static_cast<size_t>(dim);
  auto from_end = [&](Var v) { return reverse(v, {dim}); };
  if (elements(x.shape()) == 0) return;
  if (is_sum(step)) {
    if (step.required[0]) set(step, 0, from_end(cumsum(from_end(g), dim)));
    if (step.required[1]) set(step, 1, sum_of_all(g));
    return;
  }
  int64_t n = x.shape()[d];
  Shape edge = x.shape();
  edge[d] = 1;
  Var border = literal(step.graph, true, {DType::boolean, edge});
  Var before = cut(y, d, 0, n - 1), after = cut(y, d, 1, n), changes = before != after;
  Var begins = concatenate({border, changes}, dim), ends = concatenate({changes, border}, dim);
  Var by_x = x == y, by_initial = broadcast_to_like(initial, y) == y;
  Var count = sums_of_runs(begins, one_if(by_x, y), dim);
  count = count + one_if(by_initial, y);
  Var share = g / maximum(count, literal(count, 1));
  if (step.required[0]) {
    Var last_first = from_end(ends);
    set(step, 0, only_where(by_x, from_end(sums_of_runs(last_first, from_end(share), dim))));
  }
  if (step.required[1]) set(step, 1, sum_of_all(only_where(by_initial, share)));
}

}  // namespace anvil::primitives
