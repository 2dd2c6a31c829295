// Loops that must not become one, and those that may: programs whose nests have equal extents and
// share a buffer, but do not touch the same elements of it at the same step.
#include "compiler/graphs.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace anvil::test {
namespace {

using namespace primitives;

Var matmul(Var a, Var b) { return dot_general(a, b, {1}, {0}, {}, {}); }

void expect_valid(const graph::Graph& g, const std::vector<Tensor>& inputs, double tolerance = 1e-9) {
  for (const compiler::Target& target : targets) expect_passes_agree(g, inputs, tolerance, target);
}

// The scaling of column i of the left operand stays out of the loop over columns i of the product,
// which reads all columns.
TEST(Fusion, ScaledColumnsComeBeforeTheProduct) {
  for (int64_t n : {3, 4, 9}) {
    Builder b;
    Var x = b.input(DType::f64, {20, n}), w = b.input(DType::f64, {n}), y = b.input(DType::f64, {n, n});
    b.output(matmul(x * broadcast_in_dim(exp(w), x.shape(), {1}), y));
    expect_valid(*b.g, numbers_for(*b.g));
  }
}
TEST(Fusion, ScaledRowsComeBeforeTheProduct) {
  for (int64_t n : {3, 4, 9}) {
    Builder b;
    Var x = b.input(DType::f64, {n, n}), w = b.input(DType::f64, {n}), y = b.input(DType::f64, {n, 20});
    b.output(matmul(x, y * broadcast_in_dim(exp(w), y.shape(), {0})));
    expect_valid(*b.g, numbers_for(*b.g));
  }
}
// The same in a derivative: of weighted means of the columns of tanh(x w).
TEST(Fusion, GradientOfMeansOverRowsOfAProduct) {
  Builder b;
  Var x = b.input(DType::f64, {32, 9}), w = b.input(DType::f64, {9, 9}), v = b.input(DType::f64, {9});
  b.output(reduce_sum(reduce_sum(record("tanh", {matmul(x, w)}), {0}) / 32.0 * v, {0}));
  graph::GraphPtr g = transform::gradient(*b.g, {true, false, false}, false);
  transform::optimize(*g);
  expect_valid(*g, numbers_for(*g));
}
// Index vectors without components: every update changes the same window. The copy of the operand
// is complete before the first update, which changes all its columns.
TEST(Fusion, CopiesComeBeforeUpdatesOfOtherColumns) {
  for (bool temporary : {false, true}) {
    Builder b;
    Var x = b.input(DType::f64, {2, 2}), at = b.input(DType::i32, {2, 3, 0}), u = b.input(DType::f64, {2, 2, 3, 2});
    b.output(scatter(temporary ? x * 2.0 : x, at, u, {{1, 3}, {}, {}, {}, {}, 2}, "add"));
    expect_valid(*b.g, numbers_for(*b.g));
  }
}
// What a loop changes is moved elsewhere before it: the body does not look at the original instead.
TEST(Inline, CopiesOfAStateStayAsTheyWere) {
  for (int64_t n : {3, 9}) {
    Builder b;
    Var state = b.input(DType::f64, {n, n}) * 2.0, before = transpose(state, {1, 0});
    auto r = while_loop(
        *b.g, {state, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[1] < 3.0; },
        [&](std::vector<Var>& s) {
          return std::vector<Var>{s[0] * 0.5 + in(*s[0].graph, before), s[1] + 1.0};
        });
    b.output(r[0]);
    expect_valid(*b.g, numbers_for(*b.g));
  }
}
// Zeros between the elements share nothing with the nest that makes these until the elements are written: then all
// of a column is one step of a loop, in which temporaries have one dimension.
TEST(Fusion, ANestThatTookAnotherLooksForAPartnerAgain) {
  Builder b;
  Var x = b.input(DType::f64, {9, 40}), zero = b.scalar(0, DType::f64);
  Var t = slice(x, {0, 0}, {9, 40}, {2, 1}) + slice(x, {0, 0}, {9, 40}, {2, 1}) * 0.5;
  Var spread = pad(t, zero, {0, 0}, {0, 0}, {1, 0}),
      odd = pad(slice(t, {1, 0}, {5, 40}, {1, 1}), zero, {1, 0}, {1, 0}, {1, 0});
  b.output(spread * odd + x);
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12);
  EXPECT_EQ(p.body.size(), 1u) << print(p);
}
// What stands between a batch of products and those who read them, here a cumulated sum, comes before them: each product
// is one step's own.
TEST(Fusion, ProductsFollowWhatTheirReadersWaitFor) {
  Builder b;
  Var x = b.input(DType::f32, {5, 20, 3}), y = b.input(DType::f32, {5, 3, 20}), w = b.input(DType::f32, {20, 20});
  Var product = transpose(dot_general(x, y, {2}, {1}, {0}, {0}), {1, 2, 0});
  Var e = exp(product + broadcast_in_dim(cumsum(w, 0), product.shape(), {0, 1}));
  b.output(e / broadcast_in_dim(reduce_sum(e, {0}), e.shape(), {1, 2}));
  transform::optimize(*b.g);
  const std::string text = print(expect_passes_agree(*b.g, numbers_for(*b.g), 1e-5));
  EXPECT_EQ(text.find("f32[20, 20, 5] temporary"), std::string::npos) << text;
}
TEST(Fusion, ProductsOfOneOperandWithItself) {
  for (int64_t n : {4, 17}) {
    Builder b;
    Var x = b.input(DType::f64, {n, n}), e = exp(x);
    b.output(matmul(e, e));
    b.output(matmul(transpose(e, {1, 0}), e));
    b.output(matmul(e, transpose(e, {1, 0})) * broadcast_in_dim(reduce_sum(matmul(e, x), {0}), {n, n}, {1}));
    expect_valid(*b.g, numbers_for(*b.g));
  }
}
// Rows and columns of a square matrix are as many, but a step that adds up a row has nothing to do with a column.
TEST(Fusion, RowsAndColumnsOfASquareAreNotOneLoop) {
  for (const bool products : {false, true}) {
    Builder b;
    Var x = b.input(DType::f64, {64, 64}), w = b.input(DType::f64, {64});
    const auto along = [&](int64_t axis) {
      return reduce_sum(products ? x * broadcast_in_dim(w, x.shape(), {axis}) : x, {axis});
    };
    b.output(along(1));
    b.output(along(0));
    const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12);
    EXPECT_EQ(p.body.size(), 2u) << print(p);
  }
}

}  // namespace
}  // namespace anvil::test
