// Reductions and running sums: values, empty sets, NaN, bool, derivatives at ties and zeros.
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;

Program reduce(const char* name, Ints dims, bool drop = true) {
  return [=](graph::Graph&, const std::vector<Var>& x) {
    return std::vector<Var>{record(name, {x[0]}, {{"dims", dims, true}, {"drop", drop}})};
  };
}
const double nan = std::nan("");

TEST(Reduce, ValuesOverEveryChoiceOfDimensions) {
  Tensor x = counting({2, 3});
  expect_values(reduce("reduce_sum", {0}), {x}, {3}, {3, 7, 11});
  expect_values(reduce("reduce_sum", {1}), {x}, {2}, {9, 12});
  expect_values(reduce("reduce_sum", {1, 0}), {x}, {}, {21});
  expect_values(reduce("reduce_sum", {0}, false), {x}, {1, 3}, {3, 7, 11});
  expect_values(reduce("reduce_sum", {0, 1}, false), {x}, {1, 1}, {21});
  expect_values(reduce("reduce_prod", {1}), {x}, {2}, {15, 48});
  expect_values(reduce("reduce_max", {1}), {x}, {2}, {5, 6});
  expect_values(reduce("reduce_min", {0}), {x}, {3}, {1, 3, 5});
  expect_values(reduce("reduce_sum", {1}), {counting({2, 2, 2})}, {2, 2}, {4, 6, 12, 14});
  expect_values(reduce("reduce_sum", {0, 2}), {counting({2, 2, 2})}, {2}, {14, 22});
}

TEST(Reduce, NoDimensionsChangeNothing) {
  Tensor x = tensor(DType::f64, {2}, {-0.0, 3});
  for (bool drop : {true, false})
    for (const char* name : {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min"}) {
      expect_values(reduce(name, {}, drop), {x}, {2}, {-0.0, 3});
      expect_values(reduce(name, {}, drop), {counting({})}, {}, {1});
    }
  EXPECT_TRUE(std::signbit(values(evaluate(reduce("reduce_sum", {}), {x}))[0]));
}

TEST(Reduce, EmptySetsGiveTheIdentity) {
  Tensor x = counting({0, 2});
  expect_values(reduce("reduce_sum", {0}), {x}, {2}, {0, 0});
  expect_values(reduce("reduce_prod", {0}), {x}, {2}, {1, 1});
  expect_values(reduce("reduce_max", {0}), {x}, {2}, {-INFINITY, -INFINITY});
  expect_values(reduce("reduce_min", {0}), {x}, {2}, {INFINITY, INFINITY});
  expect_values(reduce("reduce_max", {0}), {counting({0}, DType::i8)}, {}, {-128});
  expect_values(reduce("reduce_min", {0}), {counting({0}, DType::ui8)}, {}, {255});
  expect_values(reduce("reduce_sum", {1}), {x}, {0}, {});
  expect_values(reduce("reduce_any", {0}), {counting({0}, DType::boolean)}, {}, {0});
  expect_values(reduce("reduce_all", {0}), {counting({0}, DType::boolean)}, {}, {1});
}

TEST(Reduce, NanInfinityBoolAndWrapping) {
  for (const char* name : {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min"})
    EXPECT_TRUE(std::isnan(values(evaluate(reduce(name, {0}), {tensor(DType::f64, {3}, {1, nan, 2})}))[0])) << name;
  expect_values(reduce("reduce_max", {0}), {tensor(DType::f64, {2}, {-INFINITY, -INFINITY})}, {}, {-INFINITY});
  Tensor mixed = tensor(DType::boolean, {2}, {1, 0});
  for (const char* name : {"reduce_sum", "reduce_max", "reduce_any"})
    expect_values(reduce(name, {0}), {mixed}, {}, {1});
  for (const char* name : {"reduce_prod", "reduce_min", "reduce_all"})
    expect_values(reduce(name, {0}), {mixed}, {}, {0});
  expect_values(reduce("reduce_sum", {0}), {tensor(DType::ui8, {2}, {200, 100})}, {}, {44});
  expect_values(reduce("reduce_prod", {0}), {tensor(DType::i8, {2}, {100, 3})}, {}, {44});
}

TEST(Reduce, Gradients) {
  Tensor x = spread_values(DType::f64, {3, 2, 4});
  for (const char* name : {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min"})
    for (Ints dims : {Ints{0}, Ints{1, 2}, Ints{2, 0}, Ints{0, 1, 2}, Ints{}})
      for (bool drop : {true, false}) expect_gradients(reduce(name, dims, drop), {x});
}

TEST(Reduce, ProductsWithZerosHaveExactDerivatives) {
  for (std::vector<double> v :
       {std::vector<double>{2, 0, 3, 4, 5}, {0, 2, 3, 0, 5}, {0, 0, 0, 1, 2}, {2, -3, 4, -5, 6}}) {
    expect_gradients(reduce("reduce_prod", {0}), {tensor(DType::f64, {5}, v)}, 3, 1e-5);
  }
  expect_gradients(reduce("reduce_prod", {0, 1}), {tensor(DType::f64, {2, 3}, {0, 1, 2, 3, 4, 5})}, 3, 1e-5);
}

Tensor first_gradient(const Program& program, const Tensor& x) {
  graph::Graph g = build(program, {x});
  return eigen::evaluate(*transform::gradient(g, {true}, false), {x}).at(0);
}

TEST(Reduce, TiesShareTheGradient) {
  EXPECT_EQ(values(first_gradient(reduce("reduce_max", {0}), tensor(DType::f64, {4}, {1, 5, 5, 2}))),
            (std::vector<double>{0, 0.5, 0.5, 0}));
  EXPECT_EQ(values(first_gradient(reduce("reduce_min", {0}), tensor(DType::f64, {4}, {1, 1, 1, 1}))),
            (std::vector<double>(4, 0.25)));
  EXPECT_EQ(values(first_gradient(reduce("reduce_max", {0}), tensor(DType::f64, {3}, {1, nan, 2}))),
            (std::vector<double>{0, 0, 0}));
}

TEST(Reduce, GradientOfASumIsOneBroadcast) {
  EXPECT_EQ(printed_gradient(reduce("reduce_sum", {0, 1}), {f64({2, 3})}),
            "<AnvilGraph>\n  Inputs:\n    %x1: f64[2, 3]\n  Constants:\n    %c1: f64[]\n  Body:\n"
            "    %1: f64[] = reduce_sum [dims = c(1, 2), drop = TRUE] (%x1)\n"
            "    %2: f64[2, 3] = broadcast_in_dim [shape = c(2, 3), broadcast_dimensions = <any>] (%c1)\n  "
            "Outputs:\n    %2: f64[2, 3]");
}

TEST(Reduce, Errors) {
  auto params = [](Ints dims) { return Params{{"dims", dims, true}, {"drop", true}}; };
  expect_error("reduce_sum", {f64({2, 3, 4})}, params({4}), "argument",
               "`dims` contains index outside the valid range.", "x Got 5, but `operand` has 3 dimensions.");
  expect_error("reduce_max", {f64({2})}, params({0, 0}), "argument", "`dims` contains duplicate dimension indices.",
               "x Got [1, 1]. Each dimension index must appear only once.");
  expect_error("reduce_any", {i32({2})}, params({0}), "dtype", "`operand` must have dtype bool.", "x Got <i32>.");
}

TEST(Cumsum, ValuesGradientsErrors) {
  auto along = [](int64_t dim) {
    return [=](graph::Graph&, const std::vector<Var>& x) { return std::vector<Var>{cumsum(x[0], dim)}; };
  };
  expect_values(along(0), {counting({2, 3})}, {2, 3}, {1, 3, 3, 7, 5, 11});
  expect_values(along(1), {counting({2, 3})}, {2, 3}, {1, 2, 4, 6, 9, 12});
  expect_values(along(0), {counting({0})}, {0}, {});
  expect_values(along(0), {tensor(DType::ui8, {2}, {200, 100})}, {2}, {200, 44});
  expect_gradients(along(1), {spread_values(DType::f64, {2, 3})});
  expect_error("cumsum", {f64()}, {{"dim", int64_t(0), true}}, "argument",
               "`dim` contains index outside the valid range.", "x Got 1, but `operand` has no dimensions.");
  expect_error("cumsum", {{DType::boolean, {2}}}, {{"dim", int64_t(0), true}}, "dtype",
               "`operand` must have dtype " + name(Group::numeric) + ".");
}

}  // namespace
}  // namespace anvil::test
