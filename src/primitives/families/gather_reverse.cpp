// Derivatives of gather and scatter, made of gathers and scatters. What an update may read of
// the cotangent is there when the update is: updates that a scatter leaves out get zero.
#include "primitives/families/gather.h"

namespace anvil::primitives {
namespace {

using graph::Call;
using graph::Graph;

// One number for each component of an index, spread over the indices.
Var per_component(const Var& indices, const IndexDims& d, const std::vector<Scalar>& numbers) {
  bool equal = std::all_of(numbers.begin(), numbers.end(), [&](Scalar x) { return x == numbers[0]; });
  if (equal) return literal(indices, numbers.empty() ? Scalar(0) : numbers[0]);
  Shape one = indices.shape();
  one[static_cast<size_t>(d.vector)] = 1;
  std::vector<Var> parts;
  for (Scalar x : numbers) parts.push_back(literal(*indices.graph, x, {indices.dtype(), one}));
  return concatenate(parts, d.vector);
}

// The indices, each component moved into [low, high].
Var clamped(const Var& indices, const IndexDims& d, const Ints& low, const Ints& high) {
  std::vector<Scalar> least, most;
  DType t = indices.dtype();
  for (size_t k = 0; k < low.size(); ++k) {
    least.push_back(holds(t, low[k]) ? Scalar(low[k]) : lowest(t));
    most.push_back(holds(t, high[k]) ? Scalar(high[k]) : highest(t));
  }
  return record("clamp", {per_component(indices, d, least), indices, per_component(indices, d, most)});
}

}  // namespace

// A gather moves a window inside that is outside in part. So in the dimensions that indices count, windows are
// taken apart: each of their elements has an index.
UpdateReader::UpdateReader(Graph& graph, const Call& c) : update_(c.inputs.back()->type.shape) {
  const Shape& input = c.inputs[0]->type.shape;
  const Var indices{&graph, c.inputs[inputs_of_scatter(c.inputs.size())]};
  const Layout layout = layout_of_scatter(c);
  const IndexDims& d = layout.dims;
  sizes_ = layout.window_sizes(update_, input.size());
  dims_ = {{}, d.collapsed, d.batch, {}, d.map, 0};
  std::vector<int64_t> along(input.size(), -1);  // dimension of the update that an index counts besides
  Ints indexed = layout.steps;                   // dimensions of the update that have an index each
  for (size_t k = 0; k < layout.sliced.size(); ++k) {
    const int64_t axis = layout.sliced[k], window = d.window[k];
    if (!contains(d.map, axis)) {
      dims_.window.push_back(window);
      continue;
    }
    along[static_cast<size_t>(axis)] = window;
    sizes_[static_cast<size_t>(axis)] = 1;
    indexed.push_back(window);
    dims_.collapsed.push_back(axis);
  }
  std::sort(indexed.begin(), indexed.end());
  std::sort(dims_.collapsed.begin(), dims_.collapsed.end());
  const auto place_of = [&indexed](int64_t dim) {
    return std::find(indexed.begin(), indexed.end(), dim) - indexed.begin();
  };
  for (size_t k = 0; k < d.batch.size(); ++k) dims_.indices_batch.push_back(place_of(layout.batch_step(k)));
  dims_.vector = static_cast<int64_t>(indexed.size());

  const Shape shape = take(update_, indexed);
  Shape single = shape;
  single.push_back(1);
  Ints steps, low, high;
  for (int64_t dim : layout.steps) steps.push_back(place_of(dim));
  for (int64_t axis : d.map) {
    const auto k = static_cast<size_t>(axis);
    low.push_back(along[k] < 0 ? -1 : -update_[static_cast<size_t>(along[k])]);
    high.push_back(input[k]);
  }
  const Var safe = convert(clamped(indices, d, low, high), DType::i64);
  inside_ = literal(graph, true, {DType::boolean, shape});
  Vars components;
  for (size_t k = 0; k < d.map.size(); ++k) {
    const auto axis = static_cast<size_t>(d.map[k]);
    const Var part = layout.vectors ? element(safe, d.vector, literal(graph, k, {DType::i64, {}})) : safe;
    Var at = broadcast_in_dim(part, shape, steps);
    if (along[axis] >= 0) at = at + iota(graph, place_of(along[axis]), DType::i64, shape);
    const double size = static_cast<double>(input[axis]);
    inside_ = inside_ & (at >= 0.0) & (at < size);
    components.push_back(reshape(at, single));
  }
  inside_ = broadcast_in_dim(inside_, update_, indexed);
  single.back() = 0;
  indices_ = components.empty() ? literal(graph, 0, {DType::i64, single}) : concatenate(components, dims_.vector);
}

// Indices outside are moved to the edge.
Var UpdateReader::operator()(const Var& x) const {
  if (elements(x.shape()) == 0 || elements(update_) == 0) return literal(*x.graph, 0, {x.dtype(), update_});
  return only_where(inside_, gather(x, indices_, sizes_, dims_));
}

namespace {

// What a region does to element k: the primitive that combines the old element with the
// update, "replace", "keep", or "" when it is something else.
std::string combination(const Graph& region, size_t k, size_t n) {
  const ValuePtr &old = region.inputs[k], &update = region.inputs[n + k], &result = region.outputs[k];
  if (result == update) return "replace";
  if (result == old) return "keep";
  for (const Call& c : region.calls) {
    if (c.outputs[0] != result) continue;
    const std::string& name = c.primitive->name;
    bool commutes = name == "add" || name == "mul" || name == "maximum" || name == "minimum";
    if ((commutes || name == "sub") && c.inputs == std::vector<ValuePtr>{old, update}) return name;
    if (commutes && c.inputs == std::vector<ValuePtr>{update, old}) return name;
  }
  return "";
}

// No place has several updates, as the caller says or since there is one index, whose elements have different places.
bool has_single_updates(const Call& c) {
  const Shape& update = c.inputs.back()->type.shape;
  return c.params.flag("unique_indices") || elements(update) == 0 ||
         elements(take(update, other_axes(update.size(), c.params.ints("update_window_dims")))) == 1;
}

// So few updates that looking for those of the same place takes less than a look at every place.
bool is_small(const Call& c) { return 32 * elements(c.inputs.back()->type.shape) < elements(c.inputs[0]->type.shape); }

// What the rule for result k reads of the input at the places of the updates.
bool reads_what_was_there(const Call& c, size_t k, size_t n) {
  const std::string how = combination(*c.params.graph("update_computation"), k, n);
  const bool extreme = how == "maximum" || how == "minimum";
  return is_float(c.inputs[k]->type.dtype) && (how == "mul" || (extreme && (has_single_updates(c) || is_small(c))));
}

// One result of a scatter with its operands.
struct Part {
  ReverseStep& step;
  size_t k, n;
  Var x, indices, u, y, g;
  IndexDims dims;
  bool unique, by_x, by_u;
  UpdateReader read;

  Part(ReverseStep& s, size_t which, size_t inputs)
      : step(s),
        k(which),
        n(inputs),
        x(operand(s, which)),
        indices(operand(s, inputs)),
        u(operand(s, inputs + 1 + which)),
        y(result(s, which)),
        g(cotangent(s, which)),
        dims(index_dims(s.call.params, of_scatter)),
        unique(has_single_updates(s.call)),
        by_x(s.required[which]),
        by_u(s.required[inputs + 1 + which]),
        read(s.graph, s.call) {}
  Var scattered(const Var& onto, const Var& update, const char* combiner) const {
    return scatter(onto, indices, update, dims, combiner, unique);
  }
  // At the places of the updates, before these.
  Var what_was_there() const {
    size_t number = 0;
    for (size_t i = 0; i < k; ++i) number += reads_what_was_there(step.call, i, n) ? 1 : 0;
    return residual(step, number);
  }
  void input(const Var& d) const { set(step, k, d); }
  void update(const Var& d) const { set(step, n + 1 + k, d); }
};

void reverse_add(const Part& p, bool subtracts) {
  p.input(p.g);
  if (p.by_u) p.update(subtracts ? -p.read(p.g) : p.read(p.g));
}

// Of several updates of one place the last one stays.
Var stay(const Part& p) {
  Graph& graph = p.step.graph;
  if (is_small(p.step.call)) {
    const Targets targets(graph, p.step.call);
    return targets.as_they_come(targets.ends);
  }
  // it finds its own number there
  const int64_t count = elements(p.u.shape());
  const Var number = reshape(iota(graph, 0, DType::i64, {count}, 1), p.u.shape());
  const Var last = p.scattered(literal(graph, 0, {DType::i64, p.x.shape()}), number, "");
  return p.read(last) == number;
}

// What the cotangent is at the places is read before it becomes zero there, which then happens in place.
void reverse_replace(const Part& p) {
  if (p.by_u) p.update(p.unique ? p.read(p.g) : only_where(stay(p), p.read(p.g)));
  if (p.by_x) p.input(p.scattered(p.g, zeros_like(p.u), ""));
}

// y = x * u1 * u2 ...: for each update the product of the others.
void reverse_mul(const Part& p) {
  if (p.by_u) {
    const Var g = p.read(p.g) * p.what_was_there();
    if (p.unique || elements(p.x.shape()) == 0) {
      p.update(g);
    } else {
      const Targets targets(p.step.graph, p.step.call);
      p.update(only_where(targets.inside, g * targets.products_of_others(p.u)));
    }
  }
  if (p.by_x) p.input(p.scattered(p.g, p.u, "mul"));
}

// Those that equal the extreme share its cotangent; when it is NaN, nobody does.
void reverse_extreme(const Part& p) {
  if (p.unique || is_small(p.step.call)) {  // the places that have no update are not looked at
    const Var y = p.read(p.y), by_x = p.what_was_there() == y, by_u = p.u == y, none = zeros_like(p.u);
    Var count = convert(by_u, p.u.dtype());
    if (!p.unique) count = Targets(p.step.graph, p.step.call).sums(count);
    const Var share = p.read(p.g) / maximum(count + convert(by_x, p.u.dtype()), literal(p.u, 1));
    if (p.by_x) p.input(p.scattered(p.g, select(by_x, share, none), ""));
    if (p.by_u) p.update(select(by_u, share, none));
    return;
  }
  const DType flag = DType::boolean;
  const Var stays = p.scattered(literal(p.step.graph, true, {flag, p.x.shape()}),
                                literal(p.step.graph, false, {flag, p.u.shape()}), "");
  Var by_x = (p.x == p.y) | stays, by_u = p.u == p.read(p.y);
  Var ones_of_x = convert(by_x, p.x.dtype()), ones_of_u = convert(by_u, p.x.dtype());
  Var count = maximum(p.scattered(ones_of_x, ones_of_u, "add"), literal(p.x, 1));
  Var share = p.g / count;
  if (p.by_x) p.input(select(by_x, share, zeros_like(p.x)));
  if (p.by_u) p.update(select(by_u, p.read(share), zeros_like(p.u)));
}

void reverse_part(const Part& p) {
  std::string how = combination(*p.step.call.params.graph("update_computation"), p.k, p.n);
  if (how == "add" || how == "sub") return reverse_add(p, how == "sub");
  if (how == "replace") return reverse_replace(p);
  if (how == "mul") return reverse_mul(p);
  if (how == "maximum" || how == "minimum") return reverse_extreme(p);
  if (how == "keep") return p.input(p.g);
  throw Error("gradient", "The derivative of this `scatter` is that of its expansion.");
}

}  // namespace

bool replaces_elements(const Call& c) {
  const size_t n = inputs_of_scatter(c.inputs.size());
  for (size_t k = 0; k < n; ++k) {
    const std::string how = combination(*c.params.graph("update_computation"), k, n);
    if (how == "replace" || how == "maximum" || how == "minimum") return true;
  }
  return false;
}

bool reverses_scatter(const Call& c) {
  const size_t n = inputs_of_scatter(c.inputs.size());
  for (size_t k = 0; k < n; ++k)
    if (is_float(c.inputs[k]->type.dtype) && combination(*c.params.graph("update_computation"), k, n).empty())
      return false;
  return true;
}

// What adds to elements or replaces them is linear in both: the same on tangents.
bool forward_scatter(ForwardStep& step) {
  const Call& c = step.call;
  const size_t n = inputs_of_scatter(c.inputs.size());
  std::vector<ValuePtr> operands = c.inputs;
  for (size_t k = 0; k < n; ++k) {
    if (!is_float(c.inputs[k]->type.dtype)) continue;
    const std::string how = combination(*c.params.graph("update_computation"), k, n);
    if (how != "add" && how != "sub" && how != "replace" && how != "keep") return false;
    for (const size_t at : {k, n + 1 + k}) operands[at] = tangent(step, at).value;
  }
  step.results = record(step.graph, primitive_of(c), std::move(operands), c.params);
  return true;
}

void reverse_gather(ReverseStep& step) {
  if (!step.required[0]) return;
  Var x = operand(step, 0), g = cotangent(step);
  if (elements(x.shape()) == 0 || elements(g.shape()) == 0) return;
  IndexDims d = index_dims(step.call.params, of_gather);
  const Shape& slices = step.call.params.ints("slice_sizes");
  Ints low(d.map.size(), 0), high;
  for (int64_t axis : d.map) {
    auto k = static_cast<size_t>(axis);
    high.push_back(x.shape()[k] - std::max<int64_t>(slices[k], 1));
  }
  Var indices = clamped(operand(step, 1), d, low, high);
  set(step, 0, scatter(sum_so_far(step, 0).value_or(zeros_like(x)), indices, g, d, "add"));
}

// What is there before an update is read before the scatter, which then happens in place.
std::vector<ValuePtr> augment_scatter(Graph& to, const Call& c) {
  const size_t n = inputs_of_scatter(c.inputs.size());
  std::vector<ValuePtr> residuals;
  for (size_t k = 0; k < n; ++k)
    if (reads_what_was_there(c, k, n)) residuals.push_back(UpdateReader(to, c)({&to, c.inputs[k]}).value);
  std::vector<ValuePtr> made = record(to, primitive_of(c), c.inputs, c.params);
  made.insert(made.end(), residuals.begin(), residuals.end());
  return made;
}

void reverse_scatter(ReverseStep& step) {
  size_t n = inputs_of_scatter(step.call.inputs.size());
  for (size_t k = 0; k < n; ++k)
    if (flows(step, k) && (step.required[k] || step.required[n + 1 + k])) reverse_part(Part(step, k, n));
}

}  // namespace anvil::primitives
