// Forward mode against reverse mode: with J the derivative of a program, <J'g, t> = <g, Jt> for whatever
// cotangents g and tangents t.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "primitives/vocabulary/var.h"
#include "support/agreement.h"
#include "transform/forward.h"
#include "transform/reverse.h"

namespace anvil::test {

// Whether the two modes need not agree on a call: reduce_precision rounds what comes to it in both, so that it is not
// linear, and the one rounds sums of tangents, the other sums of cotangents.
inline bool rounds_slopes(const graph::Call& c) { return c.primitive->name == "reduce_precision"; }

// Numbers of few bits, so that no conversion rounds them.
inline graph::Tensor direction(const graph::TensorType& type, size_t seed) {
  graph::Tensor t = graph::allocate({type.dtype, type.shape});
  for (int64_t i = 0; i < elements(type.shape); ++i)
    set_element(t, i, 0.25 * static_cast<double>(1 + (5 * i + static_cast<int64_t>(seed)) % 7));
  return t;
}

// The sum of the products of two lists of values, in f64.
inline graph::ValuePtr product(graph::Graph& g, const std::vector<graph::ValuePtr>& a,
                               const std::vector<graph::ValuePtr>& b) {
  using primitives::Var;
  Var sum = primitives::literal(g, 0.0, {DType::f64, {}});
  for (size_t k = 0; k < a.size(); ++k) {
    const Var x = convert(Var{&g, a[k]}, DType::f64), y = convert(Var{&g, b[k]}, DType::f64);
    std::vector<int64_t> all;
    for (size_t d = 0; d < x.shape().size(); ++d) all.push_back(static_cast<int64_t>(d));
    sum = sum + reduce_sum(x * y, all);
  }
  return sum.value;
}

// Both products as outputs, of the inputs of `g`, then tangents, then cotangents.
inline graph::Graph both_products(const graph::Graph& g, const std::vector<bool>& wrt) {
  const auto forward = transform::jvp(g, wrt), reverse = transform::vjp(g, wrt);
  primitives::verify(*forward);
  primitives::verify(*reverse);
  graph::Graph both;
  const auto input = [&both](const graph::ValuePtr& like) {
    both.inputs.push_back(graph::make_value(graph::Value::Kind::input, like->type));
    return both.inputs.back();
  };
  const auto from = [](const std::vector<graph::ValuePtr>& list, size_t first) {
    return std::vector<graph::ValuePtr>(list.begin() + static_cast<std::ptrdiff_t>(first), list.end());
  };
  const size_t inputs = g.inputs.size(), outputs = g.outputs.size();
  std::vector<graph::ValuePtr> with_t, with_g;
  for (const auto& v : g.inputs) with_t.push_back(input(v));
  with_g = with_t;
  for (const auto& v : from(forward->inputs, inputs)) with_t.push_back(input(v));
  for (const auto& v : from(reverse->inputs, inputs)) with_g.push_back(input(v));
  const auto moved = inline_calls(*forward, with_t, both), pulled = inline_calls(*reverse, with_g, both);
  both.constants = forward->constants;
  both.constants.insert(both.constants.end(), reverse->constants.begin(), reverse->constants.end());
  both.outputs = {product(both, from(pulled, outputs), from(with_t, inputs)),
                  product(both, from(moved, outputs), from(with_g, inputs))};
  return both;
}

// Gives whether there were derivatives to compare, which are numbers.
inline bool expect_modes_agree(const graph::Graph& g, const std::vector<graph::Tensor>& at) {
  std::vector<bool> wrt;
  for (const graph::Tensor& x : at) wrt.push_back(is_float(x.type.dtype));
  const graph::Graph both = both_products(g, wrt);
  std::vector<graph::Tensor> inputs = at;
  for (size_t k = at.size(); k < both.inputs.size(); ++k) inputs.push_back(direction(both.inputs[k]->type, k));
  const std::vector<graph::Tensor> sums = eigen::evaluate(both, inputs);
  if (!std::isfinite(element(sums[0], 0).as<double>()) || !std::isfinite(element(sums[1], 0).as<double>()))
    return false;
  EXPECT_EQ(disagreement(both, inputs, sums, {sums[1], sums[0]}), "") << graph::print(g);
  return element(sums[0], 0).as<double>() != 0;
}

}  // namespace anvil::test
