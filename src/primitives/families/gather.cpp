// Slices of a tensor at places that another tensor lists, and changes of those places. With
// the index of each b, a vector of integers counted from 0,
//
//   gather:   result[b, o] = operand[index(b) + o]
//   scatter:  result[index(b) + o] = update_computation(result[index(b) + o], update[b, o])
//
// where o runs over one slice, the window. A gather moves a window that leaves the operand
// to its edge; a scatter leaves out the elements that fall outside, and takes the indices in
// row-major order, so that of two replacements the later one stays.
#include <algorithm>
#include <limits>

#include "primitives/families/families.h"
#include "primitives/families/gather.h"
#include "primitives/vocabulary/region.h"

namespace anvil::primitives {
namespace {

using graph::Call;
using loops::Op;

// ---- types ------------------------------------------------------------------------------

std::string quoted(const std::string& name) { return "`" + name + "`"; }
std::string size_text(int64_t size) { return std::to_string(size); }

void check_sorted(const char* argument, const Ints& axes) {
  if (!std::is_sorted(axes.begin(), axes.end()))
    throw Error("argument", quoted(argument) + " must be sorted.", {"x Got [" + one_based(axes) + "]."});
}
// Two lists of dimensions of one tensor that have none in common.
void check_disjoint(const char* a_name, const Ints& a, const char* b_name, const Ints& b) {
  for (int64_t axis : a)
    if (contains(b, axis))
      throw Error("argument", quoted(a_name) + " and " + quoted(b_name) + " must have no dimension in common.",
                  {"x Both contain " + size_text(axis + 1) + "."});
}

void check_indices(const IndexDims& d, const Names& n, const TensorType& indices) {
  auto rank = static_cast<int64_t>(indices.shape.size());
  if (!is_integer(indices.dtype))
    throw Error("dtype", quoted(n.indices) + " must have dtype " + name(Group::integer) + ".",
                {"x Got <" + std::string(name(indices.dtype)) + ">."});
  const std::string of = quoted(n.indices);
  check_axis("index_vector_dim", d.vector, rank + 1, (of + ", with one more at its end,").c_str());
  check_axes(n.indices_batch, d.indices_batch, rank, of.c_str());
  if (contains(d.indices_batch, d.vector))
    throw Error("argument", quoted(n.indices_batch) + " must not contain `index_vector_dim`.",
                {"x Both are " + size_text(d.vector + 1) + "."});
  int64_t components = d.vector < rank ? indices.shape[static_cast<size_t>(d.vector)] : 1;
  if (static_cast<int64_t>(d.map.size()) != components)
    throw Error("argument",
                quoted(n.map) + " must have one entry for each component of an index in " + quoted(n.indices) + ".",
                {"x Got length " + std::to_string(d.map.size()) + " for " + size_text(components) +
                 (components == 1 ? " component." : " components.")});
}

void check_operand(const IndexDims& d, const Names& n, const Shape& operand, const Shape& indices) {
  auto rank = static_cast<int64_t>(operand.size());
  const std::string of = quoted(n.operand);
  for (auto [argument, axes] : {std::pair{n.collapsed, &d.collapsed}, std::pair{n.batch, &d.batch}}) {
    check_axes(argument, *axes, rank, of.c_str());
    check_sorted(argument, *axes);
  }
  check_axes(n.map, d.map, rank, of.c_str());
  check_disjoint(n.collapsed, d.collapsed, n.batch, d.batch);
  check_disjoint(n.map, d.map, n.batch, d.batch);
  size_t dims = d.window.size() + d.collapsed.size() + d.batch.size();
  if (dims != operand.size())
    throw Error("argument",
                quoted(n.window) + ", " + quoted(n.collapsed) + " and " + quoted(n.batch) +
                    " must have one entry for each dimension of " + quoted(n.operand) + " together.",
                {"x Got " + std::to_string(dims) + " for shape " + in_parentheses(operand) + "."});
  if (d.batch.size() != d.indices_batch.size())
    throw Error("argument", quoted(n.batch) + " and " + quoted(n.indices_batch) + " must have the same length.",
                {"x Got " + std::to_string(d.batch.size()) + " and " + std::to_string(d.indices_batch.size()) + "."});
  for (size_t k = 0; k < d.batch.size(); ++k) {
    int64_t a = operand[static_cast<size_t>(d.batch[k])], b = indices[static_cast<size_t>(d.indices_batch[k])];
    if (a != b)
      throw Error(
          "shape",
          "The dimensions of " + quoted(n.batch) + " and " + quoted(n.indices_batch) + " must have the same sizes.",
          {"x Entry " + std::to_string(k + 1) + " has sizes " + size_text(a) + " and " + size_text(b) + "."});
  }
}

void check_dims(const IndexDims& d, const Names& n, const TensorType& operand, const TensorType& indices) {
  check_indices(d, n, indices);
  check_operand(d, n, operand.shape, indices.shape);
  auto steps = static_cast<int64_t>(indices.shape.size()) - (d.vector < static_cast<int64_t>(indices.shape.size()));
  check_axes(n.window, d.window, steps + static_cast<int64_t>(d.window.size()), "the tensor of windows");
  check_sorted(n.window, d.window);
}

Types infer_gather(const Types& t, const Params& params) {
  IndexDims d = index_dims(params, of_gather);
  const Shape &operand = t[0].shape, &indices = t[1].shape, &slices = params.ints("slice_sizes");
  check_dims(d, of_gather, t[0], t[1]);
  check_length("slice_sizes", slices, static_cast<int64_t>(operand.size()));
  check_shape(slices, "slice_sizes");
  for (size_t k = 0; k < operand.size(); ++k) {
    auto axis = static_cast<int64_t>(k);
    bool single = contains(d.collapsed, axis) || contains(d.batch, axis);
    if (slices[k] > operand[k])
      throw Error("shape", "`slice_sizes` must not be larger than `operand`.",
                  {"x Dimension " + std::to_string(k + 1) + " has size " + size_text(slices[k]) +
                   ", that of `operand` has " + size_text(operand[k]) + "."});
    if (single && slices[k] > 1)
      throw Error("shape", "`slice_sizes` must be at most 1 in `collapsed_slice_dims` and `operand_batching_dims`.",
                  {"x Got " + size_text(slices[k]) + " in dimension " + std::to_string(k + 1) + "."});
  }
  Layout layout(std::move(d), operand, indices);
  Shape shape(layout.steps.size() + layout.dims.window.size());
  for (size_t k = 0; k < layout.steps.size(); ++k)
    shape[static_cast<size_t>(layout.steps[k])] = indices[static_cast<size_t>(layout.indices_steps[k])];
  for (size_t k = 0; k < layout.sliced.size(); ++k)
    shape[static_cast<size_t>(layout.dims.window[k])] = slices[static_cast<size_t>(layout.sliced[k])];
  return {{t[0].dtype, std::move(shape), t[0].ambiguous}};
}

void check_update(const Layout& layout, const Shape& input, const Shape& indices, const Shape& update) {
  const IndexDims& d = layout.dims;
  if (update.size() != layout.steps.size() + d.window.size())
    throw Error("shape",
                "`update` must have the dimensions of `scatter_indices` but for `index_vector_dim`, and "
                "`update_window_dims`.",
                {"x Got shape " + in_parentheses(update) + " for " + std::to_string(layout.steps.size()) + " and " +
                 std::to_string(d.window.size()) + " dimensions."});
  for (size_t k = 0; k < d.window.size(); ++k) {
    int64_t window = update[static_cast<size_t>(d.window[k])], size = input[static_cast<size_t>(layout.sliced[k])];
    if (window > size)
      throw Error("shape", "The windows of `update` must not be larger than `input`.",
                  {"x Dimension " + size_text(d.window[k] + 1) + " of `update` has size " + size_text(window) +
                   ", dimension " + size_text(layout.sliced[k] + 1) + " of `input` has " + size_text(size) + "."});
  }
  for (size_t k = 0; k < layout.steps.size(); ++k) {
    int64_t a = update[static_cast<size_t>(layout.steps[k])], b = indices[static_cast<size_t>(layout.indices_steps[k])];
    if (a != b)
      throw Error(
          "shape", "`update` must have the sizes of `scatter_indices` outside of its windows.",
          {"x Dimension " + size_text(layout.steps[k] + 1) + " of `update` has size " + size_text(a) + ", dimension " +
           size_text(layout.indices_steps[k] + 1) + " of `scatter_indices` has " + size_text(b) + "."});
  }
}

Types infer_scatter(const Types& t, const Params& params) {
  size_t n = inputs_of_scatter(t.size());
  if (t.size() % 2 == 0)
    throw Error("argument", "`scatter` takes as many inputs as updates, and the indices between them.",
                {"x Got " + std::to_string(t.size()) + " operands."});
  Types scalars, results;
  for (size_t k = 0; k < n; ++k) {
    const TensorType &input = t[k], &update = t[n + 1 + k];
    check_has_shape("input", input, t[0].shape);
    check_has_shape("update", update, t[n + 1].shape);
    check_same_dtype("input", input, "update", update);
    scalars.push_back({input.dtype, {}, false});
    results.push_back({input.dtype, input.shape, input.ambiguous && update.ambiguous});
  }
  IndexDims d = index_dims(params, of_scatter);
  check_dims(d, of_scatter, t[0], t[n]);
  check_update(Layout(std::move(d), t[0].shape, t[n].shape), t[0].shape, t[n].shape, t[n + 1].shape);
  Types outputs = scalars;
  scalars.insert(scalars.end(), outputs.begin(), outputs.end());
  check_region("scatter", *params.graph("update_computation"), scalars, outputs);
  return results;
}

// ---- loops ------------------------------------------------------------------------------

void lower_gather(Lowering& l, const Call& c) {
  ValuePtr x = c.inputs[0], indices = c.inputs[1], result = c.outputs[0];
  const Shape &shape = x->type.shape, &slices = c.params.ints("slice_sizes");
  if (elements(shape) == 0)  // slices of size 0, or nothing to read
    return l.map(result, [&l, t = x->type.dtype](const Index&) { return l.exprs().constant(0, t); });
  const Layout layout = layout_of_gather(c);
  l.map(result, [&l, &shape, &slices, x, indices, layout](const Index& i) {
    Index at = layout.offset(i, shape.size());
    for (size_t k = 0; k < layout.dims.map.size(); ++k) {
      auto d = static_cast<size_t>(layout.dims.map[k]);
      int64_t room = shape[d] - std::max<int64_t>(slices[d], 1);
      if (room == 0) continue;
      at[d] = at[d] + l.parameter(position(l, l.load(indices, layout.component(i, k))), 0, room);
    }
    return l.load(x, at);
  });
}

// Products of floats may overflow in one order and not in another; small floats are rounded at each step.
bool any_order(std::optional<loops::Op> op, DType t) {
  return op && !is_small(t) && (!is_float(t) || *op != loops::Op::mul);
}
void lower_scatter(Lowering& l, const Call& c) {
  size_t n = inputs_of_scatter(c.inputs.size()), rank = c.inputs[0]->type.shape.size();
  ValuePtr indices = c.inputs[n];
  auto update = [&c, n](size_t k) { return c.inputs[n + 1 + k]; };
  const Layout layout = layout_of_scatter(c);
  Lowering::Updates updates;
  updates.extents = update(0)->type.shape;
  updates.window = layout.dims.window;
  updates.sizes = layout.window_sizes(updates.extents, rank);
  for (size_t k = 0; k < layout.dims.batch.size(); ++k)
    updates.sizes[static_cast<size_t>(layout.dims.batch[k])] =
        updates.extents[static_cast<size_t>(layout.batch_step(k))];
  updates.start = [&](const Index& u) {
    std::vector<Expr> start(rank, nullptr);
    for (size_t k = 0; k < layout.dims.map.size(); ++k)
      start[static_cast<size_t>(layout.dims.map[k])] = position(l, l.load(indices, layout.component(u, k)));
    return start;
  };
  updates.offset = [&](const Index& u) { return layout.offset(u, rank); };
  updates.element = [&](const Index& u, const std::vector<Expr>& old) {
    std::vector<Expr> arguments = old;
    for (size_t k = 0; k < n; ++k) arguments.push_back(l.load(update(k), u));
    return lower_region(l, *c.params.graph("update_computation"), arguments);
  };
  updates.any_order = any_order(single_operation(*c.params.graph("update_computation")), c.outputs[0]->type.dtype);
  l.update(c.outputs, {c.inputs.begin(), c.inputs.begin() + static_cast<std::ptrdiff_t>(n)}, updates);
}

// ---- dimensions in reverse order -----------------------------------------------------------

Ints mirrored_axes(Ints axes, size_t rank) {
  for (int64_t& d : axes) d = mirrored_axis(d, rank);
  return axes;
}
// The components of an index stay in their order, and so do the dimensions that they are for.
void mirror_dims(Call& c, const Names& n, size_t operand, size_t indices, size_t windows) {
  const auto set = [&](const char* name, size_t rank) {
    c.params.set(name, reversed(mirrored_axes(c.params.ints(name), rank)));
  };
  set(n.window, windows);
  set(n.collapsed, operand);
  set(n.batch, operand);
  set(n.indices_batch, indices);
  c.params.set(n.map, mirrored_axes(c.params.ints(n.map), operand));
  if (const auto vector = static_cast<size_t>(c.params.integer("index_vector_dim")); vector < indices)
    c.params.set("index_vector_dim", mirrored_axis(static_cast<int64_t>(vector), indices));
}
size_t rank_of(const ValuePtr& v) { return v->type.shape.size(); }
void mirror_gather(Call& c) {
  mirror_dims(c, of_gather, rank_of(c.inputs[0]), rank_of(c.inputs[1]), rank_of(c.outputs[0]));
  c.params.set("slice_sizes", reversed(c.params.ints("slice_sizes")));
}
void mirror_scatter(Call& c) {
  const size_t n = inputs_of_scatter(c.inputs.size());
  mirror_dims(c, of_scatter, rank_of(c.inputs[0]), rank_of(c.inputs[n]), rank_of(c.inputs[n + 1]));
}
// Updates come in the order of their indices, which has to stay.
bool mirrors_scatter(const Call& c) { return layout_of_scatter(c).steps.size() <= 1; }
Shape window_of_scatter(const Call& c) {
  return layout_of_scatter(c).window_sizes(c.inputs.back()->type.shape, rank_of(c.inputs[0]));
}

}  // namespace

// ---- the family -------------------------------------------------------------------------

void register_gather(Registry& r) {
  Primitive gather = make_primitive("index", "gather", {"operand", "start_indices"},
                                    {{"slice_sizes", Kind::sizes},
                                     {"offset_dims", Kind::axes},
                                     {"collapsed_slice_dims", Kind::axes},
                                     {"operand_batching_dims", Kind::axes},
                                     {"start_indices_batching_dims", Kind::axes},
                                     {"start_index_map", Kind::axes},
                                     {"index_vector_dim", Kind::axis},
                                     {"indices_are_sorted", Kind::flag},
                                     {"unique_indices", Kind::flag}});
  gather.acts = Acts::moves;
  gather.linear = Operands::only(0);
  gather.indices = Operands::only(1);
  gather.infer = infer_gather;
  gather.reverse = reverse_gather;
  gather.batch = batch_gather;
  gather.lower = lower_gather;
  gather.mirror = mirror_gather;
  gather.window = [](const Call& c) { return c.params.ints("slice_sizes"); };
  gather.hlo = {"stablehlo.gather", {}, special};
  r.add(std::move(gather));

  Primitive scatter = make_primitive("index", "scatter", {"input", "scatter_indices", "update", "..."},
                                     {{"update_window_dims", Kind::axes},
                                      {"inserted_window_dims", Kind::axes},
                                      {"input_batching_dims", Kind::axes},
                                      {"scatter_indices_batching_dims", Kind::axes},
                                      {"scatter_dims_to_operand_dims", Kind::axes},
                                      {"index_vector_dim", Kind::axis},
                                      {"indices_are_sorted", Kind::flag},
                                      {"unique_indices", Kind::flag},
                                      {"update_computation", Kind::graph}});
  scatter.as_stored = true;
  scatter.indices = Operands::middle();
  scatter.infer = infer_scatter;
  scatter.expand = expand_scatter;
  scatter.selects_if = replaces_elements;
  scatter.reverses = reverses_scatter;
  scatter.reverse = reverse_scatter;
  scatter.augment = augment_scatter;
  scatter.forward = forward_scatter;
  scatter.batch = batch_scatter;
  scatter.lower = lower_scatter;
  scatter.mirror = mirror_scatter;
  scatter.mirrors = mirrors_scatter;
  scatter.window = window_of_scatter;
  scatter.hlo = {"stablehlo.scatter", {}, special};
  r.add(std::move(scatter));
}

}  // namespace anvil::primitives
