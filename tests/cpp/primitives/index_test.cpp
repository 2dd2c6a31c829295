// Slices with fixed bounds and with starts known at run time.
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;

std::vector<Var> from(const std::vector<Var>& x, size_t first) {
  return {x.begin() + static_cast<std::ptrdiff_t>(first), x.end()};
}

TEST(StaticSlice, ValuesAndGradients) {
  auto part = [](Ints start, Ints limit, Ints stride) {
    return
        [=](graph::Graph&, const std::vector<Var>& x) { return std::vector<Var>{slice(x[0], start, limit, stride)}; };
  };
  expect_values(part({1}, {4}, {1}), {counting({5})}, {3}, {2, 3, 4});
  expect_values(part({0}, {5}, {2}), {counting({5})}, {3}, {1, 3, 5});
  expect_values(part({1}, {5}, {3}), {counting({5})}, {2}, {2, 5});
  expect_values(part({1, 0}, {2, 3}, {1, 2}), {counting({2, 3})}, {1, 2}, {2, 6});
  expect_values(part({2}, {2}, {1}), {counting({5})}, {0}, {});
  expect_values(part({0, 0}, {0, 2}, {1, 1}), {counting({0, 2})}, {0, 2}, {});
  expect_gradients(part({1, 0}, {4, 3}, {2, 1}), {spread_values(DType::f64, {5, 3})});
  expect_gradients(part({3, 1}, {3, 2}, {1, 1}), {spread_values(DType::f64, {5, 3})});
}

TEST(StaticSlice, Errors) {
  auto params = [](Ints start, Ints limit, Ints stride) {
    return Params{{"start_indices", start, true}, {"limit_indices", limit}, {"strides", stride}};
  };
  const char* bounds = "`start_indices` and `limit_indices` must lie within `operand`, the start not after the limit.";
  expect_error("static_slice", {f64({3})}, params({0}, {4}, {1}), "argument", bounds,
               "x Got 1 to 4 in dimension 1, which has size 3.");
  expect_error("static_slice", {f64({3})}, params({-1}, {3}, {1}), "argument", bounds,
               "x Got 0 to 3 in dimension 1, which has size 3.");
  expect_error("static_slice", {f64({1, 3})}, params({0, 2}, {1, 1}, {1, 1}), "argument", bounds,
               "x Got 3 to 1 in dimension 2, which has size 3.");
  expect_error("static_slice", {f64({3})}, params({0}, {3}, {0}), "argument", "`strides` must be at least 1.",
               "x Got 0 in dimension 1.");
  expect_error("static_slice", {f64({3})}, params({0}, {3}, {}), "argument",
               "`strides` must have one entry for each dimension of `operand`.",
               "x Got length 0, but `operand` has 1 dimension.");
}

TEST(DynamicSlice, ClampsItsStarts) {
  auto sizes = [](Shape s) {
    return
        [=](graph::Graph&, const std::vector<Var>& x) { return std::vector<Var>{dynamic_slice(x[0], from(x, 1), s)}; };
  };
  auto at = [](DType t, double i) { return tensor(t, {}, {i}); };
  for (DType t : {DType::i8, DType::i32, DType::i64, DType::ui8, DType::ui64}) {
    expect_values(sizes({2}), {counting({5}), at(t, 1)}, {2}, {2, 3});
    expect_values(sizes({2}), {counting({5}), at(t, 4)}, {2}, {4, 5});
    expect_values(sizes({2}), {counting({5}), at(t, 0)}, {2}, {1, 2});
    expect_values(sizes({2}), {counting({5}), graph::full({t, {}}, lowest(t))}, {2}, {1, 2});
    expect_values(sizes({2}), {counting({5}), graph::full({t, {}}, highest(t))}, {2}, {4, 5});
  }
  expect_values(sizes({1, 2}), {counting({2, 3}), at(DType::i32, 1), at(DType::i32, 1)}, {1, 2}, {4, 6});
  expect_values(sizes({0}), {counting({2}), at(DType::i32, 1)}, {0}, {});
  expect_values(sizes({}), {counting({})}, {}, {1});
}

TEST(DynamicUpdateSlice, ClampsItsStarts) {
  auto update = [](graph::Graph&, const std::vector<Var>& x) {
    return std::vector<Var>{dynamic_update_slice(x[0], x[1], from(x, 2))};
  };
  auto at = [](double i) { return tensor(DType::i32, {}, {i}); };
  Tensor two = tensor(DType::f64, {2}, {8, 9});
  expect_values(update, {counting({4}), two, at(1)}, {4}, {1, 8, 9, 4});
  expect_values(update, {counting({4}), two, at(8)}, {4}, {1, 2, 8, 9});
  expect_values(update, {counting({4}), two, at(-10)}, {4}, {8, 9, 3, 4});
  expect_values(update, {counting({2}), two, at(1)}, {2}, {8, 9});
  expect_values(update, {counting({2}), counting({0}), at(1)}, {2}, {1, 2});
  expect_values(update, {counting({2, 2}), tensor(DType::f64, {1, 1}, {7}), at(0), at(1)}, {2, 2}, {1, 2, 7, 4});
  expect_values(update, {counting({}), tensor(DType::f64, {}, {7})}, {}, {7});
  expect_values(
      [](graph::Graph& g, const std::vector<Var>& x) {
        return std::vector<Var>{dynamic_update_slice(literal(g, 0, f64({4})), x[0], {x[1]})};
      },
      {two, at(2)}, {4}, {0, 0, 8, 9});
}

TEST(DynamicSlices, GradientsGoToThePartThatIsRead) {
  auto read = [](graph::Graph&, const std::vector<Var>& x) {
    Var y = dynamic_slice(x[0] * x[0], from(x, 1), {2, 1});
    return std::vector<Var>{y * y};
  };
  auto write = [](graph::Graph&, const std::vector<Var>& x) {
    Var y = dynamic_update_slice(x[0] * x[0], x[1] * x[1], from(x, 2));
    return std::vector<Var>{y * y};
  };
  Tensor x = spread_values(DType::f64, {3, 2}), part = spread_values(DType::f64, {2, 1}, -1, 1, 3);
  for (double start : {-1.0, 1.0, 6.0}) {
    Tensor i = tensor(DType::i32, {}, {start}), j = tensor(DType::i32, {}, {1});
    expect_gradients(read, {x, i, j});
    expect_gradients(write, {x, part, i, j});
  }
}

TEST(DynamicSlices, Errors) {
  Params sizes = {{"slice_sizes", Ints{2}}};
  expect_error("dynamic_slice", {f64({3}), i32(), i32()}, sizes, "argument",
               "`operand` needs one start index for each of its dimensions.", "x Got 2 for shape (3).");
  expect_error("dynamic_slice", {f64({3}), i32({2})}, sizes, "shape",
               "Start index 1 must be a scalar, but has shape (2).");
  expect_error("dynamic_slice", {f64({3}), f64()}, sizes, "dtype",
               "Start index 1 must have dtype i8 to i64 or ui8 to ui64.", "x Got <f64>.");
  expect_error("dynamic_slice", {f64({3, 3}), i32(), {DType::i64, {}}}, {{"slice_sizes", Ints{2, 2}}}, "dtype",
               "All start indices must have the same dtype.", "x Got <i32> and <i64>.");
  expect_error("dynamic_slice", {f64({1}), i32()}, sizes, "shape", "`slice_sizes` must not be larger than `operand`.",
               "x Dimension 1 has size 2, that of `operand` has 1.");
  expect_error("dynamic_slice", {f64({1}), i32()}, {{"slice_sizes", Ints{-1}}}, "argument",
               "`slice_sizes` must not contain negative sizes.");
  expect_error("dynamic_update_slice", {f64({3}), i32({1}), i32()}, {}, "dtype",
               "`operand` and `update` must have the same dtype.", "x Got <f64> and <i32>.");
  expect_error("dynamic_update_slice", {f64({3}), f64({1, 1}), i32()}, {}, "shape",
               "`operand` and `update` must have the same number of dimensions.", "x Got shapes (3) and (1,1).");
  expect_error("dynamic_update_slice", {f64({3}), f64({4}), i32()}, {}, "shape",
               "`update` must not be larger than `operand`.");
}

}  // namespace
}  // namespace anvil::test
