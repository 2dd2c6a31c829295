// Which temporaries the steps of a loop may have for themselves: those of which no step reads what another one wrote.
#include "compiler/own.h"

#include <gtest/gtest.h>

namespace anvil::test {
namespace {

using namespace loops;  // NOLINT

constexpr Variable step = 0, i = 1, data = 2;  // the loop's, one inside of it, a parameter
constexpr BufferId t = 0, view = 1, x = 2;     // a temporary of 8 x 4, the same as a vector, an input

class Own : public ::testing::Test {
 protected:
  Own() {
    p.variables = {{"j", false}, {"i", false}, {"p", true, 0, 7}};
    buffer(Buffer::Kind::temporary, {8, 4});
    buffer(Buffer::Kind::temporary, {32});
    p.buffers[view].alias = t;
    buffer(Buffer::Kind::input, {64});
    buffer(Buffer::Kind::output, {64});
  }
  void buffer(Buffer::Kind kind, Shape shape) {
    Buffer b;
    b.kind = kind, b.shape = std::move(shape);
    p.buffers.push_back(b);
  }
  static Affine at(Variable v, int64_t from = 0, int64_t by = 1) { return {from, {{v, by}}}; }
  static Affine fixed(int64_t place) { return {place, {}}; }
  Stmt store(Affine a, Affine b) { return {Store{t, {a, b}, p.exprs.constant(0, DType::f32)}}; }
  Stmt read(BufferId b, Index place) { return {Store{x + 1, {at(step)}, p.exprs.load(b, DType::f32, place)}}; }
  static Stmt loop(Variable v, int64_t end, Block body) {
    For f;
    f.variable = v, f.end = end, f.body = std::move(body);
    return {f};
  }
  bool is_own(Block body) {
    p.body = {loop(step, 8, std::move(body))};
    return compiler::OwnBuffers(p).of(std::get<For>(p.body[0].is)) == std::vector<BufferId>{t};
  }
  Program p;
};

TEST_F(Own, WhatIsWrittenInPiecesAndSeenInTwoShapes) {
  const Block pieces = {loop(i, 8, {store(at(i), fixed(0))}), loop(i, 4, {store(at(i, 0, 2), fixed(3))})};
  EXPECT_TRUE(is_own({pieces[0], pieces[1], read(t, {fixed(2), fixed(0)})}));
  EXPECT_TRUE(is_own({pieces[0], pieces[1], read(view, {fixed(3)})}));
  EXPECT_TRUE(is_own({pieces[0], read(t, {fixed(2), fixed(0)}), pieces[1]}));
}
TEST_F(Own, ElementsThatDependOnTheStepAreNot) {
  EXPECT_FALSE(is_own({store(at(step), fixed(0)), read(t, {fixed(0), fixed(0)})}));
  EXPECT_FALSE(is_own({read(t, {at(step, 1), fixed(0)}), store(fixed(1), fixed(0))}));
  EXPECT_TRUE(is_own({loop(i, 8, {store(at(i), fixed(0))}), read(t, {at(step), fixed(0)})}));
}
TEST_F(Own, WhatAContractionFills) {
  const auto columns = static_cast<Variable>(p.variables.size()), depth = columns + 1;
  p.variables.push_back({"k", false});
  p.variables.push_back({"q", false});
  const Expr x1 = p.exprs.load(x, DType::f32, {at(i, 0, 8) + at(depth)}),
             x2 = p.exprs.load(x, DType::f32, {at(columns, 0, 8) + at(depth)});
  const auto fills = [&](int64_t n) {
    Contraction c{{{i, 8}, {columns, n}, {depth, 8}}, t, {at(i), at(columns)}, p.exprs.binary(Op::mul, x1, x2)};
    return is_own({{std::move(c)}, store(at(step), fixed(1)), read(t, {fixed(2), fixed(1)})});
  };
  EXPECT_TRUE(fills(4));
  EXPECT_FALSE(fills(3));
}
TEST_F(Own, NorElementsThatDependOnData) {
  EXPECT_FALSE(is_own({store(at(data), fixed(0)), read(t, {fixed(1), fixed(0)})}));
  EXPECT_FALSE(is_own({store(fixed(1), fixed(0)), read(t, {at(data), fixed(0)}), store(fixed(2), fixed(0))}));
  EXPECT_TRUE(is_own({store(fixed(1), fixed(0)), store(fixed(2), fixed(0)), read(t, {at(data), fixed(0)})}));
}
TEST_F(Own, NorWhatIsWrittenUnderACondition) {
  const If branch{p.exprs.constant(true, DType::boolean), {store(fixed(1), fixed(0))}, {}};
  EXPECT_FALSE(is_own({Stmt{branch}, read(t, {fixed(1), fixed(0)})}));
  Block all = {loop(i, 8, {loop(data + 1, 4, {store(at(i), at(Variable(data + 1)))})})};
  p.variables.push_back({"k", false});
  EXPECT_TRUE(is_own({all[0], Stmt{branch}, read(t, {fixed(1), fixed(0)})}));
}
TEST_F(Own, NorWhatIsReadElsewhere) {
  EXPECT_TRUE(is_own({store(fixed(1), fixed(0)), read(t, {fixed(1), fixed(0)})}));
  p.body.push_back(read(view, {fixed(1)}));
  EXPECT_TRUE(compiler::OwnBuffers(p).of(std::get<For>(p.body[0].is)).empty());
}

}  // namespace
}  // namespace anvil::test
