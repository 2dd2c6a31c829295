// Derivatives of elementwise primitives where numbers are hard: zeros, subnormal and tiny ones,
// where functions saturate, huge and infinite ones. In f32 and f64, against formulas in long
// double, which has room for all that overflows or cancels on the way.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "backend/eigen/evaluate.h"
#include "primitives/scalar_graph.h"
#include "transform/reverse.h"

namespace anvil::primitives {
namespace {

using primitives::testing::pull_back;
using primitives::testing::ScalarGraph;
using Long = long double;

template <class T>
std::vector<double> hard_points() {
  using Limits = std::numeric_limits<T>;
  std::vector<double> points = {0};
  for (double x : {double(Limits::denorm_min()),
                   double(Limits::min()) / 100,
                   double(Limits::min()),
                   1e-38,
                   1e-20,
                   1e-8,
                   0.1,
                   0.5,
                   0.999,
                   1.0,
                   1.001,
                   1.5,
                   2.0,
                   5.0,
                   10.0,
                   20.0,
                   50.0,
                   80.0,
                   1e3,
                   1e5,
                   1e10,
                   1e20,
                   1e38,
                   double(Limits::max()) / 8,
                   double(INFINITY)})
    for (double side : {x, -x}) points.push_back(double(T(side)));
  return points;
}

// The derivative by operand k of a call on numbers of type T.
template <class T>
double derivative(const std::string& name, const std::vector<double>& x, size_t k) {
  ScalarGraph s;
  std::vector<Var> operands;
  for (double v : x) operands.push_back(s.input(v, dtype_of<T>()));
  Var y = record(name.c_str(), operands);
  auto d = pull_back(s, y, s.input(1, dtype_of<T>()));
  return d[k] ? s.number(*d[k]) : 0;
}

// Right to some units in the last place; below the normal numbers to a unit of those.
template <class T>
void expect_close(Long expected, double got, double condition, const std::string& where) {
  using Limits = std::numeric_limits<T>;
  const Long largest = Limits::max(), smallest = Limits::min(), size = std::fabs(expected);
  if (expected != expected) {
    EXPECT_TRUE(got != got) << where << " is " << got << ", not NaN";
  } else if (size > largest) {
    EXPECT_EQ(got, expected > 0 ? INFINITY : -INFINITY) << where;
  } else if (size < smallest) {
    EXPECT_LE(std::fabs(got), 2 * smallest) << where;
  } else {
    Long error = std::fabs(Long(got) - expected), allowed = (32 + 4 * condition) * Limits::epsilon() * size;
    EXPECT_TRUE(error <= allowed) << where << " is " << got << ", not " << double(expected);
  }
}
std::string place(const std::string& name, const std::vector<double>& x, size_t k) {
  char text[100];
  std::snprintf(text, sizeof text, "d%zu %s(%.17g", k + 1, name.c_str(), x[0]);
  std::string all = text;
  if (x.size() > 1) std::snprintf(text, sizeof text, ", %.17g", x[1]), all += text;
  return all + ")";
}

struct Unary {
  const char* name;
  std::function<Long(Long)> derivative;
  bool squares = false;  // exp(x^2) multiplies the rounding of x^2
};
Long bell(Long x) { return 2 / std::sqrt(std::numbers::pi_v<Long>) * std::exp(-x * x); }
Long sech_square(Long x) {
  Long e = std::exp(-2 * std::fabs(x));
  return 4 * e / ((1 + e) * (1 + e));
}
const Unary unaries[] = {
    {"abs", [](Long x) { return Long(x > 0) - Long(x < 0); }},
    {"negate", [](Long) { return Long(-1); }},
    {"sqrt", [](Long x) { return 0.5L / std::sqrt(x); }},
    {"rsqrt", [](Long x) { return -0.5L / (x * std::sqrt(x)); }},
    {"cbrt", [](Long x) { return 1 / (3 * std::cbrt(x) * std::cbrt(x)); }},
    {"exp", [](Long x) { return std::exp(x); }},
    {"expm1", [](Long x) { return std::exp(x); }},
    {"log", [](Long x) { return 1 / x; }},
    {"log1p", [](Long x) { return 1 / (1 + x); }},
    {"logistic", [](Long x) { return sech_square(x / 2) / 4; }},
    {"tanh", sech_square},
    {"sine", [](Long x) { return std::cos(x); }},
    {"cosine", [](Long x) { return -std::sin(x); }},
    {"tan", [](Long x) { return 1 / (std::cos(x) * std::cos(x)); }},
    {"asin", [](Long x) { return 1 / std::sqrt((1 - x) * (1 + x)); }},
    {"acos", [](Long x) { return -1 / std::sqrt((1 - x) * (1 + x)); }},
    {"atan", [](Long x) { return 1 / (1 + x * x); }},
    {"sinh", [](Long x) { return std::cosh(x); }},
    {"cosh", [](Long x) { return std::sinh(x); }},
    {"asinh", [](Long x) { return 1 / std::hypot(1.0L, x); }},
    {"acosh", [](Long x) { return 1 / (std::sqrt(x - 1) * std::sqrt(x + 1)); }},
    {"atanh", [](Long x) { return 1 / ((1 - x) * (1 + x)); }},
    {"erf", bell, true},
    {"erfc", [](Long x) { return -bell(x); }, true},
};

template <class T>
struct HardPoints : ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HardPoints, Floats);

TYPED_TEST(HardPoints, Unary) {
  for (const Unary& u : unaries)
    for (double x : hard_points<TypeParam>())
      expect_close<TypeParam>(u.derivative(x), derivative<TypeParam>(u.name, {x}, 0),
                              u.squares && std::isfinite(x) ? std::min(x * x, 1e4) : 0, place(u.name, {x}, 0));
}

// The second derivative of a call on a number of type T, through the rules of what its first one consists of.
template <class T>
double second_derivative(const std::string& name, double x) {
  const graph::Tensor at = graph::full({dtype_of<T>(), {}, false}, Scalar(x));
  graph::Graph g;
  g.inputs.push_back(graph::make_value(graph::Value::Kind::input, at.type));
  g.outputs = {record(name.c_str(), {Var{&g, g.inputs[0]}}).value};
  auto twice = transform::gradient(*transform::gradient(g, {true}, false), {true}, false);
  return graph::element(eigen::evaluate(*twice, {at}).at(0), 0).as<double>();
}
TYPED_TEST(HardPoints, SecondDerivativesOfErrorFunctions) {
  std::vector<double> points = hard_points<TypeParam>();
  points.insert(points.end(), {9, -10.25, 26, 27.9, -27.99, 28, 28.01});
  for (double given : points) {
    const double x = TypeParam(given);
    const Long expected = std::isinf(x) ? 0 : -2 * Long(x) * bell(x);
    for (double sign : {1, -1})
      expect_close<TypeParam>(sign * expected, second_derivative<TypeParam>(sign > 0 ? "erf" : "erfc", x),
                              std::min(x * x, 1e4), place(sign > 0 ? "erf" : "erfc", {x}, 0));
  }
  for (const char* name : {"erf", "erfc"}) EXPECT_TRUE(std::isnan(second_derivative<TypeParam>(name, NAN)));
}

// Those without a formula in C: f32 against f64.
TEST(HardPoints32, SpecialFunctions) {
  for (const char* name : {"erf_inv", "lgamma", "digamma", "bessel_i1e"})
    for (double x : {1e-30, 1e-10, 1e-3, 0.1, 0.5, 0.75, 0.99, 3.0, 20.0, 200.0, 1e4}) {
      if (std::string(name) == "erf_inv" && x >= 1) continue;
      double exact = static_cast<float>(x);
      // i_1e' is the small difference of i_0e and i_1e
      double condition = std::string(name) == "bessel_i1e" ? x : 100;
      expect_close<float>(derivative<double>(name, {exact}, 0), derivative<float>(name, {exact}, 0), condition,
                          place(name, {exact}, 0));
    }
}

TYPED_TEST(HardPoints, Quotients) {
  for (double a : hard_points<TypeParam>())
    for (double b : hard_points<TypeParam>()) {
      bool subnormal = a != 0 && std::fabs(a) < std::numeric_limits<TypeParam>::min();
      if (b == 0 || std::isinf(a) || std::isinf(b) || subnormal) continue;
      for (size_t k : {0, 1})
        expect_close<TypeParam>(k == 0 ? 1 / Long(b) : -Long(a) / (Long(b) * b),
                                derivative<TypeParam>("divide", {a, b}, k), 0, place("divide", {a, b}, k));
    }
}

TYPED_TEST(HardPoints, Atan2) {
  for (double a : hard_points<TypeParam>())
    for (double b : hard_points<TypeParam>()) {
      Long square = Long(a) * a + Long(b) * b;
      bool one_infinite = std::isinf(a) != std::isinf(b);
      for (size_t k : {0, 1})
        expect_close<TypeParam>(one_infinite ? 0 : (k == 0 ? Long(b) : -Long(a)) / square,
                                derivative<TypeParam>("atan2", {a, b}, k), 0, place("atan2", {a, b}, k));
    }
}

TYPED_TEST(HardPoints, Powers) {
  const double tiny = std::numeric_limits<TypeParam>::min();
  for (double a : hard_points<TypeParam>())
    for (double b : {-3.0, -1.0, -0.5, 0.0, 100 * tiny, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 40.0}) {
      if (a < 0 || (std::isinf(a) && b == 100 * tiny)) continue;
      b = TypeParam(b);
      Long y = std::pow(Long(a), Long(b)), by_a = b == 0 ? 0 : b * std::pow(Long(a), Long(b) - 1);
      Long by_b = y == 0 || (a == 0 && b >= 0) ? 0 : y * std::log(Long(a));
      expect_close<TypeParam>(by_a, derivative<TypeParam>("power", {a, b}, 0), 0, place("power", {a, b}, 0));
      expect_close<TypeParam>(by_b, derivative<TypeParam>("power", {a, b}, 1), 0, place("power", {a, b}, 1));
    }
}

}  // namespace
}  // namespace anvil::primitives
