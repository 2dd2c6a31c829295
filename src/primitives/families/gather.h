// What the loops and the derivatives of gather and scatter share: how the dimensions of their
// tensors correspond.
#pragma once
#include <algorithm>

#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {

// What the tensors and parameters are called: the two primitives share the rest.
struct Names {
  const char *operand, *indices;
  const char *window, *collapsed, *batch, *indices_batch, *map;
};
inline constexpr Names of_gather = {"operand",
                                    "start_indices",
                                    "offset_dims",
                                    "collapsed_slice_dims",
                                    "operand_batching_dims",
                                    "start_indices_batching_dims",
                                    "start_index_map"};
inline constexpr Names of_scatter = {"input",
                                     "scatter_indices",
                                     "update_window_dims",
                                     "inserted_window_dims",
                                     "input_batching_dims",
                                     "scatter_indices_batching_dims",
                                     "scatter_dims_to_operand_dims"};

inline IndexDims index_dims(const Params& p, const Names& n) {
  return {p.ints(n.window),        p.ints(n.collapsed), p.ints(n.batch),
          p.ints(n.indices_batch), p.ints(n.map),       p.integer("index_vector_dim")};
}

// Places along `dim`, one for each element of a tensor of this rank.
inline IndexDims places_along(int64_t dim, size_t rank) {
  const Ints others = other_axes(rank, {dim});
  return {{}, {dim}, others, others, {dim}, static_cast<int64_t>(rank)};
}

// How the dimensions of the operand, of the indices and of the tensor of windows (the result
// of a gather, the update of a scatter) correspond.
struct Layout {
  IndexDims dims;
  bool vectors;        // the indices have a dimension for their components
  Ints sliced;         // of the operand: the dimensions of a window
  Ints steps;          // of the windows: those of the indices ...
  Ints indices_steps;  // ... and of the indices: the same

  Layout(IndexDims d, const Shape& operand, const Shape& indices)
      : dims(std::move(d)),
        vectors(static_cast<size_t>(dims.vector) < indices.size()),
        sliced(other_axes(operand.size(), dims.collapsed, dims.batch)),
        indices_steps(other_axes(indices.size(), {dims.vector})) {
    steps = other_axes(indices_steps.size() + dims.window.size(), dims.window);
  }

  // Where component k of the index of an element of the windows is.
  Index component(const Index& i, size_t k) const {
    Index at = take(i, steps);
    if (vectors) at.insert(at.begin() + dims.vector, Affine{static_cast<int64_t>(k), {}});
    return at;
  }
  // The dimension of the windows that goes with batch dimension k of the operand.
  int64_t batch_step(size_t k) const {
    auto at = std::find(indices_steps.begin(), indices_steps.end(), dims.indices_batch[k]);
    return steps[static_cast<size_t>(at - indices_steps.begin())];
  }
  // What an element of the windows adds to its index, in the operand.
  Index offset(const Index& i, size_t rank) const {
    Index at(rank);
    for (size_t k = 0; k < sliced.size(); ++k)
      at[static_cast<size_t>(sliced[k])] = i[static_cast<size_t>(dims.window[k])];
    for (size_t k = 0; k < dims.batch.size(); ++k)
      at[static_cast<size_t>(dims.batch[k])] = i[static_cast<size_t>(batch_step(k))];
    return at;
  }
  // The size of a window in each dimension of the operand.
  Shape window_sizes(const Shape& windows, size_t rank) const {
    Shape sizes(rank, 1);
    for (size_t k = 0; k < sliced.size(); ++k)
      sizes[static_cast<size_t>(sliced[k])] = windows[static_cast<size_t>(dims.window[k])];
    return sizes;
  }
};

// Of a scatter with this many operands: n inputs, the indices, n updates.
inline size_t inputs_of_scatter(size_t operands) { return (operands - 1) / 2; }

inline Layout layout_of_gather(const graph::Call& c) {
  return {index_dims(c.params, of_gather), c.inputs[0]->type.shape, c.inputs[1]->type.shape};
}
inline Layout layout_of_scatter(const graph::Call& c) {
  return {index_dims(c.params, of_scatter), c.inputs[0]->type.shape,
          c.inputs[inputs_of_scatter(c.inputs.size())]->type.shape};
}

// The elements of x, which is like the input of a scatter, at the places of its updates, as an update; 0 for
// those that are outside.
class UpdateReader {
 public:
  UpdateReader(graph::Graph&, const graph::Call& scatter);
  Var operator()(const Var& x) const;

 private:
  IndexDims dims_;
  Shape update_, sizes_;
  Var indices_, inside_;
};

// Like an update: the places that it changes, counted through the input in R's order; -1 outside.
Var places_of_updates(graph::Graph&, const graph::Call& scatter);

// The elements of a scatter's updates by these places, those of one place side by side as they come.
struct Targets {
  Targets(graph::Graph&, const graph::Call& scatter);
  Var products_of_others(const Var& update) const;
  Var sums(const Var& update) const;            // of those of the same place
  Var as_they_come(const Var& by_place) const;  // a vector of those elements as an update
  Shape shape;                                  // of an update
  Var inside;                                   // like an update: whether it changes a place at all
  Var order, begins, ends;  // vectors: number of the update; whether it is the first, the last of its place
};

void batch_gather(BatchStep&);
void batch_scatter(BatchStep&);
void batch_dynamic_slice(BatchStep&);
void batch_dynamic_update_slice(BatchStep&);

void reverse_gather(ReverseStep&);
// Whether one of an element and its update stays.
bool replaces_elements(const graph::Call&);
// By the region's combination; other regions are differentiated through the expansion, update by update.
bool reverses_scatter(const graph::Call&);
void reverse_scatter(ReverseStep&);
std::vector<ValuePtr> augment_scatter(graph::Graph&, const graph::Call&);
bool forward_scatter(ForwardStep&);  // where it is linear; elsewhere false
std::vector<ValuePtr> expand_scatter(graph::Graph&, const graph::Call&);

}  // namespace anvil::primitives
