// The loop language: indices, the pool of expressions, the printed form, the verifier.
#include <gtest/gtest.h>

#include "base/error.h"
#include "loops/program.h"

namespace anvil::loops {
namespace {

TEST(Affine, AddsAndScales) {
  Affine i = variable(0), j = variable(1);
  Affine sum = i * 2 + j * 3 + 5;
  EXPECT_EQ(sum.constant, 5);
  EXPECT_EQ(factor(sum, 0), 2);
  EXPECT_EQ(factor(sum, 1), 3);
  EXPECT_EQ(factor(sum, 2), 0);
  EXPECT_EQ(sum + j * -3 + i * -2, (Affine{5, {}}));
  EXPECT_EQ((i + j) * 0, Affine{});
}

TEST(ExprPool, MakesEqualNodesOnce) {
  ExprPool e;
  Expr x = e.load(0, DType::f32, {variable(0)}), y = e.load(0, DType::f32, {variable(0) + 1});
  EXPECT_NE(x, y);
  EXPECT_EQ(x, e.load(0, DType::f32, {variable(0)}));
  EXPECT_EQ(e.binary(Op::add, x, y), e.binary(Op::add, x, y));
  EXPECT_NE(e.binary(Op::add, x, y), e.binary(Op::add, y, x));
  EXPECT_NE(e.constant(0.0, DType::f64), e.constant(-0.0, DType::f64));
  std::string name = "exp";
  EXPECT_EQ(e.function("exp", x), e.function(name.c_str(), x));
}

TEST(ExprPool, FoldsOnlyWhatKeepsEveryBit) {
  ExprPool e;
  Expr x = e.load(0, DType::f64, {}), n = e.load(1, DType::i32, {});
  Expr zero = e.constant(0.0, DType::f64), one = e.constant(1, DType::f64);
  EXPECT_EQ(e.binary(Op::mul, x, one), x);
  EXPECT_EQ(e.binary(Op::mul, one, x), x);
  EXPECT_EQ(e.binary(Op::divide, x, one), x);
  EXPECT_EQ(e.binary(Op::sub, x, zero), x);
  EXPECT_NE(e.binary(Op::add, x, zero), x);  // -0 + 0 is 0
  EXPECT_NE(e.binary(Op::sub, x, e.constant(-0.0, DType::f64)), x);
  EXPECT_EQ(e.binary(Op::add, n, e.constant(0, DType::i32)), n);
  EXPECT_EQ(e.convert(x, DType::f64), x);
  EXPECT_EQ(e.convert(e.constant(2.75, DType::f64), DType::i32), e.constant(2, DType::i32));
  EXPECT_EQ(e.index({3, {}}), e.constant(3, DType::i64));
  EXPECT_EQ(e.binary(Op::lt, x, one)->dtype, DType::boolean);
}

// out1[i, j] = x1[i, j] * 2 with a sum over i on the way
Program example() {
  Program p;
  p.inputs = p.outputs = 1;
  p.buffers.push_back({Buffer::Kind::input, DType::f32, {3, 4}, 0, -1, -1, "x1"});
  p.buffers.push_back({Buffer::Kind::output, DType::f32, {3, 4}, 0, -1, -1, "out1"});
  p.variables = {{"i", false, 0, 0}, {"j", false, 0, 0}};
  p.locals = {{"a1", DType::f32}};
  Index at = {variable(0), variable(1)};
  Expr x = p.exprs.load(0, DType::f32, at);
  For inner, outer;
  inner.variable = 0, inner.end = 3;
  inner.body.push_back({Update{0, Op::add, x}});
  inner.body.push_back(
      {Store{1, at, p.exprs.binary(Op::mul, p.exprs.binary(Op::add, x, x), p.exprs.binary(Op::add, x, x))}});
  outer.variable = 1, outer.end = 4;
  outer.body.push_back({Declare{0, p.exprs.constant(0, DType::f32)}});
  outer.body.push_back({inner});
  p.body.push_back({outer});
  return p;
}

TEST(Print, ReadsLikeAProgram) {
  Program p = example();
  EXPECT_EQ(print(p),
            "program(x1: f32[3, 4]) -> (out1: f32[3, 4])\n"
            "  for j in 0..4 {\n"
            "    a1 = 0\n"
            "    for i in 0..3 {\n"
            "      a1 += x1[i, j]\n"
            "      %1 = x1[i, j] + x1[i, j]\n"
            "      out1[i, j] = %1 * %1\n"
            "    }\n"
            "  }\n");
}

TEST(Print, LoopsOfOneNameAreTold) {
  Program p = example();
  p.variables[0].name = "j";
  EXPECT_NE(print(p).find("for j2 in 0..3"), std::string::npos);
  EXPECT_NE(print(p).find("x1[j2, j]"), std::string::npos);
}

TEST(Linear, IsColumnMajor) {
  Program p = example();
  EXPECT_EQ(linear(p, 0, {variable(0) + 1, variable(1)}), variable(0) + variable(1) * 3 + 1);
}

For& outer(Program& p) { return std::get<For>(p.body[0].is); }
For& inner(Program& p) { return std::get<For>(outer(p).body[1].is); }

TEST(Verify, AcceptsTheExample) { EXPECT_NO_THROW(verify(example())); }

TEST(Verify, FindsBrokenPromises) {
  auto broken = [](auto change) {
    Program p = example();
    change(p);
    EXPECT_THROW(verify(p), InternalError);
  };
  broken([](Program& p) { outer(p).end = 5; });  // leaves the buffers
  broken([](Program& p) { inner(p).begin = -1; });
  broken([](Program& p) { inner(p).end = 0; });                            // empty
  broken([](Program& p) { inner(p).variable = 1; });                       // nested twice
  broken([](Program& p) { outer(p).body.erase(outer(p).body.begin()); });  // not declared
  broken([](Program& p) { p.locals[0].dtype = DType::f64; });
  broken([](Program& p) { p.buffers[1].kind = Buffer::Kind::input; });  // a store to an input
  broken([](Program& p) { p.buffers[1].dtype = DType::f64; });
  broken([](Program& p) { p.buffers[0].shape = {3, 4, 1}; });  // wrong rank
  broken([](Program& p) { std::get<Update>(inner(p).body[0].is).op = Op::sub; });
  broken([](Program& p) { inner(p).kind = For::Kind::vector, inner(p).width = 4; });
  broken([](Program& p) { p.body = {Stmt(outer(p).body[1])}; });  // a variable outside its loop
  broken([](Program& p) { p.body.push_back({Swap{0, 1}}); });
  broken([](Program& p) { p.body.push_back({Prefetch{0, {{-1, {}}, {}}, 64}}); });  // in front of a buffer
  broken([](Program& p) { p.body.push_back({Prefetch{0, {{}, {}}, 0}}); });
}

// for i vector { a1 += x1 running; out1 = a1 ... }
// out1[i, j] = sum of x1[i, p] x2[p, j], beside it out2[i, k] = sum of x1[i, p] x3[p, k]
Program two_products() {
  Program p;
  p.inputs = 3, p.outputs = 2;
  const auto add = [&](Buffer::Kind kind, Shape shape, int position, const char* name) {
    p.buffers.push_back({kind, DType::f64, std::move(shape), position, -1, -1, name});
  };
  add(Buffer::Kind::input, {4, 3}, 0, "x1");
  add(Buffer::Kind::input, {3, 5}, 1, "x2");
  add(Buffer::Kind::input, {3, 2}, 2, "x3");
  add(Buffer::Kind::output, {4, 5}, 0, "out1");
  add(Buffer::Kind::output, {4, 2}, 1, "out2");
  for (const char* name : {"i", "j", "p", "k"}) p.variables.push_back({name});
  const auto at = [](Variable a, Variable b) { return Index{variable(a), variable(b)}; };
  const auto load = [&](BufferId b, Index place) { return p.exprs.load(b, DType::f64, std::move(place)); };
  Contraction c{{{0, 4}, {1, 5}, {2, 3}}, 3, at(0, 1), p.exprs.binary(Op::mul, load(0, at(0, 2)), load(1, at(2, 1)))};
  c.beside.push_back({{{3, 2}}, 4, at(0, 3), load(2, at(2, 3))});
  p.body.push_back({std::move(c)});
  return p;
}

TEST(Print, ProductsBesideAContraction) {
  const std::string text = print(two_products());
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            "  contract i in 0..4, j in 0..5, p in 0..3: out1[i, j] = sum of x1[i, p] * x2[p, j]\n"
            "      beside k in 0..2: out2[i, k] = sum of x1[i, p] * x3[p, k]\n");
}

TEST(Verify, FindsWhatCannotStandBesideAContraction) {
  EXPECT_NO_THROW(verify(two_products()));
  const auto broken = [](auto change) {
    Program p = two_products();
    auto& c = std::get<Contraction>(p.body[0].is);
    change(p, c, c.beside[0]);
    EXPECT_THROW(verify(p), InternalError) << print(p);
  };
  using Beside = Contraction::Beside;
  broken([](Program&, Contraction&, Beside& b) { b.columns[0].extent = 3; });    // leaves its arrays
  broken([](Program&, Contraction&, Beside& b) { b.columns[0].variable = 1; });  // a column of the first
  broken([](Program&, Contraction&, Beside& b) { b.columns.clear(); });          // an axis of nobody
  broken([](Program&, Contraction&, Beside& b) { b.place[1] = variable(1); });   // moves with a column of the first
  broken([](Program& p, Contraction&, Beside& b) {                               // rows lie otherwise
    p.buffers[4].shape = {2, 4};
    b.place = {variable(3), variable(0)};
  });
  broken([](Program& p, Contraction&, Beside&) { p.buffers[2].shape = {2, 3}; });
  broken([](Program& p, Contraction&, Beside& b) {  // another depth
    p.buffers[2].shape = {2, 3};
    b.operand = p.exprs.load(2, DType::f64, {variable(3), variable(2)});
  });
  broken([](Program& p, Contraction&, Beside& b) {  // of its own result
    p.buffers[4].kind = Buffer::Kind::temporary;
    b.operand = p.exprs.load(4, DType::f64, {variable(2), variable(3)});
  });
  broken([](Program& p, Contraction&, Beside&) { p.buffers[4].dtype = DType::f32; });
}

TEST(Verify, FindsWhatCannotRunAlongAVector) {
  const auto runs = [](auto change) {
    Program p = example();
    For& f = inner(p);
    f.kind = For::Kind::vector, f.width = 3;
    std::get<Update>(f.body[0].is).running = true;
    std::get<Store>(f.body[1].is).value = p.exprs.local(0, DType::f32);
    change(p, f);
    verify(p);
  };
  EXPECT_NO_THROW(runs([](Program&, For&) {}));
  const auto broken = [&](auto change) { EXPECT_THROW(runs(change), InternalError); };
  broken([](Program&, For& f) { f.kind = For::Kind::serial, f.width = 1; });
  broken([](Program&, For& f) { std::swap(f.body[0], f.body[1]); });  // read before
  broken([](Program&, For& f) { f.body.push_back(f.body[0]); });      // twice
  broken([](Program& p, For& f) {                                     // in steps that each have their own
    f.body.insert(f.body.begin(), outer(p).body[0]);
    outer(p).body.erase(outer(p).body.begin());
  });
  broken([](Program& p, For& f) {  // no accumulation
    auto& u = std::get<Update>(f.body[0].is);
    u.value = p.exprs.fma(u.value, u.value, p.exprs.local(0, DType::f32)), u.op = Op::local;
  });
}

// parallel i: t1[i] = x1[i], t2[i] = t1[i]
TEST(Verify, FindsMemoryThatTasksShare) {
  const auto tasks = [](int64_t first, int64_t second, bool own) {
    Program p;
    p.inputs = 1;
    p.buffers = {{Buffer::Kind::input, DType::f32, {32}, 0, -1, -1, "x1"},
                 {Buffer::Kind::temporary, DType::f32, {32}, -1, -1, first, "t1"},
                 {Buffer::Kind::temporary, DType::f32, {32}, -1, -1, second, "t2", own}};
    p.variables = {{"i", false, 0, 0}};
    const Index at = {variable(0)};
    For loop;
    loop.variable = 0, loop.end = 32, loop.kind = For::Kind::parallel;
    if (own) loop.own = {2};
    loop.body.push_back({Store{1, at, p.exprs.load(0, DType::f32, at)}});
    loop.body.push_back({Store{2, at, p.exprs.load(1, DType::f32, at)}});
    p.body.push_back({loop});
    return p;
  };
  EXPECT_NO_THROW(verify(tasks(-1, -1, false)));  // not placed yet
  EXPECT_NO_THROW(verify(tasks(0, 128, false)));
  EXPECT_NO_THROW(verify(tasks(0, 0, true)));  // in the task's own memory
  EXPECT_THROW(verify(tasks(0, 64, false)), InternalError);
  EXPECT_THROW(verify(tasks(64, 0, false)), InternalError);
  EXPECT_THROW(verify(tasks(0, 0, false)), InternalError);
}

}  // namespace
}  // namespace anvil::loops
