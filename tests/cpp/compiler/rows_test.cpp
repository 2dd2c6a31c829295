// Rows of tables that are changed: several columns at once, row by row.
#include "compiler/machine_code.h"
#include "transform/reverse.h"

namespace anvil::test {
namespace {

using namespace primitives;
constexpr compiler::Target narrow = {32, 16, false, 25'000, 1e6};

// Whether the pass changes the program.
bool by_rows(const graph::Graph& g) {
  std::string before;
  for (const compiler::Stage& s : compiler::stages(*optimized(g), narrow)) {
    if (s.name == "rows") return s.text != before;
    before = s.text;
  }
  return false;
}
// Some are no rows of the table, and some rows have several.
Tensor places(const Shape& shape, int64_t rows, int64_t seed = 3) {
  Tensor t = graph::allocate({DType::i32, shape});
  for (int64_t k = 0; k < elements(shape); ++k)
    graph::set_element(t, k, Scalar((k * k * 7 + seed * k) % (rows + 3) - 1));
  return t;
}
// Of each pass, and as machine code, on several threads, against the evaluator.
void expect_right(const graph::Graph& g, const std::vector<Tensor>& inputs, double tolerance = 1e-12) {
  EXPECT_TRUE(by_rows(g)) << graph::print(g);
  expect_passes_agree(*optimized(g), inputs, tolerance, narrow);
  expect_machine_code_right(g, inputs, tolerance, small_tasks());
}
const IndexDims to_rows{{1}, {0}, {}, {}, {0}, 1};  // of updates [n, columns]
const IndexDims rows_of{{1}, {0}, {}, {}, {0}, 1};  // of a table [rows, columns], as [n, columns]
Var rows_at(Var table, Var at) { return gather(table, at, {1, table.shape()[1]}, rows_of); }

// Blocks of four and of eight columns and those left over; operands of some steps and of all of them.
TEST(Rows, AreAddedTo) {
  for (const auto& [columns, updates] : {std::pair{4, 300}, {15, 255}, {17, 256}, {24, 40}})
    for (const DType t : {DType::f32, DType::f64, DType::i32, DType::bf16}) {
      Builder b;
      Var table = b.input(t, {50, columns}), at = b.input(DType::i32, {updates}), u = b.input(t, {updates, columns});
      b.output(scatter(table, at, u, to_rows, "add"));
      b.output(scatter(table * table, at, u * u, to_rows, "maximum"));
      expect_right(*b.g, {numbers(t, {50, columns}), places({updates}, 50), numbers(t, {updates, columns})}, 1e-5);
    }
}
TEST(Rows, AreReplaced) {
  Builder b;
  Var table = b.input(DType::f64, {30, 12}), at = b.input(DType::i32, {45}), u = b.input(DType::f64, {45, 12});
  b.output(scatter(table, at, exp(u), to_rows, ""));
  expect_right(*b.g, {numbers(DType::f64, {30, 12}), places({45}, 30), numbers(DType::f64, {45, 12})});
}
// The derivative of looking up rows, several for each observation.
TEST(Rows, DerivativesOfGathers) {
  Builder b;
  Var table = b.input(DType::f64, {40, 18}), at = b.input(DType::i32, {21, 3}), w = b.input(DType::f64, {21, 18});
  Var rows = gather(table, at, {1, 18}, {{2}, {0}, {}, {}, {0}, 2});
  b.output(reduce_sum(reduce_sum(rows, {1}) * w, {0, 1}));
  const auto g = transform::gradient(*b.g, {true, false, false}, false);
  expect_right(*g, {numbers(DType::f64, {40, 18}), places({21, 3}, 40), numbers(DType::f64, {21, 18})});
}
// What is added is a row of a table itself, as messages along the edges of a graph are.
TEST(Rows, AreLookedUpAndAddedTo) {
  Builder b;
  Var x = b.input(DType::f64, {30, 20}), from = b.input(DType::i32, {90}), to = b.input(DType::i32, {90}),
      w = b.input(DType::f64, {90});
  Var sent = rows_at(x, from) * broadcast_in_dim(w, {90, 20}, {0});
  b.output(scatter(x * 0.5, to, sent, to_rows, "add"));
  expect_right(*b.g, {numbers(DType::f64, {30, 20}), places({90}, 30), places({90}, 30, 5), numbers(DType::f64, {90})});
}
// Columns in two dimensions, of which the loop inside goes by rows; then sums of each column.
TEST(Rows, OfSeveralDimensions) {
  Builder b;
  Var table = b.input(DType::f64, {20, 9, 3}), at = b.input(DType::i32, {50}), u = b.input(DType::f64, {50, 9, 3});
  Var sums = scatter(table, at, u, {{1, 2}, {0}, {}, {}, {0}, 1}, "add");
  b.output(sums);
  b.output(reduce_sum(u * u, {0}) + reduce_max(sums, {0}));
  expect_right(*b.g, {numbers(DType::f64, {20, 9, 3}), places({50}, 20), numbers(DType::f64, {50, 9, 3})});
}
// Places in two dimensions, columns between them or behind.
TEST(Rows, OfPlacesInTwoDimensions) {
  for (const int64_t axis : {1, 2}) {
    Builder b;
    const Shape shape = axis == 1 ? Shape{9, 11, 8} : Shape{9, 8, 11};
    Var table = b.input(DType::f32, shape), at = b.input(DType::i32, {70, 2}), u = b.input(DType::f32, {70, 11});
    const int64_t other = 3 - axis;
    b.output(scatter(table, at, u, {{1}, {0, other}, {}, {}, {0, other}, 1}, "add"));
    Tensor pairs = places({70, 2}, 8);
    expect_right(*b.g, {numbers(DType::f32, shape), pairs, numbers(DType::f32, {70, 11})}, 1e-5);
  }
}
// What is added up, each column for itself, before it goes elsewhere.
TEST(Rows, OfEachColumnsOwn) {
  Builder b;
  Var table = b.input(DType::f64, {30, 12}), at = b.input(DType::i32, {45}), u = b.input(DType::f64, {45, 12}),
      m = b.input(DType::f64, {30, 12});
  Var zero = literal(*b.g, 0, {DType::f64, {30, 12}}), sums = scatter(zero, at, u, to_rows, "add");
  Var mean = m * 0.9 + sums * 0.1, spread = m * 0.5 + sums * sums;
  b.output(mean);
  b.output(spread);
  b.output(table - mean / (sqrt(spread * spread) + 1.0) + reverse(sums, {0}));
  expect_right(*b.g, {numbers(DType::f64, {30, 12}), places({45}, 30), numbers(DType::f64, {45, 12}),
                      numbers(DType::f64, {30, 12}, -1, 1, 4)});
}
// Places that each column has for itself are looked up after what goes by rows, and not before.
TEST(Rows, BesidePlacesOfEachColumn) {
  for (const bool before : {false, true}) {
    Builder b;
    const IndexDims of_columns{{}, {0}, {1}, {1}, {0}, 2};
    Var z = b.input(DType::f64, {60, 12}), at = b.input(DType::i32, {60}), table = b.input(DType::f64, {9, 12});
    Var where = convert(exp(z) * 4.0, DType::i32);
    Var sums = scatter(table, at, convert(where, DType::f64) * z, to_rows, "add");
    Var found = gather(sums, where, {1, 1}, of_columns);
    b.output(sums);
    b.output(found);
    if (before) b.output(scatter(sums, at, found, to_rows, "maximum"));
    const std::vector<Tensor> inputs = {numbers(DType::f64, {60, 12}), places({60}, 9), numbers(DType::f64, {9, 12})};
    EXPECT_EQ(by_rows(*b.g), !before);
    expect_passes_agree(*optimized(*b.g), inputs, 1e-12, narrow);
    expect_machine_code_right(*b.g, inputs, 1e-12, small_tasks());
  }
}
TEST(Rows, OfTheStateOfALoop) {
  Builder b;
  Var table = b.input(DType::f64, {25, 10}), at = b.input(DType::i32, {40}), u = b.input(DType::f64, {40, 10});
  Var zero = b.scalar(0, DType::i32);
  auto r = while_loop(
      *b.g, {table, zero}, [](std::vector<Var>& s) { return s[1] < 3.0; },
      [&](std::vector<Var>& s) {
        graph::Graph& g = *s[0].graph;
        return std::vector<Var>{scatter(s[0], in(g, at), in(g, u), to_rows, "add"), s[1] + 1.0};
      });
  b.output(r[0]);
  expect_right(*b.g, {numbers(DType::f64, {25, 10}), places({40}, 25), numbers(DType::f64, {40, 10})});
}
// What each step looks up for itself stays; so do few columns, few changes, and tables much longer than what changes.
TEST(Rows, NotOfOtherLoops) {
  Builder each;
  Var table = each.input(DType::f64, {50, 20}), at = each.input(DType::i32, {20, 99}),
      u = each.input(DType::f64, {20, 99});
  each.output(scatter(table, at, u, {{}, {0}, {1}, {0}, {0}, 2}, "add"));
  EXPECT_FALSE(by_rows(*each.g));
  for (const auto& [rows, columns, updates, expected] :
       {std::tuple{9, 3, 40, false}, {9, 4, 32, true}, {9, 4, 31, false}, {120, 4, 40, true}, {120, 4, 39, false}}) {
    Builder b;
    Var t = b.input(DType::f64, {rows, columns}), i = b.input(DType::i32, {updates}),
        x = b.input(DType::f64, {updates, columns});
    b.output(scatter(t, i, x, to_rows, "add"));
    EXPECT_EQ(by_rows(*b.g), expected) << rows << " " << columns << " " << updates;
  }
}

}  // namespace
}  // namespace anvil::test
