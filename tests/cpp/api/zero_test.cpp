// Sums start from 0, as R's: those of -0 are 0. Whatever starts from another number starts from it,
// -0 among them. Evaluated and compiled alike, over every count and both dtypes.
#include <gtest/gtest.h>

#include <cmath>

#include "primitives/families/window.h"
#include "support/gradient_check.h"
#include "support/regions.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

using namespace primitives;
using Ints = std::vector<int64_t>;
using Vars = std::vector<Var>;

// Both give zeros of this sign at all places of the first result.
void expect_zeros(const Program& program, const std::vector<Tensor>& at, bool negative, const std::string& what) {
  graph::Graph g = build(program, at);
  Tensor by_eigen = eigen::evaluate(g, at)[0], compiled = run_compiled(g, at)[0];
  for (const Tensor& t : {by_eigen, compiled})
    for (int64_t i = 0; i < elements(t.type.shape); ++i) {
      double x = element(t, i).as<double>();
      EXPECT_EQ(x, 0) << what;
      EXPECT_EQ(std::signbit(x), negative) << what << (t.data == compiled.data ? ", compiled" : ", evaluated");
    }
}
Tensor minus_zeros(DType t, Shape shape) { return graph::full({t, std::move(shape)}, -0.0); }

struct Zero : testing::TestWithParam<DType> {};

TEST_P(Zero, Reductions) {
  for (int64_t n : {0, 1, 2, 3, 7, 16, 33, 700}) {
    std::string what = "of " + std::to_string(n);
    Tensor x = minus_zeros(GetParam(), {n, 3});
    for (Ints dims : {Ints{0}, Ints{0, 1}})
      expect_zeros([&](graph::Graph&, const Vars& v) { return Vars{reduce_sum(v[0], dims)}; }, {x}, false,
                   "sum " + what);
    expect_zeros([&](graph::Graph&, const Vars& v) { return Vars{cumsum(v[0], 0)}; }, {x}, false, "cumsum " + what);
    for (double initial : {0.0, -0.0})
      expect_zeros(
          [&](graph::Graph& g, const Vars& v) {
            return call("reduce", {v[0], literal(g, initial, {GetParam(), {}})},
                        {{"dims", Ints{0}, true}, {"body", operation("add", GetParam())}});
          },
          {x}, std::signbit(initial), "reduction " + what);
    expect_zeros(
        [&](graph::Graph&, const Vars& v) {
          return call("reduce", {v[0], v[1]}, {{"dims", Ints{0}, true}, {"body", operation("add", GetParam())}});
        },
        {x, minus_zeros(GetParam(), {})}, true, "reduction from an input " + what);
  }
}

TEST_P(Zero, ReductionsOverNothingKeepTheSign) {
  expect_zeros([](graph::Graph&, const Vars& v) { return Vars{reduce_sum(v[0], {})}; }, {minus_zeros(GetParam(), {5})},
               true, "no dimensions");
}

TEST_P(Zero, Products) {
  for (int64_t k : {0, 1, 2, 5, 40, 100})
    for (int64_t m : {1, 3, 70})
      expect_zeros([](graph::Graph&, const Vars& v) { return Vars{dot_general(v[0], v[1], {1}, {0}, {}, {})}; },
                   {minus_zeros(GetParam(), {m, k}), graph::full({GetParam(), {k, m}}, 1)}, false,
                   "product of " + std::to_string(m) + " by " + std::to_string(k));
}

TEST_P(Zero, Windows) {
  for (double initial : {0.0, -0.0})
    for (int64_t size : {1, 2, 4})
      expect_zeros(
          [&](graph::Graph& g, const Vars& v) {
            return call("reduce_window", {v[0], literal(g, initial, {GetParam(), {}})},
                        {{"window_dimensions", Ints{size}},
                         {"window_strides", Ints{1}},
                         {"base_dilations", Ints{1}},
                         {"window_dilations", Ints{1}},
                         {"padding_low", Ints{0}},
                         {"padding_high", Ints{0}},
                         {"body", operation("add", GetParam())}});
          },
          {minus_zeros(GetParam(), {9})}, std::signbit(initial), "window of " + std::to_string(size));
  expect_zeros([](graph::Graph&, const Vars& v) { return Vars{sum_windows(v[0], {0}, {1})}; },
               {minus_zeros(GetParam(), {6, 3})}, false, "sums of windows");
}

TEST_P(Zero, Scatters) {
  for (double base : {0.0, -0.0})
    expect_zeros(
        [&](graph::Graph& g, const Vars& v) {
          g.constants.push_back(graph::make_constant(tensor(DType::i32, {3, 1}, {1, 2, 1})));
          return Vars{scatter(literal(g, base, {GetParam(), {2}}), {&g, g.constants.back()}, v[0],
                              {{}, {0}, {}, {}, {0}, 1}, "add")};
        },
        {minus_zeros(GetParam(), {3})}, std::signbit(base), "scatter");
}

INSTANTIATE_TEST_SUITE_P(Floats, Zero, testing::Values(DType::f32, DType::f64),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace anvil::test
