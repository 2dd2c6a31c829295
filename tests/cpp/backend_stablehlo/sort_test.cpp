// stablehlo.sort by the keys that its comparator compares, or by a network; chlo.top_k.
#include <gtest/gtest.h>

#include <cmath>

#include "backend_stablehlo/refused.h"
#include "support/gradient_check.h"

namespace anvil::test {
namespace {

using graph::GraphPtr;

// A sort of %x and %y by a comparator of (a, b) and (c, d), elements of x and of y.
std::string sort_text(int64_t n, const std::string& body) {
  std::string x = "tensor<" + std::to_string(n) + "xf64>", y = "tensor<" + std::to_string(n) + "xi32>";
  return "func.func @main(%x: " + x + ", %y: " + y + ") -> (" + x + ", " + y + ") {\n" +
         "%0:2 = \"stablehlo.sort\"(%x, %y) ({\n" +
         "^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<i32>, %d: tensor<i32>):\n" + body +
         "\nstablehlo.return %r : tensor<i1>\n}) {dimension = 0 : i64, is_stable = true} : (" + x + ", " + y +
         ") -> (" + x + ", " + y + ")\nreturn %0#0, %0#1 : " + x + ", " + y + "\n}\n";
}
std::string compared(const char* result, const char* direction, const char* a, const char* b, bool floats,
                     const char* kind = "") {
  std::string t = floats ? "tensor<f64>" : "tensor<i32>";
  return std::string(result) + " = stablehlo.compare " + direction + ", " + a + ", " + b +
         (*kind ? std::string(", ") + kind : "") + " : (" + t + ", " + t + ") -> tensor<i1>\n";
}
int calls(const GraphPtr& g, std::string_view primitive) {
  int n = 0;
  for (const graph::Call& c : g->calls) n += c.primitive->name == primitive;
  return n;
}

// The positions of the sorted pairs (x, y): y is written as 0, 1, 2, ... where it is no key.
std::vector<double> second(const GraphPtr& g, const std::vector<double>& x, const std::vector<double>& y) {
  auto n = static_cast<int64_t>(x.size());
  Tensor sorted = eigen::evaluate(*g, {tensor(DType::f64, {n}, x), tensor(DType::i32, {n}, y)})[1];
  std::vector<double> list;
  for (int64_t i = 0; i < n; ++i) list.push_back(element(sorted, i).as<double>());
  return list;
}
const std::vector<double> positions = {0, 1, 2, 3, 4, 5};
const double nan = std::numeric_limits<double>::quiet_NaN();

void expect_order(const std::string& body, const std::vector<double>& x, const std::vector<double>& expected,
                  bool by_keys = true) {
  GraphPtr g = stablehlo::read(sort_text(6, body));
  EXPECT_EQ(calls(g, "while"), by_keys ? 0 : 1) << body;
  EXPECT_EQ(second(g, x, positions), expected) << body;
}

TEST(StablehloSort, OneKey) {
  std::vector<double> x = {3, 1, nan, 1, -2, 0}, up = {4, 5, 1, 3, 0, 2}, down = {2, 0, 1, 3, 5, 4};
  expect_order(compared("%r", "LT", "%a", "%b", true), x, up);
  expect_order(compared("%r", "LT", "%a", "%b", true, "FLOAT"), x, up);
  expect_order(compared("%r", "GT", "%b", "%a", true), x, up);
  expect_order(compared("%r", "GT", "%a", "%b", true), x, down);
  expect_order(compared("%r", "LT", "%b", "%a", true), x, down);
  expect_order(compared("%r", "GT", "%c", "%d", false), x, {5, 4, 3, 2, 1, 0});
}

TEST(StablehloSort, TotalOrderIsThatOfBits) {
  std::vector<double> x = {0.0, -0.0, nan, -nan, 1, -INFINITY};
  expect_order(compared("%r", "LT", "%a", "%b", true, "TOTALORDER"), x, {3, 5, 1, 0, 4, 2});
  expect_order(compared("%r", "GT", "%a", "%b", true, "TOTALORDER"), x, {2, 4, 0, 1, 5, 3});
}

// As JAX prints it: zeros and NaNs made one, then the total order. That is our own sort.
TEST(StablehloSort, CanonicalKeysNeedNothingElse) {
  auto canonical = [](std::string x, std::string y) {
    return "%z" + y + " = stablehlo.constant dense<0.0> : tensor<f64>\n" +
           compared(("%e" + y).c_str(), "EQ", x.c_str(), ("%z" + y).c_str(), true) + "%s" + y +
           " = stablehlo.select %e" + y + ", %z" + y + ", " + x + " : tensor<i1>, tensor<f64>\n" +
           compared(("%n" + y).c_str(), "NE", x.c_str(), x.c_str(), true) + "%q" + y +
           " = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>\n%" + y + " = stablehlo.select %n" + y +
           ", %q" + y + ", %s" + y + " : tensor<i1>, tensor<f64>\n";
  };
  std::string keys = canonical("%a", "u") + canonical("%b", "v");
  std::vector<double> x = {0.0, -0.0, nan, -nan, 1, -1};
  expect_order(keys + compared("%r", "LT", "%u", "%v", true, "TOTALORDER"), x, {5, 0, 1, 4, 2, 3});
  GraphPtr g = stablehlo::read(sort_text(6, keys + compared("%r", "LT", "%u", "%v", true, "TOTALORDER")));
  EXPECT_EQ(g->calls.size(), 1u);  // one sort of x and y
  EXPECT_EQ(g->calls[0].inputs, g->inputs);
}

TEST(StablehloSort, SeveralKeys) {
  std::vector<double> x = {1, 0, 1, 0, 1, 0};
  std::string parts = compared("%l", "LT", "%a", "%b", true) + compared("%e", "EQ", "%a", "%b", true) +
                      compared("%m", "GT", "%c", "%d", false);
  std::string both = parts + "%t = stablehlo.and %e, %m : tensor<i1>\n";
  std::vector<double> expected = {5, 3, 1, 4, 2, 0};
  expect_order(both + "%r = stablehlo.or %l, %t : tensor<i1>", x, expected);
  expect_order(both + "%r = stablehlo.or %t, %l : tensor<i1>", x, expected);
  expect_order(parts + "%r = stablehlo.select %e, %m, %l : tensor<i1>, tensor<i1>", x, expected);
}

TEST(StablehloSort, KeysThatAreComputed) {
  std::string halves = "%p = stablehlo.abs %a : tensor<f64>\n%q = stablehlo.abs %b : tensor<f64>\n";
  expect_order(halves + compared("%r", "LT", "%p", "%q", true), {3, -1, 2, -5, 0, 1}, {4, 1, 5, 2, 0, 3});
}

TEST(StablehloSort, AnyOtherOrderByANetwork) {
  std::string difference =
      "%p = stablehlo.subtract %a, %b : tensor<f64>\n"
      "%z = stablehlo.constant dense<0.0> : tensor<f64>\n" +
      compared("%r", "LT", "%p", "%z", true);
  expect_order(difference, {3, 1, 2, 1, -2, 0}, {4, 5, 1, 3, 2, 0}, false);
  for (int64_t n : {0, 1, 2, 3, 7, 8, 9, 33}) {
    GraphPtr g = stablehlo::read(sort_text(n, difference));
    std::vector<double> x, y;
    for (int64_t i = 0; i < n; ++i) {
      x.push_back(static_cast<double>(i * 7 % 5));
      y.push_back(static_cast<double>(i));
    }
    std::vector<double> expected = y;
    std::stable_sort(expected.begin(), expected.end(),
                     [&](double i, double j) { return x[static_cast<size_t>(i)] < x[static_cast<size_t>(j)]; });
    EXPECT_EQ(second(g, x, y), expected) << n;
  }
  // nothing is below anything: all stays
  expect_order("%r = stablehlo.constant dense<false> : tensor<i1>", {3, 1, 2, 1, -2, 0}, positions, false);
  GraphPtr g = stablehlo::read(sort_text(4, difference));
  expect_gradients(
      [&](graph::Graph& to, const std::vector<Var>& x) {
        Var y = primitives::iota(to, 0, DType::i32, {4});
        return std::vector<Var>{{&to, graph::inline_calls(*g, {x[0].value, y.value}, to)[0]}};
      },
      {spread_values(DType::f64, {4})}, 1);
}

// What is a key on one side and another on the other is no key: these elements are in order as they come.
TEST(StablehloSort, SidesThatDifferAreNoKeys) {
  std::string negated = "%p = stablehlo.negate %a : tensor<f64>\n";
  GraphPtr g = stablehlo::read(sort_text(6, negated + compared("%r", "LT", "%p", "%b", true)));
  EXPECT_EQ(calls(g, "while"), 1);
  // equal by another key than the first one: the second decides only where that one says so
  std::string mixed = negated + "%q = stablehlo.negate %b : tensor<f64>\n" + compared("%l", "LT", "%p", "%q", true) +
                      compared("%e", "EQ", "%a", "%b", true) + compared("%m", "LT", "%c", "%d", false) +
                      "%t = stablehlo.and %e, %m : tensor<i1>\n%r = stablehlo.or %l, %t : tensor<i1>";
  EXPECT_EQ(calls(stablehlo::read(sort_text(6, mixed)), "while"), 1);
}

TEST(StablehloSort, RefusesComparatorsThatAreNone) {
  std::string text = sort_text(4, "%r = stablehlo.add %c, %d : tensor<i32>");
  EXPECT_NE(refusal(text).find("Line"), std::string::npos);
  std::string far = sort_text(4, compared("%r", "LT", "%a", "%b", true));
  far.replace(far.find("dimension = 0"), 13, "dimension = 1");
  EXPECT_NE(refusal(far).find("`dimension`"), std::string::npos);
}

TEST(StablehloSort, WhatIsWrittenReadsTheSame) {
  for (bool descending : {false, true})
    for (int64_t keys : {1, 2, 3}) {
      graph::Graph g;
      std::vector<Var> x = {input(g, {DType::f32, {2, 3}}), input(g, {DType::ui8, {2, 3}}),
                            input(g, {DType::boolean, {2, 3}})};
      for (const Var& v : primitives::sort(x, 1, descending, keys)) g.outputs.push_back(v.value);
      for (const auto& v : record(g, primitives::registry().at("top_k"), {x[0].value}, {{"k", int64_t{2}}}))
        g.outputs.push_back(v);
      EXPECT_EQ(graph::print(*stablehlo::read(stablehlo::write(g).text)), graph::print(g));
    }
}

}  // namespace
}  // namespace anvil::test
