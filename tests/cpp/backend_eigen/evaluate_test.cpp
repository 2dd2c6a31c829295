// Every primitive against values worked out by hand, in every dtype that holds them.
#include "backend_eigen/tensors.h"

namespace anvil::eigen {
namespace {

const std::vector<DType> integers = {DType::i8,  DType::i16,  DType::i32,  DType::i64,
                                     DType::ui8, DType::ui16, DType::ui32, DType::ui64};
const std::vector<DType> floats = {DType::f32, DType::f64};
std::vector<DType> join(std::vector<DType> a, const std::vector<DType>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
const std::vector<DType> numeric = join(integers, floats);
const std::vector<DType> all = join(numeric, {DType::boolean});

struct Operand {
  Shape shape;
  Numbers values;
};
struct Case {
  std::string primitive;
  std::vector<Operand> operands;
  Params params;
  Shape shape;
  Numbers expected;
};
void check(const std::vector<Case>& cases, const std::vector<DType>& dtypes, double tolerance = 0) {
  for (const Case& c : cases)
    for (DType dtype : dtypes) {
      SCOPED_TRACE(c.primitive + " of " + std::string(name(dtype)));
      std::vector<Tensor> operands;
      for (const Operand& o : c.operands) operands.push_back(tensor(dtype, o.shape, o.values));
      Tensor found = run(c.primitive, operands, c.params)[0];
      EXPECT_EQ(found.type.shape, c.shape);
      Numbers expected = c.expected;
      if (is_bool(dtype))
        for (double& x : expected) x = x != 0;
      expect_equal(numbers(found), expected, tolerance);
    }
}

Params pads(Ints low, Ints high, Ints interior) {
  return {{"edge_padding_low", low}, {"edge_padding_high", high}, {"interior_padding", interior}};
}
Params slices(Ints start, Ints limit, Ints strides) {
  return {{"start_indices", start, true}, {"limit_indices", limit}, {"strides", strides}};
}

TEST(Evaluate, MovesElementsOfAllDtypes) {
  const Operand matrix{{2, 3}, {1, 0, 3, 4, 5, 6}};  // rows 1 3 5 and 0 4 6
  check(
      {
          {"reshape", {matrix}, {{"shape", Ints{3, 2}}}, {3, 2}, matrix.values},
          {"reshape", {{{0, 3}, {}}}, {{"shape", Ints{7, 0}}}, {7, 0}, {}},
          {"transpose", {matrix}, {{"permutation", Ints{1, 0}, true}}, {3, 2}, {1, 3, 5, 0, 4, 6}},
          {"transpose", {{{2, 1, 2}, {1, 2, 3, 4}}}, {{"permutation", Ints{2, 0, 1}, true}}, {2, 2, 1}, {1, 3, 2, 4}},
          {"transpose", {{{}, {4}}}, {{"permutation", Ints{}, true}}, {}, {4}},
          {"broadcast_in_dim",
           {{{}, {7}}},
           {{"shape", Ints{2, 2}}, {"broadcast_dimensions", Ints{}, true}},
           {2, 2},
           {7, 7, 7, 7}},
          {"broadcast_in_dim",
           {{{3}, {1, 2, 0}}},
           {{"shape", Ints{2, 3}}, {"broadcast_dimensions", Ints{1}, true}},
           {2, 3},
           {1, 1, 2, 2, 0, 0}},
          {"broadcast_in_dim",
           {{{1, 2}, {1, 2}}},
           {{"shape", Ints{2, 3}}, {"broadcast_dimensions", Ints{1, 0}, true}},
           {2, 3},
           {1, 2, 1, 2, 1, 2}},
          {"broadcast_in_dim",
           {{{1}, {1}}},
           {{"shape", Ints{0, 2}}, {"broadcast_dimensions", Ints{0}, true}},
           {0, 2},
           {}},
          {"reverse", {matrix}, {{"dims", Ints{1}, true}}, {2, 3}, {5, 6, 3, 4, 1, 0}},
          {"reverse", {matrix}, {{"dims", Ints{0, 1}, true}}, {2, 3}, {6, 5, 4, 3, 0, 1}},
          {"reverse", {{{0}, {}}}, {{"dims", Ints{0}, true}}, {0}, {}},
          {"concatenate",
           {matrix, {{2, 1}, {7, 8}}},
           {{"dimension", int64_t(1), true}},
           {2, 4},
           {1, 0, 3, 4, 5, 6, 7, 8}},
          {"concatenate",
           {{{1, 2}, {1, 2}}, {{0, 2}, {}}, {{2, 2}, {3, 4, 5, 6}}},
           {{"dimension", int64_t(0), true}},
           {3, 2},
           {1, 3, 4, 2, 5, 6}},
          {"static_slice", {matrix}, slices({0, 0}, {2, 3}, {1, 2}), {2, 2}, {1, 0, 5, 6}},
          {"static_slice", {matrix}, slices({1, 1}, {2, 3}, {1, 1}), {1, 2}, {4, 6}},
          {"static_slice", {matrix}, slices({1, 1}, {1, 3}, {1, 1}), {0, 2}, {}},
          {"pad", {{{2}, {1, 2}}, {{}, {9}}}, pads({1}, {2}, {1}), {6}, {9, 1, 9, 2, 9, 9}},
          {"pad", {{{4}, {1, 2, 3, 4}}, {{}, {9}}}, pads({-1}, {-2}, {0}), {1}, {2}},
          {"pad", {{{3}, {1, 2, 3}}, {{}, {9}}}, pads({-1}, {-1}, {1}), {3}, {9, 2, 9}},
          {"pad", {{{3}, {1, 2, 3}}, {{}, {9}}}, pads({-3}, {4}, {0}), {4}, {9, 9, 9, 9}},
          {"pad", {{{0, 2}, {}}, {{}, {3}}}, pads({1, 0}, {1, 0}, {0, 0}), {2, 2}, {3, 3, 3, 3}},
          {"pad",
           {{{2, 2}, {1, 2, 3, 4}}, {{}, {0}}},
           pads({0, 1}, {1, 0}, {0, 0}),
           {3, 3},
           {0, 0, 0, 1, 2, 0, 3, 4, 0}},
      },
      all);
}

TEST(Evaluate, MakesElements) {
  for (DType dtype : all) {
    expect_equal(numbers(run("fill", {},
                             {{"value", Scalar(1)}, {"dtype", dtype}, {"shape", Ints{2, 2}}, {"ambiguous", false}})[0]),
                 {1, 1, 1, 1});
    if (is_bool(dtype)) continue;
    auto iota = [&](int64_t dim, Ints shape, int64_t start) {
      return numbers(
          run("iota", {},
              {{"dim", dim, true}, {"dtype", dtype}, {"shape", shape}, {"start", start}, {"ambiguous", false}})[0]);
    };
    expect_equal(iota(0, {3}, 1), {1, 2, 3});
    expect_equal(iota(1, {2, 3}, 0), {0, 0, 1, 1, 2, 2});
    expect_equal(iota(0, {0, 3}, 1), {});
  }
}

TEST(Evaluate, ClampsDynamicStarts) {
  struct Start {
    DType dtype;
    double start;
    Numbers slice, updated;
  };
  const std::vector<Start> starts = {
      {DType::i32, 1, {2, 3}, {1, 8, 9, 4}},     {DType::i64, 0, {1, 2}, {8, 9, 3, 4}},
      {DType::i8, -5, {1, 2}, {8, 9, 3, 4}},     {DType::i16, -1, {1, 2}, {8, 9, 3, 4}},
      {DType::ui8, 200, {3, 4}, {1, 2, 8, 9}},   {DType::ui64, 1e19, {3, 4}, {1, 2, 8, 9}},
      {DType::i32, 2, {3, 4}, {1, 2, 8, 9}},     {DType::i32, 3, {3, 4}, {1, 2, 8, 9}},
      {DType::i64, -9e18, {1, 2}, {8, 9, 3, 4}},
  };
  for (const Start& s : starts)
    for (DType dtype : numeric) {
      SCOPED_TRACE(std::to_string(s.start) + " as " + std::string(name(s.dtype)));
      Tensor x = tensor(dtype, {4}, {1, 2, 3, 4}), update = tensor(dtype, {2}, {8, 9}),
             start = tensor(s.dtype, {}, {s.start});
      expect_equal(numbers(run("dynamic_slice", {x, start}, {{"slice_sizes", Ints{2}}})[0]), s.slice);
      expect_equal(numbers(run("dynamic_update_slice", {x, update, start})[0]), s.updated);
      expect_equal(numbers(x), {1, 2, 3, 4});
    }
  Tensor matrix = tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}), one = tensor(DType::i32, {}, {1});
  expect_equal(numbers(run("dynamic_slice", {matrix, one, one}, {{"slice_sizes", Ints{1, 2}}})[0]), {4, 6});
  expect_equal(numbers(run("dynamic_update_slice", {matrix, tensor(DType::f32, {1, 2}, {7, 8}), one, one})[0]),
               {1, 2, 3, 7, 5, 8});
  expect_equal(numbers(run("dynamic_slice", {tensor(DType::f32, {}, {3})}, {{"slice_sizes", Ints{}}})[0]), {3});
  expect_equal(numbers(run("dynamic_slice", {matrix, one, one}, {{"slice_sizes", Ints{0, 2}}})[0]), {});
}

Params over(Ints dims, bool drop = true) { return {{"dims", dims, true}, {"drop", drop}}; }

TEST(Evaluate, Reduces) {
  const Operand matrix{{2, 3}, {1, 2, 3, 4, 0, 6}};
  check(
      {
          {"reduce_sum", {matrix}, over({0}), {3}, {3, 7, 6}},
          {"reduce_sum", {matrix}, over({1}, false), {2, 1}, {4, 12}},
          {"reduce_sum", {matrix}, over({0, 1}), {}, {16}},
          {"reduce_sum", {matrix}, over({}), {2, 3}, matrix.values},
          {"reduce_sum", {{{0, 2}, {}}}, over({0}), {2}, {0, 0}},
          {"reduce_sum", {{{2, 0}, {}}}, over({0}), {0}, {}},
          {"reduce_prod", {matrix}, over({0}), {3}, {2, 12, 0}},
          {"reduce_prod", {{{0}, {}}}, over({0}), {}, {1}},
          {"reduce_max", {matrix}, over({1}), {2}, {3, 6}},
          {"reduce_min", {matrix}, over({1}), {2}, {0, 2}},
          {"cumsum", {matrix}, {{"dim", int64_t(1), true}}, {2, 3}, {1, 2, 4, 6, 4, 12}},
          {"cumsum", {matrix}, {{"dim", int64_t(0), true}}, {2, 3}, {1, 3, 3, 7, 0, 6}},
          {"cumsum", {{{0, 2}, {}}}, {{"dim", int64_t(0), true}}, {0, 2}, {}},
      },
      numeric);
  check({{"reduce_max", {{{0}, {}}}, over({0}), {}, {-inf}},
         {"reduce_min", {{{0}, {}}}, over({0}), {}, {inf}},
         {"reduce_max", {{{3}, {1, nan, 2}}}, over({0}), {}, {nan}},
         {"reduce_min", {{{3}, {nan, -inf, 2}}}, over({0}), {}, {nan}},
         {"reduce_max", {{{2}, {-inf, -inf}}}, over({0}), {}, {-inf}},
         {"reduce_sum", {{{3}, {inf, -inf, 2}}}, over({0}), {}, {nan}}},
        floats);
  for (DType dtype : integers) {
    expect_equal(numbers(run("reduce_max", {tensor(dtype, {0}, {})}, over({0}))[0]), {lowest(dtype).as<double>()});
    expect_equal(numbers(run("reduce_min", {tensor(dtype, {0}, {})}, over({0}))[0]), {highest(dtype).as<double>()});
  }
  check({{"reduce_any", {{{2, 2}, {0, 1, 0, 0}}}, over({0}), {2}, {1, 0}},
         {"reduce_any", {{{0}, {}}}, over({0}), {}, {0}},
         {"reduce_all", {{{2, 2}, {1, 1, 0, 1}}}, over({0}, false), {1, 2}, {1, 0}},
         {"reduce_all", {{{0}, {}}}, over({0}), {}, {1}}},
        {DType::boolean});
  check({{"reduce_sum", {{{2}, {100, 100}}}, over({0}), {}, {-56}}}, {DType::i8});
}

TEST(Evaluate, SumsPairwise) {
  Numbers tenths(1000000, 0.1);
  EXPECT_NEAR(numbers(run("reduce_sum", {tensor(DType::f32, {1000000}, tenths)}, over({0}))[0])[0], 1e5, 0.1);
  EXPECT_NEAR(numbers(run("reduce_sum", {tensor(DType::f64, {1000000}, tenths)}, over({0}))[0])[0], 1e5, 1e-9);
}

Params contracting(Ints lhs, Ints rhs, Ints lhs_batch = {}, Ints rhs_batch = {}) {
  return {{"contracting_dims", Pairs{lhs, rhs}, true}, {"batching_dims", Pairs{lhs_batch, rhs_batch}, true}};
}

TEST(Evaluate, Multiplies) {
  const Operand a{{2, 3}, {1, 2, 3, 4, 5, 6}}, b{{3, 2}, {1, 0, 2, 0, 1, 3}};
  check(
      {
          {"dot_general", {a, b}, contracting({1}, {0}), {2, 2}, {11, 14, 18, 22}},
          {"dot_general", {a, b}, contracting({0}, {1}), {3, 3}, {1, 3, 5, 2, 4, 6, 8, 18, 28}},
          {"dot_general", {a, a}, contracting({0, 1}, {0, 1}), {}, {91}},
          {"dot_general", {{{2}, {1, 2}}, {{2}, {3, 4}}}, contracting({}, {}), {2, 2}, {3, 6, 4, 8}},
          {"dot_general", {{{2}, {1, 2}}, {{2}, {3, 4}}}, contracting({}, {}, {0}, {0}), {2}, {3, 8}},
          {"dot_general", {{{2, 0}, {}}, {{0, 2}, {}}}, contracting({1}, {0}), {2, 2}, {0, 0, 0, 0}},
          {"dot_general", {{{0, 2}, {}}, {{2, 2}, {1, 2, 3, 4}}}, contracting({1}, {0}), {0, 2}, {}},
          // batch 2 of 1 x 2 times 2 x 1, the batch not the first dimension of the operands
          {"dot_general",
           {{{1, 2, 2}, {1, 2, 3, 4}}, {{2, 2, 1}, {1, 2, 3, 4}}},
           contracting({1}, {0}, {2}, {1}),
           {2, 1, 1},
           {5, 25}},
      },
      numeric);
  Tensor t = tensor(DType::boolean, {2, 2}, {1, 0, 1, 1}), u = tensor(DType::boolean, {2, 2}, {0, 1, 0, 0});
  expect_equal(numbers(run("dot_general", {t, u}, contracting({1}, {0}))[0]), {1, 1, 0, 0});
  Tensor large = tensor(DType::i32, {2}, {2e9, 2e9});
  expect_equal(numbers(run("dot_general", {large, tensor(DType::i32, {2}, {1, 1})}, contracting({0}, {0}))[0]),
               {4e9 - 4294967296.0});
}

TEST(Evaluate, Factorises) {
  const Numbers positive = {4, 2, 2, 5};
  check({{"cholesky", {{{2, 2}, positive}}, {{"lower", true}}, {2, 2}, {2, 1, 0, 2}},
         {"cholesky", {{{2, 2}, positive}}, {{"lower", false}}, {2, 2}, {2, 0, 1, 2}},
         {"cholesky", {{{2, 2}, {4, 2, 99, 5}}}, {{"lower", true}}, {2, 2}, {2, 1, 0, 2}},
         {"cholesky", {{{2, 2}, {4, 99, 2, 5}}}, {{"lower", false}}, {2, 2}, {2, 0, 1, 2}},
         {"cholesky", {{{2, 2}, {1, 2, 2, 1}}}, {{"lower", true}}, {2, 2}, {nan, nan, 0, nan}},
         {"cholesky", {{{2, 2}, {25, 1, 1, nan}}}, {{"lower", true}}, {2, 2}, {nan, nan, 0, nan}},
         {"cholesky", {{{0, 0}, {}}}, {{"lower", true}}, {0, 0}, {}},
         {"cholesky", {{{2, 1, 1}, {4, 9}}}, {{"lower", true}}, {2, 1, 1}, {2, 3}},
         // leading batch: matrices [[4, 2], [2, 5]] and [[9, 3], [3, 2]]
         {"cholesky", {{{2, 2, 2}, {4, 9, 2, 3, 2, 3, 5, 2}}}, {{"lower", true}}, {2, 2, 2}, {2, 3, 1, 1, 0, 0, 2, 1}}},
        floats, 1e-6);
}

TEST(Evaluate, SolvesTriangularSystems) {
  // Both triangles are filled: only one may be read.
  const Numbers a = {2, 3, 5, 4};  // rows 2 5 and 3 4
  for (DType dtype : floats)
    for (bool left : {true, false})
      for (bool lower : {true, false})
        for (bool unit : {true, false})
          for (bool transposed : {true, false}) {
            double op[2][2] = {{unit ? 1.0 : 2.0, lower ? 0.0 : 5.0}, {lower ? 3.0 : 0.0, unit ? 1.0 : 4.0}};
            if (transposed) std::swap(op[0][1], op[1][0]);
            const double x[2][2] = {{1, -2}, {3, 0.5}};
            Numbers b(4), expected(4);
            for (size_t i = 0; i < 2; ++i)
              for (size_t j = 0; j < 2; ++j) {
                expected[i + 2 * j] = x[i][j];
                for (size_t k = 0; k < 2; ++k) b[i + 2 * j] += left ? op[i][k] * x[k][j] : x[i][k] * op[k][j];
              }
            Params params{{"left_side", left}, {"lower", lower}, {"unit_diagonal", unit}, {"transpose_a", transposed}};
            expect_equal(
                numbers(run("triangular_solve", {tensor(dtype, {2, 2}, a), tensor(dtype, {2, 2}, b)}, params)[0]),
                expected, 1e-6);
          }
  Params plain{{"left_side", true}, {"lower", true}, {"unit_diagonal", false}, {"transpose_a", false}};
  expect_equal(
      numbers(run("triangular_solve",
                  {tensor(DType::f64, {2, 1, 1}, {2, 4}), tensor(DType::f64, {2, 1, 2}, {2, 4, 6, 8})}, plain)[0]),
      {1, 1, 3, 2});
  expect_equal(
      numbers(run("triangular_solve", {tensor(DType::f64, {0, 0}, {}), tensor(DType::f64, {0, 2}, {})}, plain)[0]), {});
}

TEST(Evaluate, SelectsClampsAndConverts) {
  for (DType dtype : all) {
    Tensor a = tensor(dtype, {2}, {1, 0}), b = tensor(dtype, {2}, {0, 1});
    expect_equal(numbers(run("select", {tensor(DType::boolean, {2}, {0, 1}), a, b})[0]), {0, 0});
    expect_equal(numbers(run("select", {tensor(DType::boolean, {}, {1}), a, b})[0]), {1, 0});
  }
  for (DType dtype : numeric) {
    Tensor low = tensor(dtype, {}, {2}), high = tensor(dtype, {3}, {4, 4, 3}), x = tensor(dtype, {3}, {1, 3, 9});
    expect_equal(numbers(run("clamp", {low, x, high})[0]), {2, 3, 3});
  }
  for (DType from : all)
    for (DType to : all) {
      SCOPED_TRACE(std::string(name(from)) + " to " + std::string(name(to)));
      Numbers expected = is_bool(from) || is_bool(to) ? Numbers{0, 1} : Numbers{0, 5};
      expect_equal(numbers(run("convert", {tensor(from, {2}, {0, 5})}, {{"dtype", to}, {"ambiguous", false}})[0]),
                   expected);
    }
  auto as_i32 = numbers(run("convert", {tensor(DType::f64, {5}, {nan, inf, -1e20, 2.9, -2.9})},
                            {{"dtype", DType::i32}, {"ambiguous", false}})[0]);
  expect_equal(as_i32, {0, 2147483647, -2147483648.0, 2, -2});
}

TEST(Evaluate, ReadsBitsInAnotherWidth) {
  Tensor x = tensor(DType::i32, {2}, {0x00010002, -1});
  Tensor halves = run("bitcast_convert", {x}, {{"dtype", DType::ui16}})[0];
  EXPECT_EQ(halves.type.shape, (Shape{2, 2}));
  expect_equal(numbers(halves), {2, 65535, 1, 65535});
  expect_equal(numbers(run("bitcast_convert", {halves}, {{"dtype", DType::i32}})[0]), {0x00010002, -1});
  expect_equal(numbers(run("bitcast_convert", {tensor(DType::f32, {}, {1})}, {{"dtype", DType::i32}})[0]),
               {0x3f800000});
}

TEST(Evaluate, DrawsTheReferenceBits) {
  Tensor state = tensor(DType::ui64, {2}, {42, 0});
  auto draw = [&](DType dtype, Ints shape) {
    return run("rng_bit_generator", {state},
               {{"rng_algorithm", std::string("THREE_FRY")}, {"dtype", dtype}, {"shape", shape}});
  };
  auto five = draw(DType::ui32, {5});
  expect_equal(numbers(five[0]), {42, 3});
  expect_equal(numbers(five[1]),
               {double(0xde79f4b9), double(0x4f6cc618), double(0x268fd86c), double(0xfe251627), double(0x8533bc2a)});
  expect_equal(numbers(draw(DType::ui32, {2, 3})[1]), {double(0xde79f4b9), double(0x4f6cc618), double(0x268fd86c),
                                                       double(0xfe251627), double(0x8533bc2a), double(0x1b41c6e8)});
  expect_equal(numbers(draw(DType::ui8, {3})[1]), {0xb9, 0x18, 0x6c});
  auto wide = draw(DType::ui64, {3});
  EXPECT_EQ(wide[1].as<uint64_t>()[1], 0xfe251627268fd86cu);
  expect_equal(numbers(wide[0]), {42, 3});
  EXPECT_EQ(elements(draw(DType::f64, {0, 2})[1].type.shape), 0);
}

// Each elementwise primitive once in each of its dtypes: the formulas have tests of their own.
TEST(Evaluate, RunsAllElementwisePrimitives) {
  int run_count = 0;
  for (const auto* p : primitives::registry().all()) {
    if (!p->elementwise || p->name == "convert" || p->name == "bitcast_convert") continue;
    for (DType dtype : all) {
      if (!contains(p->group, dtype)) continue;
      SCOPED_TRACE(p->name + " of " + std::string(name(dtype)));
      std::vector<Tensor> operands(p->operands.size(), tensor(dtype, {3}, {1, 1, 1}));
      if (p->name == "select") operands[1] = operands[2] = tensor(DType::f32, {3}, {1, 1, 1});
      Params params;
      for (const auto& spec : p->parameters) {
        if (spec.name == "method") params.items.push_back({"method", std::string("nearest_even")});
        if (spec.kind == primitives::ParamSpec::Kind::real) params.items.push_back({spec.name, Scalar(1.5)});
        if (spec.kind == primitives::ParamSpec::Kind::integer) params.items.push_back({spec.name, int64_t{5}});
      }
      Tensor three = run(p->name, operands, params)[0];
      for (Tensor& t : operands) t = graph::full({t.type.dtype, {}}, 1);
      Tensor one = run(p->name, operands, params)[0];
      EXPECT_TRUE(element(three, 2) == element(one, 0) || element(one, 0).as<double>() != element(one, 0).as<double>());
      for (Tensor& t : operands) t = graph::allocate({t.type.dtype, {2, 0}});
      EXPECT_EQ(run(p->name, operands, params)[0].type.shape, (Shape{2, 0}));
      ++run_count;
    }
  }
  EXPECT_GT(run_count, 100);
}

}  // namespace
}  // namespace anvil::eigen
