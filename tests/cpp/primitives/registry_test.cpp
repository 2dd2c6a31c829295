// What holds for every primitive, and for the registry and record() themselves.
#include <gtest/gtest.h>

#include <set>

#include "primitives/vocabulary/primitive.h"

namespace anvil::primitives {
namespace {

TEST(Registry, EveryPrimitiveIsComplete) {
  for (const Primitive* p : registry().all()) {
    SCOPED_TRACE(p->name);
    EXPECT_FALSE(p->key.empty());
    EXPECT_FALSE(p->family.empty());
    EXPECT_TRUE(p->infer);
    if (p->family == "control") continue;  // the compiler and reverse mode know them
    EXPECT_TRUE(p->lower || p->expand);
    EXPECT_TRUE(p->zero_derivative ? !p->reverse : p->reverse || p->expand);
    EXPECT_TRUE(!p->augment || p->reverse);
    if (p->elementwise) {
      EXPECT_EQ(p->domain.size(), p->operands.size());
    }
    for (const Domain& d : p->domain) EXPECT_LE(d.low, d.high);
  }
}
TEST(Registry, ElementwisePrimitivesHaveAStableHloOperator) {
  for (const Primitive* p : registry().all())
    if (p->elementwise) {
      EXPECT_NE(p->hlo.op.find('.'), std::string::npos) << p->name;
    }
}
TEST(Registry, HasThePrimitivesOfTheSeed) {
  for (const char* name : {"fill",
                           "add",
                           "mul",
                           "sub",
                           "negate",
                           "divide",
                           "power",
                           "broadcast_in_dim",
                           "dot_general",
                           "transpose",
                           "reshape",
                           "concatenate",
                           "static_slice",
                           "dynamic_slice",
                           "dynamic_update_slice",
                           "gather",
                           "scatter",
                           "reduce_sum",
                           "reduce_prod",
                           "reduce_max",
                           "reduce_min",
                           "reduce_any",
                           "reduce_all",
                           "equal",
                           "not_equal",
                           "greater",
                           "greater_equal",
                           "less",
                           "less_equal",
                           "maximum",
                           "minimum",
                           "remainder",
                           "and",
                           "not",
                           "or",
                           "xor",
                           "shift_left",
                           "shift_right_logical",
                           "shift_right_arithmetic",
                           "atan2",
                           "bitcast_convert",
                           "abs",
                           "sqrt",
                           "rsqrt",
                           "log",
                           "tanh",
                           "tan",
                           "sine",
                           "cosine",
                           "floor",
                           "ceil",
                           "sign",
                           "exp",
                           "expm1",
                           "log1p",
                           "cbrt",
                           "logistic",
                           "is_finite",
                           "popcnt",
                           "clamp",
                           "reverse",
                           "iota",
                           "pad",
                           "round",
                           "convert",
                           "select",
                           "if",
                           "while",
                           "rng_bit_generator",
                           "cumsum",
                           "sort",
                           "top_k",
                           "cholesky",
                           "triangular_solve",
                           "erf",
                           "erfc",
                           "erf_inv",
                           "zeta",
                           "bessel_i1e",
                           "next_after",
                           "reduce_precision",
                           "count_leading_zeros",
                           "mulhi",
                           "lgamma",
                           "digamma",
                           "polygamma",
                           "asin",
                           "acos",
                           "atan",
                           "sinh",
                           "cosh",
                           "asinh",
                           "acosh",
                           "atanh"})
    EXPECT_NE(registry().find(name), nullptr) << name;
}
TEST(Registry, FindsByNameAndByKey) {
  EXPECT_EQ(registry().find("div"), registry().find("divide"));
  EXPECT_EQ(registry().at("max").name, "maximum");
  EXPECT_EQ(registry().find("nothing"), nullptr);
  EXPECT_THROW(registry().at("nothing"), InternalError);
}
TEST(Registry, NamesAndKeysAreUnique) {
  std::set<std::string> seen;
  for (const Primitive* p : registry().all()) {
    EXPECT_TRUE(seen.insert(p->name).second) << p->name;
    if (p->key != p->name) {
      EXPECT_TRUE(seen.insert(p->key).second) << p->key;
    }
  }
}
TEST(Registry, AddRefusesTakenNamesAndReplaceKeepsTheAddress) {
  Registry r;
  auto named = [](const char* name, const char* key) {
    Primitive p;
    p.name = name;
    p.key = key;
    return p;
  };
  r.add(named("divide", "div"));
  EXPECT_THROW(r.add(named("divide", "")), Error);
  EXPECT_THROW(r.add(named("div", "")), Error);
  r.add(named("add", ""));
  EXPECT_THROW(r.replace(named("divide", "add")), Error);
  const Primitive* before = r.find("div");
  r.replace(named("divide", "quotient"));
  EXPECT_EQ(r.find("quotient"), before);
  EXPECT_EQ(r.find("div"), nullptr);
  r.replace(named("mul", ""));
  EXPECT_EQ(r.all().size(), 3u);
}
TEST(Registry, GroupsContainWhatTheirNamesSay) {
  EXPECT_TRUE(contains(Group::numeric, DType::ui8) && !contains(Group::numeric, DType::boolean));
  EXPECT_TRUE(contains(Group::floating, DType::f64) && !contains(Group::floating, DType::i64));
  EXPECT_TRUE(contains(Group::integer, DType::ui64) && contains(Group::integer, DType::i8) &&
              !contains(Group::integer, DType::f32));
  EXPECT_TRUE(contains(Group::signed_or_float, DType::i8) && !contains(Group::signed_or_float, DType::ui8));
  EXPECT_TRUE(contains(Group::integer_or_bool, DType::boolean) && !contains(Group::integer_or_bool, DType::f32));
  EXPECT_TRUE(contains(Group::any, DType::boolean) && contains(Group::boolean, DType::boolean));
}

class Record : public testing::Test {
 protected:
  graph::Graph graph;
  ValuePtr input(DType t, Shape shape = {}, bool ambiguous = false) {
    return graph.inputs.emplace_back(make_value(graph::Value::Kind::input, {t, std::move(shape), ambiguous}));
  }
  std::vector<ValuePtr> record(const char* name, std::vector<ValuePtr> operands, Params params = {}) {
    return primitives::record(graph, registry().at(name), std::move(operands), std::move(params), 7);
  }
  void expect_error(const char* kind, const char* message, const char* detail, const char* name,
                    std::vector<ValuePtr> operands, Params params = {}) {
    size_t calls = graph.calls.size();
    try {
      record(name, std::move(operands), std::move(params));
      FAIL() << name << " was recorded";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind, kind);
      EXPECT_STREQ(e.what(), message);
      ASSERT_FALSE(e.details.empty());
      EXPECT_EQ(e.details[0], detail);
    }
    EXPECT_EQ(graph.calls.size(), calls);
  }
};

TEST_F(Record, AppendsTheCallWithItsLocation) {
  auto x = input(DType::f32, {2}, true), y = input(DType::f32, {2});
  auto z = record("add", {x, y});
  ASSERT_EQ(graph.calls.size(), 1u);
  EXPECT_EQ(graph.calls[0].location, 7);
  EXPECT_EQ(graph::text(z[0]->type), "f32[2]");
  EXPECT_TRUE(record("add", {x, x})[0]->type.ambiguous);
  graph.outputs = z;
  EXPECT_NO_THROW(verify(graph));
  z[0]->type.shape = {3};
  EXPECT_THROW(verify(graph), InternalError);
}
TEST_F(Record, ChecksNumberAndTypesOfOperands) {
  auto f = input(DType::f32, {2, 3}), i = input(DType::i32, {2, 3}), s = input(DType::f32), b = input(DType::boolean);
  auto u = input(DType::ui8), i16 = input(DType::i16);
  expect_error("argument", "`add` takes 2 operands.", "x Got 1.", "add", {f});
  expect_error("dtype", "`operand` must have dtype f16, bf16, f32 or f64.", "x Got <i32>.", "ceil", {i});
  expect_error("dtype", "`operand` must have dtype i8 to i64, f16, bf16, f32 or f64.", "x Got <ui8>.", "abs", {u});
  expect_error("dtype", "`lhs` and `rhs` must have dtype bool, i8 to i64 or ui8 to ui64.", "x Got <f32>.", "and",
               {f, f});
  expect_error("dtype", "`lhs` and `rhs` must have the same tensor type.", "x Got tensor<2x3xi32> and tensor<i16>.",
               "add", {i, i16});
  expect_error("shape", "`lhs` and `rhs` must have the same tensor type.", "x Got tensor<2x3xf32> and tensor<f32>.",
               "mul", {f, s});
  expect_error("dtype", "`pred` must have dtype bool.", "x Got <f32>.", "select", {s, s, s});
  expect_error("shape", "`max_val` must have the same shape as `operand` or be a scalar.", "x Got shapes (2,3) and ().",
               "clamp", {s, s, f});
  expect_error("dtype", "`operand` and `min_val` must have the same dtype.", "x Got <f32> and <i32>.", "clamp",
               {i, f, f});
  expect_error("argument", "`method` must be one of \"nearest_even\" or \"afz\".", "x Got \"up\".", "round", {f},
               {{"method", std::string("up")}});
  expect_error("shape", "The last dimension of `operand` must have size 8 to make one <i8> of 8 <bool>.",
               "x Got shape ().", "bitcast_convert", {b}, {{"dtype", DType::i8}});
  expect_error("argument", "`exponent_bits` must be at least 1.", "x Got 0.", "reduce_precision", {f},
               {{"exponent_bits", int64_t{0}}, {"mantissa_bits", int64_t{3}}});
  expect_error("argument", "`mantissa_bits` must be at least 0.", "x Got -1.", "reduce_precision", {f},
               {{"exponent_bits", int64_t{5}}, {"mantissa_bits", int64_t{-1}}});
}
TEST_F(Record, TypesOfConversions) {
  auto bitcast = [&](DType from, Shape shape, DType to) {
    return graph::text(record("bitcast_convert", {input(from, std::move(shape), true)}, {{"dtype", to}})[0]->type);
  };
  EXPECT_EQ(bitcast(DType::f32, {2}, DType::i32), "i32[2]");
  EXPECT_EQ(bitcast(DType::f64, {2}, DType::i16), "i16[2, 4]");
  EXPECT_EQ(bitcast(DType::ui8, {3, 8}, DType::f64), "f64[3]");
  EXPECT_THROW(bitcast(DType::ui8, {3, 4}, DType::f64), Error);
  EXPECT_THROW(bitcast(DType::ui8, {}, DType::i32), Error);
  EXPECT_EQ(bitcast(DType::ui8, {}, DType::boolean), "bool[8]");
  EXPECT_EQ(bitcast(DType::boolean, {3}, DType::boolean), "bool[3]");
  EXPECT_EQ(bitcast(DType::boolean, {2, 64}, DType::f64), "f64[2]");
  EXPECT_THROW(bitcast(DType::boolean, {8}, DType::i16), Error);
  EXPECT_EQ(graph::text(record("is_finite", {input(DType::f32, {2}, true)})[0]->type), "bool[2]");
  EXPECT_EQ(graph::text(record("less", {input(DType::f32, {}, true), input(DType::f32, {}, true)})[0]->type), "bool[]");
  EXPECT_EQ(
      graph::text(record("convert", {input(DType::i8, {4})}, {{"dtype", DType::f64}, {"ambiguous", true}})[0]->type),
      "f64?[4]");
}

}  // namespace
}  // namespace anvil::primitives
