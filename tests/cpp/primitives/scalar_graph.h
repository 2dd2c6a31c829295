// Two small evaluators for tests of elementwise primitives, which need neither compiler
// nor backend: of a graph of scalars by the primitives' `elementwise`, and of the loop
// rule of one call, whose expression is interpreted with the vocabulary of runtime/scalar.h.
#pragma once
#include <map>

#include "primitives/vocabulary/lowering.h"
#include "primitives/vocabulary/var.h"

namespace anvil::primitives::testing {

// The values of a graph of scalars, by value.
class ScalarGraph {
 public:
  Var input(Scalar x, DType t) {
    auto v = graph_.inputs.emplace_back(graph::make_value(graph::Value::Kind::input, {t, {}, false}));
    values_[v.get()] = graph::full(v->type, x);
    return {&graph_, v};
  }
  graph::Graph& graph() { return graph_; }
  Scalar value(const Var& v) {
    run();
    return graph::element(tensor(v.value), 0);
  }
  double number(const Var& v) { return value(v).as<double>(); }

 private:
  graph::Tensor tensor(const ValuePtr& v);
  void run();
  graph::Graph graph_;
  std::map<const graph::Value*, graph::Tensor> values_;
};

// The cotangents of the operands of the last call with result y, which gets cotangent g;
// unset where the rule leaves them out. With `only`, that of one operand.
std::vector<std::optional<Var>> pull_back(ScalarGraph&, const Var& y, const Var& g, std::optional<size_t> only = {});

// The result of a call on tensors by its loop rule.
graph::Tensor by_loop_rule(const Primitive&, const std::vector<graph::Tensor>& operands, const Params& = {});
// ... and by `elementwise`.
graph::Tensor by_elements(const Primitive&, const std::vector<graph::Tensor>& operands, const Params& = {});

}  // namespace anvil::primitives::testing
