// Cholesky factors and triangular systems, alone and side by side.
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;

Program chol(bool lower) {
  return [=](graph::Graph&, const std::vector<Var>& x) {
    return std::vector<Var>{record("cholesky", {x[0]}, {{"lower", lower}})};
  };
}
// The factor of x x' + n I, so that every x is allowed and the operand stays symmetric.
Program chol_of_square(bool lower) {
  return [=](graph::Graph& g, const std::vector<Var>& x) {
    auto rank = static_cast<int64_t>(x[0].shape().size());
    Ints batch = all_axes(static_cast<size_t>(rank - 2));
    Var square = dot_general(x[0], x[0], {rank - 1}, {rank - 1}, batch, batch);
    Var eye = convert(iota(g, rank - 2, DType::i32, square.shape()) == iota(g, rank - 1, DType::i32, square.shape()),
                      DType::f64);
    return std::vector<Var>{record("cholesky", {square + 3.0 * eye}, {{"lower", lower}})};
  };
}
Program chol_reverse(bool lower) {
  return [=](graph::Graph&, const std::vector<Var>& x) {
    const Var factor = record("cholesky", {x[0]}, {{"lower", lower}});
    return std::vector<Var>{record("cholesky_reverse", {factor, x[1]}, {{"lower", lower}})};
  };
}
Program solve(bool left, bool lower, bool unit, bool transposed) {
  return [=](graph::Graph&, const std::vector<Var>& x) {
    return std::vector<Var>{triangular_solve(x[0], x[1], left, lower, unit, transposed)};
  };
}

TEST(Cholesky, FactorsOneTriangle) {
  Tensor a = tensor(DType::f64, {2, 2}, {4, 2, -99, 5}), b = tensor(DType::f64, {2, 2}, {4, -99, 2, 5});
  expect_values(chol(true), {a}, {2, 2}, {2, 1, 0, 2});
  expect_values(chol(false), {b}, {2, 2}, {2, 0, 1, 2});
  // two matrices, the batch dimension first: diag(4, 9) and the one above
  Tensor both = tensor(DType::f64, {2, 2, 2}, {4, 4, 0, 2, 0, 2, 9, 5});
  expect_values(chol(true), {both}, {2, 2, 2}, {2, 2, 0, 1, 0, 0, 3, 2});
  expect_values(chol(true), {counting({0, 0})}, {0, 0}, {});
  expect_values(chol(true), {counting({0, 2, 2})}, {0, 2, 2}, {});
  auto bad = values(evaluate(chol(true), {tensor(DType::f64, {2, 2}, {1, 2, 2, 1})}));
  EXPECT_TRUE(std::isnan(bad[1]));
  EXPECT_EQ(bad[2], 0);
}

TEST(Cholesky, Gradients) {
  for (bool lower : {true, false}) {
    expect_gradients(chol_of_square(lower), {spread_values(DType::f64, {3, 3})});
    expect_gradients(chol_of_square(lower), {spread_values(DType::f64, {2, 3, 3})});
    expect_gradients(chol_of_square(lower), {spread_values(DType::f64, {1, 1})});
  }
}

// The derivative of the derivative is that of its definition.
TEST(Cholesky, GradientsOfTheWayBack) {
  for (bool lower : {true, false}) {
    Tensor a = spread_values(DType::f64, {3, 3}), g = spread_values(DType::f64, {3, 3}, -1, 1, 2);
    for (int64_t i = 0; i < 3; ++i) set_element(a, i + 3 * i, 4.0 + static_cast<double>(i));
    expect_gradients(chol_reverse(lower), {a, g});
  }
}

// One triangle is read, so its elements alone have a derivative, each of them by itself.
TEST(Cholesky, GradientsByEachElementOfTheOperand) {
  for (bool lower : {true, false}) {
    Tensor a = spread_values(DType::f64, {3, 3});
    for (int64_t i = 0; i < 3; ++i) set_element(a, i + 3 * i, 4.0 + static_cast<double>(i));
    expect_gradients(chol(lower), {a});
    Tensor two = spread_values(DType::f64, {2, 2, 2});
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t i = 0; i < 2; ++i) set_element(two, b + 2 * (i + 2 * i), 3.0);
    expect_gradients(chol(lower), {two});
  }
}

TEST(TriangularSolve, AgreesWithTheProductAndHasGradients) {
  for (bool left : {true, false})
    for (bool lower : {true, false})
      for (bool unit : {true, false})
        for (bool transposed : {true, false}) {
          Tensor a = spread_values(DType::f64, {3, 3}, 1, 2),
                 b = spread_values(DType::f64, left ? Shape{3, 2} : Shape{2, 3}, -1, 1, 2);
          Tensor x = evaluate(solve(left, lower, unit, transposed), {a, b});
          for (int64_t i = 0; i < b.type.shape[0]; ++i)
            for (int64_t j = 0; j < b.type.shape[1]; ++j) {
              double sum = 0;
              for (int64_t k = 0; k < 3; ++k) {
                int64_t r = left ? i : k, c = left ? k : j;  // the element of op(a)
                if (transposed) std::swap(r, c);
                double of_a = r == c && unit ? 1 : (lower ? r >= c : r <= c) ? element(a, r + 3 * c).as<double>() : 0;
                sum += of_a * element(x, left ? k + 3 * j : i + 2 * k).as<double>();
              }
              EXPECT_NEAR(sum, element(b, i + b.type.shape[0] * j).as<double>(), 1e-12);
            }
          expect_gradients(solve(left, lower, unit, transposed), {a, b});
        }
}

TEST(TriangularSolve, SideBySide) {
  for (bool left : {true, false}) {
    Tensor a = spread_values(DType::f64, {2, 2, 2}, 1, 2),
           b = spread_values(DType::f64, left ? Shape{2, 2, 3} : Shape{2, 3, 2});
    expect_gradients(solve(left, true, false, left), {a, b});
    evaluate(solve(left, true, false, left), {a, b});
  }
  expect_values(solve(true, true, false, false), {counting({2, 2}), counting({2, 0})}, {2, 0}, {});
  expect_values(solve(true, true, false, false), {counting({0, 0}), counting({0, 3})}, {0, 3}, {});
}

TEST(Linalg, TheRuntimeAgreesForEveryCountOrderAndDtype) {
  for (DType t : {DType::f32, DType::f64})
    for (int64_t count : {1, 3, 21})
      for (int64_t n : {1, 4, 60}) {
        Tensor square = spread_values(t, {count, n, n}, -1, 1), b = spread_values(t, {count, n, 2});
        for (int64_t i = 0; i < n; ++i)  // a dominant diagonal: positive definite, whichever triangle is read
          for (int64_t k = 0; k < count; ++k)
            set_element(square, k + count * (i + n * i), 2.0 * static_cast<double>(n) + 1);
        double tolerance = t == DType::f32 ? 1e-5 : 1e-12;
        for (bool flag : {true, false}) {
          expect_loop_rules_agree(build(chol(flag), {square}), {square}, tolerance);
          expect_loop_rules_agree(build(chol_reverse(flag), {square, square}), {square, square}, tolerance);
          expect_loop_rules_agree(build(solve(true, flag, false, !flag), {square, b}), {square, b}, tolerance);
        }
      }
}

TEST(Linalg, Errors) {
  Params lower = {{"lower", true}};
  expect_error("chol", {f64({2, 3})}, lower, "shape", "`operand` must be a square matrix.", "x Got shape (2,3).");
  expect_error("chol_reverse", {f64({2, 2}), f64({3, 3})}, lower, "shape",
               "`factor` and `cotangent` must have the same shape.", "x Got shapes (2,2) and (3,3).");
  expect_error("chol", {f64({2})}, lower, "shape", "`operand` must have at least 2 dimensions.", "x Got shape (2).");
  expect_error("chol", {i32({2, 2})}, lower, "dtype", "`operand` must have dtype " + name(Group::floating) + ".",
               "x Got <i32>.");
  auto params = [](bool left) {
    return Params{{"left_side", left}, {"lower", true}, {"unit_diagonal", false}, {"transpose_a", false}};
  };
  expect_error("triangular_solve", {f64({2, 2}), f64({3, 1})}, params(true), "shape",
               "`b` must have as many rows as `a`.", "x Got shapes (2,2) and (3,1).");
  expect_error("triangular_solve", {f64({2, 2}), f64({2, 1})}, params(false), "shape",
               "`b` must have as many columns as `a` when `left_side` is FALSE.", "x Got shapes (2,2) and (2,1).");
  expect_error("triangular_solve", {f64({2, 2}), f64({2})}, params(true), "shape",
               "`a` and `b` must have the same number of dimensions.");
  expect_error("triangular_solve", {f64({3, 2, 2}), f64({4, 2, 2})}, params(true), "shape",
               "All dimensions of `a` and `b` but the last two must have the same sizes.");
  expect_error("triangular_solve", {f64({2, 2}), {DType::f32, {2, 2}}}, params(true), "dtype",
               "`a` and `b` must have the same dtype.");
}

}  // namespace
}  // namespace anvil::test
