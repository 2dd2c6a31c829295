// The interpreter that the compiler is tested against: what it takes for the same, what it tells
// apart, and what it refuses.
#include "backend_llvm/programs.h"

namespace anvil::test {
namespace {

constexpr DType f64 = DType::f64;

std::vector<Tensor> some(const Program& p) {
  std::vector<Tensor> inputs;
  for (const Buffer& b : p.buffers)
    if (b.kind == Buffer::Kind::input) inputs.push_back(random_tensor(b.dtype, b.shape, inputs.size() + 1));
  return inputs;
}
std::vector<std::vector<Term>> terms(const Program& p, bool arena = false) {
  LoopInterpreter interpreter(p, some(p), {}, nullptr, arena);
  interpreter.run();
  return interpreter.terms();
}
std::string refusal(const Program& p, bool arena = false) {
  try {
    terms(p, arena);
  } catch (const std::logic_error& e) {
    return e.what();
  }
  return "";
}

// y[0] = made of x[0], x[1], x[2] and nothing else
template <class F>
Term made(F f) {
  ProgramBuilder b;
  const BufferId x = b.input(f64, {3}), y = b.output(f64, {1});
  auto at_place = [&](int64_t k) { return b.load(x, {Affine{k, {}}}); };
  b.p.body.push_back({Store{y, {Affine{}}, f(b, at_place(0), at_place(1), at_place(2))}});
  return terms(b.p)[0][0];
}

TEST(Terms, AreEqualForEqualExpressionsOnly) {
  auto sum = [](ProgramBuilder& b, Expr x, Expr y, Expr) { return b.e().binary(Op::add, x, y); };
  EXPECT_EQ(made(sum), made(sum));
  EXPECT_NE(made(sum), made([](ProgramBuilder& b, Expr x, Expr y, Expr) { return b.e().binary(Op::add, y, x); }));
  EXPECT_NE(made(sum), made([](ProgramBuilder& b, Expr x, Expr, Expr z) { return b.e().binary(Op::add, x, z); }));
  EXPECT_NE(made(sum), made([](ProgramBuilder& b, Expr x, Expr y, Expr) { return b.e().binary(Op::sub, x, y); }));
  auto twice = [](ProgramBuilder& b, Expr x, Expr, Expr) { return b.e().binary(Op::mul, x, b.number(2, f64)); };
  EXPECT_NE(made(twice), made([](ProgramBuilder& b, Expr x, Expr, Expr) { return b.e().binary(Op::add, x, x); }));
  EXPECT_NE(made(twice),
            made([](ProgramBuilder& b, Expr x, Expr, Expr) { return b.e().binary(Op::mul, x, b.number(3, f64)); }));
  auto nested = [](ProgramBuilder& b, Expr x, Expr y, Expr z) {
    return b.e().binary(Op::add, b.e().binary(Op::add, x, y), z);
  };
  EXPECT_NE(made(nested), made([](ProgramBuilder& b, Expr x, Expr y, Expr z) {
              return b.e().binary(Op::add, x, b.e().binary(Op::add, y, z));
            }));
}
TEST(Terms, ConstantsAreWhatTheyAre) {
  auto seven = [](ProgramBuilder& b, Expr, Expr, Expr) { return b.number(7, f64); };
  EXPECT_EQ(made(seven), made([](ProgramBuilder& b, Expr, Expr, Expr) {
              return b.e().node({Op::add, f64, {b.number(3, f64), b.number(4, f64), nullptr}, {}, -1, {}, -1, ""});
            }));
  EXPECT_NE(made(seven), made([](ProgramBuilder& b, Expr, Expr, Expr) { return b.number(8, f64); }));
}

// The sum of 1 + x[i] * w[i] over some i, one after the other
struct Sum {
  std::vector<int64_t> order;
  bool fused = false;
  Op op = Op::add;
};
Term sum_of(const Sum& s) {
  ProgramBuilder b;
  const BufferId x = b.input(f64, {5}), w = b.input(f64, {5}), y = b.output(f64, {});
  const LocalId a = b.local(f64);
  b.p.body.push_back({Declare{a, b.number(1, f64)}});
  for (int64_t k : s.order) {
    const Expr u = b.load(x, {Affine{k, {}}}), v = b.load(w, {Affine{k, {}}});
    b.p.body.push_back(
        {s.fused ? Update{a, Op::local, b.e().fma(u, v, b.get(a))} : Update{a, s.op, b.e().binary(Op::mul, u, v)}});
  }
  b.p.body.push_back({Store{y, {}, b.get(a)}});
  return terms(b.p)[0][0];
}
TEST(Terms, SumsHaveNoOrder) {
  const Term sum = sum_of({{0, 1, 2, 3, 4}});
  EXPECT_EQ(sum, sum_of({{4, 2, 0, 1, 3}}));
  EXPECT_EQ(sum, sum_of({{0, 1, 2, 3, 4}, true}));
  EXPECT_NE(sum, sum_of({{0, 1, 2, 3}}));
  EXPECT_NE(sum, sum_of({{0, 1, 2, 3, 4, 4}}));
  EXPECT_NE(sum, sum_of({{0, 1, 2, 3, 3}}));
  EXPECT_NE(sum, sum_of({{0, 1, 2, 3, 4}, false, Op::maximum}));
  EXPECT_NE(sum_of({{0}}), sum_of({{1}}));
}

// The same sum in three loops: as blocks that go through memory, and as lanes.
TEST(Terms, SumsMayBeSplit) {
  const auto make = [](int form) {
    ProgramBuilder b;
    const BufferId x = b.input(f64, {24}), t = b.temporary(f64, {}), y = b.output(f64, {});
    const LocalId a = b.local(f64), c = b.local(f64);
    const Variable i = b.index(), k = b.index();
    const Expr zero = b.number(0, f64);
    if (form == 0)
      b.p.body = {
          {Declare{a, zero}}, serial(i, 0, 24, {{Update{a, Op::add, b.load(x, {at(i)})}}}), {Store{y, {}, b.get(a)}}};
    if (form == 1)
      b.p.body = {{Store{t, {}, zero}},
                  serial(k, 0, 3,
                         {{Declare{c, b.load(t, {})}},
                          serial(i, 0, 8, {{Update{c, Op::add, b.load(x, {at(i) + at(k) * 8})}}}),
                          {Store{t, {}, b.get(c)}}}),
                  {Store{y, {}, b.load(t, {})}}};
    if (form == 2)
      b.p.body = {{Declare{a, zero}},
                  vector(i, 0, 24, 4, 2, {{Update{a, Op::add, b.load(x, {at(i)})}}}),
                  {Store{y, {}, b.get(a)}}};
    if (form == 3)  // each element is a sum of its own: not the same
      b.p.body = {
          {Declare{a, zero}},
          serial(i, 0, 24,
                 {{Declare{c, zero}}, {Update{c, Op::add, b.load(x, {at(i)})}}, {Update{a, Op::add, b.get(c)}}}),
          {Store{y, {}, b.get(a)}}};
    return terms(b.p)[0][0];
  };
  EXPECT_EQ(make(0), make(1));
  EXPECT_EQ(make(0), make(2));
  EXPECT_NE(make(0), make(3));
}

TEST(Interpreter, RefusesWhatNobodyWrote) {
  ProgramBuilder b;
  const BufferId x = b.input(f64, {4}), t = b.temporary(f64, {4}), y = b.output(f64, {4});
  const Variable i = b.index(), k = b.index();
  b.p.body = {serial(i, 0, 3, {{Store{t, {at(i)}, b.load(x, {at(i)})}}}),
              serial(k, 0, 4, {{Store{y, {at(k)}, b.load(t, {at(k)})}}})};
  EXPECT_NE(refusal(b.p).find("element 3 of t1 is read, but was never written"), std::string::npos) << refusal(b.p);
  std::get<For>(b.p.body[0].is).end = 4;
  EXPECT_EQ(refusal(b.p), "");
  std::get<For>(b.p.body[1].is).end = 3;  // an output that is not complete
  EXPECT_NE(refusal(b.p).find("element 3 of y2"), std::string::npos) << refusal(b.p);
  std::get<For>(b.p.body[1].is).end = 5;
  EXPECT_NE(refusal(b.p).find("access outside of"), std::string::npos) << refusal(b.p);
}

TEST(Interpreter, RefusesLocalsFromElsewhere) {
  ProgramBuilder b;
  const BufferId x = b.input(f64, {4}), y = b.output(f64, {4});
  const Variable i = b.index(), k = b.index();
  const LocalId a = b.local(f64);
  b.p.body = {serial(i, 0, 4, {{Let{a, b.load(x, {at(i)})}}, {Store{y, {at(i)}, b.get(a)}}})};
  EXPECT_EQ(refusal(b.p), "");
  b.p.body.push_back(serial(k, 0, 4, {{Store{y, {at(k)}, b.get(a)}}}));
  EXPECT_NE(refusal(b.p).find("is read before it is made"), std::string::npos) << refusal(b.p);
}

// Memory, not names: t and u lie in the same bytes.
TEST(Interpreter, SeesOverlapsInTheArena) {
  for (bool overlap : {false, true}) {
    ProgramBuilder b;
    const BufferId x = b.input(f64, {4}), t = b.temporary(f64, {4}), u = b.temporary(DType::f32, {4}),
                   y = b.output(f64, {4});
    if (overlap) b.p.buffers[size_t(u)].offset = b.p.buffers[size_t(t)].offset + 16;
    const Variable i = b.index(), j = b.index(), k = b.index();
    b.p.body = {serial(i, 0, 4, {{Store{t, {at(i)}, b.load(x, {at(i)})}}}),
                serial(j, 0, 4, {{Store{u, {at(j)}, b.number(0, DType::f32)}}}),
                serial(k, 0, 4, {{Store{y, {at(k)}, b.load(t, {at(k)})}}})};
    EXPECT_EQ(refusal(b.p), "");
    EXPECT_EQ(refusal(b.p, true), overlap ? "interpreter: element 2 of t1 is read, but was never written" : "");
  }
}

TEST(Interpreter, FollowsAliasesAndSwaps) {
  ProgramBuilder b, direct;
  BufferId x = b.input(f64, {4}), t = b.temporary(f64, {2, 2}), u = b.temporary(f64, {2, 2}), y = b.output(f64, {4});
  Buffer flat = b.p.buffers[size_t(u)];
  flat.shape = {4}, flat.alias = u, flat.name = "view";
  b.p.buffers.push_back(flat);
  const auto view = BufferId(b.p.buffers.size()) - 1;
  const Variable i = b.index(), j = b.index(), k = b.index();
  b.p.body = {serial(j, 0, 2, {serial(i, 0, 2, {{Store{t, {at(i), at(j)}, b.load(x, {at(i) + at(j) * 2})}}})}),
              {Swap{t, u}},
              serial(k, 0, 4, {{Store{y, {at(k)}, b.load(view, {at(k)})}}})};
  x = direct.input(f64, {4}), y = direct.output(f64, {4});
  const Variable l = direct.index();
  direct.p.body = {serial(l, 0, 4, {{Store{y, {at(l)}, direct.load(x, {at(l)})}}})};
  EXPECT_EQ(terms(b.p), terms(direct.p));
}

// What a call gives is made of all of its operands, as they are when it runs.
TEST(Interpreter, CallsReadTheirOperands) {
  const auto product = [](int form) {
    ProgramBuilder b;
    const BufferId x = b.input(f64, {2, 2}), w = b.input(f64, {2, 2}), t = b.temporary(f64, {2, 2}),
                   y = b.output(f64, {2, 2});
    const auto number = [&](int n) { return b.number(n, DType::i64); };
    const Variable i = b.index(), j = b.index(), k = b.index(), l = b.index();
    const auto fill = [&](Variable row, Variable column, Expr value) {
      return serial(column, 0, 2, {serial(row, 0, 2, {{Store{t, {at(row), at(column)}, value}}})});
    };
    const Stmt first = fill(i, j, b.load(x, {at(i), at(j)})),
               second = fill(k, l, b.e().unary(Op::negate, b.load(x, {at(k), at(l)}))),
               call = {Call{"triangular_solve_f64",
                            {y, w, t},
                            {number(2), number(2), number(1), number(1), number(1), number(0), number(form == 2)}}};
    b.p.body = form == 1 ? Block{first, second, call} : Block{first, call, second};
    return terms(b.p);
  };
  EXPECT_EQ(product(0), product(0));
  EXPECT_NE(product(0), product(1));
  EXPECT_NE(product(0), product(2));
}

// ---- steps side by side -------------------------------------------------------------------

struct Forced {
  ProgramBuilder b;
  std::vector<std::vector<Term>> run(const LoopPlan* plan, size_t loop = 0) const {
    LoopInterpreter interpreter(b.p, some(b.p));
    if (plan) interpreter.force(std::get<For>(b.p.body[loop].is), *plan);
    interpreter.run();
    return interpreter.terms();
  }
};

TEST(SideBySide, DependentStepsGiveSomethingElse) {
  const LoopPlan lanes{4, 1, true, false, false}, copies{1, 3, true, false, false};
  for (int64_t distance : {-1, 0, 1, 2}) {
    Forced f;
    const BufferId x = f.b.input(f64, {20}), y = f.b.output(f64, {20});
    const Variable k = f.b.index(), i = f.b.index();
    f.b.p.body = {
        serial(k, 0, 20, {{Store{y, {at(k)}, f.b.load(x, {at(k)})}}}),
        serial(i, 4, 16,
               {{Store{y, {at(i)}, f.b.e().binary(Op::mul, f.b.load(y, {at(i) + -distance}), f.b.load(x, {at(i)}))}}})};
    // reading ahead is right side by side as well: all loads come before the stores
    EXPECT_EQ(f.run(nullptr) == f.run(&lanes, 1), distance <= 0) << distance;
    EXPECT_EQ(f.run(nullptr) == f.run(&copies, 1), distance <= 0) << distance;
  }
}
TEST(SideBySide, LastStepsAreDoneTwiceUnlessInPlace) {
  for (bool in_place : {false, true}) {
    const LoopPlan plan{4, 2, true, in_place, false};
    Forced f;
    const BufferId x = f.b.input(f64, {21}), y = f.b.output(f64, {21}), z = f.b.output(f64, {21});
    const Variable k = f.b.index(), i = f.b.index();
    f.b.p.body = {
        serial(k, 0, 21, {{Store{y, {at(k)}, f.b.load(x, {at(k)})}}, {Store{z, {at(k)}, f.b.load(x, {at(k)})}}}),
        serial(i, 0, 21,
               {{Store{y, {at(i)}, f.b.e().unary(Op::sqrt, f.b.load(y, {at(i)}))}},
                {Store{z, {at(i)}, f.b.e().unary(Op::abs, f.b.load(x, {at(i)}))}}})};
    const auto serially = f.run(nullptr), blocked = f.run(&plan, 1);
    EXPECT_EQ(serially[0] == blocked[0], in_place);
    EXPECT_EQ(serially[1], blocked[1]);
  }
}
TEST(SideBySide, SumsCountEveryStepOnce) {
  for (int64_t n : {8, 9, 13, 16, 21})
    for (bool accumulates : {false, true}) {
      const LoopPlan plan{4, 2, true, false, accumulates};
      Forced f;
      const BufferId x = f.b.input(f64, {21}), y = f.b.output(f64, {});
      const Variable i = f.b.index();
      const LocalId a = f.b.local(f64);
      f.b.p.body = {{Declare{a, f.b.number(0, f64)}},
                    serial(i, 0, n, {{Update{a, Op::add, f.b.load(x, {at(i)})}}}),
                    {Store{y, {}, f.b.get(a)}}};
      EXPECT_EQ(f.run(nullptr) == f.run(&plan, 1), accumulates || n % 8 == 0) << n;
    }
}
TEST(SideBySide, RunningSumsAreRefused) {
  const LoopPlan plan{4, 1, true, false, true};
  Forced f;
  const BufferId x = f.b.input(f64, {8}), y = f.b.output(f64, {8});
  const Variable i = f.b.index();
  const LocalId a = f.b.local(f64);
  f.b.p.body = {{Declare{a, f.b.number(0, f64)}},
                serial(i, 0, 8, {{Update{a, Op::add, f.b.load(x, {at(i)})}}, {Store{y, {at(i)}, f.b.get(a)}}})};
  EXPECT_THROW(f.run(&plan, 1), std::logic_error);
}

// ---- messages -----------------------------------------------------------------------------

TEST(TermLog, SaysWhereTwoTermsDiffer) {
  TermLog log;
  const auto run = [&](int64_t other) {
    ProgramBuilder b;
    const BufferId x = b.input(f64, {5}), y = b.output(f64, {});
    const LocalId a = b.local(f64);
    b.p.body = {{Declare{a, b.number(0, f64)}}};
    for (int64_t k : {int64_t{0}, int64_t{1}, other})
      b.p.body.push_back({Update{a, Op::add, b.e().function("exp", b.load(x, {Affine{k, {}}}))}});
    b.p.body.push_back({Store{y, {}, b.e().unary(Op::negate, b.get(a))}});
    LoopInterpreter interpreter(b.p, some(b.p), {}, nullptr, false, &log);
    interpreter.run();
    return interpreter.terms()[0][0];
  };
  const Term before = run(2), after = run(3);
  EXPECT_EQ(log.difference(before, after), "before: x0{2}\n  after: x0{3}");
  EXPECT_NE(log.text(before).find("exp(x0{2})"), std::string::npos) << log.text(before);
}

}  // namespace
}  // namespace anvil::test
