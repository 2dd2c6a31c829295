// Contractions that write where a copy would bring their result.
#include "compiler/stage_text.h"
#include "loops/walk.h"

namespace anvil::test {
namespace {

using namespace loops;

constexpr BufferId out1 = 2, out2 = 3, t1 = 4, t2 = 5;

Stmt nest(Program& p, BufferId to, Expr value, bool swapped = false) {
  const Variable i = static_cast<Variable>(p.variables.size()) - 2, j = i + 1;
  For inner, outer;
  inner.variable = j, inner.end = 5;
  inner.body.push_back({Store{to, swapped ? Index{variable(i), variable(j)} : Index{variable(j), variable(i)}, value}});
  outer.variable = i, outer.end = 4;
  outer.body.push_back({std::move(inner)});
  return {std::move(outer)};
}
std::pair<Variable, Variable> fresh(Program& p) {
  p.variables.push_back({"i"});
  p.variables.push_back({"j"});
  return {static_cast<Variable>(p.variables.size()) - 2, static_cast<Variable>(p.variables.size()) - 1};
}

// t2 = 7; t1 = x1 x2; perhaps out1 = t2; t2 = t1'; out2 = t2 (and out1 = t2 if not before)
Program program(bool read_between) {
  Program p;
  p.inputs = p.outputs = 2;
  const auto add = [&](Buffer::Kind kind, Shape shape, int position, const char* name) {
    p.buffers.push_back({kind, DType::f64, std::move(shape), position, -1, -1, name});
  };
  add(Buffer::Kind::input, {4, 3}, 0, "x1");
  add(Buffer::Kind::input, {3, 5}, 1, "x2");
  add(Buffer::Kind::output, {5, 4}, 0, "out1");
  add(Buffer::Kind::output, {5, 4}, 1, "out2");
  add(Buffer::Kind::temporary, {4, 5}, -1, "t1");
  add(Buffer::Kind::temporary, {5, 4}, -1, "t2");
  const auto copied = [&](BufferId to, BufferId from, bool turned) {
    const auto [i, j] = fresh(p);
    const Index place = turned ? Index{variable(i), variable(j)} : Index{variable(j), variable(i)};
    p.body.push_back(nest(p, to, p.exprs.load(from, DType::f64, place)));
  };
  fresh(p);
  p.body.push_back(nest(p, t2, p.exprs.constant(7, DType::f64)));
  const auto [i, j] = fresh(p);
  p.variables.push_back({"p"});
  const Variable k = j + 1;
  p.body.push_back({Contraction{{{i, 4}, {j, 5}, {k, 3}},
                                t1,
                                {variable(i), variable(j)},
                                p.exprs.binary(Op::mul, p.exprs.load(0, DType::f64, {variable(i), variable(k)}),
                                               p.exprs.load(1, DType::f64, {variable(k), variable(j)}))}});
  if (read_between) copied(out1, t2, false);
  copied(t2, t1, true);
  if (!read_between) copied(out1, t2, false);
  copied(out2, t2, false);
  return p;
}

TEST(ContractionStore, CopiesGoWhereNothingElseKnowsTheirPlace) {
  const std::vector<Tensor> inputs = {numbers(DType::f64, {4, 3}), numbers(DType::f64, {3, 5}, -1, 1, 2)};
  for (const bool read_between : {false, true}) {
    Program p = program(read_between);
    verify(p);
    const std::vector<Tensor> expected = interpret(p, inputs);
    const size_t before = p.body.size();
    compiler::store_contractions(p);
    verify(p);
    EXPECT_EQ(p.body.size(), read_between ? before : before - 1) << print(p);
    EXPECT_EQ(std::get<Contraction>(p.body.at(1).is).buffer, read_between ? t1 : t2);
    expect_equal(interpret(p, inputs), expected, 0, print(p));
  }
}

// out1[.., $q] = x1 x2, where $q gets its value ahead of the product or behind it.
TEST(ContractionStore, ACopyWhosePlaceIsKnownOnlyLaterStays) {
  const std::vector<Tensor> inputs = {numbers(DType::f64, {4, 3}), numbers(DType::f64, {3, 5}, -1, 1, 2)};
  for (const bool later : {false, true}) {
    Program p;
    p.inputs = 2, p.outputs = 1;
    p.buffers = {{Buffer::Kind::input, DType::f64, {4, 3}, 0, -1, -1, "x1"},
                 {Buffer::Kind::input, DType::f64, {3, 5}, 1, -1, -1, "x2"},
                 {Buffer::Kind::output, DType::f64, {4, 5, 2}, 0, -1, -1, "out"},
                 {Buffer::Kind::temporary, DType::f64, {4, 5}, -1, -1, -1, "t"}};
    p.variables = {{"i"}, {"j"}, {"k"}, {"i"}, {"j"}, {"q", true, 0, 1}, {"i"}, {"j"}, {"h"}};
    const Variable i = 0, j = 1, k = 2, row = 3, column = 4, q = 5;
    For plane, rows, columns;  // out = 7
    columns.variable = 7, columns.end = 5;
    columns.body = {{Store{2, {variable(6), variable(7), variable(8)}, p.exprs.constant(7, DType::f64)}}};
    rows.variable = 6, rows.end = 4, rows.body = {{std::move(columns)}};
    plane.variable = 8, plane.end = 2, plane.body = {{std::move(rows)}};
    const Stmt bind = {Bind{q, p.exprs.constant(1, DType::i64)}};
    const Stmt product = {Contraction{{{i, 4}, {j, 5}, {k, 3}},
                                      3,
                                      {variable(i), variable(j)},
                                      p.exprs.binary(Op::mul, p.exprs.load(0, DType::f64, {variable(i), variable(k)}),
                                                     p.exprs.load(1, DType::f64, {variable(k), variable(j)}))}};
    For over_rows, over_columns;
    over_rows.variable = row, over_rows.end = 4;
    over_rows.body = {{Store{2,
                             {variable(row), variable(column), variable(q)},
                             p.exprs.load(3, DType::f64, {variable(row), variable(column)})}}};
    over_columns.variable = column, over_columns.end = 5, over_columns.body = {{std::move(over_rows)}};
    p.body = {{std::move(plane)}, later ? product : bind, later ? bind : product, {std::move(over_columns)}};
    verify(p);
    const std::vector<Tensor> expected = interpret(p, inputs);
    compiler::store_contractions(p);
    verify(p);
    EXPECT_EQ(p.body.size(), later ? 4u : 3u) << print(p);
    expect_equal(interpret(p, inputs), expected, 0, print(p));
  }
}

// Rows of two products in turn, or behind each other.
TEST(ContractionStore, ResultsThatInterleaveAreCopied) {
  using namespace primitives;
  for (const bool in_turn : {true, false}) {
    Builder b;
    const Var x = b.input(DType::f64, {96, 64}), v = b.input(DType::f64, {64, 64}), w = b.input(DType::f64, {64, 64});
    std::vector<Var> parts;
    for (const Var& y : {v, w}) {
      const Var product = dot_general(x, y, {1}, {0}, {}, {});
      parts.push_back(in_turn ? reshape(product, {1, 96, 64}) : product);
    }
    b.output(concatenate(parts, 0));
    const std::string text = after(*b.g, "contraction");
    const size_t first = text.find("contract "), second = text.find("contract ", first + 1);
    ASSERT_NE(second, std::string::npos) << text;
    EXPECT_EQ(text.find("out1[", second) < text.find('\n', second), !in_turn) << text;
    expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12);
  }
}

}  // namespace
}  // namespace anvil::test
