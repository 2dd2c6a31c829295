// The updates of a scatter in the order of their places, and the scatter as rounds: in each, every
// place takes its next update, as long as one of them has one. That is as general as scatters are;
// reverse mode differentiates it where the region is none of those with a rule.
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
Var elements_at(Var vector, Var at) { return gather(vector, at, {1}, by_element); }

Ints reversed_axes(size_t rank) {
  Ints axes = all_axes(rank);
  std::reverse(axes.begin(), axes.end());
  return axes;
}
// The elements in row-major order, in which updates come.
Var row_major(Var x) { return reshape(transpose(x, reversed_axes(x.shape().size())), {elements(x.shape())}); }
Var from_row_major(Var vector, Shape shape) {
  std::reverse(shape.begin(), shape.end());
  return transpose(reshape(vector, shape), reversed_axes(shape.size()));
}
Var scalar_of(Graph& g, Scalar x, DType t) { return literal(g, x, {t, {}}); }

}  // namespace

Targets::Targets(Graph& g, const Call& c) {
  const Shape &input = c.inputs[0]->type.shape, &update = c.inputs.back()->type.shape;
  Var number = reshape(iota(g, 0, DType::i64, {elements(input)}, 1), input);
  Var target = UpdateReader(g, c)(number) - 1.0;
  inside = target >= 0.0;
  Var unsorted = row_major(target), number_of_update = iota(g, 0, DType::i64, {elements(update)});
  auto sorted = sort({unsorted, number_of_update}, 0);
  place = sorted[0];
  order = sorted[1];
  begins = place != neighbours(place, 0, -1, scalar_of(g, -2, DType::i64));
}

Var Targets::in_order(Var update) const { return elements_at(row_major(update), order); }

// What comes before an update of its place, times what comes after it. No division, so zeros are exact.
Var Targets::products_of_others(Var update) const {
  Graph& g = *update.graph;
  Var u = in_order(update), one = scalar_of(g, 1, u.dtype()), yes = scalar_of(g, true, DType::boolean);
  Var ends = neighbours(begins, 0, 1, yes);
  Var through = combined_runs("mul", begins, u, 0);
  Var ends_first = reverse(ends, {0}), last_first = reverse(u, {0});
  Var from_end = reverse(combined_runs("mul", ends_first, last_first, 0), {0});
  Var before = select(begins, literal(u, 1), neighbours(through, 0, -1, one));
  Var after = select(ends, literal(u, 1), neighbours(from_end, 0, 1, one));
  return from_row_major(scatter(zeros_like(u), order, before * after, by_element, "", true), update.shape());
}

std::vector<ValuePtr> expand_scatter(Graph& to, const Call& c) {
  const size_t n = inputs_of_scatter(c.inputs.size());
  const Shape& shape = c.inputs[0]->type.shape;
  const int64_t size = elements(shape), count = elements(c.inputs.back()->type.shape);
  std::vector<ValuePtr> inputs(c.inputs.begin(), c.inputs.begin() + static_cast<std::ptrdiff_t>(n));
  if (size == 0 || count == 0) return inputs;
  Targets targets(to, c);
  Vars updates;
  for (size_t k = 0; k < n; ++k) updates.push_back(targets.in_order({&to, c.inputs[n + 1 + k]}));

  // its number among the updates of its place
  Var position = iota(to, 0, DType::i64, {count});
  Var begin = only_where(targets.begins, position);
  Var turn = position - combined_runs("maximum", targets.begins, begin, 0);
  Var changes = targets.place >= 0.0, last = select(changes, turn, literal(turn, -1));
  const Var rounds = reduce_max(last, {0}) + 1.0;
  Vars state;
  for (const ValuePtr& v : inputs) state.push_back(reshape({&to, v}, {size}));
  state = counting_loop(to, rounds, state, [&](Graph& g, Var round, Vars tensors) {
    const auto in = [&g](Var v) { return Var{&g, v.value}; };
    Var place = in(targets.place), now = in(changes) & (in(turn) == broadcast_to_like(round, place));
    Var at = select(now, place, literal(place, size));
    Vars arguments;
    for (const Var& v : tensors) arguments.push_back(elements_at(v, place));
    for (const Var& u : updates) arguments.push_back(in(u));
    const Vars made = lift(g, *c.params.graph("update_computation"), arguments, {count});
    for (size_t k = 0; k < n; ++k) {
      Var next = select(now, made[k], arguments[k]);  // nothing comes back from others, infinite as they may be
      tensors[k] = scatter(tensors[k], at, next, by_element, "", true);
    }
    return tensors;
  });
  for (Var& v : state) v = reshape(v, shape);
  return values(state);
}

}  // namespace anvil::primitives
