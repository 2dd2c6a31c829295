// Products of which a mask hides a part.
#include "compiler/machine_code.h"
#include "compiler/stage_text.h"
#include "primitives/vocabulary/composite.h"

namespace anvil::test {
namespace {

using namespace primitives;

constexpr double tolerance = 1e-5;
constexpr int64_t n = 19;  // of rows and columns
constexpr compiler::Target any_size = {32, 16, true};

// What is made of x y, for x [n, 7] and y [7, n], and of the indices of its rows and its columns.
using Make = std::function<Var(Var product, Var row, Var column)>;
graph::GraphPtr product(const Make& make, DType index = DType::i32) {
  Builder b;
  Var x = b.input(DType::f32, {n, 7}), y = b.input(DType::f32, {7, n});
  Var z = dot_general(x, y, {1}, {0}, {}, {});
  b.output(make(z, iota(*z.graph, 0, index, z.shape()), iota(*z.graph, 1, index, z.shape())));
  return b.g;
}
// The condition of the program's one contraction: " where ..." or nothing.
std::string wanted(const graph::Graph& g) {
  const std::string text = after(g, "triangles", any_size), line = text.substr(text.find("contract "));
  const std::string first = line.substr(0, line.find('\n'));
  const size_t at = first.find(" where ");
  return at == std::string::npos ? "" : first.substr(at + 7);
}
void expect_right(const graph::Graph& g) {
  for (compiler::Target target : targets) {
    target.any_size = true;
    expect_passes_agree(*optimized(g), numbers_for(g), tolerance, target);
  }
}
void expect_wanted(const std::string& condition, const Make& make, DType index = DType::i32) {
  const auto g = product(make, index);
  EXPECT_EQ(wanted(*g), condition);
  expect_right(*g);
}
Var low(Var z) { return literal(z, -1); }
// Read twice, so that a mask is stored.
Var softmax(Var z) {
  const Shape s = z.shape();
  Var e = exp(z - broadcast_in_dim(reduce_max(z, {1}), s, {0}));
  return e / broadcast_in_dim(reduce_sum(e, {1}), s, {0});
}

TEST(Triangles, WhatAMaskHidesIsNotMade) {
  expect_wanted("j <= i", [](Var z, Var row, Var column) { return select(row >= column, z * 0.5, low(z)); });
  expect_wanted("j + 1 <= i", [](Var z, Var row, Var column) { return select(column < row, z * 0.5, low(z)); });
  expect_wanted("i <= j", [](Var z, Var row, Var column) { return select(row > column, low(z), z); });
  expect_wanted("i <= j + 3", [](Var z, Var row, Var column) { return select(row <= column + 3.0, z, low(z)); });
  expect_wanted("j <= i", [](Var z, Var row, Var column) { return select(!(row < column), z, low(z)); });
}
// The masks of a batch are stored once.
TEST(Triangles, StoredMasks) {
  const auto expect_of_batch = [](const std::string& condition, const std::function<Var(Var row, Var column)>& mask,
                                  bool hides) {
    Builder b;
    Var x = b.input(DType::f32, {4, n, 7}), y = b.input(DType::f32, {4, 7, n});
    Var z = dot_general(x, y, {2}, {1}, {0}, {0});
    Var row = iota(*z.graph, 0, DType::i32, {n, n}), column = iota(*z.graph, 1, DType::i32, {n, n});
    Var m = broadcast_in_dim(mask(row, column), z.shape(), {1, 2});
    b.output(reduce_max(hides ? select(m, low(z), z) : select(m, z, low(z)), {2}));
    EXPECT_NE(after(*b.g, "triangles", any_size).find(": bool["), std::string::npos);
    EXPECT_EQ(wanted(*b.g), condition);
    expect_right(*b.g);
  };
  expect_of_batch(
      "k <= j", [](Var row, Var column) { return row >= column; }, false);
  expect_of_batch(
      "k <= j", [](Var row, Var column) { return row < column; }, true);
  expect_of_batch(
      "j + 2 <= k", [](Var row, Var column) { return row + 2.0 <= column; }, false);
  expect_of_batch(
      "j <= k + 2", [](Var row, Var column) { return row - 2.0 > column; }, true);
  // of which a part says something else
  expect_of_batch(
      "",
      [](Var row, Var column) {
        return concatenate({slice(row >= column, {0, 0}, {9, n}, {1, 1}), slice(row <= column, {9, 0}, {n, n}, {1, 1})},
                           0);
      },
      false);
}
TEST(Triangles, OfSeveralConditionsOne) {
  expect_wanted("j <= i", [](Var z, Var row, Var column) {
    return select((row <= column + 8.0) & (row >= column), z, low(z)) + select(row >= column, z * z, low(z));
  });
  expect_wanted("i <= j", [](Var z, Var row, Var column) {
    return select((row > column) | (row == literal(row, 3)), low(z), z);
  });
  // read by the condition itself
  expect_wanted("", [](Var z, Var row, Var column) {
    return select((row >= column) & (z > literal(z, 0)), literal(z, 1), low(z));
  });
  // one of them alone hides nothing
  expect_wanted(
      "", [](Var z, Var row, Var column) { return select((row >= column) | (row == literal(row, 3)), z, low(z)); });
  expect_wanted(
      "", [](Var z, Var row, Var column) { return select((row > column) & (row == literal(row, 3)), low(z), z); });
}
TEST(Triangles, IndicesOfAnyDtypeThatHasThem) {
  for (const DType t : {DType::i8, DType::i32, DType::i64, DType::ui64, DType::f32, DType::f64})
    expect_wanted(
        "j <= i", [](Var z, Var row, Var column) { return select(row >= column, z, low(z)); }, t);
  // i8 has no 120 + 72, f32 not every number of 2^25
  expect_wanted(
      "", [](Var z, Var row, Var column) { return select(row + 120.0 >= column, z, low(z)); }, DType::i8);
  expect_wanted(
      "", [](Var z, Var row, Var column) { return select(row + 3e7 >= column + 3e7, z, low(z)); }, DType::f32);
  expect_wanted(
      "", [](Var z, Var row, Var column) { return select(row - 80.0 >= column, z, low(z)); }, DType::ui64);
}
TEST(Triangles, EverythingThatSomebodyReadsIsMade) {
  expect_wanted("", [](Var z, Var row, Var column) { return select(row >= column, z, low(z)) + z; });
  expect_wanted("", [](Var z, Var row, Var column) {
    return select(row >= column, z, low(z)) * select(row >= column, low(z), z);
  });
  expect_wanted("", [](Var z, Var row, Var column) { return select(row >= transpose(column, {1, 0}), z, low(z)); });
  expect_wanted("", [](Var z, Var row, Var column) {  // read across, under a mask of where it goes
    return select(row >= column, transpose(z, {1, 0}) * 0.5 + z, low(z));
  });
  expect_wanted("", [](Var z, Var row, Var column) {  // each fits, but not both
    return select(row >= column, z, low(z)) + select(row >= column + 1.0, z * z, low(z));
  });
  Builder b;
  Var x = b.input(DType::f32, {n, 7}), y = b.input(DType::f32, {7, n});
  Var z = dot_general(x, y, {1}, {0}, {}, {});
  b.output(select(iota(*z.graph, 0, DType::i32, z.shape()) >= iota(*z.graph, 1, DType::i32, z.shape()), z, low(z)));
  b.output(reduce_sum(z, {0, 1}));
  EXPECT_EQ(wanted(*b.g), "");
  expect_right(*b.g);
}
// What a step of a loop makes, the next one reads as a whole.
TEST(Triangles, ReadByTheNextStep) {
  Builder b;
  Var x = b.input(DType::f32, {n, 7}), y = b.input(DType::f32, {7, n}), z0 = b.input(DType::f32, {n, n});
  auto r = while_loop(
      *b.g, {b.scalar(0, DType::i32), z0, literal(z0, 0)}, [](std::vector<Var>& s) { return s[0] < 3.0; },
      [&](std::vector<Var>& s) {
        Var all = s[2] + s[1] * 0.5;
        Var scale = broadcast_in_dim(reduce_sum(all, {0, 1}), x.shape(), {});
        Var z =
            dot_general(record("tanh", {Var{all.graph, x.value} * scale}), Var{all.graph, y.value}, {1}, {0}, {}, {});
        Var row = iota(*z.graph, 0, DType::i32, z.shape()), column = iota(*z.graph, 1, DType::i32, z.shape());
        return std::vector<Var>{s[0] + 1.0, z, all + select(row >= column, z, low(z))};
      });
  b.output(r[2]);
  EXPECT_EQ(wanted(*b.g), "");
  expect_right(*b.g);
}
// What a branch makes is read after it.
TEST(Triangles, ReadOutsideOfABranch) {
  Builder b;
  Var x = b.input(DType::f32, {n, 7}), y = b.input(DType::f32, {7, n}), other = b.input(DType::f32, {n, n});
  const auto r = if_else(
      *b.g, reduce_sum(x, {0, 1}) < 100.0,
      [&](graph::Graph& yes) {
        Var z = dot_general(in(yes, x), in(yes, y), {1}, {0}, {}, {});
        Var row = iota(yes, 0, DType::i32, z.shape()), column = iota(yes, 1, DType::i32, z.shape());
        return std::vector<Var>{z, reduce_sum(select(row >= column, z, low(z)), {0, 1})};
      },
      [&](graph::Graph& no) {
        return std::vector<Var>{in(no, other), reduce_sum(in(no, other), {0, 1})};
      });
  b.output(r[0] * r[0] + 1.0);
  b.output(r[1]);
  EXPECT_EQ(wanted(*b.g), "");
  expect_right(*b.g);
}
TEST(Triangles, OfEachOfABatch) {
  Builder b;
  Var q = b.input(DType::f32, {3, 18, 5, 2}), k = b.input(DType::f32, {3, 18, 5, 2});
  Var z = dot_general(q, k, {2}, {2}, {0, 3}, {0, 3});  // [3, 2, 18, 18]
  Var row = iota(*z.graph, 2, DType::i64, z.shape()), column = iota(*z.graph, 3, DType::i64, z.shape());
  b.output(reduce_max(select(row >= column, z, low(z)), {3}));
  const std::string text = after(*b.g, "triangles", any_size);
  EXPECT_NE(text.find(" where "), std::string::npos) << text;
  expect_right(*b.g);
}
// Rows go block by block, and the mask with them.
TEST(Triangles, OfABlockOfRows) {
  Builder b;
  const Shape shape = {8, 64};
  Var q = b.input(DType::f32, shape), k = b.input(DType::f32, shape), v = b.input(DType::f32, shape);
  Var z = dot_general(q, k, {0}, {0}, {}, {}) * 0.3;
  Var row = iota(*z.graph, 0, DType::i32, z.shape()), column = iota(*z.graph, 1, DType::i32, z.shape());
  b.output(dot_general(softmax(select(row >= column, z, low(z))), v, {1}, {1}, {}, {}));
  compiler::Target target = {32, 16, true, 1, 4096};
  std::string text = "none";
  for (const compiler::Stage& s : compiler::stages(*optimized(*b.g), target))
    if (s.name == "triangles") text = s.text;
  EXPECT_NE(text.find(" where "), std::string::npos) << text;
  expect_passes_agree(*optimized(*b.g), numbers_for(*b.g), tolerance, target);
}

}  // namespace
}  // namespace anvil::test
