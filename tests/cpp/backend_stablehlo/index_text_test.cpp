// Indices in text count from 0, here from 1: of every dtype and in every form they mean the
// same, and what was written once is written again in the same words.
#include <gtest/gtest.h>

#include "backend/eigen/evaluate.h"
#include "backend/stablehlo/stablehlo.h"
#include "primitives/vocabulary/var.h"

namespace anvil::stablehlo {
namespace {

using graph::Tensor;
using primitives::Var;

Tensor ints(DType t, Shape shape, const std::vector<uint64_t>& values) {
  Tensor x = graph::allocate({t, std::move(shape)});
  for (size_t k = 0; k < values.size(); ++k) graph::set_element(x, static_cast<int64_t>(k), Scalar(values[k]));
  return x;
}
std::vector<double> numbers(const Tensor& t) {
  std::vector<double> list;
  for (int64_t i = 0; i < elements(t.type.shape); ++i) list.push_back(graph::element(t, i).as<double>());
  return list;
}
const Tensor ten = ints(DType::f64, {10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});

// x[i], x[i..i+1], x with y put at i: of an index i of the graph, which counts from 1.
void use(graph::Graph& g, Var x, Var i, Var y) {
  Var at = primitives::reshape(i, {1});
  primitives::IndexDims dims;
  dims.collapsed = dims.map = {0};
  Var one = primitives::slice(y, {0}, {1}, {1});
  for (Var v :
       {primitives::dynamic_slice(x, {i}, {2}), primitives::dynamic_update_slice(x, y, {i}),
        primitives::gather(x, at, {1}, dims), primitives::scatter(x, at, primitives::reshape(one, {}), dims, "add")})
    g.outputs.push_back(v.value);
}

TEST(IndexText, OfEveryDtypeIsTheSameAfterEachReading) {
  for (DType t : {DType::i8, DType::i16, DType::i32, DType::i64, DType::ui8, DType::ui16, DType::ui32, DType::ui64}) {
    graph::Graph g;
    for (const graph::TensorType& type : {graph::TensorType{DType::f64, {10}}, {t, {}}, {DType::f64, {2}}})
      g.inputs.push_back(graph::make_value(graph::Value::Kind::input, type));
    use(g, {&g, g.inputs[0]}, {&g, g.inputs[1]}, {&g, g.inputs[2]});
    std::string text = write(g, false).text, first = text;
    for (int round = 0; round < 4; ++round) {
      graph::GraphPtr read_again = read(text);
      EXPECT_EQ(graph::print(*read_again), graph::print(g)) << name(t);
      text = write(*read_again, false).text;
      EXPECT_EQ(text, first) << name(t) << ", round " << round;
    }
    graph::GraphPtr again = read(text);
    for (uint64_t i : {0, 1, 2, 9, 10, 11, 127}) {
      std::vector<Tensor> at = {ten, ints(t, {}, {i}), ints(DType::f64, {2}, {50, 60})};
      auto expected = eigen::evaluate(g, at), got = eigen::evaluate(*again, at);
      for (size_t k = 0; k < expected.size(); ++k)
        EXPECT_EQ(numbers(got[k]), numbers(expected[k])) << name(t) << " " << i << ", result " << k;
    }
  }
}

// The text's own arithmetic wraps: 0 - 1 of an unsigned dtype is its largest number, beyond the end.
TEST(IndexText, UnsignedArithmeticWrapsBeforeItIsClamped) {
  for (const char* t : {"ui8", "ui16", "ui32", "ui64"}) {
    std::string i = std::string("tensor<") + t + ">";
    std::string text = "func.func @main(%x: tensor<10xf64>, %i: " + i + ") -> tensor<1xf64> {\n" +
                       "%one = stablehlo.constant dense<1> : " + i + "\n%j = stablehlo.subtract %i, %one : " + i +
                       "\n%0 = stablehlo.dynamic_slice %x, %j, sizes = [1] : (tensor<10xf64>, " + i +
                       ") -> tensor<1xf64>\nreturn %0 : tensor<1xf64>\n}\n";
    graph::GraphPtr g = read(text), again = read(write(*g, false).text);
    EXPECT_EQ(write(*read(write(*again, false).text), false).text, write(*again, false).text);
    for (auto [index, place] : {std::pair{0, 9.0}, {1, 0.0}, {2, 1.0}, {10, 9.0}, {200, 9.0}})
      for (const auto& program : {g, again}) {
        std::vector<Tensor> at = {ten, ints(*parse_dtype(t), {}, {static_cast<uint64_t>(index)})};
        EXPECT_EQ(numbers(eigen::evaluate(*program, at)[0]), std::vector<double>{place}) << t << " " << index;
      }
  }
}

// Literals at the ends of their dtypes neither overflow nor change.
TEST(IndexText, LiteralsAtTheEndsOfTheirDtype) {
  struct Case {
    const char *dtype, *value;
    double place;
  };
  for (const Case& c : {Case{"i64", "9223372036854775807", 9},
                        {"i64", "-9223372036854775808", 0},
                        {"ui64", "9223372036854775807", 9},
                        {"ui64", "9223372036854775808", 9},
                        {"ui64", "18446744073709551615", 9},
                        {"ui64", "0", 0},
                        {"i8", "127", 9},
                        {"i8", "-128", 0},
                        {"ui8", "255", 9},
                        {"i32", "2147483647", 9},
                        {"i32", "-2147483648", 0}}) {
    std::string i = std::string("tensor<") + c.dtype + ">";
    graph::GraphPtr g = read("func.func @main(%x: tensor<10xf64>) -> tensor<1xf64> {\n%i = stablehlo.constant dense<" +
                             std::string(c.value) + "> : " + i + "\n%0 = stablehlo.dynamic_slice %x, %i, sizes = [1] " +
                             ": (tensor<10xf64>, " + i + ") -> tensor<1xf64>\nreturn %0 : tensor<1xf64>\n}\n");
    graph::GraphPtr again = read(write(*g, false).text);
    for (const auto& program : {g, again})
      EXPECT_EQ(numbers(eigen::evaluate(*program, {ten})[0]), std::vector<double>{c.place})
          << c.dtype << " " << c.value << write(*g, false).text;
  }
}

}  // namespace
}  // namespace anvil::stablehlo
