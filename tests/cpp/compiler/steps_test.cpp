// Contractions that go step by step with the nests between them.
#include "compiler/machine_code.h"
#include "compiler/separate.h"
#include "compiler/stage_text.h"
#include "primitives/vocabulary/composite.h"
#include "transform/reverse.h"

namespace anvil::test {
namespace {

using namespace primitives;
using loops::Contraction;
using loops::For;

constexpr double tolerance = 1e-5;
constexpr compiler::Target small_cache = {32, 16, true, 1, 4096};

void expect_right(const graph::Graph& g) {
  for (compiler::Target target : targets) {
    for (const double cache : {256., 4096.}) {
      target.cache = cache;
      expect_passes_agree(*optimized(g), numbers_for(g), tolerance, target);
    }
  }
}
// How many contractions stand in loops, and how many elements the largest temporary has.
struct Made {
  int64_t in_loops = 0, contractions = 0, largest = 0;
};
Made made(const graph::Graph& g, const compiler::Target& target) {
  const loops::Program p = compiler::compile(*optimized(g), target);
  loops::verify(p);
  Made m;
  m.contractions = count<Contraction>(p.body);
  for (const loops::Stmt& s : p.body)
    if (auto f = std::get_if<For>(&s.is)) m.in_loops += count<Contraction>(f->body);
  m.largest = largest_temporary(p);
  return m;
}

Var along(Var v, Var like, const std::vector<int64_t>& dims) { return broadcast_in_dim(v, like.shape(), dims); }
// For each of some heads and examples: [m, n, heads, examples] from [d, n, heads, examples] and [d, m, heads, examples].
Var scores(Var q, Var k) { return transpose(dot_general(q, k, {0}, {0}, {2, 3}, {2, 3}), {3, 2, 0, 1}); }
Var weighted(Var s, Var v) { return transpose(dot_general(s, v, {0}, {1}, {2, 3}, {2, 3}), {3, 2, 0, 1}); }
Var softmax(Var s, bool mask) {  // over the first dimension
  if (mask) {
    Var row = iota(*s.graph, 1, DType::i32, s.shape()), column = iota(*s.graph, 0, DType::i32, s.shape());
    s = select(row >= column, s, literal(s, -1e9));
  }
  Var e = exp(s - along(reduce_max(s, {0}), s, {1, 2, 3}));
  return e / along(reduce_sum(e, {0}), e, {1, 2, 3});
}
graph::GraphPtr attention(int64_t n, int64_t d, int64_t heads, int64_t examples, bool mask, bool keep_scores = false) {
  Builder b;
  const Shape shape = {d, n, heads, examples};
  Var q = b.input(DType::f32, shape), k = b.input(DType::f32, shape), v = b.input(DType::f32, shape);
  Var s = scores(q, k);
  b.output(weighted(softmax(s * 0.3, mask), v));
  if (keep_scores) b.output(s + 1.0);
  return b.g;
}

TEST(Steps, AttentionGoesHeadByHead) {
  for (const bool mask : {false, true}) {
    const auto g = attention(16, 8, 3, 2, mask);
    const Made m = made(*g, small_cache);
    EXPECT_EQ(m.contractions, 2);
    EXPECT_EQ(m.in_loops, 2);
    EXPECT_LE(m.largest, 16 * 8 * 3 * 2) << "of scores there are those of a head";
    expect_right(*g);
  }
}
TEST(Steps, WhatFitsStaysAsItIs) {
  compiler::Target target = small_cache;
  target.cache = 1 << 20;
  EXPECT_EQ(made(*attention(16, 8, 3, 2, false), target).in_loops, 0);
  // and products that are not worth a step each
  target = {32, 16, false, 1, 4096};
  EXPECT_EQ(made(*attention(64, 64, 3, 2, false), target).in_loops, 0);
}
TEST(Steps, ScoresThatAreReadElsewhereAreKept) {
  const auto g = attention(16, 8, 3, 2, true, true);
  expect_right(*g);
}
TEST(Steps, ThreadsGiveTheSameBits) {
  const auto g = attention(24, 8, 4, 3, true);
  const auto inputs = numbers_for(*g);
  for (const double cache : {512., 2048., 16384.}) {
    compiler::Target target = small_tasks(cache);
    target.any_size = true;
    expect_machine_code_right(*g, inputs, tolerance, target);
  }
}

// The nearest of some centres: rows go in blocks.
graph::GraphPtr nearest(int64_t rows, int64_t centres, int64_t depth, bool keep_products = false) {
  Builder b;
  Var x = b.input(DType::f32, {rows, depth}), c = b.input(DType::f32, {centres, depth});
  Var products = dot_general(x, c, {1}, {1}, {}, {});
  b.output(reduce_max(products * 2.0 - along(reduce_sum(c * c, {1}), products, {1}), {1}));
  if (keep_products) b.output(reduce_sum(products * products, {0}));
  return b.g;
}
TEST(Steps, RowsGoInBlocks) {
  const auto g = nearest(96, 7, 5);
  const Made m = made(*g, small_cache);
  EXPECT_EQ(m.in_loops, 1);
  EXPECT_LT(m.largest, 96 * 7) << "a block of the rows";
  expect_right(*g);
  expect_right(*nearest(97, 7, 5));  // no block divides the rows
  expect_right(*nearest(96, 7, 5, true));
}
TEST(Steps, RowsOfDeepProductsStayTogether) {
  compiler::Target target = {32, 16};
  EXPECT_EQ(made(*nearest(50000, 64, 16), target).in_loops, 1);
  EXPECT_EQ(made(*nearest(50000, 64, 1024), target).in_loops, 0) << "packing the centres again for each block";
}

// What makes an operand, and a bias and a function after, along the inner loop of their nests.
graph::GraphPtr layer(int64_t rows, int64_t in, int64_t out, bool residual = false) {
  Builder b;
  Var x = b.input(DType::f64, {rows, in}), w = b.input(DType::f64, {in, out}), scale = b.input(DType::f64, {in}),
      bias = b.input(DType::f64, {out});
  Var t = dot_general(abs(x * along(scale, x, {1})), w, {1}, {0}, {}, {});
  Var y = exp((t + along(bias, t, {1})) * 0.1);
  b.output(residual ? y + x : y);
  return b.g;
}
TEST(Steps, WhatMakesAndWhatFollowsAProductGoesAlong) {
  for (const bool residual : {false, true}) {
    const Made m = made(*layer(200'003, 24, 24, residual), {32, 16});
    EXPECT_EQ(m.in_loops, 1);
    EXPECT_EQ(m.contractions, 2) << "of steps that make no block";
    EXPECT_LT(m.largest, 200'003);
    for (const int64_t rows : {96, 97, 101, 128}) expect_right(*layer(rows, 6, 6, residual));
  }
  EXPECT_EQ(made(*layer(200'000, 24, 24), {32, 16}).contractions, 1);
}
graph::GraphPtr covariances(int64_t rows, int64_t columns, bool weighted) {
  Builder b;
  Var x = b.input(DType::f64, {rows, columns}), w = b.input(DType::f64, {rows});
  Var e = exp(x * 0.3);
  b.output(dot_general(weighted ? e * along(w, e, {0}) : e, weighted ? x : e, {0}, {0}, {}, {}));
  return b.g;
}
TEST(Steps, BlocksOfADepthAddUp) {
  for (const bool weighted : {false, true})
    for (const int64_t rows : {96, 97, 250}) {
      expect_right(*covariances(rows, 5, weighted));
    }
  EXPECT_EQ(made(*covariances(50000, 64, false), {32, 16}).in_loops, 0) << "blocks of few steps are slow";
  const Made m = made(*covariances(200000, 4, false), {32, 16});
  EXPECT_EQ(m.in_loops, 1);
  EXPECT_LT(m.largest, 200000);
}
// The means are made in the nest that takes them off.
TEST(Steps, CovariancesAreTakenInBlocks) {
  for (const int64_t rows : {96, 97, 200'000}) {
    Builder b;
    Var x = b.input(DType::f64, {rows, 6});
    Var centred = x - along(reduce_sum(x, {0}) * (1 / double(rows)), x, {1});
    b.output(dot_general(centred, centred, {0}, {0}, {}, {}));
    if (rows < 1000) {
      expect_right(*b.g);
      continue;
    }
    const Made m = made(*b.g, {32, 16});
    EXPECT_EQ(m.in_loops, 1);
    EXPECT_LT(m.largest, rows);
  }
}
TEST(Steps, LastLoopsAreSeparatedWhereMemoryIsAllTheyNeed) {
  using namespace loops;
  for (const bool local : {true, false}) {
    Program p;
    p.variables = {{"j"}, {"i"}};
    p.locals = {{"t2", DType::f64}};
    p.buffers = {{Buffer::Kind::input, DType::f64, {9, 4}, 0, -1, -1, "x1"},
                 {Buffer::Kind::temporary, DType::f64, {4}, -1, -1, -1, "t1"},
                 {Buffer::Kind::output, DType::f64, {9, 4}, 0, -1, -1, "out1"}};
    p.inputs = p.outputs = 1;
    const Expr x = p.exprs.load(0, DType::f64, {variable(1), variable(0)}),
               first = p.exprs.load(0, DType::f64, {Affine{}, variable(0)}),
               mean = local ? p.exprs.local(0, DType::f64) : p.exprs.load(1, DType::f64, {variable(0)});
    For nest, inner;
    nest.variable = 0, nest.end = 4, inner.variable = 1, inner.end = 9;
    inner.body.push_back({Store{2, {variable(1), variable(0)}, p.exprs.binary(Op::sub, x, mean)}});
    nest.body.push_back(local ? Stmt{Let{0, first}} : Stmt{Store{1, {variable(0)}, first}});
    nest.body.push_back({std::move(inner)});
    EXPECT_EQ(compiler::separate(p, {std::move(nest)}).has_value(), !local);
  }
}
// What is left of the rows would come after the main part of all columns.
TEST(Steps, NoRestWhereStepsOfLoopsAroundNeedIt) {
  using namespace loops;
  for (const bool others : {true, false}) {
    constexpr int64_t rows = 1009, heads = 3;
    constexpr Variable h = 0, i = 1, q = 2, head = 3, row = 4;
    Program p;
    p.variables = {{"h"}, {"i"}, {"q"}, {"h"}, {"i"}};
    p.inputs = 2, p.outputs = 1;
    p.buffers = {{Buffer::Kind::input, DType::f64, {rows, 2, heads}, 0, -1, -1, "x1"},
                 {Buffer::Kind::input, DType::f64, {2, heads}, 1, -1, -1, "x2"},
                 {Buffer::Kind::output, DType::f64, {rows, heads + 1}, 0, -1, -1, "out1"},
                 {Buffer::Kind::temporary, DType::f64, {rows, heads}, -1, -1, -1, "t1"}};
    p.body.push_back(
        {Contraction{{{h, heads}, {i, rows}, {q, 2}},
                     3,
                     {variable(i), variable(h)},
                     p.exprs.binary(Op::mul, p.exprs.load(0, DType::f64, {variable(i), variable(q), variable(h)}),
                                    p.exprs.load(1, DType::f64, {variable(q), variable(h)}))}});
    const Affine from = others ? variable(row) * -1 + Affine{rows - 1, {}} : variable(row);
    For around, inner;
    around.variable = head, around.end = heads, inner.variable = row, inner.end = rows;
    inner.body.push_back({Store{2,
                                {variable(row), variable(head) + Affine{1, {}}},
                                p.exprs.binary(Op::add, p.exprs.load(3, DType::f64, {variable(row), variable(head)}),
                                               others ? p.exprs.load(2, DType::f64, {from, variable(head)})
                                                      : p.exprs.load(3, DType::f64, {from, variable(head)}))}});
    around.body.push_back({std::move(inner)});
    p.body.push_back({std::move(around)});
    verify(p);
    compiler::Target target = small_cache;
    target.cache = 4096;
    compiler::step_contractions(p, target);
    verify(p);
    EXPECT_EQ(print(p).find("rest") == std::string::npos, others) << print(p);
  }
}
TEST(Steps, SmallFloatsAreRoundedOnce) {
  Builder b;
  Var x = b.input(DType::bf16, {96, 24});
  Var e = exp(x);
  b.output(dot_general(e, e, {0}, {0}, {}, {}));
  const Made m = made(*b.g, small_cache);
  EXPECT_EQ(m.contractions, 1);
  EXPECT_EQ(m.in_loops, 0);
}
TEST(Steps, TasksAddUpForThemselves) {
  for (const bool weighted : {false, true}) {
    EXPECT_NE(after(*covariances(200000, 4, weighted), "parallel", {32, 16}).find("parallel own"), std::string::npos);
    const auto g = covariances(203, 5, weighted);
    compiler::Target target = small_tasks(2048);
    target.any_size = true;
    expect_machine_code_right(*g, numbers_for(*g), 1e-12, target);
  }
}
// A product, what is made of it, and a product over its rows.
TEST(Steps, ChainsGoTogether) {
  Builder b;
  Var x = b.input(DType::f64, {120, 5}), w = b.input(DType::f64, {5, 6});
  Var h = exp(dot_general(x, w, {1}, {0}, {}, {}) * 0.1);
  b.output(dot_general(h, x, {0}, {0}, {}, {}));
  const Made m = made(*b.g, small_cache);
  EXPECT_EQ(m.in_loops, m.contractions);
  EXPECT_LT(m.largest, 120 * 5);
  expect_right(*b.g);
}
// All rows are needed before the second product can begin.
TEST(Steps, NotWhereSomethingElseWaits) {
  for (const int64_t rows : {120, 200'000}) {
    Builder b;
    Var x = b.input(DType::f64, {rows, 24}), w = b.input(DType::f64, {24, 24}), v = b.input(DType::f64, {24, 24});
    Var t = dot_general(x, w, {1}, {0}, {}, {});
    Var all = reduce_sum(dot_general(exp(t * 0.1), v, {1}, {0}, {}, {}), {0, 1});
    b.output(dot_general(abs(t * along(all, t, {})), v, {1}, {0}, {}, {}));
    if (rows == 120)
      expect_right(*b.g);
    else
      EXPECT_GE(made(*b.g, {32, 16}).in_loops, 3);
  }
}
TEST(Steps, NorWhereWhatStaysApartDoes) {
  for (const int64_t rows : {120, 200'000}) {
    Builder b;
    Var x = b.input(DType::f64, {rows, 24}), w = b.input(DType::f64, {24, 24}), v = b.input(DType::f64, {24, 24});
    Var t = dot_general(x, w, {1}, {0}, {}, {}), e = exp(t * 0.1);
    Var u = dot_general(e * along(reduce_sum(e, {0, 1}), e, {}), v, {1}, {0}, {}, {});
    b.output(abs(u) + t);
    if (rows == 120) {
      expect_right(*b.g);
    } else {
      const Made m = made(*b.g, {32, 16});
      EXPECT_GE(m.in_loops, 1);
      EXPECT_EQ(m.contractions - m.in_loops, 1) << "the first product";
    }
  }
}
TEST(Steps, WhatOthersNeedAsWellIsNotCut) {
  for (const int64_t rows : {120, 200'000}) {
    Builder b;
    Var x = b.input(DType::f64, {rows, 24}), w = b.input(DType::f64, {24, 24});
    Var t = dot_general(x, w, {1}, {0}, {}, {}), e = exp(t * 0.1);
    b.output(e);
    b.output(t * along(reduce_sum(e, {0, 1}), t, {}));
    if (rows == 120)
      expect_right(*b.g);
    else
      EXPECT_EQ(made(*b.g, {32, 16}).in_loops, 0);
  }
}
// Products of the elements of a row are no product of matrices, whose loops would stay as they are.
TEST(Steps, QuadraticForms) {
  for (const int64_t rows : {96, 101}) {
    Builder b;
    Var x = b.input(DType::f64, {rows, 6}), w = b.input(DType::f64, {6, 6});
    b.output(reduce_sum(dot_general(x, w, {1}, {0}, {}, {}) * x, {1}));
    EXPECT_LT(made(*b.g, small_cache).largest, rows * 6);
    expect_right(*b.g);
  }
}

// Blocks of rows that another contraction needs column by column, all of them.
TEST(Steps, RowsThatAreColumnsElsewhere) {
  for (const int64_t n : {18, 24}) {
    Builder b;
    Var x = b.input(DType::f64, {n, 10}), y = b.input(DType::f64, {n, 10}), w = b.input(DType::f64, {n, n}),
        v = b.input(DType::f64, {n});
    Var t = dot_general(x, y, {1}, {1}, {}, {});
    Var columns = dot_general(t, w, {0}, {0}, {1}, {1});
    Var rows = reduce_sum(exp(t * 0.1) * along(v, t, {1}), {1});
    b.output(exp(columns * 0.1) + rows);
    expect_right(*b.g);
  }
}

// A contraction whose axis is the variable of the loop that it comes into.
TEST(Steps, LoopsThatMergeRenameAxes) {
  using namespace loops;
  Program p;
  p.variables = {{"i"}, {"q"}, {"j"}};
  constexpr Variable i = 0, q = 1, j = 2;
  p.inputs = 2, p.outputs = 1;
  p.buffers = {{Buffer::Kind::input, DType::f64, {4, 3}, 0, -1, -1, "x1"},
               {Buffer::Kind::input, DType::f64, {3, 5}, 1, -1, -1, "x2"},
               {Buffer::Kind::output, DType::f64, {5, 4}, 0, -1, -1, "out1"},
               {Buffer::Kind::temporary, DType::f64, {4, 3}, -1, -1, -1, "t1"}};
  const auto loop = [](Variable v, int64_t end, Stmt body) {
    For f;
    f.variable = v, f.end = end;
    f.body.push_back(std::move(body));
    return Stmt{std::move(f)};
  };
  const auto load = [&](BufferId b, Variable a, Variable c) {
    return p.exprs.load(b, DType::f64, {variable(a), variable(c)});
  };
  p.body.push_back(loop(i, 4, loop(q, 3, {Store{3, {variable(i), variable(q)}, load(0, i, q)}})));
  p.body.push_back(loop(
      j, 4,
      {Contraction{
          {{i, 5}, {q, 3}}, 2, {variable(i), variable(j)}, p.exprs.binary(Op::mul, load(3, j, q), load(1, q, i))}}));
  verify(p);
  compiler::merge_nests(p);
  verify(p);
  EXPECT_EQ(p.body.size(), 1u) << print(p);
}

TEST(Steps, GradientsGoHeadByHead) {
  Builder b;
  const Shape shape = {6, 12, 2, 3};
  Var q = b.input(DType::f32, shape), k = b.input(DType::f32, shape), v = b.input(DType::f32, shape);
  Var out = weighted(softmax(scores(q, k), false), v);
  b.output(reduce_sum(out * out, {0, 1, 2, 3}));
  const auto g = transform::gradient(*b.g, {true, true, true}, true);
  EXPECT_GT(made(*g, small_cache).in_loops, 4);
  expect_right(*g);
}

}  // namespace
}  // namespace anvil::test
