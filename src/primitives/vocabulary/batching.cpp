// What rules for batching share.
#include "primitives/vocabulary/batching.h"

#include <algorithm>

#include "primitives/vocabulary/infer.h"

namespace anvil::primitives {

using graph::Value;

Var operand(BatchStep& step, size_t i) { return {&step.graph, step.operands.at(i)}; }
Var batched(BatchStep& step, size_t i) {
  return step.batched.at(i) ? operand(step, i) : spread(operand(step, i), step.size);
}
Var spread(const Var& x, int64_t size) {
  graph::TensorType type = x.type();
  const size_t dims = type.shape.size();
  type.shape.push_back(size);
  if (x.value->kind == Value::Kind::literal) return literal(*x.graph, x.value->literal, type);
  return broadcast_in_dim(x, type.shape, all_axes(dims));
}
int64_t rank(const BatchStep& step, size_t i) {
  return static_cast<int64_t>(step.call.inputs.at(i)->type.shape.size());
}
void set(BatchStep& step, const std::vector<Var>& results) {
  for (const Var& v : results) step.results.push_back(v.value);
}

Var moved(const Var& x, int64_t from, int64_t to) {
  if (from == to) return x;
  Ints order = other_axes(x.shape().size(), {from});
  order.insert(order.begin() + to, from);
  return transpose(x, order);
}

Params extended(const BatchStep& step) {
  Params params = step.call.params;
  for (const ParamSpec& spec : primitive_of(step.call).parameters) {
    const int64_t size = spec.untouched.value_or(step.size);
    for (graph::Param& p : params.items) {
      if (p.name != spec.name) continue;
      switch (spec.kind) {
        case ParamSpec::Kind::shape:
        case ParamSpec::Kind::limits:
        case ParamSpec::Kind::sizes: std::get<Ints>(p.value).push_back(size); break;
        case ParamSpec::Kind::starts: std::get<Ints>(p.value).push_back(0); break;
        default: break;
      }
    }
  }
  return params;
}

static void record_again(BatchStep& step, std::vector<ValuePtr> operands) {
  step.results = record(step.graph, primitive_of(step.call), std::move(operands), extended(step));
}
void record_alongside(BatchStep& step, size_t first_scalar) {
  std::vector<ValuePtr> operands;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const bool scalar = i >= first_scalar;
    if (scalar && step.batched[i]) return;
    operands.push_back(scalar ? step.operands[i] : batched(step, i).value);
  }
  record_again(step, std::move(operands));
}
void record_with_positions(BatchStep& step) {
  const Operands& positions = primitive_of(step.call).indices;
  std::vector<ValuePtr> operands;
  DType dtype = DType::i64;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const bool position = positions.contains(i, step.operands.size());
    if (position && step.batched[i]) return;
    if (position) dtype = step.operands[i]->type.dtype;
    operands.push_back(position ? step.operands[i] : batched(step, i).value);
  }
  operands.push_back(literal(step.graph, 0, {dtype, {}}).value);
  record_again(step, std::move(operands));
}

void batch_alongside(BatchStep& step) { record_alongside(step); }
void batch_fold(BatchStep& step) { record_alongside(step, step.operands.size() / 2); }
void batch_leading(BatchStep& step) {
  std::vector<ValuePtr> operands;
  for (size_t i = 0; i < step.operands.size(); ++i) operands.push_back(moved(batched(step, i), rank(step, i), 0).value);
  for (const ValuePtr& v : record(step.graph, primitive_of(step.call), operands, step.call.params))
    set(step, {moved({&step.graph, v}, 0, static_cast<int64_t>(v->type.shape.size()) - 1)});
}

}  // namespace anvil::primitives
