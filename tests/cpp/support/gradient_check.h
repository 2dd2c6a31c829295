// Reverse rules against central differences: a program is reduced to a number by fixed
// weights, its gradient is compared with differences of its values, and then becomes the
// next program, so that derivatives of any order are checked. Forward mode has to agree with it.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "backend/eigen/evaluate.h"
#include "primitives/vocabulary/var.h"
#include "support/forward_check.h"
#include "transform/reverse.h"

namespace anvil::test {

using graph::Tensor;
using primitives::Var;
using Program = std::function<std::vector<Var>(graph::Graph&, const std::vector<Var>&)>;

// Column-major values; numbers of the sequence frac(k * golden ratio) spread over [low, high].
inline Tensor tensor(DType dtype, Shape shape, const std::vector<double>& values) {
  Tensor t = graph::allocate({dtype, std::move(shape)});
  for (size_t k = 0; k < values.size(); ++k) set_element(t, static_cast<int64_t>(k), values[k]);
  return t;
}
inline Tensor spread_values(DType dtype, Shape shape, double low = -1, double high = 1, double seed = 0) {
  std::vector<double> values(static_cast<size_t>(elements(shape)));
  for (size_t k = 0; k < values.size(); ++k) {
    double x = (static_cast<double>(k) + 1 + 17 * seed) * 0.6180339887498949;
    values[k] = low + (high - low) * (x - std::floor(x));
  }
  return tensor(dtype, std::move(shape), values);
}

inline Var input(graph::Graph& g, const graph::TensorType& type) {
  g.inputs.push_back(graph::make_value(graph::Value::Kind::input, type));
  return {&g, g.inputs.back()};
}
inline graph::Graph build(const Program& program, const std::vector<Tensor>& at) {
  graph::Graph g;
  std::vector<Var> inputs;
  for (const Tensor& t : at) inputs.push_back(input(g, t.type));
  for (const Var& v : program(g, inputs)) g.outputs.push_back(v.value);
  return g;
}

// Appends the sum of all elements of the outputs, each with a weight of its own.
inline void weigh(graph::Graph& g, double seed) {
  Var sum;
  for (const auto& output : g.outputs) {
    Var x{&g, output};
    if (!is_float(x.dtype())) continue;
    g.constants.push_back(graph::make_constant(spread_values(x.dtype(), x.shape(), 0.5, 1.5, seed++)));
    Var term = x * Var{&g, g.constants.back()};
    if (!term.shape().empty()) {
      std::vector<int64_t> all;
      for (size_t d = 0; d < term.shape().size(); ++d) all.push_back(static_cast<int64_t>(d));
      term = reduce_sum(term, all);
    }
    sum = sum.graph == nullptr ? term : sum + term;
  }
  g.outputs = {sum.value};
}

// Expects every derivative by every element of the float inputs, up to `order`.
inline void expect_gradients(const Program& program, const std::vector<Tensor>& at, int order = 2,
                             double tolerance = 1e-6) {
  auto g = std::make_shared<graph::Graph>(build(program, at));
  std::vector<bool> wrt;
  for (const Tensor& t : at) wrt.push_back(is_float(t.type.dtype));
  for (int k = 1; k <= order; ++k) {
    expect_modes_agree(*g, at);
    weigh(*g, 10 * k);
    primitives::verify(*g);
    auto derivative = transform::gradient(*g, wrt, false);
    primitives::verify(*derivative);
    std::vector<Tensor> gradients = eigen::evaluate(*derivative, at);
    size_t next = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      if (!wrt[i]) continue;
      const Tensor& got = gradients.at(next++);
      ASSERT_EQ(got.type.shape, at[i].type.shape);
      for (int64_t e = 0; e < elements(at[i].type.shape); ++e) {
        const double x = element(at[i], e).as<double>(), found = element(got, e).as<double>();
        const auto difference = [&](double h) {
          double value[2];
          for (int side : {0, 1}) {
            std::vector<Tensor> moved = at;
            moved[i] = graph::allocate(at[i].type);
            for (int64_t m = 0; m < elements(at[i].type.shape); ++m) set_element(moved[i], m, element(at[i], m));
            set_element(moved[i], e, side ? x + h : x - h);
            value[side] = element(eigen::evaluate(*g, moved).at(0), 0).as<double>();
          }
          return (value[1] - value[0]) / (2 * h);
        };
        // what bends much needs a shorter step, whose difference has fewer digits
        double expected = 0;
        for (double h : {1e-5, 1e-6}) {
          expected = difference(h * std::max(1.0, std::fabs(x)));
          if (std::fabs(found - expected) <= tolerance * std::max(1.0, std::fabs(expected))) break;
        }
        EXPECT_NEAR(found, expected, tolerance * std::max(1.0, std::fabs(expected)))
            << "order " << k << ", input " << i + 1 << ", element " << e + 1;
      }
    }
    g = derivative;
  }
}

}  // namespace anvil::test
