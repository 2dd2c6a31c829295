// Products of one operand with several others.
#include "compiler/stage_text.h"

namespace anvil::test {
namespace {

using namespace primitives;

const compiler::Target any_size = {64, 32, true};

size_t found(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++n;
  return n;
}
// How many products stand beside others, and how many contractions there are.
void expect_beside(const graph::Graph& g, size_t beside, size_t contractions,
                   const compiler::Target& target = any_size) {
  const std::string text = after(g, "beside", target);
  EXPECT_EQ(found(text, "  beside"), beside) << text;
  EXPECT_EQ(found(text, "contract "), contractions) << text;
  expect_passes_agree(g, numbers_for(g), 1e-11, target);
}
Var matrix(Builder& b, int64_t m, int64_t n) { return b.input(DType::f64, {m, n}); }
Var product(Var x, Var y) { return dot_general(x, y, {1}, {0}, {}, {}); }

TEST(Beside, QueriesKeysAndValues) {
  Builder b;
  Var x = matrix(b, 30, 20);
  for (const int64_t columns : {20, 7, 1}) b.output(product(x, matrix(b, 20, columns)));
  expect_beside(*b.g, 2, 1);
}

// What stands between them does not matter, unless one needs it or gives it.
TEST(Beside, OverOtherStatements) {
  for (const bool needed : {false, true}) {
    Builder b;
    Var x = matrix(b, 30, 20), y = matrix(b, 20, 9), first = product(x, matrix(b, 20, 11));
    Var between = reduce_sum(sin(first), {0, 1});
    b.output(between);
    if (needed) y = y * broadcast_in_dim(between, {20, 9}, {});
    b.output(product(x, y));
    expect_beside(*b.g, needed ? 0 : 1, needed ? 2 : 1);
  }
}

// The shared operand may be the left one in one and the right one in another, or both in one: X'X, X'y.
TEST(Beside, WhicheverSide) {
  for (const bool left : {false, true})
    for (const bool itself_first : {false, true}) {
      Builder b;
      Var x = matrix(b, 40, 12), y = matrix(b, 40, 12);
      Var with_itself = dot_general(x, x, {0}, {0}, {}, {});
      Var other = left ? dot_general(x, y, {0}, {0}, {}, {}) : dot_general(y, x, {0}, {0}, {}, {});
      b.output(itself_first ? with_itself : other);
      b.output(itself_first ? other : with_itself);
      expect_beside(*b.g, 1, 1);
    }
}

TEST(Beside, WithWeights) {
  Builder b;
  Var x = matrix(b, 40, 12), y = matrix(b, 40, 5), w = b.input(DType::f64, {40});
  Var weighted = x * broadcast_in_dim(w, {40, 12}, {0});
  b.output(dot_general(weighted, x, {0}, {0}, {}, {}));
  b.output(dot_general(x * broadcast_in_dim(w, {40, 12}, {0}), y, {0}, {0}, {}, {}));
  b.output(dot_general(x, matrix(b, 40, 3), {0}, {0}, {}, {}));  // without
  expect_beside(*b.g, 1, 2);
}

TEST(Beside, ForABatchAndSeveralDimensions) {
  Builder b;
  Var x = b.input(DType::f64, {6, 14, 5, 4});
  b.output(dot_general(x, b.input(DType::f64, {14, 9, 4}), {1}, {0}, {3}, {2}));
  b.output(dot_general(x, b.input(DType::f64, {14, 3, 4}), {1}, {0}, {3}, {2}));
  expect_passes_agree(*b.g, numbers_for(*b.g), 1e-11, any_size);
}

// Dimensions of one element, which move nothing: in both, in the shared operand, and as the only column.
TEST(Beside, DimensionsOfOneElement) {
  Builder b;
  Var x = b.input(DType::f64, {1, 30, 1, 20});
  b.output(dot_general(x, b.input(DType::f64, {20, 1, 8}), {3}, {0}, {}, {}));
  b.output(dot_general(x, b.input(DType::f64, {1, 20, 3}), {0, 3}, {0, 1}, {}, {}));
  b.output(dot_general(x, b.input(DType::f64, {20, 1}), {3}, {0}, {}, {}));
  expect_beside(*b.g, 2, 1);
}

// The same result again and again along a dimension that is in no operand.
TEST(Beside, ResultsThatAreRepeated) {
  Builder b;
  Var x = matrix(b, 64, 17);
  for (int k = 0; k < 2; ++k) {
    Var w = broadcast_in_dim(b.input(DType::f64, {17}), {17, 6}, {0});
    b.output(product(x, w));
  }
  expect_beside(*b.g, 1, 1);
}

TEST(Beside, SmallFloats) {
  Builder b;
  Var x = b.input(DType::f16, {30, 20});
  b.output(product(x, b.input(DType::f16, {20, 8})));
  b.output(product(x, b.input(DType::f16, {20, 3})));
  const std::string text = after(*b.g, "beside", any_size);
  EXPECT_EQ(found(text, "  beside"), 1u) << text;
  expect_passes_agree(*b.g, numbers_for(*b.g), 2e-2, any_size);
}

// One of the other's result, rows that lie otherwise, and a depth that does.
TEST(Beside, OthersStay) {
  {
    Builder b;
    Var x = matrix(b, 20, 20), first = product(x, matrix(b, 20, 8));
    b.output(product(x, first));
    expect_beside(*b.g, 0, 2);
  }
  {
    Builder b;
    Var x = matrix(b, 30, 20);
    b.output(product(x, matrix(b, 20, 8)));
    b.output(dot_general(matrix(b, 5, 20), x, {1}, {1}, {}, {}));
    expect_beside(*b.g, 0, 2);
  }
  Builder b;
  Var x = matrix(b, 30, 20);
  b.output(product(x, matrix(b, 20, 8)));
  b.output(dot_general(x, matrix(b, 7, 20), {1}, {1}, {}, {}));
  b.output(dot_general(x, matrix(b, 30, 9), {0}, {0}, {}, {}));
  expect_beside(*b.g, 0, 3);
}

// A product that is small alone stands beside one of the same lines, which it would read again: before it or after it, not
// where that one has weights, is no other's, or makes what it needs.
TEST(Beside, NormalEquations) {
  enum Case { alone, first, last, weighted, needed };
  for (const Case c : {alone, first, last, weighted, needed}) {
    Builder b;
    Var x = matrix(b, 6000, 8), y = b.input(DType::f64, {6000}), w = b.input(DType::f64, {6000});
    const auto with_itself = [&] {
      Var left = c == weighted ? x * broadcast_in_dim(w, {6000, 8}, {0}) : x;
      Var result = dot_general(left, x, {0}, {0}, {}, {});
      b.output(result);
      return result;
    };
    if (c == last || c == weighted) with_itself();
    if (c == needed) y = y * broadcast_in_dim(reduce_max(sin(with_itself()), {0, 1}), {6000}, {});
    b.output(dot_general(x, y, {0}, {0}, {}, {}));
    if (c == first) with_itself();
    const bool beside = c == first || c == last;
    expect_beside(*b.g, beside, c == alone ? 0 : 1, {64, 32});
  }
}

}  // namespace
}  // namespace anvil::test
