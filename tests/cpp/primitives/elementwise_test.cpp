// Elementwise primitives: the loop rule computes what `elementwise` does, the derivatives
// agree with differences inside the domain, and are what they should be at kinks.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "primitives/scalar_graph.h"

namespace anvil::primitives {
namespace {

using graph::Tensor;
using primitives::testing::by_elements;
using primitives::testing::by_loop_rule;
using primitives::testing::pull_back;
using primitives::testing::ScalarGraph;

std::vector<DType> dtypes_where(bool (*wanted)(DType)) {
  std::vector<DType> list;
  for (size_t i = 0; i < descriptors.size(); ++i)
    if (wanted(static_cast<DType>(i))) list.push_back(static_cast<DType>(i));
  return list;
}
const std::vector<DType> all_dtypes = dtypes_where([](DType) { return true; }), floats = dtypes_where(is_float);
constexpr double inf = INFINITY, nan = NAN;

Params parameters_of(const Primitive& p) {
  if (p.name == "round") return {{"method", std::string("afz")}};
  if (p.name == "reduce_precision") return {{"exponent_bits", int64_t{8}}, {"mantissa_bits", int64_t{46}}};
  if (p.name.starts_with("bessel") && !p.parameters.empty()) return {{"nu", Scalar(1.25)}};
  return {};
}

// Some values of a dtype, extremes and special ones first, then from the domain.
Tensor values(DType t, Domain d, int64_t n, std::mt19937& random) {
  Tensor x = graph::allocate({t, {n}, false});
  std::vector<Scalar> special = is_float(t)
                                    ? std::vector<Scalar>{nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 2.5, -0.5, 1e300}
                                    : std::vector<Scalar>{lowest(t), highest(t), 0, 1, -1, 7};
  std::uniform_real_distribution<double> inside(d.low, d.high);
  std::uniform_int_distribution<size_t> pick(0, special.size() - 1);
  for (int64_t i = 0; i < n; ++i)
    graph::set_element(x, i, i % 2 ? Scalar(inside(random)) : special[pick(random)].rounded_to(t));
  return x;
}

// Equal bits, except that a NaN is a NaN.
bool same(const Tensor& a, const Tensor& b) {
  if (!(a.type == b.type)) return false;
  for (int64_t i = 0; i < elements(a.type.shape); ++i) {
    Scalar x = graph::element(a, i), y = graph::element(b, i);
    if (!(x == y) && !(std::isnan(x.as<double>()) && std::isnan(y.as<double>()))) return false;
  }
  return true;
}

TEST(Elementwise, LoopRuleAndEvaluationAgree) {
  std::mt19937 random(1);
  for (const Primitive* p : registry().all()) {
    if (!p->elementwise || p->name == "convert" || p->name == "bitcast_convert") continue;
    for (DType t : all_dtypes) {
      bool chooses = p->name == "select";
      if (!chooses && !contains(p->group, t)) continue;
      std::vector<Tensor> operands;
      for (size_t k = 0; k < p->operands.size(); ++k)
        operands.push_back(values(chooses && k == 0 ? DType::boolean : t, p->domain[k], 60, random));
      EXPECT_TRUE(same(by_loop_rule(*p, operands, parameters_of(*p)), by_elements(*p, operands, parameters_of(*p))))
          << p->name << " " << name(t);
    }
  }
}
TEST(Elementwise, ConversionsAgree) {
  std::mt19937 random(2);
  for (DType from : all_dtypes)
    for (DType to : all_dtypes) {
      Tensor x = values(from, {-300, 300}, 64, random);
      Params params = {{"dtype", to}, {"ambiguous", false}};
      EXPECT_TRUE(
          same(by_loop_rule(registry().at("convert"), {x}, params), by_elements(registry().at("convert"), {x}, params)))
          << name(from) << " to " << name(to);
      const Primitive& bitcast = registry().at("bitcast_convert");
      auto bits = [](DType t) { return is_bool(t) ? 1 : 8 * static_cast<int64_t>(size_of(t)); };
      if (int64_t pieces = bits(to) / bits(from); pieces > 1) x.type.shape = {64 / pieces, pieces};
      Tensor y = by_elements(bitcast, {x}, {{"dtype", to}});
      EXPECT_TRUE(same(by_loop_rule(bitcast, {x}, {{"dtype", to}}), y)) << name(from) << " as " << name(to);
      Tensor back = by_elements(bitcast, {y}, {{"dtype", from}});
      EXPECT_EQ(std::memcmp(back.data.get(), x.data.get(), 64 * size_of(from)), 0) << name(from) << " as " << name(to);
    }
}
TEST(Elementwise, PiecesAreInLittleEndianOrderInTheLastDimension) {
  Tensor x = graph::full({DType::ui32, {2}, false}, 0);
  graph::set_element(x, 0, 0x00020001);
  graph::set_element(x, 1, 0x00040003);
  Tensor y = by_elements(registry().at("bitcast_convert"), {x}, {{"dtype", DType::ui16}});
  ASSERT_EQ(y.type.shape, (Shape{2, 2}));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(graph::element(y, i).as<int>(), (std::array{1, 3, 2, 4})[static_cast<size_t>(i)]);
}
TEST(Elementwise, ScalarPredicatesAndBoundsAreSpread) {
  Tensor x = graph::full({DType::f32, {3}, false}, 5), low = graph::full({DType::f32, {}, false}, 0),
         high = graph::full({DType::f32, {}, false}, 2);
  Tensor yes = graph::full({DType::boolean, {}, false}, true), z = graph::full({DType::f32, {3}, false}, 7);
  for (auto by : {by_elements, by_loop_rule}) {
    EXPECT_TRUE(same(by(registry().at("clamp"), {low, x, high}, {}), graph::full({DType::f32, {3}, false}, 2)));
    EXPECT_TRUE(same(by(registry().at("select"), {yes, x, z}, {}), x));
  }
}
TEST(Elementwise, PowersWithSimpleExponents) {
  std::mt19937 random(4);
  const Primitive& power = registry().at("power");
  for (DType t : floats) {
    Tensor x = values(t, {-50, 50}, 200, random), b = values(t, {-3, 3}, 200, random);
    for (int64_t i = 0; i < 200; i += 2) graph::set_element(b, i, Scalar(i % 3));
    EXPECT_TRUE(same(by_loop_rule(power, {x, b}), by_elements(power, {x, b})));
    EXPECT_TRUE(same(by_elements(power, {x, graph::full(x.type, 2)}), by_elements(registry().at("mul"), {x, x})));
    EXPECT_TRUE(same(by_elements(power, {x, graph::full(x.type, 1)}), x));
  }
}
TEST(Elementwise, EmptyTensors) {
  Tensor x = graph::full({DType::f64, {0, 3}, false}, 0);
  EXPECT_EQ(by_elements(registry().at("add"), {x, x}).type.shape, (Shape{0, 3}));
  EXPECT_EQ(by_elements(registry().at("exp"), {x}).type.shape, (Shape{0, 3}));
}

// d primitive(x...) / d x[k] by its rule.
std::optional<double> derivative(const char* name, std::vector<double> x, size_t k, double g = 1) {
  ScalarGraph s;
  std::vector<Var> operands;
  for (double v : x) operands.push_back(s.input(v, DType::f64));
  Var y = record(name, operands, parameters_of(registry().at(name)));
  auto cotangents = pull_back(s, y, s.input(g, DType::f64), k);
  return cotangents[k] ? std::optional(s.number(*cotangents[k])) : std::nullopt;
}
double value_of(const Primitive& p, const std::vector<double>& x) {
  ScalarGraph s;
  std::vector<Var> operands;
  for (double v : x) operands.push_back(s.input(v, DType::f64));
  return s.number(record(p.name.c_str(), operands, parameters_of(p)));
}

TEST(Derivatives, AgreeWithDifferences) {
  std::mt19937 random(3);
  for (const Primitive* p : registry().all()) {
    if (!p->elementwise || !p->reverse || p->name == "select" || p->name == "convert") continue;
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> x;
      for (const Domain& d : p->domain) x.push_back(std::uniform_real_distribution<double>(d.low, d.high)(random));
      for (size_t k = 0; k < x.size(); ++k) {
        if (p->domain[k].low == p->domain[k].high) continue;
        const double h = 1e-5;
        std::vector<double> left = x, right = x;
        left[k] -= h, right[k] += h;
        double expected = (value_of(*p, right) - value_of(*p, left)) / (2 * h);
        EXPECT_NEAR(derivative(p->name.c_str(), x, k).value_or(0), expected, 1e-6 * (1 + std::abs(expected)))
            << p->name << " operand " << k + 1 << " at " << x[0];
      }
    }
  }
}

struct Kink {
  const char* name;
  std::vector<double> x;
  size_t operand;
  double expected;
};
TEST(Derivatives, AtKinksAndEdges) {
  const Kink kinks[] = {
      {"abs", {0}, 0, 0},
      {"abs", {-2}, 0, -1},
      {"maximum", {2, 2}, 0, 0.5},
      {"maximum", {2, 2}, 1, 0.5},
      {"minimum", {2, 2}, 0, 0.5},
      {"minimum", {2, 2}, 1, 0.5},
      {"maximum", {3, 2}, 0, 1},
      {"maximum", {3, 2}, 1, 0},
      {"minimum", {3, 2}, 0, 0},
      {"minimum", {3, 2}, 1, 1},
      {"maximum", {nan, 2}, 0, 0},
      {"maximum", {nan, 2}, 1, 0},
      {"maximum", {inf, inf}, 0, 0.5},
      {"clamp", {0, 0, 1}, 1, 0.5},
      {"clamp", {0, 1, 1}, 1, 0.5},
      {"clamp", {0, 1, 1}, 2, 0.5},
      {"clamp", {1, 1, 1}, 0, 1.0 / 3},
      {"clamp", {1, 1, 1}, 1, 1.0 / 3},
      {"clamp", {1, 1, 1}, 2, 1.0 / 3},
      {"clamp", {3, 0, 2}, 0, 0},
      {"clamp", {3, 0, 2}, 1, 0},
      {"clamp", {3, 0, 2}, 2, 1},
      {"clamp", {3, 2, 2}, 1, 0},
      {"clamp", {2, 0, 2}, 0, 0.5},
      {"clamp", {2, 0, 2}, 2, 0.5},
      {"clamp", {0, nan, 1}, 1, 0},
      {"clamp", {nan, 0, 1}, 2, 0},
      {"clamp", {0, -1, 1}, 1, 0},
      {"clamp", {0, 2, 1}, 1, 0},
      {"clamp", {0, -1, 1}, 0, 1},
      {"clamp", {0, 2, 1}, 0, 0},
      {"clamp", {0, 2, 1}, 2, 1},
      {"clamp", {0, 0, 1}, 0, 0.5},
      {"power", {0, 0}, 0, 0},
      {"power", {0, 0}, 1, 0},
      {"power", {0, 2}, 0, 0},
      {"power", {0, 2}, 1, 0},
      {"power", {0, 1}, 0, 1},
      {"power", {-2, 3}, 0, 12},
      {"power", {3, 0}, 0, 0},
      {"power", {1e-310, 0}, 0, 0},
      {"power", {1e-310, 1e-300}, 0, 1e10},
      {"power", {inf, -1}, 1, 0},
      {"power", {1e-300, 2}, 1, 0},
      {"power", {0, 0.5}, 0, inf},
      {"power", {-2, 3}, 1, nan},
      {"remainder", {7, 2}, 1, -3},
      {"remainder", {-7, 2}, 1, 3},
      {"remainder", {-7, 2}, 0, 1},
      {"remainder", {7, -2}, 1, 3},
      {"sqrt", {0}, 0, inf},
      {"sqrt", {-1}, 0, nan},
      {"rsqrt", {0}, 0, -inf},
      {"cbrt", {0}, 0, inf},
      {"cbrt", {-8}, 0, 1.0 / 12},
      {"log", {0}, 0, inf},
      {"log1p", {-1}, 0, inf},
      {"asin", {1}, 0, inf},
      {"acos", {-1}, 0, -inf},
      {"acosh", {1}, 0, inf},
      {"acosh", {-2}, 0, nan},
      {"acosh", {1e200}, 0, 1e-200},
      {"asinh", {1e200}, 0, 1e-200},
      {"asinh", {-1e200}, 0, 1e-200},
      {"asinh", {inf}, 0, 0},
      {"asinh", {0}, 0, 1},
      {"atan", {1e200}, 0, 0},
      {"expm1", {-40}, 0, std::exp(-40)},
      {"atan2", {0, 0}, 0, nan},
      {"atan2", {0, -1}, 0, -1},
      {"atan2", {1e-300, 1e-300}, 0, 0.5e300},
      {"atan2", {1e200, 1e200}, 0, 0.5e-200},
      {"atan2", {1e200, 1}, 1, -1e-200},
      {"atan2", {inf, 1}, 0, 0},
      {"atan2", {inf, 1}, 1, 0},
      {"atan2", {1, inf}, 0, 0},
      {"logistic", {50}, 0, std::exp(-50)},
      {"logistic", {-50}, 0, std::exp(-50)},
      {"tanh", {20}, 0, 4 * std::exp(-40)},
      {"tanh", {-20}, 0, 4 * std::exp(-40)},
      {"rsqrt", {4e-205}, 0, -0.5 / (4e-205 * std::sqrt(4e-205))},
      {"divide", {1, 0}, 0, inf},
      {"erf_inv", {1}, 0, inf},
      {"next_after", {1, 2}, 0, 1},
      {"zeta", {2, 0.5}, 1, -2 * 8.41439832211716},
      {"zeta", {2, 0.5}, 0, nan},
      {"bessel_i1e", {0}, 0, 0.5},
      {"bessel_i1e", {2}, 0, -0.0143956113197354492},
  };
  for (const Kink& c : kinks) {
    std::optional<double> d = derivative(c.name, c.x, c.operand);
    ASSERT_TRUE(d) << c.name;
    std::string where =
        std::string(c.name) + " by operand " + std::to_string(c.operand + 1) + " at " + std::to_string(c.x[0]);
    if (std::isnan(c.expected))
      EXPECT_TRUE(std::isnan(*d)) << where << " is " << *d;
    else if (std::isinf(c.expected))
      EXPECT_EQ(*d, c.expected) << where;
    else
      EXPECT_NEAR(*d, c.expected, 1e-14 * std::abs(c.expected)) << where;
  }
}
TEST(Derivatives, AnInfiniteCotangentDoesNotLeakToTheOtherOperand) {
  EXPECT_EQ(derivative("maximum", {1, 2}, 0, inf), 0);
  EXPECT_EQ(derivative("clamp", {0, 5, 1}, 1, inf), 0);
}
TEST(Derivatives, HypotAcrossItsSwitchInSinglePrecision) {
  for (double x : {1e3, 0.99e9, 1.01e9, 1e20, 3e38}) {
    ScalarGraph s;
    Var y = record("asinh", {s.input(x, DType::f32)});
    auto d = pull_back(s, y, s.input(1, DType::f32));
    EXPECT_NEAR(s.number(*d[0]) * x, 1, 1e-6) << x;
  }
}
// The second derivatives, where a select hides a branch that is not finite.
TEST(Derivatives, SecondDerivativesOfMaskedBranches) {
  auto second = [](const char* name, std::vector<double> x, size_t k, const char* last, size_t operand_of_last) {
    ScalarGraph s;
    std::vector<Var> operands;
    for (double v : x) operands.push_back(s.input(v, DType::f64));
    Var y = record(name, operands);
    auto d = pull_back(s, y, s.input(1, DType::f64));
    for (const graph::Call& c : s.graph().calls)
      if (c.primitive->name == last) {
        auto inner = pull_back(s, {&s.graph(), c.outputs[0]}, s.input(0, DType::f64));
        return s.number(*inner[operand_of_last]);
      }
    return s.number(*d[k]) + nan;
  };
  EXPECT_EQ(second("power", {0, 0}, 1, "log", 0), 0);    // 0 / 1, not 0 / 0
  EXPECT_EQ(second("asinh", {1e200}, 0, "sqrt", 0), 0);  // the root of 1, not of Inf
}
TEST(Derivatives, ConvertPassesOnlyBetweenFloats) {
  ScalarGraph s;
  Var x = s.input(1.5, DType::f32);
  Var wide = convert(x, DType::f64);
  auto d = pull_back(s, wide, s.input(3, DType::f64));
  EXPECT_EQ(d[0]->dtype(), DType::f32);
  EXPECT_EQ(s.number(*d[0]), 3);
  Var whole = convert(x, DType::i32);
  EXPECT_FALSE(pull_back(s, whole, s.input(3, DType::i32))[0]);
}
TEST(Derivatives, OfSelectLeaveThePredicateOut) {
  ScalarGraph s;
  Var y = select(s.input(true, DType::boolean), s.input(1, DType::f32), s.input(2, DType::f32));
  auto d = pull_back(s, y, s.input(5, DType::f32));
  EXPECT_FALSE(d[0]);
  EXPECT_EQ(s.number(*d[1]), 5);
  EXPECT_EQ(s.number(*d[2]), 0);
}
TEST(Derivatives, OfScalarBoundsAreSums) {
  graph::Graph g;
  auto input = [&](Shape shape) {
    return Var{&g, g.inputs.emplace_back(graph::make_value(graph::Value::Kind::input, {DType::f32, shape, false}))};
  };
  Var y = record("clamp", {input({}), input({4, 2}), input({4, 2})});
  graph::Call call = g.calls.back();
  ReverseStep step{g, call, {input({4, 2}).value}, {true, false, true}, std::vector<ValuePtr>(3)};
  primitive_of(call).reverse(step);
  EXPECT_EQ(step.results[0]->type.shape, Shape{});
  EXPECT_EQ(step.results[1], nullptr);
  EXPECT_EQ(step.results[2]->type.shape, (Shape{4, 2}));
  EXPECT_EQ(y.shape(), (Shape{4, 2}));
}
TEST(Derivatives, OfAProductReadAsInABook) {
  graph::Graph g;
  auto input = [&] {
    return g.inputs.emplace_back(graph::make_value(graph::Value::Kind::input, {DType::f32, {}, false}));
  };
  Var a{&g, input()}, b{&g, input()};
  a* b;
  graph::Call call = g.calls.back();
  g.constants.push_back(graph::make_constant(graph::full({DType::f32, {}, false}, 1)));
  ReverseStep step{g, call, {g.constants[0]}, {true, true}, std::vector<ValuePtr>(2)};
  primitive_of(call).reverse(step);
  g.outputs = step.results;
  EXPECT_EQ(graph::print(g), R"(<AnvilGraph>
  Inputs:
    %x1: f32[]
    %x2: f32[]
  Constants:
    %c1: f32[]
  Body:
    %1: f32[] = mul(%x1, %x2)
    %2: f32[] = mul(%c1, %x2)
    %3: f32[] = mul(%c1, %x1)
  Outputs:
    %2: f32[]
    %3: f32[])");
}
TEST(Derivatives, OnlyRequiredOnesAreRecorded) {
  graph::Graph g;
  auto input = [&] {
    return Var{&g, g.inputs.emplace_back(graph::make_value(graph::Value::Kind::input, {DType::f32, {}, false}))};
  };
  input() / input();
  graph::Call call = g.calls.back();
  ReverseStep step{g, call, {input().value}, {true, false}, std::vector<ValuePtr>(2)};
  primitive_of(call).reverse(step);
  EXPECT_EQ(g.calls.size(), 2u);
}

}  // namespace
}  // namespace anvil::primitives
