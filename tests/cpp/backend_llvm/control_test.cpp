// Branches, while loops, swaps, calls of the runtime, interrupts, and large programs.
#include "backend_llvm/programs.h"
#include "base/error.h"
#include "runtime/run.h"
#include "support/interrupt_at.h"

namespace anvil::test {
namespace {

struct Control : testing::Test {
  ProgramBuilder b;
  ExprPool& e() { return b.e(); }
  Expr f64(double x) { return b.number(x, DType::f64); }
  Expr i64(int64_t x) { return b.number(x, DType::i64); }
};

void run_interrupted(const Program& p) {
  const runtime::Executable executable = llvm_backend::compile(p);
  const InterruptAt first(1);
  run_into(executable, {}, outputs_of(p));
}

TEST_F(Control, WhileWithLocals) {
  const BufferId x = b.input(DType::f64, {}), y = b.output(DType::f64, {}), steps = b.output(DType::i64, {});
  const LocalId v = b.local(DType::f64), n = b.local(DType::i64);
  While loop;
  loop.condition = e().binary(Op::gt, b.get(v), f64(1));
  loop.body = {{Update{v, Op::local, e().binary(Op::mul, b.get(v), f64(0.75))}}, {Update{n, Op::add, i64(1)}}};
  b.p.body = {{Declare{v, b.load(x, {})}},
              {Declare{n, i64(0)}},
              {loop},
              {Store{y, {}, b.get(v)}},
              {Store{steps, {}, b.get(n)}}};
  for (const double start : {0.5, 2.0, 1e9}) expect_as_interpreted(b.p, {graph::full({DType::f64, {}}, start)});
}

// The state in temporaries: numbers that stay in registers, and vectors that are swapped.
TEST_F(Control, WhileWithSwappedState) {
  const int64_t n = 19;
  const BufferId x = b.input(DType::f64, {n}), y = b.output(DType::f64, {n}), count = b.output(DType::i64, {});
  const BufferId s = b.temporary(DType::f64, {n}), s2 = b.temporary(DType::f64, {n}), k = b.temporary(DType::i64, {}),
                 k2 = b.temporary(DType::i64, {});
  const Variable i = b.index(), j = b.index(), l = b.index();
  While loop;
  loop.condition = e().binary(Op::lt, b.load(k, {}), i64(7));
  loop.body = {
      serial(i, 0, n,
             {{Store{s2, {at(i)}, e().binary(Op::add, b.load(s, {at(i)}), b.load(s, {at(i) * -1 + (n - 1)}))}}}),
      {Store{k2, {}, e().binary(Op::add, b.load(k, {}), i64(2))}},
      {Swap{s, s2}},
      {Swap{k, k2}}};
  b.p.body = {vector(j, 0, n, 4, 1, {{Store{s, {at(j)}, b.load(x, {at(j)})}}}),
              {Store{k, {}, i64(0)}},
              {loop},
              vector(l, 0, n, 4, 1, {{Store{y, {at(l)}, b.load(s, {at(l)})}}}),
              {Store{count, {}, b.load(k, {})}}};
  expect_as_interpreted(b.p, {random_tensor(DType::f64, {n}, 1)});
}

TEST_F(Control, BranchesSeeAndLeaveTheRightValues) {
  const BufferId x = b.input(DType::f64, {}), y = b.output(DType::f64, {}), z = b.output(DType::f64, {});
  const BufferId t = b.temporary(DType::f64, {});
  const LocalId v = b.local(DType::f64);
  const Expr root = e().unary(Op::sqrt, b.load(x, {})), old = e().binary(Op::add, b.load(t, {}), f64(1));
  If branch;
  branch.condition = e().binary(Op::gt, b.load(x, {}), f64(2));
  branch.yes = {{Store{t, {}, root}}, {Update{v, Op::add, old}}};
  branch.no = {{Update{v, Op::local, e().binary(Op::mul, b.get(v), old)}}};
  b.p.body = {{Store{t, {}, f64(5)}},
              {Declare{v, old}},
              {branch},
              {Store{y, {}, e().binary(Op::add, old, root)}},
              {Store{z, {}, b.get(v)}}};
  for (const double start : {1.0, 4.0}) expect_as_interpreted(b.p, {graph::full({DType::f64, {}}, start)});
}

TEST_F(Control, BranchInsideALoopWithAVectorLoopInside) {
  const int64_t n = 21, m = 6;
  const BufferId x = b.input(DType::f32, {n, m}), c = b.input(DType::boolean, {m}), y = b.output(DType::f32, {n, m});
  const Variable i = b.index(), j = b.index(), k = b.index();
  If branch;
  branch.condition = b.load(c, {at(j)});
  branch.yes = {vector(i, 0, n, 8, 1, {{Store{y, {at(i), at(j)}, b.load(x, {at(i), at(j)})}}})};
  branch.no = {
      vector(k, 0, n, 8, 1, {{Store{y, {at(k), at(j)}, e().unary(Op::negate, b.load(x, {at(k), Affine{}}))}}})};
  b.p.body = {unroll(j, 0, m, 2, {{branch}})};
  expect_as_interpreted(b.p, {random_tensor(DType::f32, {n, m}, 1), random_tensor(DType::boolean, {m}, 2)});
}

// Slices at a place known only at run time, inside a loop that moves it.
TEST_F(Control, ParametersInsideWhile) {
  const int64_t n = 12;
  const BufferId x = b.input(DType::f64, {n}), y = b.output(DType::f64, {n});
  const Variable p = b.parameter(0, n - 1), i = b.index();
  const LocalId k = b.local(DType::i64);
  While loop;
  loop.condition = e().binary(Op::lt, b.get(k), i64(n));
  loop.body = {{Bind{p, e().binary(Op::minimum, b.get(k), i64(n - 1))}},
               {Store{y, {at(p)}, e().binary(Op::add, b.load(x, {at(p) * -1 + (n - 1)}), b.load(y, {at(p)}))}},
               {Update{k, Op::add, i64(2)}}};
  b.p.body = {vector(i, 0, n, 4, 1, {{Store{y, {at(i)}, e().convert(e().index(at(i)), DType::f64)}}}),
              {Declare{k, i64(1)}},
              {loop}};
  expect_as_interpreted(b.p, {random_tensor(DType::f64, {n}, 1)});
}

TEST_F(Control, TapesAndProducts) {
  const BufferId x = b.input(DType::f64, {2, 2}), y = b.output(DType::f64, {2, 2}), length = b.output(DType::i64, {});
  const BufferId tape = b.temporary(DType::ui64, {}), s = b.temporary(DType::f64, {2, 2}),
                 s2 = b.temporary(DType::f64, {2, 2}), k = b.temporary(DType::i64, {});
  const Variable i = b.index(), j = b.index(), l = b.index(), m = b.index(), u = b.index(), v = b.index(),
                 w = b.index();
  const Expr size = i64(32);
  While loop;
  loop.condition = e().binary(Op::lt, b.load(k, {}), i64(100));
  loop.body = {{Call{"tape_push", {tape, s}, {i64(1), size}}},
               {Contraction{{{u, 2}, {v, 2}, {w, 2}},
                            s2,
                            {at(u), at(v)},
                            e().binary(Op::mul, b.load(s, {at(u), at(w)}), b.load(x, {at(w), at(v)}))}},
               {Swap{s, s2}},
               {Store{k, {}, e().binary(Op::add, b.load(k, {}), i64(1))}}};
  b.p.body = {{Store{k, {}, i64(0)}},
              serial(j, 0, 2, {serial(i, 0, 2, {{Store{s, {at(i), at(j)}, b.load(x, {at(i), at(j)})}}})}),
              {Call{"tape_new", {tape}, {size, i64(0)}}},
              {loop},
              {Call{"tape_length", {length, tape}, {}}},
              {Call{"tape_read", {s, tape}, {i64(3), i64(1), size}}},
              serial(m, 0, 2, {serial(l, 0, 2, {{Store{y, {at(l), at(m)}, b.load(s, {at(l), at(m)})}}})})};
  runtime::Run run;
  const Tensor in = random_tensor(DType::f64, {2, 2}, 1);
  const std::vector<Tensor> expected = interpret(b.p, {in}, {}, &run), got = run_native(b.p, {in});
  expect_equal(got[0], expected[0], 1e-12, "product");
  EXPECT_EQ(got[1].as<int64_t>()[0], 100);
}

TEST_F(Control, FailuresOfTheRuntimeArrive) {
  const BufferId y = b.output(DType::f64, {}), tape = b.temporary(DType::ui64, {});
  b.p.body = {{Call{"tape_new", {tape}, {i64(8), i64(0)}}}, {Call{"tape_read", {y, tape}, {i64(0), i64(1), i64(8)}}}};
  EXPECT_THROW(run_native(b.p, {}), InternalError);
  Program& p = b.p;
  p.body = {{Call{"no_such_function", {y}, {}}}};
  EXPECT_THROW(run_native(p, {}), InternalError);
}

TEST_F(Control, EndlessLoopsCanBeInterrupted) {
  load_library();
  const BufferId y = b.output(DType::i64, {});
  const LocalId k = b.local(DType::i64);
  While loop;
  loop.condition = e().binary(Op::ge, b.get(k), i64(0));
  loop.body = {{Update{k, Op::local, e().binary(Op::bit_xor, b.get(k), i64(1))}}};
  b.p.body = {{Declare{k, i64(0)}}, {loop}, {Store{y, {}, b.get(k)}}};
  const runtime::Executable executable = llvm_backend::compile(b.p);
  const InterruptAt third(3);
  EXPECT_THROW(run_into(executable, {}, outputs_of(b.p)), Interrupted);
  EXPECT_EQ(third.asked(), 3);
}

TEST_F(Control, LongLoopsCanBeInterrupted) {
  load_library();
  const BufferId y = b.output(DType::f64, {64}), s = b.output(DType::f64, {});
  const Variable i = b.index(), j = b.index(), k = b.index();
  const LocalId a = b.local(DType::f64);
  const Expr term = e().convert(e().index(at(j)), DType::f64);
  b.p.body = {vector(i, 0, 64, 8, 1,
                     {{Declare{a, f64(0)}},
                      serial(j, 0, int64_t(1) << 40, {{Update{a, Op::add, term}}}),
                      {Store{y, {at(i)}, b.get(a)}}})};
  EXPECT_THROW(run_interrupted(b.p), Interrupted);
  const LocalId c = b.local(DType::f64);
  b.p.body = {{Declare{c, f64(0)}},
              vector(k, 0, int64_t(1) << 40, 8, 4, {{Update{c, Op::add, e().convert(e().index(at(k)), DType::f64)}}}),
              {Store{s, {}, b.get(c)}}};
  EXPECT_THROW(run_interrupted(b.p), Interrupted);
}

// More than one function: locals, parameters and swapped buffers cross.
TEST_F(Control, LargeProgramsAreCut) {
  const BufferId x = b.input(DType::f64, {5}), y = b.output(DType::f64, {}), z = b.output(DType::f64, {5});
  const BufferId s = b.temporary(DType::f64, {5}), s2 = b.temporary(DType::f64, {5}), t = b.temporary(DType::f64, {});
  const LocalId total = b.local(DType::f64), flag = b.local(DType::boolean);
  const Variable p = b.parameter(0, 4), i = b.index();
  b.p.body = {{Declare{total, f64(0)}},
              {Let{flag, e().binary(Op::lt, b.load(x, {Affine{}}), f64(0))}},
              {Bind{p, i64(3)}},
              {Store{t, {}, f64(1)}}};
  b.p.body.push_back(serial(i, 0, 5, {{Store{s, {at(i)}, b.load(x, {at(i)})}}, {Store{s2, {at(i)}, f64(0)}}}));
  std::vector<LocalId> made;
  for (int k = 0; k < 1500; ++k) {
    const Expr before = made.empty() ? b.load(x, {at(p)}) : b.get(made[made.size() * 2 / 3]);
    made.push_back(b.local(DType::f64));
    b.p.body.push_back(
        {Let{made.back(), e().binary(Op::sub, e().binary(Op::mul, before, f64(0.5)), b.load(x, {Affine{k % 5, {}}}))}});
    b.p.body.push_back(
        {Update{total, Op::add, e().select(e().local(flag, DType::boolean), b.get(made.back()), before)}});
    if (k % 100 == 0) {
      b.p.body.push_back({Swap{s, s2}});
      b.p.body.push_back({Store{s, {at(p)}, b.get(made.back())}});
      b.p.body.push_back({Store{t, {}, e().binary(Op::add, b.load(t, {}), b.load(s2, {at(p)}))}});
    }
  }
  const Variable j = b.index();
  b.p.body.push_back({Store{y, {}, e().binary(Op::add, b.get(total), b.load(t, {}))}});
  b.p.body.push_back(serial(j, 0, 5, {{Store{z, {at(j)}, b.load(s, {at(j)})}}}));
  expect_as_interpreted(b.p, {random_tensor(DType::f64, {5}, 1)});
  EXPECT_NE(llvm_backend::text(b.p, llvm_backend::Text::llvm).find("part2"), std::string::npos);
}

TEST_F(Control, TextIsReadable) {
  load_library();
  const BufferId x = b.input(DType::f32, {100}), y = b.output(DType::f32, {100});
  const Variable i = b.index("row");
  b.p.body = {vector(i, 0, 100, 8, 1, {{Store{y, {at(i)}, e().function("exp", b.load(x, {at(i)}))}}})};
  const std::string ir = llvm_backend::text(b.p, llvm_backend::Text::llvm);
  EXPECT_NE(ir.find("%row"), std::string::npos) << ir;
  EXPECT_NE(ir.find("anvil_exp_f32"), std::string::npos) << ir;
  EXPECT_NE(llvm_backend::text(b.p, llvm_backend::Text::assembly).find("ret"), std::string::npos);
  EXPECT_GE(std::stoi(llvm_backend::version()), 14);
}

}  // namespace
}  // namespace anvil::test
