// Constants, spreading, reshaping, permutations, joining and padding.
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;

Params pads(Ints low, Ints high, Ints interior) {
  return {{"edge_padding_low", low}, {"edge_padding_high", high}, {"interior_padding", interior}};
}
Var scalar(graph::Graph& g, double x) { return literal(g, x, f64()); }

TEST(Fill, Values) {
  auto fill = [](graph::Graph& g, const std::vector<Var>&) {
    Params params = {{"value", Scalar(7.5)}, {"dtype", DType::f32}, {"shape", Ints{2, 1}}, {"ambiguous", true}};
    return std::vector<Var>{{&g, record(g, registry().at("fill"), {}, params).at(0)}};
  };
  expect_values(fill, {}, {2, 1}, {7.5, 7.5});
  EXPECT_NE(graph::print(build(fill, {}))
                .find("%1: f32?[2, 1] = fill [value = 7.5, dtype = f32, shape = c(2, 1), ambiguous = TRUE] ()"),
            std::string::npos);
  expect_error("fill", {}, {{"value", Scalar(1)}, {"dtype", DType::f32}, {"shape", Ints{2, -1}}, {"ambiguous", false}},
               "argument", "`shape` must not contain negative sizes.", "x Got (2,-1).");
}

TEST(Iota, CountsAlongOneDimension) {
  auto along = [](int64_t dim, DType t, int64_t start) {
    return [=](graph::Graph& g, const std::vector<Var>&) { return std::vector<Var>{iota(g, dim, t, {2, 3}, start)}; };
  };
  expect_values(along(0, DType::f32, 0), {}, {2, 3}, {0, 1, 0, 1, 0, 1});
  expect_values(along(1, DType::i8, 1), {}, {2, 3}, {1, 1, 2, 2, 3, 3});
  expect_values(along(1, DType::f64, -1), {}, {2, 3}, {-1, -1, 0, 0, 1, 1});
  expect_values(along(1, DType::f64, int64_t(1) << 40), {}, {2, 3},
                {0x1p40, 0x1p40, 0x1p40 + 1, 0x1p40 + 1, 0x1p40 + 2, 0x1p40 + 2});
  auto params = [](int64_t dim, DType t) {
    return Params{{"dim", dim, true}, {"dtype", t}, {"shape", Ints{3}}, {"start", int64_t(0)}, {"ambiguous", false}};
  };
  expect_error("iota", {}, params(1, DType::i32), "argument", "`dim` contains index outside the valid range.",
               "x Got 2, but `shape` has 1 dimension.");
  expect_error("iota", {}, params(0, DType::boolean), "dtype", "`dtype` must be " + name(Group::numeric) + ".",
               "x Got <bool>.");
}

TEST(BroadcastInDim, ValuesAndGradients) {
  auto to = [](Shape shape, Ints dims) {
    return
        [=](graph::Graph&, const std::vector<Var>& x) { return std::vector<Var>{broadcast_in_dim(x[0], shape, dims)}; };
  };
  expect_values(to({2, 3}, {1}), {counting({3})}, {2, 3}, {1, 1, 2, 2, 3, 3});
  expect_values(to({2, 3}, {1, 0}), {counting({3, 2})}, {2, 3}, {1, 4, 2, 5, 3, 6});
  expect_values(to({2, 3}, {1, 0}), {counting({3, 1})}, {2, 3}, {1, 1, 2, 2, 3, 3});
  expect_values(to({2, 2}, {}), {counting({})}, {2, 2}, {1, 1, 1, 1});
  expect_values(to({0, 2}, {}), {counting({})}, {0, 2}, {});
  expect_gradients(to({2, 3}, {1}), {spread_values(DType::f64, {3})});
  expect_gradients(to({2, 3}, {1, 0}), {spread_values(DType::f64, {3, 2})});
  expect_gradients(to({4, 2, 3}, {2, 0}), {spread_values(DType::f64, {1, 4})});
  expect_gradients(to({4, 2, 3}, {2, 1, 0}), {spread_values(DType::f64, {3, 1, 1})});
}

TEST(BroadcastInDim, GradientOfAScalarIsOneSum) {
  auto spread = [](graph::Graph&, const std::vector<Var>& x) {
    return std::vector<Var>{broadcast_in_dim(x[0], {2, 3}, {})};
  };
  EXPECT_EQ(printed_gradient(spread, {f64()}),
            "<AnvilGraph>\n  Inputs:\n    %x1: f64[]\n  Constants:\n    %c1: f64[]\n  Body:\n"
            "    %1: f64[2, 3] = broadcast_in_dim [shape = c(2, 3), broadcast_dimensions = <any>] (%x1)\n"
            "    %2: f64[] = reduce_sum [dims = c(1, 2), drop = TRUE] (%1)\n"
            "    %3: f64[2, 3] = broadcast_in_dim [shape = c(2, 3), broadcast_dimensions = <any>] (%c1)\n"
            "    %4: f64[] = reduce_sum [dims = c(1, 2), drop = TRUE] (%3)\n  Outputs:\n    %4: f64[]");
}

TEST(BroadcastInDim, Errors) {
  auto params = [](Shape shape, Ints dims) { return Params{{"shape", shape}, {"broadcast_dimensions", dims, true}}; };
  expect_error("broadcast_in_dim", {f64({2, 3})}, params({4, 3}, {0, 1}), "shape",
               "`operand` of shape (2,3) can't be broadcast to (4,3).",
               "x Dimension 1 of `operand` has size 2, dimension 1 of `shape` has size 4.");
  expect_error("broadcast_in_dim", {f64({2})}, params({2, 2}, {2}), "argument",
               "`broadcast_dimensions` contains index outside the valid range.",
               "x Got 3, but `shape` has 2 dimensions.");
  expect_error("broadcast_in_dim", {f64({2, 2})}, params({2, 2}, {0, 0}), "argument",
               "`broadcast_dimensions` contains duplicate dimension indices.",
               "x Got [1, 1]. Each dimension index must appear only once.");
  expect_error("broadcast_in_dim", {f64({2})}, params({2, 2}, {}), "argument",
               "`broadcast_dimensions` must have one entry for each dimension of `operand`.",
               "x Got length 0, but `operand` has 1 dimension.");
}

TEST(Reshape, KeepsTheOrderOfMemory) {
  auto to = [](Shape shape) {
    return [=](graph::Graph&, const std::vector<Var>& x) { return std::vector<Var>{reshape(x[0], shape)}; };
  };
  for (Shape shape : {Shape{6, 4}, Shape{2, 3, 4}, Shape{2, 12}, Shape{24}, Shape{1, 2, 1, 3, 4, 1}, Shape{3, 2, 4},
                      Shape{2, 3, 2, 2}})
    for (Shape from : {Shape{6, 4}, Shape{2, 12}, Shape{24}, Shape{2, 1, 3, 4}})
      expect_values(to(shape), {counting(from)}, shape, values(counting({24})));
  expect_values(to({}), {counting({1, 1})}, {}, {1});
  expect_values(to({1}), {counting({})}, {1}, {1});
  expect_values(to({3, 0}), {counting({0, 5, 7})}, {3, 0}, {});
  expect_values(
      [](graph::Graph& g, const std::vector<Var>&) {
        return std::vector<Var>{reshape(literal(g, 3, f64({2, 2})), {4})};
      },
      {}, {4}, {3, 3, 3, 3});
  expect_gradients(to({3, 2, 2}), {spread_values(DType::f64, {4, 3})});
  expect_error("reshape", {f64({2, 3})}, {{"shape", Ints{4, 2}}}, "shape",
               "Size of output must equal to size of operand.",
               "x `operand` has shape (2,3) (6 elements), `shape` is (4,2) (8 elements).");
}

TEST(Transpose, ValuesGradientsErrors) {
  auto by = [](Ints permutation) {
    return [=](graph::Graph&, const std::vector<Var>& x) { return std::vector<Var>{transpose(x[0], permutation)}; };
  };
  expect_values(by({1, 0}), {counting({2, 3})}, {3, 2}, {1, 3, 5, 2, 4, 6});
  expect_values(by({2, 0, 1}), {counting({2, 1, 3})}, {3, 2, 1}, {1, 3, 5, 2, 4, 6});
  expect_values(by({}), {counting({})}, {}, {1});
  expect_gradients(by({2, 0, 1}), {spread_values(DType::f64, {2, 4, 3})});
  expect_error("transpose", {f64({2, 3})}, {{"permutation", Ints{1, 1}, true}}, "argument",
               "`permutation` must be a permutation of c(1, 2).", "x Got c(2, 2) for `operand` with 2 dimensions.");
  expect_error("transpose", {f64({2, 3})}, {{"permutation", Ints{0}, true}}, "argument",
               "`permutation` must be a permutation of c(1, 2).", "x Got 1 for `operand` with 2 dimensions.");
}

TEST(Reverse, ValuesGradientsErrors) {
  auto along = [](Ints dims) {
    return [=](graph::Graph&, const std::vector<Var>& x) { return std::vector<Var>{reverse(x[0], dims)}; };
  };
  expect_values(along({0}), {counting({2, 3})}, {2, 3}, {2, 1, 4, 3, 6, 5});
  expect_values(along({1, 0}), {counting({2, 3})}, {2, 3}, {6, 5, 4, 3, 2, 1});
  expect_gradients(along({1}), {spread_values(DType::f64, {2, 3})});
  expect_error("reverse", {f64({2, 3})}, {{"dims", Ints{0, 0}, true}}, "argument",
               "`dims` contains duplicate dimension indices.");
}

TEST(Concatenate, ValuesGradientsErrors) {
  auto along = [](int64_t dim) {
    return [=](graph::Graph&, const std::vector<Var>& x) { return std::vector<Var>{concatenate(x, dim)}; };
  };
  expect_values(along(1), {counting({2, 1}), counting({2, 2})}, {2, 3}, {1, 2, 1, 2, 3, 4});
  expect_values(along(0), {counting({1, 2}), counting({2, 2})}, {3, 2}, {1, 1, 2, 2, 3, 4});
  expect_values(along(0), {counting({0, 2}), counting({2, 2}), counting({0, 2})}, {2, 2}, {1, 2, 3, 4});
  expect_values(along(0), {counting({0, 2}), counting({0, 2})}, {0, 2}, {});
  expect_gradients(along(0), {spread_values(DType::f64, {1, 2}), spread_values(DType::f64, {3, 2}),
                              spread_values(DType::f64, {0, 2})});
  expect_error("concatenate", {f64({2, 1}), f64({3, 1})}, {{"dimension", int64_t(1), true}}, "shape",
               "All tensors must have the same shape (except for the concatenation dimension).",
               "x Got shapes (2,1), (3,1) and dimension 2.");
  expect_error("concatenate", {f64({2}), i32({2})}, {{"dimension", int64_t(0), true}}, "dtype",
               "`..1` and `..2` must have the same dtype.", "x Got <f64> and <i32>.");
  expect_error("concatenate", {}, {{"dimension", int64_t(0), true}}, "argument",
               "`concatenate` needs at least one tensor.");
  expect_error("concatenate", {f64()}, {{"dimension", int64_t(0), true}}, "argument",
               "`dimension` contains index outside the valid range.");
}

TEST(Concatenate, IsAmbiguousWhenAllAre) {
  graph::Graph g;
  Var a = input(g, {DType::f32, {1}, true}), b = input(g, {DType::f32, {1}, false});
  EXPECT_TRUE(concatenate({a, a}, 0).type().ambiguous);
  EXPECT_FALSE(concatenate({a, b}, 0).type().ambiguous);
}

TEST(Pad, EdgesAndInterior) {
  auto with = [](Ints low, Ints high, Ints interior) {
    return [=](graph::Graph& g, const std::vector<Var>& x) {
      return std::vector<Var>{pad(x[0], scalar(g, 9), low, high, interior)};
    };
  };
  expect_values(with({1}, {2}, {0}), {counting({2})}, {5}, {9, 1, 2, 9, 9});
  expect_values(with({0}, {1}, {2}), {counting({3})}, {8}, {1, 9, 9, 2, 9, 9, 3, 9});
  expect_values(with({-1}, {-1}, {0}), {counting({4})}, {2}, {2, 3});
  expect_values(with({-1}, {2}, {0}), {counting({3})}, {4}, {2, 3, 9, 9});
  expect_values(with({-2}, {0}, {1}), {counting({3})}, {3}, {2, 9, 3});
  expect_values(with({-1}, {-1}, {1}), {counting({3})}, {3}, {9, 2, 9});
  expect_values(with({5}, {-4}, {0}), {counting({2})}, {3}, {9, 9, 9});
  expect_values(with({2}, {1}, {0}), {counting({0})}, {3}, {9, 9, 9});
  expect_values(with({0, 1}, {0, 0}, {0, 0}), {counting({2, 2})}, {2, 3}, {9, 9, 1, 2, 3, 4});
  expect_values(with({1, 1}, {1, 1}, {0, 0}), {counting({1, 2})}, {3, 4}, {9, 9, 9, 9, 1, 9, 9, 2, 9, 9, 9, 9});
  expect_values(with({}, {}, {}), {counting({})}, {}, {1});
}

TEST(Pad, GradientsOfOperandAndValue) {
  auto with = [](Ints low, Ints high, Ints interior) {
    return [=](graph::Graph&, const std::vector<Var>& x) {
      Var y = pad(x[0] * x[0], x[1] * x[1], low, high, interior);
      return std::vector<Var>{y * y};
    };
  };
  Tensor x = spread_values(DType::f64, {3, 2}), value = tensor(DType::f64, {}, {0.7});
  expect_gradients(with({1, 0}, {2, 1}, {0, 0}), {x, value});
  expect_gradients(with({0, 1}, {0, 0}, {2, 1}), {x, value});
  expect_gradients(with({-1, 1}, {-1, -1}, {0, 1}), {x, value});
  expect_gradients(with({-2, -1}, {3, 0}, {1, 0}), {x, value});
  expect_gradients(with({4, 0}, {-4, 0}, {0, 0}), {x, value});
}

TEST(Pad, Errors) {
  expect_error("pad", {f64({2}), i32()}, pads({0}, {0}, {0}), "dtype",
               "`operand` and `padding_value` must have the same dtype.");
  expect_error("pad", {f64({2}), f64({2})}, pads({0}, {0}, {0}), "shape", "`padding_value` must have shape ().",
               "x Got (2).");
  expect_error("pad", {f64({2}), f64()}, pads({0, 1}, {0}, {0}), "argument",
               "`edge_padding_low` must have one entry for each dimension of `operand`.",
               "x Got length 2, but `operand` has 1 dimension.");
  expect_error("pad", {f64({2}), f64()}, pads({0}, {0}, {-1}), "argument", "`interior_padding` must not be negative.",
               "x Got -1 in dimension 1.");
  expect_error("pad", {f64({2}), f64()}, pads({-2}, {-1}, {0}), "shape",
               "Negative `edge_padding_low` and `edge_padding_high` must not crop more than there is.",
               "x Dimension 1 would have size -1.");
}

}  // namespace
}  // namespace anvil::test
