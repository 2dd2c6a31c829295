// Nests that are cut into tasks.
#include "compiler/graphs.h"
#include "loops/walk.h"

namespace anvil::test {
namespace {

using namespace primitives;
using loops::For;

constexpr compiler::Target small_tasks = {32, 16, false, 1};

std::vector<const For*> tasks_of(const loops::Block& block) {
  std::vector<const For*> list;
  for (const loops::Stmt& s : block) {
    auto f = std::get_if<For>(&s.is);
    if (f && f->kind == For::Kind::parallel) list.push_back(f);
    loops::each_block(s, [&](const loops::Block& b) {
      for (const For* inner : tasks_of(b)) list.push_back(inner);
    });
  }
  return list;
}

TEST(Tasks, SmallNestsStayWhole) {
  Builder b;
  b.output(exp(b.input(DType::f64, {1000})));
  EXPECT_TRUE(tasks_of(compiler::compile(*b.g, {32, 16}).body).empty());
}

TEST(Tasks, LargeOnesAreCutWithLittleLeftOver) {
  for (const int64_t n : {100'000, 100'003, 131'072, 999'983}) {
    Builder b;
    b.output(exp(b.input(DType::f64, {n})));
    const loops::Program p = compiler::compile(*b.g, {32, 16});
    const auto tasks = tasks_of(p.body);
    ASSERT_EQ(tasks.size(), 1u) << n;
    ASSERT_GE(tasks[0]->end, 8) << n;
    const For& steps = std::get<For>(tasks[0]->body.at(0).is);
    EXPECT_EQ(steps.kind, For::Kind::vector);
    EXPECT_EQ((steps.end - steps.begin) % (steps.width * steps.copies), 0) << n;
    EXPECT_GE(tasks[0]->end * (steps.end - steps.begin), n * 97 / 100) << n;
  }
}

// Tasks of 500 elements, whose last steps repeat some, leave nothing over.
TEST(Tasks, LongBodiesAreWrittenOnce) {
  for (const auto& [n, loops] : {std::pair<int64_t, size_t>{1000, 1}, {1013, 2}}) {  // the second number is a prime
    Builder b;
    Var x = b.input(DType::f64, {n});
    for (int k = 0; k < 40; ++k) x = x * 1.01 + 0.5;
    b.output(x);
    constexpr compiler::Target target = {32, 16, false, 5000};
    const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12, target);
    const auto tasks = tasks_of(p.body);
    ASSERT_EQ(tasks.size(), 1u) << print(p);
    EXPECT_EQ(p.body.size(), loops) << print(p);
    const For& steps = std::get<For>(tasks[0]->body.at(0).is);
    EXPECT_EQ(tasks[0]->end * (steps.end - steps.begin) == n, loops == 1) << print(p);
  }
}

TEST(Tasks, SumsHaveAPartForEachTask) {
  for (const auto& [dtype, tolerance] : {std::pair{DType::f64, 1e-12}, {DType::i32, 0.0}}) {
    Builder b;
    Var x = b.input(dtype, {4099}), y = b.input(dtype, {4099});
    b.output(reduce_sum(x * y, {0}, true));
    b.output(reduce_max(x, {0}, true));
    b.output(record("reduce_min", {y}, {{"dims", std::vector<int64_t>{0}, true}, {"drop", true}}));
    b.output(record("reduce_prod", {x}, {{"dims", std::vector<int64_t>{0}, true}, {"drop", true}}));
    const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g, -3, 3), tolerance, small_tasks);
    EXPECT_FALSE(tasks_of(p.body).empty());
  }
}

// A temporary that every row writes before it reads it.
TEST(Tasks, TemporariesOfAStepAreTheTasksOwn) {
  Builder b;
  Var x = b.input(DType::f64, {33, 40});
  const auto spread = [&](Var v) { return broadcast_in_dim(v, x.shape(), {0, 1}); };
  Var e = exp(x - spread(reduce_max(x, {0}, false)));
  b.output(e / spread(reduce_sum(e, {0}, false)));
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12, small_tasks);
  const auto tasks = tasks_of(p.body);
  ASSERT_EQ(tasks.size(), 1u) << print(p);
  EXPECT_EQ(tasks[0]->own.size(), 1u) << print(p);
}

// One that every row writes in pieces, and one that it sees in two shapes.
TEST(Tasks, TemporariesOfPiecesAreTheTasksOwn) {
  Builder b;
  Var x = b.input(DType::f64, {6, 5, 40}), zero = b.scalar(0, DType::f64);
  Var wide = pad(exp(x), zero, {1, 1, 0}, {1, 1, 0}, {1, 0, 0});
  Var turned = record("reverse", {wide}, {{"dims", std::vector<int64_t>{0, 1}, true}});
  b.output(wide * turned + wide);
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12, small_tasks);
  const auto tasks = tasks_of(p.body);
  ASSERT_EQ(tasks.size(), 1u) << print(p);
  EXPECT_GE(tasks[0]->own.size(), 1u) << print(p);
}

// What a step leaves to the next one is no task's own.
TEST(Tasks, StepsThatDependOnEachOtherAreNotCut) {
  Builder b;
  b.output(cumsum(b.input(DType::f64, {4096}), 0));
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12, small_tasks);
  EXPECT_TRUE(tasks_of(p.body).empty()) << print(p);
}

TEST(Tasks, LoopsHaveTheirNestsCut) {
  Builder b;
  Var x = b.input(DType::f64, {513}), from = b.scalar(0, DType::i32);
  auto r = while_loop(
      *b.g, {x, from}, [](std::vector<Var>& s) { return s[1] < 3.0; },
      [](std::vector<Var>& s) {
        Var sum = broadcast_in_dim(reduce_sum(s[0], {0}, true), {513}, {});
        return std::vector<Var>{sin(s[0]) + 0.001 * sum, s[1] + 1.0};
      });
  b.output(r[0]);
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-9, small_tasks);
  EXPECT_GE(tasks_of(p.body).size(), 2u) << print(p);
}

TEST(Tasks, TheLoopWithEnoughStepsIsCut) {
  Builder b;  // two planes of 300 columns: the columns are shared, not the planes
  b.output(transpose(b.input(DType::f32, {2, 300, 64}), {2, 1, 0}));
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 0, small_tasks);
  const auto tasks = tasks_of(p.body);
  ASSERT_EQ(tasks.size(), 1u) << print(p);
  EXPECT_GE(tasks[0]->end, 8) << print(p);
}

// Rows go to places that are known when the program runs; a column has no place of another one. Blocks of columns are
// tasks, also where there are few of them and a part of each could be shared.
TEST(Tasks, ColumnsOfScatteredRowsAreShared) {
  Builder b;
  Var x = b.input(DType::f64, {50, 32}), at = b.input(DType::i32, {300}), u = b.input(DType::f64, {300, 32});
  b.output(scatter(x, at, u, {{1}, {0}, {}, {}, {0}, 1}, "add"));
  const std::vector<Tensor> inputs = {numbers(DType::f64, {50, 32}), numbers(DType::i32, {300}, -5, 55),
                                      numbers(DType::f64, {300, 32})};
  const loops::Program p = expect_passes_agree(*b.g, inputs, 1e-12, small_tasks);
  const auto tasks = tasks_of(p.body);
  ASSERT_EQ(tasks.size(), 1u) << print(p);
  EXPECT_EQ(tasks[0]->end, 4) << print(p);
}

// One column: rows may meet, so that their order is kept.
TEST(Tasks, ScatteredElementsStayInOrder) {
  Builder b;
  Var x = b.input(DType::f64, {50}), at = b.input(DType::i32, {3000}), u = b.input(DType::f64, {3000});
  b.output(scatter(x, at, u, {{}, {0}, {}, {}, {0}, 1}, "add"));
  const std::vector<Tensor> inputs = {numbers(DType::f64, {50}), numbers(DType::i32, {3000}, -5, 55),
                                      numbers(DType::f64, {3000})};
  const loops::Program p = expect_passes_agree(*b.g, inputs, 1e-12, small_tasks);
  for (const For* f : tasks_of(p.body)) EXPECT_EQ(count<loops::If>(f->body), 0) << print(p);
}

}  // namespace
}  // namespace anvil::test
