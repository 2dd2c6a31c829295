// The updates of a scatter in the order of their places, and the scatter as a loop over its updates, which
// reverse mode differentiates where the region is none of those with a rule.
#include "primitives/families/control.h"
#include "primitives/families/fold.h"
#include "primitives/families/gather.h"
#include "primitives/vocabulary/region.h"

namespace anvil::primitives {

using graph::Call;
using graph::Graph;

namespace {

// Of a vector, by one index for each element.
const IndexDims by_element{{}, {0}, {}, {}, {0}, 1};
Var elements_at(const Var& vector, const Var& at) { return gather(vector, at, {1}, by_element); }

Ints reversed_axes(size_t rank) {
  Ints axes = all_axes(rank);
  std::reverse(axes.begin(), axes.end());
  return axes;
}
// The elements in row-major order, in which updates come.
Var row_major(const Var& x) { return reshape(transpose(x, reversed_axes(x.shape().size())), {elements(x.shape())}); }
Var from_row_major(const Var& vector, Shape shape) {
  std::reverse(shape.begin(), shape.end());
  return transpose(reshape(vector, shape), reversed_axes(shape.size()));
}
Var scalar_of(Graph& g, Scalar x, DType t) { return literal(g, x, {t, {}}); }

}  // namespace

Var places_of_updates(Graph& g, const Call& c) {
  const Shape& input = c.inputs[0]->type.shape;
  const Var number = reshape(iota(g, 0, DType::i64, {elements(input)}, 1), input);
  return UpdateReader(g, c)(number) - 1.0;
}

Targets::Targets(Graph& g, const Call& c) : shape(c.inputs.back()->type.shape) {
  Var target = places_of_updates(g, c);
  inside = target >= 0.0;
  Var unsorted = row_major(target), number_of_update = iota(g, 0, DType::i64, {elements(shape)});
  auto sorted = sort({unsorted, number_of_update}, 0);
  order = sorted[1];
  begins = sorted[0] != neighbours(sorted[0], 0, -1, scalar_of(g, -2, DType::i64));
  ends = neighbours(begins, 0, 1, scalar_of(g, true, DType::boolean));
}

Var Targets::as_they_come(const Var& by_place) const {
  return from_row_major(scatter(zeros_like(by_place), order, by_place, by_element, "", true), shape);
}

// What comes before an update of its place, times what comes after it. No division, so zeros are exact.
Var Targets::products_of_others(const Var& update) const {
  Var u = elements_at(row_major(update), order), one = scalar_of(*u.graph, 1, u.dtype());
  Var through = combined_runs("mul", begins, u, 0);
  Var ends_first = reverse(ends, {0}), last_first = reverse(u, {0});
  Var from_end = reverse(combined_runs("mul", ends_first, last_first, 0), {0});
  Var before = select(begins, literal(u, 1), neighbours(through, 0, -1, one));
  Var after = select(ends, literal(u, 1), neighbours(from_end, 0, 1, one));
  return as_they_come(before * after);
}

Var Targets::sums(const Var& update) const {
  const Var u = elements_at(row_major(update), order), last_first = reverse(u, {0});
  const Var through = combined_runs("add", begins, u, 0);
  const Var from_end = reverse(combined_runs("add", reverse(ends, {0}), last_first, 0), {0});
  return as_they_come(through + from_end - u);
}

std::vector<ValuePtr> expand_scatter(Graph& to, const Call& c) {
  const size_t n = inputs_of_scatter(c.inputs.size());
  const Shape& shape = c.inputs[0]->type.shape;
  const int64_t size = elements(shape), count = elements(c.inputs.back()->type.shape);
  std::vector<ValuePtr> inputs(c.inputs.begin(), c.inputs.begin() + static_cast<std::ptrdiff_t>(n));
  if (size == 0 || count == 0) return inputs;
  const Var places = row_major(places_of_updates(to, c)), end = literal(to, count, {DType::i64, {}});
  Vars state, updates;
  for (const ValuePtr& v : inputs) state.push_back(reshape({&to, v}, {size}));
  for (size_t k = 0; k < n; ++k) updates.push_back(row_major({&to, c.inputs[n + 1 + k]}));
  state = counting_loop(to, end, state, [&](Graph& g, const Var& k, Vars tensors) {
    const auto at = [&g](const Var& vector, const Var& place) { return element({&g, vector.value}, 0, place); };
    const Var place = at(places, k), inside = place >= 0.0;
    Vars arguments;
    for (const Var& v : tensors) arguments.push_back(at(v, place));
    for (const Var& u : updates) arguments.push_back(at(u, k));
    const Vars made = lift(g, *c.params.graph("update_computation"), arguments, {});
    for (size_t i = 0; i < n; ++i)  // nothing comes back from what is outside, infinite as it may be
      tensors[i] = with_element(tensors[i], 0, place, select(inside, made[i], arguments[i]));
    return tensors;
  });
  for (Var& v : state) v = reshape(v, shape);
  return values(state);
}

}  // namespace anvil::primitives
