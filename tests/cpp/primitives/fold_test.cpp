// Reductions and running reductions by a region: values, order, several operands, captured
// values, derivatives, errors.
#include <random>

#include "primitives/vocabulary/composite.h"
#include "support/regions.h"
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;
using Vars = std::vector<Var>;

Program reduce_by(graph::GraphPtr body, Ints dims, double initial) {
  return [=](graph::Graph& g, const Vars& x) {
    return call("reduce", {x[0], literal(g, initial, {x[0].dtype(), {}})}, {{"dims", dims, true}, {"body", body}});
  };
}
Program cumulative_by(graph::GraphPtr body, int64_t dim, double initial) {
  return [=](graph::Graph& g, const Vars& x) {
    return call("cumulative", {x[0], literal(g, initial, {x[0].dtype(), {}})}, {{"dim", dim, true}, {"body", body}});
  };
}
// Values and places of the largest elements along a dimension.
Program argmax(int64_t dim) {
  return [=](graph::Graph& g, const Vars& x) {
    Var place = iota(g, dim, DType::i32, x[0].shape());
    return call("reduce", {x[0], place, literal(g, -INFINITY, {x[0].dtype(), {}}), literal(g, 0, {DType::i32, {}})},
                {{"dims", Ints{dim}, true}, {"body", first_largest(x[0].dtype(), DType::i32)}});
  };
}
// a + 10 b, which shows the order in which elements come; not associative, but a fold.
graph::GraphPtr digits() {
  return region({DType::f64, DType::f64}, [](const Vars& x) { return Vars{x[0] * 10.0 + x[1]}; });
}

TEST(Fold, TakesElementsInRowMajorOrder) {
  Tensor x = tensor(DType::f64, {2, 3}, {1, 4, 2, 5, 3, 6});
  expect_values(reduce_by(digits(), {0, 1}, 0), {x}, {}, {123456});
  expect_values(reduce_by(digits(), {1, 0}, 7), {x}, {}, {7123456});
  expect_values(reduce_by(digits(), {1}, 0), {x}, {2}, {123, 456});
  expect_values(reduce_by(digits(), {0}, 0), {x}, {3}, {14, 25, 36});
  expect_values(reduce_by(digits(), {}, 9), {x}, {2, 3}, {91, 94, 92, 95, 93, 96});
  expect_values(cumulative_by(digits(), 1, 0), {x}, {2, 3}, {1, 4, 12, 45, 123, 456});
  expect_values(cumulative_by(digits(), 0, 0), {x}, {2, 3}, {1, 14, 2, 25, 3, 36});
}

TEST(Fold, ArgmaxTakesTheFirst) {
  Tensor x = tensor(DType::f32, {2, 4}, {1, 7, 9, 7, 9, -1, 3, 7});
  graph::Graph g = build(argmax(1), {x});
  expect_loop_rules_agree(g, {x});
  auto r = eigen::evaluate(g, {x});
  EXPECT_EQ(values(r[0]), (std::vector<double>{9, 7}));
  EXPECT_EQ(values(r[1]), (std::vector<double>{1, 0}));
}

TEST(Fold, EmptySetsGiveTheInitialValue) {
  expect_values(reduce_by(digits(), {0}, 3), {counting({0, 2})}, {2}, {3, 3});
  expect_values(reduce_by(digits(), {1}, 3), {counting({0, 2})}, {0}, {});
  expect_values(cumulative_by(digits(), 0, 3), {counting({0, 2})}, {0, 2}, {});
}

TEST(Fold, IntegersAndBooleans) {
  Tensor x = tensor(DType::i32, {4}, {6, 3, 12, 5});
  expect_values(reduce_by(operation("xor", DType::i32), {0}, 0), {x}, {}, {6 ^ 3 ^ 12 ^ 5});
  expect_values(reduce_by(operation("and", DType::i32), {0}, -1), {x}, {}, {0});
  expect_values(reduce_by(operation("or", DType::i32), {0}, 16), {x}, {}, {31});
  expect_values(cumulative_by(operation("maximum", DType::i32), 0, -9), {x}, {4}, {6, 6, 12, 12});
  expect_values(cumulative_by(operation("mul", DType::i32), 0, 1), {x}, {4}, {6, 18, 216, 1080});
  Tensor b = tensor(DType::boolean, {3}, {1, 1, 1});
  expect_values(reduce_by(operation("xor", DType::boolean), {0}, 0), {b}, {}, {1});
}

TEST(Fold, RegionsReadValuesAroundThem) {
  Program scaled = [](graph::Graph& g, const Vars& x) {
    Var factor = x[1];
    auto body = region({DType::f64, DType::f64}, [&](const Vars& v) {
      return Vars{v[0] + v[1] * Var{v[0].graph, factor.value}};
    });
    return call("reduce", {x[0], literal(g, 1, {DType::f64, {}})}, {{"dims", Ints{0}, true}, {"body", body}});
  };
  expect_values(scaled, {counting({3}), tensor(DType::f64, {}, {10})}, {}, {61});
}

// The first of the largest, or of the NaN; so far, the last of the largest, or the first NaN.
TEST(Fold, ExtremesAndTheirPlaces) {
  const double nan = std::nan("");
  std::mt19937 random(11);
  for (const DType t : {DType::f64, DType::f32, DType::bf16, DType::i32, DType::ui8})
    for (const int64_t n : {1, 7, 200, 201, 900})
      for (const bool largest : {true, false})
        for (const double share_of_nan : {0., 1. / double(n)}) {
          std::vector<double> numbers;
          std::uniform_real_distribution<double> coin;
          for (int64_t k = 0; k < 2 * n; ++k)
            numbers.push_back(is_float(t) && coin(random) < share_of_nan ? nan : double(random() % 9));
          const Tensor x = tensor(t, {n, 2}, numbers);
          const Params along = {{"dim", int64_t(0), true}};
          Params dropped = along;
          dropped.items.push_back({"drop", true});
          const Program both = [&](graph::Graph&, const Vars& v) {
            Vars r = call(largest ? "cummax" : "cummin", {v[0]}, along);
            r.push_back(call(largest ? "argmax" : "argmin", {v[0]}, dropped)[0]);
            return r;
          };
          const graph::Graph g = build(both, {x});
          expect_loop_rules_agree(g, {x});
          const auto found = eigen::evaluate(g, {x});
          const auto extremes = values(found[0]), places = values(found[1]), first = values(found[2]);
          for (int64_t line = 0; line < 2; ++line) {
            int64_t so_far = 0, best = 0;
            for (int64_t k = 0; k < n; ++k) {
              const auto at = [&](int64_t i) { return numbers[size_t(i + n * line)]; };
              const auto further = [&](double v, double w) { return largest ? v > w : v < w; };
              const auto beats = [&](int64_t i, bool equal) {
                return !std::isnan(at(i)) && (std::isnan(at(k)) || further(at(k), at(i)) || (equal && at(k) == at(i)));
              };
              if (beats(so_far, true)) so_far = k;
              if (beats(best, false)) best = k;
              ASSERT_EQ(places[size_t(k + n * line)], double(so_far)) << n << " at " << k;
              ASSERT_TRUE(extremes[size_t(k + n * line)] == at(so_far) || std::isnan(at(so_far))) << n << " at " << k;
              ASSERT_EQ(std::isnan(extremes[size_t(k + n * line)]), std::isnan(at(so_far)));
            }
            EXPECT_EQ(first[size_t(line)], double(best)) << n;
          }
        }
}

TEST(Fold, Gradients) {
  for (Ints dims : {Ints{0}, Ints{1}, Ints{2, 0}, Ints{0, 1, 2}}) {
    Tensor x = spread_values(DType::f64, {3, 2, 5});
    expect_gradients(reduce_by(log_sum_exp(DType::f64), dims, -1), {x});
    expect_gradients(argmax(1), {x}, 1);
  }
  for (int64_t dim : {0, 1}) {
    Tensor x = spread_values(DType::f64, {5, 3}, 0.5, 1.5);
    expect_gradients(cumulative_by(log_sum_exp(DType::f64), dim, -1), {x});
    expect_gradients(cumulative_by(operation("mul", DType::f64), dim, 1), {x});
    expect_gradients(cumulative_by(operation("maximum", DType::f64), dim, -9), {x}, 1);
  }
}

// Exact where factors are zero, one or several, and infinite ones among them leave no NaN before them.
TEST(Fold, RunningProductsOfZeros) {
  Program p = [](graph::Graph&, const Vars& x) {
    return call("cumulative", {x[0], x[1]}, {{"dim", int64_t(0), true}, {"body", operation("mul", DType::f64)}});
  };
  auto vector = [](const std::vector<double>& v) { return tensor(DType::f64, {static_cast<int64_t>(v.size())}, v); };
  for (const auto& x : std::vector<std::vector<double>>{{2, 0, 3, 4, .5}, {0, 2, 0, 3}, {0}, {1.5}, {}, {0, 0, 0}})
    for (double start : {1.0, 0.0, -2.0}) expect_gradients(p, {vector(x), tensor(DType::f64, {}, {start})}, 2);
  expect_gradients(p, {spread_values(DType::f64, {4, 3}, 0.5, 1.5), tensor(DType::f64, {}, {1})}, 3, 2e-5);
}

// Long ones of every length, to the last place.
TEST(Fold, RunningCombinationsOfAnyLength) {
  for (int64_t n = 0; n < 18; ++n)
    expect_gradients(cumulative_by(log_sum_exp(DType::f64), 1, -1), {spread_values(DType::f64, {2, n})}, 1);
}

TEST(Fold, GradientReachesInitialValues) {
  Program p = [](graph::Graph&, const Vars& x) {
    return call("reduce", {x[0], x[1]}, {{"dims", Ints{0}, true}, {"body", log_sum_exp(DType::f64)}});
  };
  expect_gradients(p, {spread_values(DType::f64, {4}), tensor(DType::f64, {}, {0.3})});
}

TEST(Fold, Errors) {
  auto body = operation("add", DType::f64);
  Params params{{"dims", Ints{0}, true}, {"body", body}};
  expect_error("reduce", {f64({2})}, params, "argument", "`reduce` takes tensors and as many initial values.",
               "x Got 1 operands.");
  expect_error("reduce", {f64({2}), f64({2})}, params, "shape", "`..2` must have shape ().", nullptr);
  expect_error("reduce", {i32({2}), i32()}, params, "argument", "The function of `reduce` must take i32, i32.",
               "x Got f64, f64.");
  auto two = region({DType::f64, DType::f64, DType::f64, DType::f64}, [](const Vars& x) { return Vars{x[0], x[1]}; });
  expect_error("reduce", {f64({2}), f64({3}), f64(), f64()}, {{"dims", Ints{0}, true}, {"body", two}}, "shape",
               "The tensors of `reduce` must have one shape.", "x Got (2) and (3).");
}

}  // namespace
}  // namespace anvil::test
