// Sums of squares around means, which go block by block.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "primitives/vocabulary/infer.h"
#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using graph::Call;
using primitives::broadcast_in_dim;

struct Case {
  Shape shape = {30'000};
  std::vector<int64_t> dims = {0};  // that are added up
  bool drop = true;                 // they do not stay as ones
  double scale = 1;                 // of the mean: numbers may be centred around any other
  bool two = false;                 // a covariance
  bool apart = false;               // the mean is that of other numbers
  bool other_way = false;           // m - x
};

// sum (x - m) (y - n)
GraphPtr centred_sum(const Case& of) {
  const TensorType type{DType::f64, of.shape};
  return trace({type, type}, [&](Graph&, const Vars& in_) {
    double count = 1;
    Shape ones = of.shape;
    std::vector<int64_t> kept;
    for (int64_t d = 0; d < static_cast<int64_t>(of.shape.size()); ++d)
      if (std::find(of.dims.begin(), of.dims.end(), d) == of.dims.end())
        kept.push_back(d);
      else
        count *= static_cast<double>(of.shape[size_t(d)]), ones[size_t(d)] = 1;
    const auto centred = [&](const Var& x, const Var& of_mean) {
      const Var m = reduce_sum(of_mean, of.dims, of.drop) * (of.scale / count);
      const Var all = broadcast_in_dim(m, of.shape, of.drop ? kept : primitives::all_axes(of.shape.size()));
      return of.other_way ? all - x : x - all;
    };
    const Var dx = centred(in_[0], in_[of.apart ? 1 : 0]), dy = of.two ? centred(in_[1], in_[1]) : dx;
    const Var sum = reduce_sum(dx * dy, of.dims, of.drop);
    return Vars{sum, reduce_sum(in_[0], of.dims), dx};
  });
}

int64_t calls_in(const Graph& g, const char* primitive) {
  return std::count_if(g.calls.begin(), g.calls.end(), [&](const Call& c) { return c.primitive->name == primitive; });
}

// A trend, so that the blocks' means are far from that of all, far from 0.
std::vector<Tensor> inputs_of(const Graph& g) {
  std::vector<Tensor> list;
  for (const ValuePtr& v : g.inputs) {
    std::vector<double> x;
    for (int64_t k = 0; k < elements(v->type.shape); ++k)
      x.push_back(50 + 1e-4 * double(k) * (1 - 3 * double(list.size())) + std::sin(0.37 * double(k)));
    list.push_back(tensor(v->type.shape, x));
  }
  return list;
}

void expect_same_results(const Graph& f, const Graph& g) {
  const std::vector<Tensor> inputs = inputs_of(f);
  const auto expected = eigen::evaluate(f, inputs), got = eigen::evaluate(g, inputs);
  for (size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(got[k].type, expected[k].type);
    if (!is_float(got[k].type.dtype)) continue;
    const std::vector<double> a = numbers(expected[k]), b = numbers(got[k]);
    EXPECT_EQ(a.size(), b.size());
    for (size_t e = 0; e < std::min(a.size(), b.size()); ++e)
      EXPECT_NEAR(a[e], b[e], 1e-11 * (1 + std::abs(a[e]))) << "result " << k << " element " << e;
  }
}

// Whether the sum goes block by block; it stays what it was.
bool goes_by_blocks(const Case& of) {
  const GraphPtr g = centred_sum(of);
  Graph made = *g;
  const bool any = transform::block_centred_sums(made, 1);
  transform::remove_dead_calls(made);
  expect_same_results(*g, made);
  EXPECT_EQ(any, calls_in(made, "reduce_sum") > calls_in(*g, "reduce_sum"));
  return any;
}

TEST(CentredSums, OfAnyLengthGoByBlocks) {
  for (const int64_t n : {8192, 12'288, 30'000, 10'007, 16'385})
    for (const double scale : {1.0, 0.5})
      for (const bool two : {false, true}) {
        SCOPED_TRACE(::testing::Message() << n << " " << scale << " " << two);
        EXPECT_TRUE(goes_by_blocks({.shape = {n}, .scale = scale, .two = two}));
      }
}

TEST(CentredSums, OverTheFirstDimensionsGoByBlocks) {
  for (const bool drop : {false, true})
    for (const bool two : {false, true}) {
      SCOPED_TRACE(::testing::Message() << drop << " " << two);
      EXPECT_TRUE(goes_by_blocks({.shape = {9001, 3}, .drop = drop, .two = two}));
      EXPECT_TRUE(goes_by_blocks({.shape = {100, 90, 2, 3}, .dims = {1, 0}, .drop = drop, .two = two}));
      EXPECT_TRUE(goes_by_blocks({.shape = {7, 1500}, .dims = {0, 1}, .drop = drop, .two = two}));
    }
}

// Single precision rounds the means of blocks of large numbers, and what that changes is put right.
TEST(CentredSums, DoNotDependOnHowMeansAreRounded) {
  const int64_t n = 30'000;
  const GraphPtr g = trace({TensorType{DType::f32, {n}}}, [&](Graph&, const Vars& in_) {
    const Var d = in_[0] - broadcast_in_dim(reduce_sum(in_[0], {0}) / double(n), {n}, {});
    return Vars{reduce_sum(d * d, {0})};
  });
  std::vector<double> x;
  double mean = 0, expected = 0;
  for (int64_t k = 0; k < n; ++k) {
    x.push_back(double(float(1e5 + 1e-4 * double(k) + std::sin(0.37 * double(k)))));
    mean += x.back() / double(n);
  }
  for (const double v : x) expected += (v - mean) * (v - mean);
  Graph made = *g;
  EXPECT_TRUE(transform::block_centred_sums(made, 1));
  EXPECT_NEAR(numbers(eigen::evaluate(made, {tensor({n}, x, DType::f32)})[0])[0], expected, 1e-4 * expected);
}

TEST(CentredSums, OthersStayWhatTheyAre) {
  EXPECT_FALSE(goes_by_blocks({.shape = {8191}, .dims = {0}}));          // short
  EXPECT_FALSE(goes_by_blocks({.shape = {3, 9000}, .dims = {1}}));       // not together in memory
  EXPECT_FALSE(goes_by_blocks({.shape = {1, 9000}, .dims = {1}}));       // not the first dimension
  EXPECT_FALSE(goes_by_blocks({.shape = {30'000}, .apart = true}));      // nothing is read twice
  EXPECT_FALSE(goes_by_blocks({.shape = {30'000}, .other_way = true}));  // not a form that is looked for
  EXPECT_FALSE(goes_by_blocks({.shape = {30'000}, .dims = {}}));
}

// Where the mean differs among what is added up, it is none of all.
TEST(CentredSums, AroundNumbersThatDifferStay) {
  const GraphPtr g = trace({TensorType{DType::f64, {90, 100}}}, [](Graph&, const Vars& in_) {
    const Var all = reduce_sum(in_[0], {0, 1}), m = broadcast_in_dim(all, {90}, {}) + reduce_sum(in_[0], {1});
    const Var d = in_[0] - broadcast_in_dim(m, {90, 100}, {0});
    return Vars{reduce_sum(d * d, {0, 1})};
  });
  Graph made = *g;
  EXPECT_FALSE(transform::block_centred_sums(made, 1));
}

TEST(CentredSums, InLoopsGoByBlocksAndNanStays) {
  const GraphPtr g = trace({TensorType{DType::f64, {10'000}}}, [](Graph& g_, const Vars& in_) {
    return while_loop(
        g_, {integer(g_, 0), in_[0]}, [](Graph& c, const Vars& s) { return s[0] < integer(c, 3); },
        [](Graph& c, const Vars& s) {
          const Var d = s[1] - broadcast_in_dim(reduce_sum(s[1], {0}) / 1e4, {10'000}, {});
          const Var variance = reduce_sum(d * d, {0}) / 9999;
          return Vars{s[0] + integer(c, 1), s[1] / broadcast_in_dim(variance, {10'000}, {})};
        });
  });
  Graph made = *g;
  EXPECT_TRUE(transform::block_centred_sums(made, 1));
  expect_same_results(*g, made);
  std::vector<double> x = numbers(inputs_of(*g)[0]);
  x[5000] = std::nan("");
  const auto got = numbers(eigen::evaluate(made, {tensor({10'000}, x)}).back());
  EXPECT_TRUE(std::all_of(got.begin(), got.end(), [](double v) { return std::isnan(v); }));
}

}  // namespace
}  // namespace anvil::testing
