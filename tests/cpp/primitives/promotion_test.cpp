// The promotion tables, complete, and what promote() and broadcast_scalars() record.
#include <gtest/gtest.h>

#include <sstream>

#include "primitives/vocabulary/primitive.h"
#include "primitives/vocabulary/promotion.h"

namespace anvil::primitives {
namespace {

constexpr const char* dtypes = "bool i8 i16 i32 i64 ui8 ui16 ui32 ui64 f32 f64";
constexpr const char* known_with_known = R"(
bool  bool i8  i16 i32 i64 ui8  ui16 ui32 ui64 f32 f64
i8    i8   i8  i16 i32 i64 i16  i32  i64  i64  f32 f64
i16   i16  i16 i16 i32 i64 i16  i32  i64  i64  f32 f64
i32   i32  i32 i32 i32 i64 i32  i32  i64  i64  f32 f64
i64   i64  i64 i64 i64 i64 i64  i64  i64  i64  f32 f64
ui8   ui8  i16 i16 i32 i64 ui8  ui16 ui32 ui64 f32 f64
ui16  ui16 i32 i32 i32 i64 ui16 ui16 ui32 ui64 f32 f64
ui32  ui32 i64 i64 i64 i64 ui32 ui32 ui32 ui64 f32 f64
ui64  ui64 i64 i64 i64 i64 ui64 ui64 ui64 ui64 f32 f64
f32   f32  f32 f32 f32 f32 f32  f32  f32  f32  f32 f64
f64   f64  f64 f64 f64 f64 f64  f64  f64  f64  f64 f64)";
constexpr const char* ambiguous_with_known = R"(
bool  bool  i8   i16  i32  i64  ui8  ui16 ui32 ui64 f32 f64
i8    i8?   i8   i16  i32  i64  ui8  ui16 ui32 ui64 f32 f64
i16   i16?  i8   i16  i32  i64  ui8  ui16 ui32 ui64 f32 f64
i32   i32?  i8   i16  i32  i64  ui8  ui16 ui32 ui64 f32 f64
i64   i64?  i8   i16  i32  i64  ui8  ui16 ui32 ui64 f32 f64
ui8   ui8?  i8   i16  i32  i64  ui8  ui16 ui32 ui64 f32 f64
ui16  ui16? i8   i16  i32  i64  ui8  ui16 ui32 ui64 f32 f64
ui32  ui32? i8   i16  i32  i64  ui8  ui16 ui32 ui64 f32 f64
ui64  ui64? i8   i16  i32  i64  ui8  ui16 ui32 ui64 f32 f64
f32   f32?  f32? f32? f32? f32? f32? f32? f32? f32? f32 f64
f64   f64?  f64? f64? f64? f64? f64? f64? f64? f64? f32 f64)";

std::string text(CommonType t) { return std::string(name(t.dtype)) + (t.ambiguous ? "?" : ""); }

// check(row dtype, column dtype, cell)
template <class Check>
void each_cell(const char* table, Check check) {
  std::istringstream rows(table);
  for (std::string row; rows >> row;) {
    std::istringstream columns(dtypes);
    for (std::string column, cell; columns >> column;) {
      ASSERT_TRUE(rows >> cell);
      check(*parse_dtype(row), *parse_dtype(column), cell);
    }
  }
}

TEST(Promotion, KnownWithKnown) {
  each_cell(known_with_known, [](DType a, DType b, const std::string& cell) {
    EXPECT_EQ(text(common_dtype({a, false}, {b, false})), cell) << name(a) << " " << name(b);
    EXPECT_EQ(text(common_dtype({a, true}, {b, true})), cell + "?") << name(a) << " " << name(b);
  });
}
TEST(Promotion, AmbiguousWithKnown) {
  each_cell(ambiguous_with_known, [](DType a, DType b, const std::string& cell) {
    EXPECT_EQ(text(common_dtype({a, true}, {b, false})), cell) << name(a) << "? " << name(b);
    EXPECT_EQ(text(common_dtype({b, false}, {a, true})), cell) << name(b) << " " << name(a) << "?";
  });
}

class Values : public testing::Test {
 protected:
  graph::Graph graph;
  ValuePtr input(DType t, Shape shape = {}, bool ambiguous = false) {
    return graph.inputs.emplace_back(make_value(graph::Value::Kind::input, {t, std::move(shape), ambiguous}));
  }
  static ValuePtr literal(Scalar x, DType t) { return graph::make_literal(x, {t, {}, true}); }
  std::string printed(const std::vector<ValuePtr>& outputs) {
    graph.outputs = outputs;
    return graph::print(graph);
  }
};

TEST_F(Values, OnlyOtherDtypesAreConverted) {
  auto x = input(DType::i32, {}, true), y = input(DType::f32, {2});
  auto both = promote(graph, {x, y});
  EXPECT_EQ(printed(both), R"(<AnvilGraph>
  Inputs:
    %x1: i32?[]
    %x2: f32[2]
  Body:
    %1: f32[] = convert [dtype = f32, ambiguous = FALSE] (%x1)
  Outputs:
    %1: f32[]
    %x2: f32[2])");
}
TEST_F(Values, ConversionToAnAmbiguousDtypeStaysAmbiguous) {
  auto all = promote(graph, {input(DType::boolean), literal(1, DType::i32)});
  EXPECT_EQ(text(all[0]->type), "i32?[]");
  EXPECT_TRUE(all[1]->type.ambiguous);
}
TEST_F(Values, LiteralsTakeTheDtypeWithTheirFullValue) {
  auto all = promote(graph, {input(DType::f64), literal(0.1, DType::f32)});
  EXPECT_TRUE(graph.calls.empty());
  EXPECT_EQ(text(all[1]->type), "f64[]");
  EXPECT_EQ(all[1]->literal.as<double>(), 0.1);
}
TEST_F(Values, LiteralsOfTheRightDtypeKeepTheirAmbiguity) {
  auto all = broadcast_scalars(graph, promote(graph, {input(DType::f32, {2, 3}), literal(1.0, DType::f32)}));
  EXPECT_EQ(printed({all[1]}), R"(<AnvilGraph>
  Inputs:
    %x1: f32[2, 3]
  Body:
    %1: f32?[2, 3] = broadcast_in_dim [shape = c(2, 3), broadcast_dimensions = <any>] (1:f32?)
  Outputs:
    %1: f32?[2, 3])");
}
TEST_F(Values, LiteralsThatDoNotFitAreErrors) {
  auto converts = [&](Scalar x, DType t) {
    try {
      return promote(graph, {input(t), literal(x, DType::i32)})[1]->literal == x;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind, "dtype");
      return false;
    }
  };
  EXPECT_FALSE(converts(-2, DType::ui8));
  EXPECT_FALSE(converts(256, DType::ui8));
  EXPECT_TRUE(converts(255, DType::ui8));
  EXPECT_TRUE(converts(-128, DType::i8));
  EXPECT_FALSE(converts(128, DType::i8));
  EXPECT_FALSE(converts(-1, DType::ui64));
  EXPECT_FALSE(converts(uint64_t(1) << 63, DType::i64));
  EXPECT_TRUE(converts(uint64_t(1) << 63, DType::ui64));
  EXPECT_FALSE(converts(1.5, DType::i64));
  EXPECT_TRUE(converts(3.0, DType::i64));
  EXPECT_FALSE(converts(std::nan(""), DType::i64));
}
TEST_F(Values, ManyAreFoldedFromTheLeft) {
  auto all = promote(graph, {input(DType::i8), input(DType::ui8), input(DType::i32, {}, true)});
  for (const auto& v : all) EXPECT_EQ(text(v->type), "i16[]");
  EXPECT_THROW(promote(graph, {}), Error);
}

TEST_F(Values, ScalarsAreSpreadAndVectorsOfOneAreNot) {
  auto scalars = broadcast_scalars(graph, {input(DType::f32), input(DType::f32)});
  EXPECT_TRUE(scalars[0]->type.shape.empty());
  auto mixed = broadcast_scalars(graph, {input(DType::f32), input(DType::f32, {0, 2})});
  EXPECT_EQ(mixed[0]->type.shape, (Shape{0, 2}));
  EXPECT_THROW(broadcast_scalars(graph, {input(DType::f32, {1}), input(DType::f32, {2})}), Error);
}
TEST_F(Values, DimensionsOfSizeOneAreStretchedAmongEqualRanks) {
  auto all = broadcast_operands(graph, {input(DType::f32, {2, 1}), input(DType::f32), input(DType::f32, {1, 3})});
  for (const auto& v : all) EXPECT_EQ(v->type.shape, (Shape{2, 3}));
  auto empty = broadcast_operands(graph, {input(DType::f32, {1}), input(DType::f32, {0})});
  EXPECT_EQ(empty[0]->type.shape, Shape{0});
  auto scalars = broadcast_operands(graph, {input(DType::f32), input(DType::f32)});
  EXPECT_TRUE(scalars[0]->type.shape.empty());
  EXPECT_THROW(broadcast_operands(graph, {input(DType::f32, {2, 3}), input(DType::f32, {3})}), Error);
  EXPECT_THROW(broadcast_operands(graph, {input(DType::f32, {2, 1}), input(DType::f32, {3, 1})}), Error);
}
TEST_F(Values, DifferentShapesAreNamed) {
  try {
    broadcast_scalars(graph, {input(DType::f32, {2, 3}), input(DType::f32), input(DType::f32, {3})});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind, "shape");
    EXPECT_STREQ(e.what(), "All non-scalar tensors must have the same shape.");
    EXPECT_EQ(e.details, (std::vector<std::string>{"x Got shapes (2,3) and (3).",
                                                   "i Use `nv_broadcast_tensors()` for general broadcasting."}));
  }
}

}  // namespace
}  // namespace anvil::primitives
