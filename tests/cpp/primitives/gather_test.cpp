// Gather and scatter: values at the edges, the order of updates, derivatives, errors.
#include "support/random_index.h"
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;

Program gathered(Shape slices, IndexDims dims) {
  return [=](graph::Graph&, const std::vector<Var>& x) { return std::vector<Var>{gather(x[0], x[1], slices, dims)}; };
}
Program scattered(IndexDims dims, const char* combiner, bool unique = false) {
  return [=](graph::Graph&, const std::vector<Var>& x) {
    return std::vector<Var>{scatter(x[0], x[1], x[2], dims, combiner, unique)};
  };
}
Tensor ints(Shape shape, const std::vector<double>& values, DType t = DType::i32) {
  return tensor(t, std::move(shape), values);
}
Tensor doubles(Shape shape, const std::vector<double>& values) { return tensor(DType::f64, std::move(shape), values); }

const IndexDims elements_of_vector{{}, {0}, {}, {}, {0}, 1};
const IndexDims rows{{1}, {0}, {}, {}, {0}, 1}, columns{{0}, {1}, {}, {}, {1}, 1};
const IndexDims windows_of_vector{{1}, {}, {}, {}, {0}, 1};
const IndexDims pairs{{}, {0, 1}, {}, {}, {0, 1}, 1};

TEST(Gather, TakesRowsColumnsAndElements) {
  Tensor x = counting({3, 2});
  expect_values(gathered({1, 2}, rows), {x, ints({2}, {2, 0})}, {2, 2}, {3, 1, 6, 4});
  expect_values(gathered({3, 1}, columns), {x, ints({3}, {1, 1, 0})}, {3, 3}, {4, 5, 6, 4, 5, 6, 1, 2, 3});
  expect_values(gathered({1, 1}, pairs), {x, ints({2, 2}, {0, 2, 1, 0})}, {2}, {4, 3});
  IndexDims turned = pairs;
  turned.map = {1, 0};
  expect_values(gathered({1, 1}, turned), {x, ints({2, 2}, {1, 0, 0, 2})}, {2}, {4, 3});
  turned.vector = 0;
  expect_values(gathered({1, 1}, turned), {x, ints({2, 2}, {1, 0, 1, 2})}, {2}, {4, 6});
}

TEST(Gather, MovesWindowsInside) {
  for (DType t : {DType::i8, DType::i16, DType::i32, DType::i64, DType::ui8, DType::ui32, DType::ui64}) {
    Tensor at = ints({4}, {-1, 1, 3, 4}, t);
    set_element(at, 3, highest(t));
    if (is_signed_integer(t)) set_element(at, 0, lowest(t));
    expect_values(gathered({2}, windows_of_vector), {counting({4}), at}, {4, 2}, {1, 2, 3, 3, 2, 3, 4, 4});
  }
}

TEST(Gather, GoesThroughBatches) {
  IndexDims dims{{}, {1}, {0}, {0}, {1}, 1};  // one index into each row
  expect_values(gathered({1, 1}, dims), {counting({3, 2}), ints({3}, {1, 0, 1})}, {3}, {4, 2, 6});
  dims = {{1}, {}, {0}, {1}, {1}, 0};  // the components first
  expect_values(gathered({1, 2}, dims), {counting({2, 3}), ints({1, 2}, {1, 0})}, {2, 2}, {3, 2, 5, 4});
}

TEST(Gather, OfNothing) {
  expect_values(gathered({1, 2}, rows), {counting({3, 2}), ints({0}, {})}, {0, 2}, {});
  expect_values(gathered({1, 0}, rows), {counting({3, 2}), ints({2}, {0, 1})}, {2, 0}, {});
  expect_values(gathered({0, 2}, rows), {counting({0, 2}), ints({1}, {0})}, {1, 2}, {0, 0});
  expect_values(gathered({}, {{}, {}, {}, {}, {}, 1}), {counting({}), ints({2, 0}, {})}, {2}, {1, 1});
}

TEST(Scatter, CombinesInOrder) {
  Tensor x = counting({4}), at = ints({4}, {1, 3, 1, 1}), u = doubles({4}, {10, 20, 30, 7});
  expect_values(scattered(elements_of_vector, "add"), {x, at, u}, {4}, {1, 49, 3, 24});
  expect_values(scattered(elements_of_vector, ""), {x, at, u}, {4}, {1, 7, 3, 20});
  expect_values(scattered(elements_of_vector, "mul"), {x, at, u}, {4}, {1, 2 * 10 * 30 * 7, 3, 80});
  expect_values(scattered(elements_of_vector, "maximum"), {x, at, u}, {4}, {1, 30, 3, 20});
  expect_values(scattered(elements_of_vector, "minimum"), {x, at, u}, {4}, {1, 2, 3, 4});
  expect_values(scattered(elements_of_vector, "sub"), {x, at, u}, {4}, {1, -45, 3, -16});
}

TEST(Scatter, LeavesOutWhatIsOutside) {
  for (DType t : {DType::i8, DType::i32, DType::i64, DType::ui8, DType::ui32, DType::ui64}) {
    Tensor at = ints({4}, {-1, 0, 4, 3}, t);
    set_element(at, 0, is_signed_integer(t) ? lowest(t) : highest(t));
    set_element(at, 2, highest(t));
    expect_values(scattered(elements_of_vector, "add"), {counting({4}), at, doubles({4}, {10, 20, 30, 40})}, {4},
                  {21, 2, 3, 44});
  }
  // windows that lie inside in part
  Tensor u = doubles({3, 2}, {10, 20, 30, 1, 2, 3});
  expect_values(scattered(windows_of_vector, "add"), {counting({3}), ints({3}, {-1, 1, 2}), u}, {3}, {2, 22, 35});
  expect_values(scattered(rows, ""), {counting({2, 2}), ints({2}, {2, 1}), doubles({2, 2}, {7, 8, 9, 10})}, {2, 2},
                {1, 8, 3, 10});
}

TEST(Scatter, GoesThroughIndicesInRowMajorOrder) {
  Tensor at = ints({2, 2}, {0, 0, 0, 0});
  IndexDims dims{{}, {0}, {}, {}, {0}, 2};
  expect_values(scattered(dims, ""), {counting({1}), at, doubles({2, 2}, {1, 2, 3, 4})}, {1}, {4});
  expect_values(scattered(dims, ""), {counting({1}), ints({2, 2}, {0, 0, 0, 1}), doubles({2, 2}, {1, 2, 3, 4})}, {1},
                {2});
}

TEST(Scatter, TakesAnyFunctionOfSeveralTensors) {
  auto region = std::make_shared<graph::Graph>();
  std::vector<Var> v;
  for (DType t : {DType::f64, DType::i32, DType::f64, DType::i32}) v.push_back(input(*region, {t, {}}));
  Var larger = v[2] > v[0];  // the largest update with its label
  region->outputs = {select(larger, v[2], v[0]).value, select(larger, v[3], v[1]).value};
  auto program = [&](graph::Graph& g, const std::vector<Var>& x) {
    Params params = {{"update_window_dims", Ints{}, true},
                     {"inserted_window_dims", Ints{0}, true},
                     {"input_batching_dims", Ints{}, true},
                     {"scatter_indices_batching_dims", Ints{}, true},
                     {"scatter_dims_to_operand_dims", Ints{0}, true},
                     {"index_vector_dim", int64_t{1}, true},
                     {"indices_are_sorted", false},
                     {"unique_indices", false},
                     {"update_computation", region}};
    std::vector<Var> results;
    std::vector<ValuePtr> operands;
    for (const Var& o : x) operands.push_back(o.value);
    for (auto& r : record(g, registry().at("scatter"), operands, params)) results.push_back({&g, r});
    return std::vector<Var>{convert(results[1], DType::f64) * 100.0 + results[0]};
  };
  expect_values(program,
                {doubles({3}, {5, 5, 5}), ints({3}, {1, 1, 1}), ints({4}, {0, 1, 0, 8}), doubles({4}, {6, 4, 9, 9}),
                 ints({4}, {2, 3, 4, 5})},
                {3}, {409, 105, 105});
}

TEST(Gather, GradientsGoToThePlacesThatAreRead) {
  Tensor at = spread_values(DType::f64, {3, 2});
  auto squared = [](Program p) {
    return [p](graph::Graph& g, const std::vector<Var>& x) {
      std::vector<Var> y = p(g, {x[0] * x[0], x[1]});
      return std::vector<Var>{y[0] * y[0]};
    };
  };
  expect_gradients(squared(gathered({1, 2}, rows)), {at, ints({4}, {2, 0, 2, 8})});
  expect_gradients(squared(gathered({2, 1}, {{0, 2}, {}, {}, {}, {0, 1}, 1})), {at, ints({2, 2}, {1, 6, 0, -4})});
  expect_gradients(squared(gathered({1, 1}, {{}, {1}, {0}, {0}, {1}, 1})), {at, ints({3}, {1, 0, 1}, DType::ui8)});
  expect_gradients(squared(gathered({1, 2}, rows)), {at, ints({0}, {})});
}

Program squares(Program p) {
  return [p](graph::Graph& g, const std::vector<Var>& v) {
    std::vector<Var> y = p(g, {v[0] * v[0], v[1], v[2] * v[2]});
    return std::vector<Var>{y[0] * y[0]};
  };
}

// Updates of one place more than once, of places outside, and by windows that are inside in part.
TEST(Scatter, Gradients) {
  Tensor x = spread_values(DType::f64, {4}, 0.4, 1.6), u = spread_values(DType::f64, {5}, 0.4, 1.6, 3);
  Tensor windows = spread_values(DType::f64, {3, 2}, 0.4, 1.6, 5);
  for (const char* combiner : {"add", "sub", "", "mul", "maximum", "minimum"}) {
    SCOPED_TRACE(combiner);
    expect_gradients(squares(scattered(elements_of_vector, combiner)), {x, ints({5}, {1, 3, 1, 8, 1}), u}, 2, 2e-5);
    expect_gradients(squares(scattered(elements_of_vector, combiner, true)),
                     {x, ints({5}, {1, 3, -1, 8, 0}, DType::i8), u}, 2, 2e-5);
    expect_gradients(squares(scattered(windows_of_vector, combiner)), {x, ints({3}, {-1, 1, 3}), windows}, 2, 2e-5);
    expect_gradients(squares(scattered({{}, {0}, {}, {}, {0}, 1}, combiner)), {x, ints({0}, {}), doubles({0}, {})});
  }
  Tensor m = spread_values(DType::f64, {3, 2}, 0.4, 1.6), w = spread_values(DType::f64, {3}, 0.4, 1.6, 2);
  expect_gradients(squares(scattered({{}, {1}, {0}, {0}, {1}, 1}, "add")), {m, ints({3}, {1, 0, 1}), w});
}

// Of a large tensor only the places of few updates are looked at.
TEST(Scatter, GradientsOfFewUpdates) {
  const Tensor x = spread_values(DType::f64, {170}, 0.4, 1.6), u = spread_values(DType::f64, {5}, 0.4, 1.6, 3);
  for (const char* combiner : {"", "mul", "maximum", "minimum"}) {
    SCOPED_TRACE(combiner);
    expect_gradients(squares(scattered(elements_of_vector, combiner)), {x, ints({5}, {1, 3, 1, 800, 1}), u}, 1);
    expect_gradients(squares(scattered(windows_of_vector, combiner)),
                     {x, ints({2}, {-1, 1}), spread_values(DType::f64, {2, 2}, 0.4, 1.6, 5)}, 1);
  }
}

TEST(Scatter, GradientOfProductsWithZeros) {
  auto product = scattered(elements_of_vector, "mul");
  Tensor x = doubles({3}, {2, 3, 4}), at = ints({5}, {0, 0, 1, 1, 1}), u = doubles({5}, {0, 5, 0, 0, 7});
  expect_gradients(product, {x, at, u}, 2);
}

// Neither associative nor commutative: what counts is which update comes when, and that those outside
// or of another round give nothing back, though their powers be infinite.
TEST(Scatter, GradientOfOtherFunctions) {
  auto power = squares(scattered(elements_of_vector, "power"));
  Tensor x = spread_values(DType::f64, {4}, 0.4, 1.6), u = spread_values(DType::f64, {5}, 0.4, 1.6, 3);
  expect_gradients(power, {x, ints({5}, {1, 3, 1, 8, 1}), u}, 2, 2e-5);
  expect_gradients(power, {x, ints({5}, {7, -1, 9, 8, 4}), u}, 1);
  expect_gradients(squares(scattered(windows_of_vector, "power")),
                   {x, ints({3}, {-1, 1, 1}), spread_values(DType::f64, {3, 2}, 0.4, 1.6, 5)}, 2, 2e-5);
  expect_gradients(squares(scattered(elements_of_vector, "power")), {x, ints({0}, {}), doubles({0}, {})});
  expect_gradients(scattered(elements_of_vector, "power"),
                   {doubles({2}, {2, 3}), ints({2}, {1, 5}), doubles({2}, {2, 1e6})}, 1);
}

Params gather_params(Shape slices, const IndexDims& d) {
  return {{"slice_sizes", slices},
          {"offset_dims", d.window, true},
          {"collapsed_slice_dims", d.collapsed, true},
          {"operand_batching_dims", d.batch, true},
          {"start_indices_batching_dims", d.indices_batch, true},
          {"start_index_map", d.map, true},
          {"index_vector_dim", d.vector, true},
          {"indices_are_sorted", false},
          {"unique_indices", false}};
}

TEST(Gather, Errors) {
  auto fails = [](Shape slices, IndexDims d, const char* kind, const char* message, const char* detail,
                  Shape indices = {5}, DType t = DType::i32) {
    expect_error("gather", {f64({3, 2}), {t, indices}}, gather_params(slices, d), kind, message, detail);
  };
  fails({1, 2}, rows, "dtype", "`start_indices` must have dtype i8 to i64 or ui8 to ui64.", "x Got <f32>.", {5},
        DType::f32);
  fails({1, 2}, {{1}, {0}, {}, {}, {0}, 2}, "argument", "`index_vector_dim` contains index outside the valid range.",
        "x Got 3, but `start_indices`, with one more at its end, has 2 dimensions.");
  fails({1, 2}, {{1}, {0}, {}, {}, {0, 1}, 1}, "argument",
        "`start_index_map` must have one entry for each component of an index in `start_indices`.",
        "x Got length 2 for 1 component.");
  fails({1, 2}, {{}, {0}, {}, {}, {0}, 1}, "argument",
        "`offset_dims`, `collapsed_slice_dims` and `operand_batching_dims` must have one entry for each dimension of "
        "`operand` together.",
        "x Got 1 for shape (3,2).");
  fails({1, 1}, {{}, {1, 0}, {}, {}, {0}, 1}, "argument", "`collapsed_slice_dims` must be sorted.", "x Got [2, 1].");
  fails({1, 1}, {{}, {0, 0}, {}, {}, {0}, 1}, "argument",
        "`collapsed_slice_dims` contains duplicate dimension indices.", nullptr);
  fails({1, 1}, {{2, 1}, {}, {}, {}, {0}, 1}, "argument", "`offset_dims` must be sorted.", "x Got [3, 2].");
  fails({1, 2}, {{2}, {0}, {}, {}, {0}, 1}, "argument", "`offset_dims` contains index outside the valid range.",
        "x Got 3, but the tensor of windows has 2 dimensions.");
  fails({1, 1}, {{}, {0, 1}, {0}, {0}, {1}, 1}, "argument",
        "`collapsed_slice_dims` and `operand_batching_dims` must have no dimension in common.", "x Both contain 1.");
  fails({1, 1}, {{}, {1}, {0}, {0}, {0}, 1}, "argument",
        "`start_index_map` and `operand_batching_dims` must have no dimension in common.", "x Both contain 1.");
  fails({1, 1}, {{}, {1}, {0}, {}, {1}, 1}, "argument",
        "`operand_batching_dims` and `start_indices_batching_dims` must have the same length.", "x Got 1 and 0.");
  fails({1, 1}, {{}, {1}, {0}, {0}, {1}, 0}, "argument",
        "`start_indices_batching_dims` must not contain `index_vector_dim`.", "x Both are 1.", {1, 3});
  fails({1, 1}, {{}, {1}, {0}, {0}, {1}, 1}, "shape",
        "The dimensions of `operand_batching_dims` and `start_indices_batching_dims` must have the same sizes.",
        "x Entry 1 has sizes 3 and 5.");
  fails({4, 1}, {{0, 2}, {}, {}, {}, {0}, 1}, "shape", "`slice_sizes` must not be larger than `operand`.",
        "x Dimension 1 has size 4, that of `operand` has 3.");
  fails({2, 2}, rows, "shape", "`slice_sizes` must be at most 1 in `collapsed_slice_dims` and `operand_batching_dims`.",
        "x Got 2 in dimension 1.");
  fails({1}, rows, "argument", "`slice_sizes` must have one entry for each dimension of `operand`.", nullptr);
}

TEST(Scatter, Errors) {
  auto fails = [](std::vector<TensorType> operands, IndexDims d, const char* kind, const char* message,
                  const char* detail, graph::GraphPtr region = combiner("add", DType::f64)) {
    Params p = {{"update_window_dims", d.window, true},
                {"inserted_window_dims", d.collapsed, true},
                {"input_batching_dims", d.batch, true},
                {"scatter_indices_batching_dims", d.indices_batch, true},
                {"scatter_dims_to_operand_dims", d.map, true},
                {"index_vector_dim", d.vector, true},
                {"indices_are_sorted", false},
                {"unique_indices", false},
                {"update_computation", region}};
    expect_error("scatter", operands, p, kind, message, detail);
  };
  fails({f64({3}), i32({2}), i32({2})}, elements_of_vector, "dtype", "`input` and `update` must have the same dtype.",
        "x Got <f64> and <i32>.");
  fails({f64({3}), i32({2}), f64({2, 1})}, elements_of_vector, "shape",
        "`update` must have the dimensions of `scatter_indices` but for `index_vector_dim`, and `update_window_dims`.",
        "x Got shape (2,1) for 1 and 0 dimensions.");
  fails({f64({3}), i32({2}), f64({4})}, elements_of_vector, "shape",
        "`update` must have the sizes of `scatter_indices` outside of its windows.",
        "x Dimension 1 of `update` has size 4, dimension 1 of `scatter_indices` has 2.");
  fails({f64({3}), i32({2}), f64({2, 4})}, windows_of_vector, "shape",
        "The windows of `update` must not be larger than `input`.",
        "x Dimension 2 of `update` has size 4, dimension 1 of `input` has 3.");
  fails({f64({3}), i32({2}), f64({2}), f64({2})}, elements_of_vector, "argument",
        "`scatter` takes as many inputs as updates, and the indices between them.", "x Got 4 operands.");
  fails({f64({3}), f64({4}), i32({2}), f64({2}), f64({2})}, elements_of_vector, "shape", "`input` must have shape (3).",
        "x Got (4).");
  fails({f64({3}), i32({2}), f64({2})}, elements_of_vector, "argument", "The function of `scatter` must take f64, f64.",
        "x Got f32, f32.", combiner("add", DType::f32));
}

}  // namespace
}  // namespace anvil::test
