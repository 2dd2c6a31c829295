// Batching: a call of one example becomes calls on a batch of examples. Values of the batch have its
// dimension last, so that the numbers of the other dimensions stay, and column-major reshapes too.
// What is the same for all examples is not batched and stays what it was. Most primitives need no rule:
// transform/batch_by_axes.cpp asks what they are.
#pragma once
#include "primitives/vocabulary/var.h"

namespace anvil::primitives {

// One step: the call, what comes in, and where to record. At least one operand is batched, the inner graphs
// read nothing that is. A rule that leaves `results` empty does not cover the call: it is batched by what the
// primitive is, through its expansion, or example by example.
struct BatchStep {
  graph::Graph& graph;
  const graph::Call& call;             // of one example: what the types of its operands and results are
  std::vector<ValuePtr> operands;      // of the batch
  std::vector<bool> batched;           // one per operand
  int64_t size;                        // of the batch, at least 1
  std::vector<ValuePtr> results = {};  // of the batch, all with its dimension
};

// An operand as it comes; and with the batch's dimension, every example's the same where it is not batched.
Var operand(BatchStep&, size_t i);
Var batched(BatchStep&, size_t i);
// The value of all examples as one with the batch's dimension, last; a literal stays a literal.
Var spread(const Var&, int64_t size);
// The rank of an operand, of one example, which is the batch's dimension in the batch.
int64_t rank(const BatchStep&, size_t i);
void set(BatchStep&, const std::vector<Var>& results);

// Dimension `from` moved to place `to`.
Var moved(const Var&, int64_t from, int64_t to);

// The call once more, on operands with the batch's dimension, parameters extended by their kind: lists with
// an entry for each dimension get one more, axes stay. Operands from `first_scalar` on are scalars of
// the call, as initial values are; where one of them is batched nothing is recorded.
void record_alongside(BatchStep&, size_t first_scalar = SIZE_MAX);
// The same, with one more position: 0, along the batch.
void record_with_positions(BatchStep&);
graph::Params extended(const BatchStep&);

// Rules that several families share.
void batch_alongside(BatchStep&);  // all operands are tensors
void batch_fold(BatchStep&);       // tensors, and as many initial values
// Matrices and their like: the batch's dimension leads, where the last ones are special.
void batch_leading(BatchStep&);

}  // namespace anvil::primitives
