// Statements that go through an axis in blocks together.
#include "compiler/axis_blocks.h"

#include <gtest/gtest.h>

namespace anvil::test {
namespace {

using namespace loops;  // NOLINT

constexpr DType t = DType::f64;

// contract i, j, p: t1[i, j] = sum of x1[i, p] * x1[p, j]; for i { out1[i] = t1[i, 0] }; and perhaps
// contract i, p: out2[i] = sum of t1[p, i] * x1[p, i]
struct Cut {
  Program p;
  std::vector<compiler::AddedStatement> added;
  Cut(bool seen_otherwise, int more_accesses, bool read_between = false) {
    constexpr Variable i = 0, j = 1, k = 2, row = 3, column = 4, depth = 5;
    p.variables = {{"i"}, {"j"}, {"p"}, {"i"}, {"i"}, {"p"}};
    p.inputs = 1, p.outputs = 2;
    p.buffers = {{Buffer::Kind::input, t, {10, 10}, 0, -1, -1, "x1"},
                 {Buffer::Kind::temporary, t, {10, 10}, -1, -1, -1, "t1"},
                 {Buffer::Kind::output, t, {10}, 0, -1, -1, "out1"},
                 {Buffer::Kind::output, t, {10}, 1, -1, -1, "out2"}};
    const auto load = [&](BufferId b, Variable v, Variable w) {
      return p.exprs.load(b, t, {variable(v), variable(w)});
    };
    For f;
    f.variable = row, f.end = 10;
    f.body.push_back({Store{2, {variable(row)}, p.exprs.load(1, t, {variable(row), Affine{}})}});
    p.body.push_back({Contraction{{{i, 10}, {j, 10}, {k, 10}},
                                  1,
                                  {variable(i), variable(j)},
                                  p.exprs.binary(Op::mul, load(0, i, k), load(0, k, j))}});
    if (read_between) {
      For g;
      g.variable = column, g.end = 10;
      g.body.push_back({Store{3, {variable(column)}, p.exprs.load(1, t, {Affine{9, {}}, variable(column)})}});
      p.body.push_back({std::move(g)});
    }
    p.body.push_back({std::move(f)});
    std::vector<compiler::AlongAxis> statements = {{0, 0}, {read_between ? 2u : 1u, 0}};
    if (seen_otherwise) {
      p.body.push_back({Contraction{{{column, 10}, {depth, 10}},
                                    3,
                                    {variable(column)},
                                    p.exprs.binary(Op::mul, load(1, depth, column), load(0, depth, column))}});
      statements.push_back({2, 0});
    }
    std::vector<int> accesses = compiler::count_accesses(p);
    accesses[1] += more_accesses;
    added = compiler::cut_along(p, p.body, statements, 4, {1}, accesses);
    compiler::add_statements(p, p.body, std::move(added));
    verify(p);
  }
  const Shape& shape() const { return p.buffers[1].shape; }
};

TEST(AxisBlocks, WhatPassesBetweenHasBlocks) {
  const Cut cut(false, 0);
  EXPECT_EQ(cut.shape(), (Shape{4, 10, 2}));
  EXPECT_EQ(print(cut.p),
            "program(x1: f64[10, 10]) -> (out1: f64[10], out2: f64[10])\n"
            "  t1: f64[4, 10, 2] temporary\n"
            "  t1rest: f64[2, 10] temporary\n"
            "  for i in 0..2 {\n"
            "    contract i2 in 0..4, j in 0..10, p in 0..10: t1[i2, j, i] = sum of x1[i2 + 4*i, p] * x1[p, j]\n"
            "  }\n"
            "  for i in 0..2 {\n"
            "    for i2 in 0..4 {\n"
            "      out1[i2 + 4*i] = t1[i2, 0, i]\n"
            "    }\n"
            "  }\n"
            "  contract i in 0..2, j in 0..10, p in 0..10: t1rest[i, j] = sum of x1[i + 8, p] * x1[p, j]\n"
            "  for i in 0..2 {\n"
            "    out1[i + 8] = t1rest[i, 0]\n"
            "  }\n");
}
// Something between reads the whole of what they pass on.
TEST(AxisBlocks, RestsStandBeforeWhatReadsThem) {
  const Cut cut(false, 0, true);
  EXPECT_EQ(cut.shape(), (Shape{10, 10}));
  const std::string text = print(cut.p);
  EXPECT_LT(text.find("t1[i + 8, j] ="), text.find("out2[i] = t1[9, i]")) << text;
}
TEST(AxisBlocks, WhatOthersSeeStaysAsItIs) {
  EXPECT_EQ(Cut(false, 1).shape(), (Shape{10, 10}));
  EXPECT_EQ(Cut(true, 0).shape(), (Shape{10, 10}));
}

}  // namespace
}  // namespace anvil::test
