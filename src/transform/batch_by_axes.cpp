// Batching by what primitives say of themselves: how elements of results come from those of operands, and
// how dimensions belong together.
#include "primitives/vocabulary/infer.h"
#include "transform/batcher.h"

namespace anvil::transform {

using primitives::Acts;
using primitives::Axes;
using primitives::Ints;
using primitives::moved;
using primitives::primitive_of;

namespace {

// Scalars that stand in every place stay scalars where they are the same for all examples.
void per_element(BatchStep& step) {
  const Shape& shape = step.call.outputs[0]->type.shape;
  Shape all = shape;
  all.push_back(step.size);
  std::vector<ValuePtr> operands;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const bool in_every_place = rank(step, i) == 0 && !shape.empty();
    if (in_every_place && step.batched[i])
      operands.push_back(broadcast_in_dim(operand(step, i), all, {static_cast<int64_t>(shape.size())}).value);
    else
      operands.push_back(in_every_place ? step.operands[i] : batched(step, i).value);
  }
  step.results = record(step.graph, primitive_of(step.call), std::move(operands), step.call.params);
}

// The batch's dimension of the operand goes to the end of the result.
void renumbered(BatchStep& step, const char* parameter) {
  graph::Params params = extended(step);
  Ints dims = params.ints(parameter);
  dims.push_back(static_cast<int64_t>(step.call.outputs[0]->type.shape.size()));
  params.set(parameter, std::move(dims));
  step.results = record(step.graph, primitive_of(step.call), step.operands, std::move(params));
}

// A pair where both operands are batched, else a free dimension of the one that is.
void paired(BatchStep& step) {
  graph::Params params = step.call.params;
  auto batching = params.get<graph::IntegerLists>("batching_dims");
  const auto last = static_cast<int64_t>(step.call.outputs[0]->type.shape.size());
  int64_t place = static_cast<int64_t>(batching[0].size());
  if (step.batched[0] && step.batched[1]) {
    for (size_t side : {0, 1}) batching[side].push_back(rank(step, side));
    params.set("batching_dims", batching);
  } else if (step.batched[0]) {
    place = rank(step, 0) - static_cast<int64_t>(params.get<graph::IntegerLists>("contracting_dims")[0].size());
  } else {
    place = last;
  }
  const auto results = record(step.graph, primitive_of(step.call), step.operands, std::move(params));
  primitives::set(step, {moved({&step.graph, results[0]}, place, last)});
}

}  // namespace

void batch_by_axes(BatchStep& step) {
  const primitives::Primitive& p = primitive_of(step.call);
  if (p.acts == Acts::per_element) return per_element(step);
  switch (p.axes) {
    case Axes::kept: return p.indices.empty() ? record_alongside(step) : record_with_positions(step);
    case Axes::reduced:
    case Axes::regrouped: return record_alongside(step);
    case Axes::spread: return renumbered(step, "broadcast_dimensions");
    case Axes::permuted: return renumbered(step, "permutation");
    case Axes::paired: return paired(step);
    case Axes::other: return;
  }
}

}  // namespace anvil::transform
