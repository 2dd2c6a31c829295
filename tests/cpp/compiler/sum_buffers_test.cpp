// Which buffers a loop only adds to.
#include "compiler/sum_buffers.h"

#include <gtest/gtest.h>

namespace anvil::test {
namespace {

using namespace loops;  // NOLINT
using compiler::Op;

constexpr DType t = DType::f64;

// for p in 0..64 { for i in 0..100 { a1 = t1[place]; updates(a1, x1[i, p]); t1[place] = a1; more } }
struct Parts {
  ExprPool& e;
  Expr a, x;
  BufferId sum, other;
};
template <class Updates>
size_t sums_of(const Updates& updates, const Affine& place = variable(0), const Affine& to = variable(0)) {
  Program p;
  p.variables = {{"i"}, {"p"}};
  p.locals = {{"a1", t}, {"a2", t}};
  Buffer x, sum;
  x.kind = Buffer::Kind::input, x.dtype = t, x.shape = {100, 64}, x.name = "x1";
  sum = x, sum.kind = Buffer::Kind::temporary, sum.shape = {200}, sum.name = "t1";
  Buffer other = sum;
  other.name = "t2";
  p.buffers = {x, sum, other};
  ExprPool& e = p.exprs;
  For outer, inner;
  outer.variable = 1, outer.end = 64;
  inner.variable = 0, inner.end = 100;
  inner.body = {{Declare{0, e.load(1, t, {place})}}};
  for (Stmt& s : updates(Parts{e, e.local(0, t), e.load(0, t, {variable(0), variable(1)}), 1, 2}))
    inner.body.push_back(s);
  inner.body.push_back({Store{1, {to}, e.local(0, t)}});
  outer.body = {{inner}};
  return compiler::sum_buffers(p, outer).size();
}
Block added(const Parts& s) { return {{Update{0, Op::add, s.x}}}; }

TEST(SumBuffers, WhatEveryStepAddsTo) {
  EXPECT_EQ(sums_of(added), 1);
  EXPECT_EQ(sums_of([](const Parts& s) {
              return Block{{Update{0, Op::maximum, s.x}}, {Update{0, Op::maximum, s.x}}};
            }),
            1);
  EXPECT_EQ(sums_of([](const Parts& s) { return Block{{Update{0, Op::local, s.e.fma(s.x, s.x, s.a)}}}; }), 1);
}
// for p in 0..6 { contract i in 0..4, j in 0..3, q in 0..8: t1[i, j] += sum of x1[q + 8*p, i] * x2[q + 8*p, j] }
TEST(SumBuffers, ContractionsThatAdd) {
  for (const bool adds : {true, false})
    for (const bool seen : {true, false}) {
      Program p;
      p.variables = {{"p"}, {"i"}, {"j"}, {"q"}};
      const auto buffer = [&](Buffer::Kind kind, Shape shape, BufferId alias = -1) {
        Buffer b;
        b.kind = kind, b.dtype = t, b.shape = std::move(shape), b.alias = alias;
        p.buffers.push_back(b);
      };
      buffer(Buffer::Kind::input, {48, 4}), buffer(Buffer::Kind::input, {48, 3});
      buffer(Buffer::Kind::output, {4, 3}), buffer(Buffer::Kind::output, {12}, 2);
      const Affine row = variable(3) + variable(0) * 8;
      For f;
      f.variable = 0, f.end = 6;
      f.body = {{Contraction{
          {{1, 4}, {2, 3}, {3, 8}},
          2,
          {variable(1), variable(2)},
          p.exprs.binary(Op::mul, p.exprs.load(0, t, {row, variable(1)}), p.exprs.load(1, t, {row, variable(2)})),
          adds}}};
      if (seen) f.body.push_back({Store{3, {variable(0)}, p.exprs.constant(1, t)}});  // by a view
      EXPECT_EQ(compiler::sum_buffers(p, f).size(), adds && !seen);
    }
}
TEST(SumBuffers, NotByTwoOperations) {
  EXPECT_EQ(sums_of([](const Parts& s) { return Block{{Update{0, Op::maximum, s.x}}, {Update{0, Op::add, s.x}}}; }), 0);
  EXPECT_EQ(sums_of([](const Parts& s) {  // the same buffer by two locals
              return Block{{Update{0, Op::add, s.x}},
                           {Declare{1, s.e.load(s.sum, t, {variable(0) + Affine{1, {}}})}},
                           {Update{1, Op::maximum, s.x}},
                           {Store{s.sum, {variable(0) + Affine{1, {}}}, s.e.local(1, t)}}};
            }),
            0);
  EXPECT_EQ(sums_of([](const Parts& s) { return Block{{Update{0, Op::local, s.x}}}; }), 0);
  EXPECT_EQ(sums_of([](const Parts&) { return Block{}; }), 0);
}
// What has been added so far is not known where tasks have parts.
TEST(SumBuffers, NotWhereOthersReadThem) {
  EXPECT_EQ(sums_of([](const Parts& s) {
              return Block{{Update{0, Op::add, s.x}}, {Store{s.other, {variable(0)}, s.a}}};
            }),
            0);
  EXPECT_EQ(sums_of([](const Parts& s) {
              return Block{{Update{0, Op::add, s.e.load(s.sum, t, {Affine{0, {}}})}}};
            }),
            0);
  EXPECT_EQ(sums_of([](const Parts& s) {
              return Block{{Update{0, Op::add, s.x}}, {Store{s.sum, {Affine{7, {}}}, s.x}}};
            }),
            0);
  EXPECT_EQ(sums_of(added, variable(0), variable(0) + Affine{1, {}}), 0) << "goes to another element";
}
TEST(SumBuffers, NotWhatOneStepHasForItself) { EXPECT_EQ(sums_of(added, variable(1), variable(1)), 0); }

}  // namespace
}  // namespace anvil::test
