// sort and top_k: order, ties, NaN and zeros, several keys, derivatives.
#include <cmath>

#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

// The k-th result.
Program sorted(int64_t dim, bool descending = false, int64_t keys = 1, size_t k = 0) {
  return [=](graph::Graph&, const std::vector<Var>& x) { return std::vector<Var>{sort(x, dim, descending, keys)[k]}; };
}
Program largest(int64_t k, size_t result = 0) {
  return [=](graph::Graph& g, const std::vector<Var>& x) {
    return std::vector<Var>{{&g, record(g, registry().at("top_k"), {x[0].value}, {{"k", k}})[result]}};
  };
}
std::string signs(const Tensor& t) {  // of zeros: "-" or "+", of numbers their first digit, "n"
  std::string s;
  for (double x : values(t))
    s += std::isnan(x) ? "n" : x != 0 ? std::to_string(x).substr(0, 1) : std::signbit(x) ? "-" : "+";
  return s;
}

TEST(Sort, OrdersAlongOneDimension) {
  Tensor x = tensor(DType::f64, {2, 3}, {3, 1, 2, 5, 1, 4});
  expect_values(sorted(1), {x}, {2, 3}, {1, 1, 2, 4, 3, 5});
  expect_values(sorted(0), {x}, {2, 3}, {1, 3, 2, 5, 1, 4});
  expect_values(sorted(1, true), {x}, {2, 3}, {3, 5, 2, 4, 1, 1});
  expect_values(sorted(0), {counting({0, 3})}, {0, 3}, {});
  expect_values(sorted(1), {counting({3, 0})}, {3, 0}, {});
  expect_values(sorted(0), {counting({1})}, {1}, values(counting({1})));
}

TEST(Sort, EveryDtypeHasItsOrder) {
  for (DType t : {DType::i8, DType::i16, DType::i32, DType::i64, DType::f32, DType::f64}) {
    expect_values(sorted(0), {tensor(t, {5}, {3, -1, 0, 100, -128})}, {5}, {-128, -1, 0, 3, 100});
    expect_values(sorted(0, true), {tensor(t, {5}, {3, -1, 0, 100, -128})}, {5}, {100, 3, 0, -1, -128});
  }
  for (DType t : {DType::ui8, DType::ui16, DType::ui32, DType::ui64})
    expect_values(sorted(0), {tensor(t, {4}, {3, 200, 0, 128})}, {4}, {0, 3, 128, 200});
  expect_values(sorted(0), {tensor(DType::boolean, {4}, {1, 0, 1, 0})}, {4}, {0, 0, 1, 1});
}

TEST(Sort, NaNIsAboveAllAndZerosAreEqual) {
  for (DType t : {DType::f32, DType::f64}) {
    Tensor x = tensor(t, {7}, {nan, 0.0, inf, -0.0, -nan, -inf, 2});
    Tensor up = evaluate(sorted(0), {x}), down = evaluate(sorted(0, true), {x});
    EXPECT_EQ(signs(up), "-+-2inn");  // -Inf prints as "-", too
    EXPECT_EQ(signs(down), "nni2+--");
    // with another operand the same order, and ties as they came
    Tensor places = tensor(DType::i32, {7}, {0, 1, 2, 3, 4, 5, 6});
    expect_values(sorted(0, false, 1, 1), {x, places}, {7}, {5, 1, 3, 6, 2, 0, 4});
    expect_values(sorted(0, true, 1, 1), {x, places}, {7}, {0, 4, 2, 6, 1, 3, 5});
  }
}

TEST(Sort, KeysInTurn) {
  Tensor a = tensor(DType::i32, {6}, {1, 0, 1, 0, 1, 0}), b = tensor(DType::f64, {6}, {2, 2, 1, 1, 2, 2}),
         c = tensor(DType::i8, {6}, {0, 1, 2, 3, 4, 5});
  expect_values(sorted(0, false, 1, 2), {a, b, c}, {6}, {1, 3, 5, 0, 2, 4});
  expect_values(sorted(0, false, 2, 2), {a, b, c}, {6}, {3, 1, 5, 2, 0, 4});
  expect_values(sorted(0, true, 2, 2), {a, b, c}, {6}, {0, 4, 2, 1, 5, 3});
}

TEST(Sort, LongLinesByDigits) {
  // long enough for radix sort, with few and with many different elements
  for (DType t : {DType::ui8, DType::i16, DType::i32, DType::i64, DType::f32, DType::f64})
    for (double high : {3.0, 120.0}) {
      Tensor x = spread_values(t, {2000}, t == DType::ui8 ? 0 : -high, high), places = counting({2000});
      evaluate(sorted(0), {x});
      evaluate(sorted(0, true, 1, 1), {x, places});
      evaluate(sorted(0, false, 2, 2), {spread_values(DType::i8, {2000}, 0, 3, 5), x, places});
    }
}

TEST(Sort, Gradients) {
  Tensor x = spread_values(DType::f64, {3, 4}), y = spread_values(DType::f64, {3, 4}, -1, 1, 3);
  for (int64_t dim : {0, 1})
    for (bool descending : {false, true})
      expect_gradients(
          [=](graph::Graph&, const std::vector<Var>& v) {
            return sort({v[0], v[1] * v[0]}, dim, descending);
          },
          {x, y});
}

TEST(Sort, RefusesWhatDoesNotFit) {
  Tensor x = counting({3});
  EXPECT_THROW(build(sorted(1), {x}), Error);
  EXPECT_THROW(build(sorted(0, false, 2), {x}), Error);
  EXPECT_THROW(build(sorted(0, false, 0), {x}), Error);
  EXPECT_THROW(build(sorted(0), {x, counting({4})}), Error);
  EXPECT_THROW(build(sorted(0), {counting({})}), Error);
}

TEST(TopK, TakesTheLargestAndTheirIndices) {
  Tensor x = tensor(DType::f64, {2, 4}, {1, 5, 3, 5, 3, 2, 0, 7});
  expect_values(largest(2), {x}, {2, 2}, {3, 7, 3, 5});
  expect_values(largest(2, 1), {x}, {2, 2}, {1, 3, 2, 0});
  expect_values(largest(4, 1), {x}, {2, 4}, {1, 3, 2, 0, 0, 1, 3, 2});
  expect_values(largest(0), {x}, {2, 0}, {});
  expect_values(largest(2, 1), {tensor(DType::boolean, {3}, {0, 1, 1})}, {2}, {1, 2});
  expect_values(largest(3, 1), {tensor(DType::ui8, {4}, {255, 0, 128, 255})}, {3}, {0, 3, 2});
}

TEST(TopK, TakesFloatsInTotalOrder) {
  Tensor x = tensor(DType::f32, {6}, {-0.0, 0.0, nan, inf, -nan, -inf});
  expect_values(largest(6, 1), {x}, {6}, {2, 3, 1, 0, 5, 4});
}

TEST(TopK, Gradients) {
  Tensor x = spread_values(DType::f64, {3, 5});
  for (int64_t k : {0, 1, 3, 5}) expect_gradients(largest(k), {x});
  EXPECT_THROW(build(largest(6), {x}), Error);
  EXPECT_THROW(build(largest(-1), {x}), Error);
  EXPECT_THROW(build(largest(1), {counting({})}), Error);
}

}  // namespace
}  // namespace anvil::test
