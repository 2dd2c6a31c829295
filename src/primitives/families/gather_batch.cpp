// Batching of gathers and scatters, and of slices whose starts differ by example, which are gathers
// and scatters then. The batch is a dimension that operand and indices share where both have it,
// a dimension of the windows where only the operand has it, another list of indices where only they have.
#include "primitives/families/gather.h"
#include "primitives/vocabulary/batching.h"

namespace anvil::primitives {

namespace {

// How the dimensions of the batch's tensors correspond; `windows`: the rank of an example's tensor of windows.
IndexDims batched_dims(IndexDims d, bool operand, bool indices, int64_t operand_rank, int64_t indices_rank,
                       int64_t windows) {
  if (indices && d.vector == indices_rank) ++d.vector;  // an index still has one component, without a dimension for it
  if (operand && indices) {
    d.batch.push_back(operand_rank);
    d.indices_batch.push_back(indices_rank);
  } else if (operand) {
    d.window.push_back(windows);
  }
  return d;
}

Params with_dims(Params params, const Names& n, const IndexDims& d) {
  params.set(n.window, d.window);
  params.set(n.batch, d.batch);
  params.set(n.indices_batch, d.indices_batch);
  params.set("index_vector_dim", d.vector);
  return params;
}

// ---- slices ---------------------------------------------------------------------------------

// Starts as indices: a column for each example, of the dimensions in which the part can move.
struct Columns {
  Ints map;
  std::vector<Var> rows;
  Columns(BatchStep& step, size_t first, const Shape& part) {
    const Shape& whole = step.call.inputs[0]->type.shape;
    for (size_t d = 0; d < whole.size(); ++d) {
      if (part[d] == whole[d]) continue;
      map.push_back(static_cast<int64_t>(d));
      rows.push_back(reshape(batched(step, first + d), {1, step.size}));
    }
  }
  Var indices() const { return rows.size() == 1 ? rows[0] : concatenate(rows, 0); }
  IndexDims dims(int64_t rank, bool operand) const {
    IndexDims d{all_axes(static_cast<size_t>(rank)), {}, {}, {}, map, 0};
    if (operand) d.batch = {rank}, d.indices_batch = {1};
    return d;
  }
};

// Into [0, most], as an i64, however it is stored.
Var inside(Var start, int64_t most) {
  if (start.dtype() == DType::ui64) start = minimum(start, literal(start, Scalar(std::numeric_limits<int64_t>::max())));
  start = convert(start, DType::i64);
  return minimum(maximum(start, literal(start, 0)), literal(start, most));
}

}  // namespace

void batch_gather(BatchStep& step) {
  const bool operand = step.batched[0], indices = step.batched[1];
  Params params = with_dims(step.call.params, of_gather,
                            batched_dims(index_dims(step.call.params, of_gather), operand, indices, rank(step, 0),
                                         rank(step, 1), static_cast<int64_t>(step.call.outputs[0]->type.shape.size())));
  if (operand) {
    Shape sizes = params.ints("slice_sizes");
    sizes.push_back(indices ? 1 : step.size);
    params.set("slice_sizes", std::move(sizes));
  }
  if (indices) {
    params.set("indices_are_sorted", false);
    if (!operand) params.set("unique_indices", false);  // examples may read the same places
  }
  step.results = record(step.graph, primitive_of(step.call), step.operands, std::move(params));
}

void batch_scatter(BatchStep& step) {
  const size_t n = inputs_of_scatter(step.operands.size());
  const bool indices = step.batched[n];
  Params params = with_dims(step.call.params, of_scatter,
                            batched_dims(index_dims(step.call.params, of_scatter), true, indices, rank(step, 0),
                                         rank(step, n), rank(step, n + 1)));
  if (indices) params.set("indices_are_sorted", false);
  std::vector<ValuePtr> operands;
  for (size_t i = 0; i < step.operands.size(); ++i)
    operands.push_back(i == n ? step.operands[i] : batched(step, i).value);
  step.results = record(step.graph, primitive_of(step.call), std::move(operands), std::move(params));
}

void batch_dynamic_slice(BatchStep& step) {
  record_with_positions(step);
  if (!step.results.empty()) return;
  Shape part = step.call.outputs[0]->type.shape;
  const Columns columns(step, 1, part);
  if (columns.map.empty()) return set(step, {batched(step, 0)});
  const IndexDims dims = columns.dims(rank(step, 0), step.batched[0]);
  if (step.batched[0]) part.push_back(1);
  set(step, {gather(operand(step, 0), columns.indices(), part, dims)});
}

void batch_dynamic_update_slice(BatchStep& step) {
  record_with_positions(step);
  if (!step.results.empty()) return;
  const Shape &whole = step.call.inputs[0]->type.shape, &part = step.call.inputs[1]->type.shape;
  if (elements(part) == 0) return set(step, {batched(step, 0)});
  Columns columns(step, 2, part);
  if (columns.map.empty()) return set(step, {batched(step, 1)});
  for (size_t k = 0; k < columns.rows.size(); ++k) {
    const auto d = static_cast<size_t>(columns.map[k]);
    columns.rows[k] = inside(columns.rows[k], whole[d] - part[d]);
  }
  set(step,
      {scatter(batched(step, 0), columns.indices(), batched(step, 1), columns.dims(rank(step, 0), true), "", true)});
}

}  // namespace anvil::primitives
