// Sums across memory, which go along it with another nest.
#include "compiler/machine_code.h"
#include "compiler/stage_text.h"
#include "transform/reverse.h"

namespace anvil::test {
namespace {

using namespace primitives;
using loops::For;

constexpr compiler::Target small_cache = {32, 16, false, 25'000, 4096};

std::string text_of(const graph::Graph& g, const char* stage, const compiler::Target& target = small_cache) {
  for (const compiler::Stage& s : compiler::stages(*optimized(g), target))
    if (s.name == stage) return s.text;
  return "";
}
// Whether sums are added up in a buffer.
bool goes_along(const graph::Graph& g, const compiler::Target& target = small_cache) {
  return text_of(g, "sums", target).find("  s") != std::string::npos;
}
int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}
void expect_right(const graph::Graph& g, double tolerance) {
  const auto inputs = numbers_for(g);
  compiler::Target everything = {64, 32, true, 1, 4096};
  for (const compiler::Target& target : {small_cache, everything})
    expect_passes_agree(*optimized(g), inputs, tolerance, target);
  expect_machine_code_right(g, inputs, tolerance, small_tasks(4096));
}
Var over(const char* primitive, Var x, const std::vector<int64_t>& dims) {
  return record(primitive, {x}, {{"dims", dims}, {"drop", true}});
}
Var of_rows(Var v, Var like) { return broadcast_in_dim(v, like.shape(), {0}); }

TEST(SumsAlongMemory, RowsAndColumnsAreOneReading) {
  for (const bool rows_first : {true, false}) {
    Builder b;
    Var x = b.input(DType::f64, {100, 70});
    const auto rows = [&] { b.output(reduce_sum(x, {1})); };
    if (rows_first) rows();
    b.output(reduce_sum(x, {0}));
    if (!rows_first) rows();
    ASSERT_TRUE(goes_along(*b.g));
    const std::string text = text_of(*b.g, "shrink");
    EXPECT_EQ(count(text, " in 0..70 {"), 1) << text;
    EXPECT_EQ(count(text, " += x1["), 2) << text;
    expect_right(*b.g, 1e-12);
  }
}
// With what makes the values, which nobody else needs then.
TEST(SumsAlongMemory, AreTakenWhereTheValuesAreMade) {
  Builder b;
  Var e = exp(b.input(DType::f64, {100, 70}));
  b.output(reduce_sum(e, {1}));
  b.output(reduce_sum(e, {0}));
  b.output(reduce_max(e, {1}));
  const std::string text = text_of(*b.g, "shrink");
  EXPECT_EQ(count(text, "exp("), 1) << text;
  EXPECT_EQ(count(text, "100, 70]"), 1) << text;
  expect_right(*b.g, 1e-12);
}
TEST(SumsAlongMemory, SoftmaxOfRows) {
  Builder b;
  Var x = b.input(DType::f32, {120, 90});
  Var e = exp(x - of_rows(reduce_max(x, {1}), x));
  b.output(e / of_rows(reduce_sum(e, {1}), e));
  ASSERT_TRUE(goes_along(*b.g));
  expect_right(*b.g, 1e-5);
}
TEST(SumsAlongMemory, BatchesWeightsAndSeveralDimensions) {
  Builder b;
  Var x = b.input(DType::f64, {20, 5, 6, 40}), w = b.input(DType::f64, {40});
  b.output(x * 2.0);
  b.output(reduce_sum(x, {3}));
  b.output(reduce_sum(x, {2, 3}));
  b.output(over("reduce_prod", x, {1, 2, 3}));
  b.output(reduce_sum(x * broadcast_in_dim(w, x.shape(), {3}), {3}));
  ASSERT_TRUE(goes_along(*b.g));
  expect_right(*b.g, 1e-11);
}
TEST(SumsAlongMemory, EveryOperationAndDtype) {
  for (DType t : {DType::f32, DType::i32, DType::boolean}) {
    Builder b;
    Var x = b.input(t, {200, 40});
    if (t == DType::boolean) {
      b.output(!x);
      b.output(over("reduce_any", x, {1}));
      b.output(over("reduce_all", x, {1}));
    } else {
      b.output(x + x);
      b.output(over("reduce_min", x, {1}));
      b.output(reduce_max(x, {1}));
      b.output(reduce_sum(x, {1}));
    }
    expect_right(*b.g, 1e-5);
  }
}
TEST(SumsAlongMemory, SmallFloatsAreAddedUpAsTheyAlwaysAre) {
  Builder b;
  Var x = b.input(DType::bf16, {200, 64});
  b.output(x * x);
  b.output(reduce_sum(x, {1}));
  ASSERT_TRUE(goes_along(*b.g));
  expect_right(*b.g, 1e-2);
}
// Tasks have parts of the sums, which are added up in order.
TEST(SumsAlongMemory, TasksHaveParts) {
  for (int64_t columns : {64, 67}) {
    Builder b;
    Var x = b.input(DType::f64, {100, columns});
    b.output(reduce_sum(x * x, {1}));
    b.output(reduce_sum(x, {0}));
    compiler::Target target = small_cache;
    target.task = 100;
    const std::string text = text_of(*b.g, "parallel", target);
    EXPECT_EQ(count(text, "parallel"), 1) << text;
    EXPECT_EQ(count(text, ": f64[100, 4] temporary"), 1) << "sixteen columns or more of each: " << text;
    expect_right(*b.g, 1e-12);
  }
}
// What is stored element by element in the same loop has no parts.
TEST(SumsAlongMemory, OthersHaveNoParts) {
  Builder b;
  Var x = b.input(DType::f64, {100, 64}), r = reduce_sum(x, {1});
  Var c = reduce_sum(x, {0}), y = x + 1.0;
  b.output(r);
  b.output(dot_general(y, broadcast_in_dim(c, {64, 40}, {0}), {}, {}, {1}, {0}));
  compiler::Target target = small_cache;
  target.task = 100;
  const std::string text = text_of(*b.g, "parallel", target);
  EXPECT_EQ(count(text, "64, 4] temporary"), 0) << text;
  expect_right(*b.g, 1e-11);
}
// Where no other nest goes through the memory, or one that has to be before or after, sums stay what they are.
TEST(SumsAlongMemory, AloneTheyStay) {
  Builder b;
  Var x = b.input(DType::f64, {100, 70}), r = reduce_sum(x, {1});
  b.output(r);
  b.output(x - of_rows(r, x));
  EXPECT_FALSE(goes_along(*b.g));
  Builder c;
  c.output(reduce_sum(c.input(DType::f64, {100, 70}), {1}));
  EXPECT_FALSE(goes_along(*c.g));
  Builder few;
  Var y = few.input(DType::f64, {100, 70});
  few.output(reduce_sum(y, {1}));
  few.output(reduce_sum(y, {0}));
  compiler::Target target = small_cache;
  target.cache = 1 << 20;
  EXPECT_FALSE(goes_along(*few.g, target)) << "too little to matter";
  expect_right(*b.g, 1e-12);
}
// The other nest makes the columns in another order than they are needed in.
TEST(SumsAlongMemory, NotWithColumnsOfOtherSteps) {
  Builder b;
  Var y = exp(b.input(DType::f64, {100, 70}));
  b.output(y);
  b.output(reduce_sum(y * reverse(y, {1}), {1}));
  EXPECT_FALSE(goes_along(*b.g));
  expect_right(*b.g, 1e-11);
}
// What has been added so far is a term of another sum.
TEST(SumsAlongMemory, SumsOfRunningSumsStay) {
  using namespace loops;  // NOLINT
  const auto turned = [](const auto& second) {
    constexpr DType t = DType::f64;
    Program p;
    p.variables = {{"i"}, {"p"}, {"k"}, {"j"}};
    p.locals = {{"a1", t}, {"a2", t}};
    loops::Buffer x, out;
    x.kind = loops::Buffer::Kind::input, x.dtype = t, x.shape = {60, 70}, x.name = "x1";
    out = x, out.kind = loops::Buffer::Kind::output, out.name = "out1";
    loops::Buffer sums = out;
    sums.shape = {60}, sums.name = "out2";
    p.buffers = {x, out, sums};
    ExprPool& e = p.exprs;
    For columns, rows, over, terms;
    columns.variable = 3, columns.end = 70;
    rows.variable = 2, rows.end = 60;
    rows.body = {{Store{1, {variable(2), variable(3)}, e.load(0, t, {variable(2), variable(3)})}}};
    columns.body = {{rows}};
    over.variable = 0, over.end = 60;
    terms.variable = 1, terms.end = 70;
    terms.body = {{Update{0, Op::add, e.load(0, t, {variable(0), variable(1)})}}, {Update{1, Op::maximum, second(e)}}};
    over.body = {{Declare{0, e.constant(0, t)}},
                 {Declare{1, e.constant(0, t)}},
                 {terms},
                 {Store{2, {variable(0)}, e.binary(Op::add, e.local(0, t), e.local(1, t))}}};
    p.body = {{columns}, {over}};
    compiler::sum_along_memory(p, small_cache);
    return p.body.size() > 2;
  };
  EXPECT_TRUE(turned([](ExprPool& e) { return e.load(0, DType::f64, {loops::variable(0), loops::variable(1)}); }));
  EXPECT_FALSE(turned([](ExprPool& e) { return e.local(0, DType::f64); }));
}
// Running sums are no sums whose order is free.
TEST(SumsAlongMemory, RunningSumsKeepTheirOrder) {
  Builder b;
  Var x = b.input(DType::f64, {100, 70});
  b.output(reduce_max(cumsum(x, 1), {1}));
  b.output(reduce_sum(cumsum(x, 1) * x, {1}));
  b.output(x + 1.0);
  expect_right(*b.g, 1e-10);
}
// A part's sums begin with what changes nothing, zeros keep their signs, and not finite numbers are what they were.
TEST(SumsAlongMemory, SpecialNumbers) {
  Builder b;
  Var x = b.input(DType::f64, {120, 90});
  b.output(reduce_sum(x, {1}));
  b.output(reduce_max(x, {1}));
  b.output(reduce_sum(x, {0}));
  ASSERT_TRUE(goes_along(*b.g));
  expect_special_numbers_right(*b.g, small_tasks(4096));
}
TEST(SumsAlongMemory, Gradients) {
  Builder b;
  Var x = b.input(DType::f64, {64, 50}), w = b.input(DType::f64, {64}), h = exp(x * of_rows(w, x));
  b.output(reduce_sum(h * h, {0, 1}));
  const auto g = transform::gradient(*b.g, {true, true}, true);
  expect_right(*g, 1e-10);
}

}  // namespace
}  // namespace anvil::test
