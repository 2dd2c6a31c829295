// Rows of large tables, which are asked for some steps before they are needed.
#include "compiler/machine_code.h"
#include "compiler/stage_text.h"
#include "transform/reverse.h"

namespace anvil::test {
namespace {

using namespace primitives;
constexpr double small = 1024;  // bytes of a cache
constexpr compiler::Target small_cache = {32, 16, false, 25'000, small};

std::string text_of(const graph::Graph& g, const compiler::Target& target = small_cache) {
  return after(*optimized(g), "prefetch", target);
}
int prefetches(const std::string& text) {
  int n = 0;
  for (size_t at = text.find("prefetch "); at != std::string::npos; at = text.find("prefetch ", at + 1)) ++n;
  return n;
}
// Some are no columns of the table.
Tensor places(int64_t n, int64_t columns, int64_t seed = 3) {
  Tensor t = graph::allocate({DType::i32, {n}});
  for (int64_t k = 0; k < n; ++k) graph::set_element(t, k, Scalar((k * k * 7 + seed * k) % (columns + 3) - 1));
  return t;
}
void expect_right(const graph::Graph& g, const std::vector<Tensor>& inputs, double tolerance = 1e-12) {
  expect_passes_agree(*optimized(g), inputs, tolerance, small_cache);
  expect_machine_code_right(g, inputs, tolerance, small_tasks(small));
}
// Columns of a table lie together in memory.
Var columns_at(Var table, Var at) { return gather(table, at, {table.shape()[0], 1}, {{0}, {1}, {}, {}, {1}, 1}); }
const IndexDims to_columns{{0}, {1}, {}, {}, {1}, 1};  // of updates [rows, n]

TEST(Prefetch, RowsThatAreLookedUp) {
  for (const DType t : {DType::f32, DType::f64, DType::i32})
    for (const int64_t n : {64, 71, 300}) {
      Builder b;
      Var table = b.input(t, {33, 40}), at = b.input(DType::i32, {n});
      b.output(columns_at(table, at) * columns_at(table, at + 1));
      const std::string text = text_of(*b.g);
      EXPECT_EQ(prefetches(text), 2) << text;
      EXPECT_NE(text.find(t == DType::f64 ? ", 264 bytes" : ", 132 bytes"), std::string::npos) << text;
      expect_right(*b.g, {numbers(t, {33, 40}), places(n, 40)});
    }
}
TEST(Prefetch, RowsThatAreAddedTo) {
  Builder b;
  Var table = b.input(DType::f64, {24, 30}), at = b.input(DType::i32, {200}), u = b.input(DType::f64, {24, 200});
  b.output(scatter(table, at, u, to_columns, "add"));
  EXPECT_EQ(prefetches(text_of(*b.g)), 1);
  expect_right(*b.g, {numbers(DType::f64, {24, 30}), places(200, 30), numbers(DType::f64, {24, 200})});
}
// Read at one place and added to at another one.
TEST(Prefetch, DerivativesAndMessages) {
  Builder b;
  Var x = b.input(DType::f64, {20, 35}), from = b.input(DType::i32, {90}), to = b.input(DType::i32, {90});
  b.output(scatter(x * 0.5, to, exp(columns_at(x, from)), to_columns, "add"));
  EXPECT_GE(prefetches(text_of(*b.g)), 2);
  const std::vector<Tensor> inputs = {numbers(DType::f64, {20, 35}), places(90, 35), places(90, 35, 5)};
  expect_right(*b.g, inputs);
  Builder c;
  Var table = c.input(DType::f64, {20, 35}), at = c.input(DType::i32, {90}), w = c.input(DType::f64, {20, 90});
  c.output(reduce_sum(columns_at(table, at) * w * w, {0, 1}));
  const auto g = transform::gradient(*c.g, {true, false, false}, false);
  EXPECT_EQ(prefetches(text_of(*g)), 1) << text_of(*g);
  expect_right(*g, {numbers(DType::f64, {20, 35}), places(90, 35), numbers(DType::f64, {20, 90})});
}
// The last steps look at the last place again: at none that the list does not hold.
TEST(Prefetch, EndsWithTheList) {
  Builder b;
  Var table = b.input(DType::f32, {64, 40}), at = b.input(DType::i32, {100});
  b.output(columns_at(table, at));
  const std::string text = text_of(*b.g);
  EXPECT_NE(text.find("min(j + 12, 99)"), std::string::npos) << text;
  loops::Program p = compiler::compile(*b.g, small_cache);
  loops::verify(p);
}
// Of tasks, each of which ends with its own part.
TEST(Prefetch, InTasks) {
  Builder b;
  Var table = b.input(DType::f32, {64, 40}), at = b.input(DType::i32, {1024});
  b.output(columns_at(table, at));
  compiler::Target target = small_cache;
  target.task = 2000;
  const std::string text = text_of(*b.g, target);
  EXPECT_NE(text.find("parallel"), std::string::npos) << text;
  EXPECT_EQ(prefetches(text), 1) << text;
  expect_right(*b.g, {numbers(DType::f32, {64, 40}), places(1024, 40)});
}
// What is looked up says where to look next: that is not known ahead.
TEST(Prefetch, PlacesThatTheStepItselfMakes) {
  Builder b;
  Var table = b.input(DType::f64, {20, 50}), next = b.input(DType::i32, {50}), at = b.input(DType::i32, {80});
  b.output(columns_at(table, at + gather(next, at, {1}, {{}, {0}, {}, {}, {0}, 1})));
  EXPECT_EQ(prefetches(text_of(*b.g)), 0) << text_of(*b.g);
  expect_right(*b.g, {numbers(DType::f64, {20, 50}), places(50, 50, 5), places(80, 50)});
}
// Tables that the cache holds, few steps, rows of less than a line and long ones, places known to the compiler, and
// places across the rows.
// Rows far from each other, each element of which is much work.
graph::GraphPtr part_of_columns(bool work) {
  Builder b;
  Var x = b.input(DType::f64, {800, 12});
  Var part = slice(x, {100, 0}, {140, 12}, {1, 1});
  b.output(work ? exp(part) : part * 2.0);
  return b.g;
}
TEST(Prefetch, TheNextRow) {
  const compiler::Target target = {32, 16, false, 1e9, 2048};
  const std::string text = after(*optimized(*part_of_columns(true)), "prefetch", target);
  EXPECT_EQ(prefetches(text), 1) << text;
  EXPECT_NE(text.find("min(j + 1, 11)"), std::string::npos) << text;
  EXPECT_EQ(prefetches(after(*optimized(*part_of_columns(false)), "prefetch", target)), 0);
  expect_right(*part_of_columns(true), {numbers(DType::f64, {800, 12})});
}
// Rows that are read twice, once the memory of the next one is asked for; here by three loops, four rows at a time.
TEST(Prefetch, RowsThatAreReadTwice) {
  Builder b;
  Var x = b.input(DType::f64, {64, 21});
  const auto centred = [&] { return x - broadcast_in_dim(reduce_sum(x, {0}), x.shape(), {1}); };
  const Var d = centred(), top = reduce_max(abs(d), {0});
  b.output(reduce_sum(d * d / broadcast_in_dim(top, x.shape(), {1}), {0}));
  const compiler::Target target = {32, 16, false, 1e9, 4 * 64 * 8};
  const std::string text = after(*optimized(*b.g), "prefetch", target);
  EXPECT_EQ(prefetches(text), 1) << text;
  EXPECT_NE(text.find("min(i + 4, 20)"), std::string::npos) << text;
  const auto asked = text.find("prefetch");  // by the second loop
  EXPECT_TRUE(text.find("a1 += ") < asked && asked < text.find("a2 max = ")) << text;
  expect_right(*b.g, {numbers(DType::f64, {64, 21})});
}
TEST(Prefetch, NotWhereItDoesNotPay) {
  const auto looked_up = [](int64_t rows, int64_t columns, int64_t n, double cache) {
    Builder b;
    Var table = b.input(DType::f64, {rows, columns}), at = b.input(DType::i32, {n});
    b.output(columns_at(table, at));
    compiler::Target target = small_cache;
    target.cache = cache;
    return prefetches(text_of(*b.g, target));
  };
  EXPECT_EQ(looked_up(16, 40, 64, small), 1);
  EXPECT_EQ(looked_up(16, 40, 64, 1e6), 0);
  EXPECT_EQ(looked_up(16, 40, 63, small), 0);
  EXPECT_EQ(looked_up(4, 400, 64, small), 0);
  EXPECT_EQ(looked_up(600, 40, 64, small), 0);
  Builder b;
  Var table = b.input(DType::f64, {40, 16}), at = b.input(DType::i32, {64});
  b.output(gather(table, at, {1, 16}, {{1}, {0}, {}, {}, {0}, 1}));
  EXPECT_EQ(prefetches(text_of(*b.g)), 0) << text_of(*b.g);
}

}  // namespace
}  // namespace anvil::test
