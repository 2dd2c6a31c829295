#include "primitives/families/check.h"

#include "support/structured.h"

namespace anvil::test {
namespace {

const TensorType flags{DType::boolean, {2}}, numbers{DType::f64, {2}}, scalar{DType::f64, {}};

Params params(const std::string& error, const std::string& message) { return {{"error", error}, {"message", message}}; }

std::string failure(const std::vector<Tensor>& at, const std::string& message) {
  try {
    evaluate(
        [&](graph::Graph& g, const std::vector<Var>& x) {
          std::vector<graph::ValuePtr> values;
          for (const Var& v : x) values.push_back(v.value);
          return std::vector<Var>{
              {&g, record(g, primitives::registry().at("check"), values, params("argument", message), 7)[0]}};
        },
        at);
  } catch (const Error& e) {
    std::string text = e.kind + " " + std::to_string(e.location) + ": " + e.what();
    for (const std::string& line : e.details) text += " / " + line;
    return text;
  }
  return "none";
}

TEST(Check, FlagsAndTensorsOfTheirShape) {
  expect_error("check", {}, params("argument", ""), "argument", "`check` takes at least 1 operand.");
  expect_error("check", {numbers}, params("argument", ""), "dtype", "`holds` must have dtype bool.");
  expect_error("check", {flags, scalar}, params("argument", ""), "shape",
               "The tensors of a check must have the same shape.");
  for (const char* wrong : {"", "no name", "interrupt!"})
    expect_error("check", {flags}, params(wrong, ""), "argument", "`error` must be a name of lower-case letters.");
}

TEST(Check, TheFirstThatDoesNotHoldIsTold) {
  const Tensor yes = tensor(DType::boolean, {3}, {1, 1, 1}), no = tensor(DType::boolean, {3}, {1, 0, 0});
  const Tensor x = tensor(DType::f64, {3}, {1, 2.5, 3}), n = tensor(DType::i32, {3}, {-1, -2, -3});
  EXPECT_EQ(failure({yes, x, n}, "%s and %s"), "none");
  EXPECT_EQ(failure({no, x, n}, "%s and %s, 5% s\ni %s\nx two"), "argument 7: 2.5 and -2, 5% s / i %s / x two");
  EXPECT_EQ(failure({no}, ""), "argument 7: ");
  EXPECT_EQ(failure({tensor(DType::boolean, {0}, {})}, ""), "none");
  EXPECT_EQ(failure({tensor(DType::boolean, {}, {0}), tensor(DType::f16, {}, {1.5})}, "%s"), "argument 7: 1.5");
}

}  // namespace
}  // namespace anvil::test
