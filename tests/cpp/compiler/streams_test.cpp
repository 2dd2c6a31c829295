// Long sums across memory, which go along it.
#include "compiler/machine_code.h"
#include "transform/reverse.h"

namespace anvil::test {
namespace {

using namespace primitives;
using loops::For;

constexpr compiler::Target small_cache = {32, 16, false, 25'000, 4096};

std::string text_of(const graph::Graph& g, const compiler::Target& target) {
  std::string text;
  for (const compiler::Stage& s : compiler::stages(*optimized(g), target))
    if (s.name == "streams") text = s.text;
  return text;
}
bool streams(const graph::Graph& g, const compiler::Target& target = small_cache) {
  return text_of(g, target).find("  s") != std::string::npos;
}
// Of each pass, and as machine code, on several threads, against the evaluator.
void expect_right(const graph::Graph& g, double tolerance) {
  const auto inputs = numbers_for(g);
  for (const compiler::Target& target : {small_cache, compiler::Target{64, 32, false, 1, 4096}})
    expect_passes_agree(*optimized(g), inputs, tolerance, target);
  expect_machine_code_right(g, inputs, tolerance, small_tasks(4096));
}
Var of_rows(Var v, Var like) { return broadcast_in_dim(v, like.shape(), {0}); }

// Some columns, a round of 256, several rounds; rows of one block, of several, and with some left over.
TEST(Streams, SumsOfRows) {
  for (const auto& [t, rows, columns] : {std::tuple{DType::f32, 257, 70},
                                         {DType::f64, 130, 64},
                                         {DType::f64, 600, 80},
                                         {DType::f32, 1100, 65},
                                         {DType::f64, 129, 530}}) {
    Builder b;
    Var x = b.input(t, {rows, columns});
    b.output(reduce_sum(x * x, {1}));
    EXPECT_TRUE(streams(*b.g)) << rows << " " << columns;
    expect_right(*b.g, t == DType::f64 ? 1e-12 : 1e-5);
  }
}
// Sums that the next one needs, what is made between them, several sums in a loop, and a store after them.
TEST(Streams, WhatStandsBetweenSums) {
  Builder b;
  Var x = b.input(DType::f64, {300, 70}), w = b.input(DType::f64, {70});
  Var mean = reduce_sum(x, {1}) / 70.0, apart = x - of_rows(mean, x);
  Var spread = sqrt(reduce_sum(apart * apart, {1}) / 69.0);
  b.output(mean);
  b.output(spread);
  Var most = reduce_max(x, {1});
  b.output(most + log(reduce_sum(exp(x - of_rows(most, x)), {1})));
  b.output(reduce_sum(x * broadcast_in_dim(w, x.shape(), {1}), {1}) * mean);
  EXPECT_TRUE(streams(*b.g));
  expect_right(*b.g, 1e-10);
}
TEST(Streams, BatchesAndGradients) {
  Builder b;
  Var x = b.input(DType::f64, {150, 66, 3});
  b.output(reduce_sum(exp(x), {1}));
  Var e = exp(x - broadcast_in_dim(reduce_max(x, {1}), x.shape(), {0, 2}));
  b.output(e / broadcast_in_dim(reduce_sum(e, {1}), e.shape(), {0, 2}));
  EXPECT_TRUE(streams(*b.g));
  expect_right(*b.g, 1e-11);
}
// Not finite numbers and zeros with signs are what they were.
TEST(Streams, SpecialNumbers) {
  Builder b;
  Var x = b.input(DType::f64, {200, 90});
  b.output(reduce_sum(x, {1}));
  b.output(reduce_max(x, {1}));
  EXPECT_TRUE(streams(*b.g));
  compiler::Target target = llvm_backend::target();
  target.cache = 4096;
  expect_special_numbers_right(*b.g, target);
}
// What depends on the order is none of it: a running sum's maximum, an assignment, two operations on one local.
TEST(Streams, WhatDependsOnTheOrderKeepsIt) {
  using namespace loops;  // NOLINT
  const auto streamed = [](auto body) {
    Program p;
    p.variables = {{"i"}, {"p"}};
    p.locals = {{"a1", DType::f64}, {"a2", DType::f64}};
    loops::Buffer x, out;
    x.kind = loops::Buffer::Kind::input, x.dtype = DType::f64, x.shape = {300, 100}, x.name = "x1";
    out = x, out.kind = loops::Buffer::Kind::output, out.shape = {300}, out.name = "out1";
    p.buffers = {x, out};
    ExprPool& e = p.exprs;
    For v, sum;
    v.variable = 0, v.end = 300, v.kind = For::Kind::vector, v.width = 4;
    sum.variable = 1, sum.end = 100;
    sum.body = body(e, e.load(0, DType::f64, {variable(0), variable(1)}));
    v.body = {{Declare{0, e.constant(0, DType::f64)}},
              {Declare{1, e.constant(0, DType::f64)}},
              {sum},
              {Store{1, {variable(0)}, e.binary(Op::add, e.local(0, DType::f64), e.local(1, DType::f64))}}};
    p.body = {{v}};
    compiler::stream_sums(p, small_cache);
    return p.buffers.size() > 2;
  };
  const auto a1 = [](ExprPool& e) { return e.local(0, DType::f64); };
  EXPECT_TRUE(streamed([](ExprPool&, Expr x) { return Block{{Update{0, Op::add, x}}, {Update{1, Op::maximum, x}}}; }));
  EXPECT_TRUE(streamed([&](ExprPool& e, Expr x) { return Block{{Update{0, Op::local, e.fma(x, x, a1(e))}}}; }));
  EXPECT_FALSE(streamed([&](ExprPool& e, Expr x) {
    return Block{{Update{0, Op::add, x}}, {Update{1, Op::maximum, a1(e)}}};
  }));
  EXPECT_FALSE(streamed([&](ExprPool& e, Expr x) { return Block{{Update{0, Op::local, e.fma(a1(e), x, a1(e))}}}; }));
  EXPECT_FALSE(streamed([](ExprPool&, Expr x) { return Block{{Update{0, Op::local, x}}}; }));
  EXPECT_FALSE(streamed([](ExprPool&, Expr x) { return Block{{Update{0, Op::add, x}}, {Update{0, Op::maximum, x}}}; }));
}
TEST(Streams, RunningSumsAreRight) {
  Builder b;
  Var x = b.input(DType::f64, {300, 100});
  b.output(reduce_max(cumsum(x, 1), {1}));
  b.output(reduce_sum(cumsum(x, 1) * x, {1}));
  expect_right(*b.g, 1e-10);
}
// Sums along memory, close to each other, short ones, and of what a cache holds stay as they are.
TEST(Streams, OthersStayAsTheyAre) {
  const auto sum = [](int64_t rows, int64_t columns, int64_t dim, const compiler::Target& target) {
    Builder b;
    Var x = b.input(DType::f64, {rows, columns});
    b.output(reduce_sum(x, {dim}));
    return streams(*b.g, target);
  };
  EXPECT_TRUE(sum(300, 100, 1, small_cache));
  EXPECT_FALSE(sum(300, 100, 0, small_cache));
  EXPECT_FALSE(sum(100, 300, 1, small_cache));
  EXPECT_FALSE(sum(300, 50, 1, small_cache));
  EXPECT_FALSE(sum(300, 100, 1, {32, 16}));
  EXPECT_TRUE(sum(1000, 100, 1, {32, 16}));
}

}  // namespace
}  // namespace anvil::test
