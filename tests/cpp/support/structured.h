// What the tests of structured primitives say: this program has these values, loop rules that
// agree with the evaluator, these derivatives, this printed gradient; this call is an error.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "primitives/vocabulary/infer.h"
#include "support/gradient_check.h"
#include "support/loop_rule.h"

namespace anvil::test {

using graph::TensorType;
using primitives::Params;
using Ints = std::vector<int64_t>;

inline std::vector<double> values(const Tensor& t) {
  std::vector<double> v;
  for (int64_t k = 0; k < elements(t.type.shape); ++k) v.push_back(element(t, k).as<double>());
  return v;
}
// The first result of a program, by Eigen; the loop rules of all its calls must agree.
inline Tensor evaluate(const Program& program, const std::vector<Tensor>& at) {
  graph::Graph g = build(program, at);
  primitives::verify(g);
  expect_loop_rules_agree(g, at);
  return eigen::evaluate(g, at).at(0);
}
inline void expect_values(const Program& program, const std::vector<Tensor>& at, const Shape& shape,
                          const std::vector<double>& expected) {
  Tensor got = evaluate(program, at);
  EXPECT_EQ(got.type.shape, shape);
  EXPECT_EQ(values(got), expected);
}
// The printed gradient of the sum of the program's one result.
inline std::string printed_gradient(const Program& program, const std::vector<TensorType>& types,
                                    std::vector<bool> wrt = {}) {
  graph::Graph g;
  std::vector<Var> inputs;
  for (const TensorType& t : types) inputs.push_back(input(g, t));
  Var y = program(g, inputs).at(0);
  if (!y.shape().empty()) y = reduce_sum(y, primitives::all_axes(y.shape().size()));
  g.outputs = {y.value};
  if (wrt.empty()) wrt.assign(types.size(), true);
  auto derivative = transform::gradient(g, wrt, false);
  return graph::print(*derivative);
}

// A call with operands of these types must fail so; a null detail is not compared.
inline void expect_error(const char* primitive, const std::vector<TensorType>& operands, const Params& params,
                         const std::string& kind, const std::string& message, const char* detail = nullptr) {
  graph::Graph g;
  std::vector<graph::ValuePtr> values;
  for (const TensorType& t : operands) values.push_back(graph::make_value(graph::Value::Kind::input, t));
  try {
    record(g, primitives::registry().at(primitive), values, params);
    ADD_FAILURE() << primitive << " is accepted; expected: " << message;
  } catch (const Error& e) {
    EXPECT_EQ(e.what(), message);
    EXPECT_EQ(e.kind, kind) << message;
    if (detail != nullptr) {
      ASSERT_FALSE(e.details.empty()) << message;
      EXPECT_EQ(e.details[0], detail);
    }
  }
}

inline TensorType f64(Shape shape = {}) { return {DType::f64, std::move(shape)}; }
inline TensorType i32(Shape shape = {}) { return {DType::i32, std::move(shape)}; }
// 1, 2, 3, ... as doubles.
inline Tensor counting(Shape shape, DType dtype = DType::f64) {
  std::vector<double> v(static_cast<size_t>(elements(shape)));
  for (size_t k = 0; k < v.size(); ++k) v[k] = static_cast<double>(k + 1);
  return tensor(dtype, std::move(shape), v);
}

}  // namespace anvil::test
