// Tensors from plain numbers and back, and one call evaluated.
#pragma once
#include <gtest/gtest.h>

#include <cmath>

#include "backend/eigen/evaluate.h"
#include "primitives/vocabulary/primitive.h"

namespace anvil::eigen {

using graph::Graph;
using graph::Params;
using graph::Tensor;
using graph::TensorType;
using graph::ValuePtr;
using Ints = std::vector<int64_t>;
using Pairs = std::vector<Ints>;
using Numbers = std::vector<double>;

inline const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

inline Tensor tensor(DType dtype, const Shape& shape, const Numbers& values) {
  Tensor t = graph::allocate({dtype, shape});
  for (size_t i = 0; i < values.size(); ++i) set_element(t, static_cast<int64_t>(i), values[i]);
  return t;
}
inline Numbers numbers(const Tensor& t) {
  Numbers values;
  for (int64_t i = 0; i < elements(t.type.shape); ++i) values.push_back(element(t, i).as<double>());
  return values;
}
inline std::vector<Tensor> run(const std::string& primitive, const std::vector<Tensor>& operands, Params params = {}) {
  Graph g;
  for (const Tensor& t : operands) g.inputs.push_back(make_value(graph::Value::Kind::input, t.type));
  g.outputs = primitives::record(g, primitives::registry().at(primitive), g.inputs, std::move(params));
  auto results = evaluate(g, operands);
  for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].type, g.outputs[i]->type);
  return results;
}
inline void expect_equal(const Numbers& found, const Numbers& expected, double tolerance = 0) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (expected[i] != expected[i])
      EXPECT_TRUE(found[i] != found[i]) << "place " << i << " is " << found[i];
    else if (std::isinf(expected[i]))
      EXPECT_EQ(found[i], expected[i]) << "place " << i;
    else
      EXPECT_NEAR(found[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "place " << i;
  }
}

}  // namespace anvil::eigen
