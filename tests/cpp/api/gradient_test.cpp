// Every elementwise primitive that has a derivative, against finite differences to second
// order, inside the interval that its family states.
#include <gtest/gtest.h>

#include "support/gradient_check.h"

namespace anvil::test {
namespace {

class Elementwise : public testing::TestWithParam<const primitives::Primitive*> {};

TEST_P(Elementwise, AgreesWithFiniteDifferences) {
  const primitives::Primitive& p = *GetParam();
  std::vector<Tensor> at;
  for (size_t k = 0; k < p.operands.size(); ++k) {
    primitives::Domain d = p.domain[k];
    if (d.low == d.high) continue;  // not differentiated by: a constant of that value
    // large arguments leave nothing to difference
    double low = std::max(d.low, -3.0), high = std::min(d.high, 3.0), margin = 0.05 * (high - low);
    at.push_back(spread_values(DType::f64, {5}, low + margin, high - margin, static_cast<double>(k)));
  }
  Program program = [&p](graph::Graph&, const std::vector<Var>& inputs) {
    std::vector<Var> operands;
    size_t next = 0;
    for (const primitives::Domain& d : p.domain)
      operands.push_back(d.low == d.high ? literal(inputs[0], Scalar(d.low)) : inputs[next++]);
    return std::vector<Var>{primitives::record(p.name.c_str(), operands)};
  };
  expect_gradients(program, at, 2, 2e-5);
}

std::vector<const primitives::Primitive*> differentiable() {
  std::vector<const primitives::Primitive*> list;
  for (const primitives::Primitive* p : primitives::registry().all())
    if (p->elementwise && p->reverse && p->parameters.empty() && p->operands.size() <= 2 && p->infer) list.push_back(p);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Gradients, Elementwise, testing::ValuesIn(differentiable()),
                         [](const auto& drawn) { return drawn.param->name; });

}  // namespace
}  // namespace anvil::test
