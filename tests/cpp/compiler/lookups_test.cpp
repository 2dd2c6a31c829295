// Rows of tables that are added to: what is looked up serves several columns.
#include "compiler/machine_code.h"
#include "transform/reverse.h"

namespace anvil::test {
namespace {

using namespace primitives;
constexpr compiler::Target narrow = {32, 16, false, 25'000, 1e6};

// Whether the pass changes the program.
bool shares(const graph::Graph& g, const compiler::Target& target = narrow) {
  std::string before;
  for (const compiler::Stage& s : compiler::stages(*optimized(g), target)) {
    if (s.name == "lookups") return s.text != before;
    before = s.text;
  }
  return false;
}
Tensor places(const Shape& shape, int64_t rows) {
  Tensor t = graph::allocate({DType::i32, shape});
  for (int64_t k = 0; k < elements(shape); ++k) graph::set_element(t, k, Scalar((k * k * 7 + 3 * k) % (rows + 3) - 1));
  return t;
}
// Of each pass, and as machine code, on several threads, against the evaluator.
void expect_right(const graph::Graph& g, const std::vector<Tensor>& inputs, double tolerance = 1e-12) {
  expect_passes_agree(*optimized(g), inputs, tolerance, narrow);
  expect_machine_code_right(g, inputs, tolerance, small_tasks());
}
const IndexDims to_rows{{1}, {0}, {}, {}, {0}, 1};  // of updates [n, columns]

TEST(LookUps, RowsOfATable) {
  for (const int64_t columns : {16, 19, 35})
    for (const DType t : {DType::f32, DType::f64, DType::i32}) {
      Builder b;
      Var table = b.input(t, {50, columns}), at = b.input(DType::i32, {33}), u = b.input(t, {33, columns});
      b.output(scatter(table, at, u, to_rows, "add"));
      EXPECT_TRUE(shares(*b.g));
      b.output(scatter(table * table, at, u * u, to_rows, "maximum"));
      expect_right(*b.g, {numbers(t, {50, columns}), places({33}, 50), numbers(t, {33, columns})}, 1e-5);
    }
}
// The derivative of looking up rows, several for each observation.
TEST(LookUps, DerivativesOfGathers) {
  Builder b;
  Var table = b.input(DType::f64, {40, 18}), at = b.input(DType::i32, {21, 3}), w = b.input(DType::f64, {21, 18});
  Var rows = gather(table, at, {1, 18}, {{2}, {0}, {}, {}, {0}, 2});
  b.output(reduce_sum(reduce_sum(rows, {1}) * w, {0, 1}));
  const auto g = transform::gradient(*b.g, {true, false, false}, false);
  EXPECT_TRUE(shares(*g));
  expect_right(*g, {numbers(DType::f64, {40, 18}), places({21, 3}, 40), numbers(DType::f64, {21, 18})});
}
// What a step looks up for itself stays its own; few columns stay apart, and those of which a cache holds no four.
TEST(LookUps, NotOfOtherLoops) {
  Builder each;
  Var table = each.input(DType::f64, {50, 20}), at = each.input(DType::i32, {20, 9}),
      u = each.input(DType::f64, {20, 9});
  each.output(scatter(table, at, u, {{}, {0}, {1}, {0}, {0}, 2}, "add"));
  EXPECT_FALSE(shares(*each.g));
  expect_right(*each.g, {numbers(DType::f64, {50, 20}), places({20, 9}, 50), numbers(DType::f64, {20, 9})});
  for (const auto& [columns, cache, expected] :
       {std::tuple{15, 1e6, false}, {16, 1e6, true}, {16, 16 * 1599., false}, {16, 16 * 1600., true}}) {
    Builder b;
    Var t = b.input(DType::f64, {50, columns}), i = b.input(DType::i32, {9}), x = b.input(DType::f64, {9, columns});
    b.output(scatter(t, i, x, to_rows, "add"));
    EXPECT_EQ(shares(*b.g, {32, 16, false, 25'000, cache}), expected) << columns << " " << cache;
  }
}

}  // namespace
}  // namespace anvil::test
