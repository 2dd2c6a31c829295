// dot_general: any contracting and batching dimensions in any order, dtypes, derivatives.
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;
using Pairs = std::vector<Ints>;

Program dot(Pairs contracting, Pairs batching = {{}, {}}) {
  return [=](graph::Graph&, const std::vector<Var>& x) {
    return std::vector<Var>{dot_general(x[0], x[1], contracting[0], contracting[1], batching[0], batching[1])};
  };
}

TEST(DotGeneral, Products) {
  expect_values(dot({{1}, {0}}), {counting({2, 2}), counting({2, 2})}, {2, 2}, {7, 10, 15, 22});
  expect_values(dot({{0}, {0}}), {counting({3}), counting({3})}, {}, {14});
  expect_values(dot({{}, {}}), {counting({2}), counting({3})}, {2, 3}, {1, 2, 2, 4, 3, 6});
  expect_values(dot({{1}, {0}}), {counting({2, 3}), counting({3})}, {2}, {22, 28});
  expect_values(dot({{}, {}}), {counting({}), counting({2})}, {2}, {1, 2});
  expect_values(dot({{0, 1}, {1, 0}}), {counting({2, 2}), counting({2, 2})}, {}, {1 + 2 * 3 + 3 * 2 + 16});
  expect_values(dot({{}, {}}, {{0}, {0}}), {counting({3}), counting({3})}, {3}, {1, 4, 9});
  expect_values(dot({{1}, {1}}, {{0}, {0}}), {counting({2, 2}), counting({2, 2})}, {2}, {1 + 9, 4 + 16});
  expect_values(dot({{1}, {0}}), {counting({2, 0}), counting({0, 2})}, {2, 2}, {0, 0, 0, 0});
  expect_values(dot({{1}, {0}}), {counting({0, 2}), counting({2, 2})}, {0, 2}, {});
}

TEST(DotGeneral, IntegersWrapAndBoolsAreLogical) {
  Tensor big = tensor(DType::i8, {2}, {100, 100});
  expect_values(dot({{0}, {0}}), {big, tensor(DType::i8, {2}, {2, 1})}, {}, {44});
  Tensor ones = tensor(DType::boolean, {2}, {1, 1});
  expect_values(dot({{0}, {0}}), {ones, ones}, {}, {1});
  expect_values(dot({{0}, {0}}), {ones, tensor(DType::boolean, {2}, {0, 0})}, {}, {0});
}

TEST(DotGeneral, LargePlainProductsCallTheRuntime) {
  Tensor a = spread_values(DType::f64, {64, 80}), b = spread_values(DType::f64, {80, 70}, -1, 1, 1);
  Tensor at = spread_values(DType::f64, {80, 64}), bt = spread_values(DType::f64, {70, 80}, -1, 1, 1);
  evaluate(dot({{1}, {0}}), {a, b});
  evaluate(dot({{0}, {0}}), {at, b});
  evaluate(dot({{1}, {1}}), {a, bt});
  evaluate(dot({{0}, {1}}), {at, bt});
}

TEST(DotGeneral, Gradients) {
  auto check = [](Shape a, Shape b, Pairs contracting, Pairs batching = {{}, {}}) {
    expect_gradients(dot(contracting, batching),
                     {spread_values(DType::f64, a), spread_values(DType::f64, b, -1, 1, 5)});
  };
  check({2, 3}, {3, 4}, {{1}, {0}});
  check({3, 2}, {4, 3}, {{0}, {1}});
  check({3}, {3}, {{0}, {0}});
  check({2}, {3}, {{}, {}});
  check({2, 3, 4}, {4, 2, 3}, {{0, 2}, {1, 0}});
  check({2, 3, 4}, {4, 3, 2}, {{2, 0, 1}, {0, 2, 1}});
  check({5, 2, 3}, {5, 3, 2}, {{2}, {1}}, {{0}, {0}});
  check({2, 3, 2, 4}, {3, 4, 5, 2}, {{3}, {1}}, {{2, 1}, {3, 0}});
  check({2, 0}, {0, 3}, {{1}, {0}});
}

TEST(DotGeneral, GradientIsAProductThenATranspose) {
  EXPECT_EQ(printed_gradient(dot({{1}, {0}}), {f64({2, 3}), f64({3, 1})}, {false, true}),
            "<AnvilGraph>\n  Inputs:\n    %x1: f64[2, 3]\n    %x2: f64[3, 1]\n  Constants:\n    %c1: f64[]\n  Body:\n"
            "    %1: f64[2, 1] = dot_general [contracting_dims = [2, 1], batching_dims = [<any>, <any>]] (%x1, %x2)\n"
            "    %2: f64[] = reduce_sum [dims = c(1, 2), drop = TRUE] (%1)\n"
            "    %3: f64[2, 1] = broadcast_in_dim [shape = c(2, 1), broadcast_dimensions = <any>] (%c1)\n"
            "    %4: f64[1, 3] = dot_general [contracting_dims = [1, 1], batching_dims = [<any>, <any>]] (%3, %x1)\n"
            "    %5: f64[3, 1] = transpose [permutation = c(2, 1)] (%4)\n  Outputs:\n    %5: f64[3, 1]");
}

TEST(DotGeneral, Errors) {
  auto params = [](Pairs contracting, Pairs batching = {{}, {}}) {
    return Params{{"contracting_dims", contracting, true}, {"batching_dims", batching, true}};
  };
  expect_error("dot_general", {f64({10, 1}), f64({5, 3})}, params({{1}, {0}}), "shape",
               "Can't perform dot general where shape(lhs) = (10,1) and shape(rhs) = (5,3) because the sizes of the "
               "contracting_dims don't match.",
               "x The contracting_dims are 2 of `lhs`, with sizes (1), and 1 of `rhs`, with sizes (5).");
  expect_error("dot_general", {f64({2}), i32({2})}, params({{0}, {0}}), "dtype",
               "`lhs` and `rhs` must have the same dtype.", "x Got <f64> and <i32>.");
  expect_error("dot_general", {f64({2}), f64({2})}, params({{0}, {}}), "argument",
               "`contracting_dims` must name as many dimensions of `lhs` as of `rhs`.", "x Got 1 and 0.");
  expect_error("dot_general", {f64({2}), f64({2})}, params({{1}, {0}}), "argument",
               "`contracting_dims` contains index outside the valid range.", "x Got 2, but `lhs` has 1 dimension.");
  expect_error("dot_general", {f64({2, 2}), f64({2, 2})}, params({{0}, {0}}, {{0}, {1}}), "argument",
               "`contracting_dims` and `batching_dims` of `lhs` contains duplicate dimension indices.",
               "x Got [1, 1]. Each dimension index must appear only once.");
}

}  // namespace
}  // namespace anvil::test
