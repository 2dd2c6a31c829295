// Programs that are large enough to be written in parts: functions for runs of statements,
// one function for equal nests and for equal tasks, loads repeated in long blocks. The results stay.
#include <ctime>
#include <random>

#include "compiler/graphs.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

using namespace primitives;

void expect_same(const graph::Graph& g, double tolerance = 1e-5) {
  setenv("ANVIL_VERIFY", "1", 0);  // of what LLVM gets
  std::vector<Tensor> inputs = numbers_for(g);
  expect_equal(run_compiled(g, inputs), eigen::evaluate(g, inputs), tolerance, "compiled");
}
Var tanh(Var x) { return record("tanh", {x}); }

TEST(Large, EqualNestsOfDifferentBuffers) {
  Builder b;
  Var x = b.input(DType::f64, {16, 16}), w = b.input(DType::f64, {16, 16}), v = b.input(DType::f64, {16, 16});
  for (int k = 0; k < 120; ++k) {
    Var y = tanh(dot_general(k % 3 ? w : v, x, {1}, {0}, {}, {}));
    x = k % 7 == 3 ? y * 0.5 + x : y;
    if (k % 40 == 39) b.output(reduce_sum(x, {0}));
  }
  b.output(x);
  expect_same(*b.g, 1e-7);
  std::string text =
      llvm_backend::text(compiler::compile(*optimized(*b.g), llvm_backend::target()), llvm_backend::Text::llvm);
  EXPECT_NE(text.find("define internal i32 @nest1("), std::string::npos);
  EXPECT_EQ(text.find("@nest9("), std::string::npos) << "few are different";
}

// A step reads the sum of the one before, and makes its own.
TEST(Large, EqualNestsOfDifferentLocals) {
  Builder b;
  const Shape shape = {100};
  Var x = b.input(DType::f64, shape), first = b.input(DType::f64, {}), second = b.input(DType::f64, {});
  const auto spread = [&](Var v) { return broadcast_in_dim(v, shape, {}); };
  for (int k = 0; k < 60; ++k) {
    Var size = reduce_sum(x * x, {0});
    Var by = 1.0 + sqrt(size), to = k % 5 == 4 ? first : second, from = k % 3 == 2 ? to : first;
    x = x / spread(by) + tanh(x * spread(to)) - spread(from * 0.01);
    b.output(reduce_max(x, {0}));
  }
  b.output(x);
  expect_same(*b.g, 1e-9);
  const loops::Program p = compiler::compile(*optimized(*b.g), llvm_backend::target());
  const std::string text = llvm_backend::text(p, llvm_backend::Text::llvm);
  const size_t nest = text.find("define internal i32 @nest1(");
  ASSERT_NE(nest, std::string::npos);
  EXPECT_NE(text.find("%locals)", nest), std::string::npos);
  EXPECT_EQ(text.find("@nest9("), std::string::npos) << "few are different";
}

// Each task has memory of its own for the numerators; the last tasks are others.
TEST(Large, EqualTasksOfDifferentBuffers) {
  Builder b;
  const Shape shape = {256, 512};
  const auto shares = [&](Var x) {
    Var y = exp(x - broadcast_in_dim(reduce_max(x, {0}), shape, {1}));
    return y / broadcast_in_dim(reduce_sum(y, {0}), shape, {1});
  };
  for (int k = 0; k < 3; ++k) b.output(shares(b.input(DType::f32, shape)));
  b.output(shares(b.input(DType::f32, shape) * 0.5));
  expect_same(*b.g);
  std::string text =
      llvm_backend::text(compiler::compile(*optimized(*b.g), llvm_backend::target()), llvm_backend::Text::llvm);
  EXPECT_NE(text.find("define internal i32 @task1("), std::string::npos);
  EXPECT_EQ(text.find("define internal i32 @task2("), std::string::npos);
  EXPECT_NE(text.find("define internal i32 @task4("), std::string::npos);
}

// The same where the memory of a task's own is seen in two shapes, and in another one first.
TEST(Large, EqualTasksThatSeeTheirOwnMemoryInAnotherShape) {
  Builder b;
  Var zero = b.scalar(0, DType::f64);
  for (int k = 0; k < 3; ++k) {
    Var wide = pad(exp(b.input(DType::f64, {16, 50, 40})), zero, {0, 3, 0}, {0, 3, 0}, {0, 0, 0});
    b.output(wide * record("reverse", {wide}, {{"dims", std::vector<int64_t>{0, 1}, true}}) + wide);
  }
  expect_same(*b.g);
  const loops::Program p = compiler::compile(*optimized(*b.g), llvm_backend::target());
  const std::string text = llvm_backend::text(p, llvm_backend::Text::llvm), loops = print(p);
  EXPECT_NE(loops.find(" own "), std::string::npos) << loops;
  EXPECT_NE(text.find("define internal i32 @task1("), std::string::npos);
  EXPECT_EQ(text.find("define internal i32 @task2("), std::string::npos) << loops;
}

TEST(Large, EqualNestsInALoopThatExchangesItsState) {
  Builder b;
  Var x = b.input(DType::f64, {24, 24});
  Var i = b.scalar(0, DType::i32);
  auto r = while_loop(
      *b.g, {i, x, x * 0.5}, [](const std::vector<Var>& s) { return s[0] < 5.0; },
      [&](const std::vector<Var>& s) {
        Var y = s[1], z = s[2];
        for (int k = 0; k < 60; ++k) {
          Var next = tanh(dot_general(y, z, {1}, {0}, {}, {}));
          if (k % 2)
            z = next;
          else
            y = next;
        }
        return std::vector<Var>{s[0] + 1.0, z, y};  // exchanged
      });
  b.output(r[1]);
  b.output(r[2]);
  expect_same(*b.g, 1e-9);
}

// Nests that differ in one number, one size or one buffer that is used twice are not equal.
TEST(Large, NestsThatAreAlmostEqual) {
  Builder b;
  std::vector<Var> x = {b.input(DType::f64, {40}), b.input(DType::f64, {40}), b.input(DType::f64, {41})};
  std::mt19937 random(7);
  for (int k = 0; k < 400; ++k) {
    auto any = [&] { return random() % 2; };
    Var p = x[any()], q = x[any()];
    size_t to = any();
    Var made = any() ? exp(-abs(p)) * q : exp(-abs(q)) * (any() ? 0.5 : 0.25) + p * 0.5;
    // a sum in between keeps nests apart
    x[to] = made - broadcast_in_dim(reduce_max(abs(made), {0}) * 0.125, {40}, {});
    if (k % 10 == 0) x[2] = sin(x[2]) * broadcast_in_dim(reduce_sum(x[2], {0}) * 0.01, {41}, {});
  }
  for (Var v : x) b.output(v);
  expect_same(*b.g, 1e-9);
}

TEST(Large, LongBlocksRepeatLoads) {
  for (bool matrix : {false, true}) {
    Builder b;
    Shape shape = matrix ? Shape{33, 5} : Shape{};
    Var x = b.input(DType::f64, shape), y = b.input(DType::f64, shape), c = b.input(DType::f64, {});
    auto r = while_loop(
        *b.g, {b.scalar(0, DType::i32), x, c}, [](const std::vector<Var>& s) { return s[0] < 3.0; },
        [&](const std::vector<Var>& s) {
          graph::Graph& g = *s[0].graph;
          Var v = s[1], n = s[2], outer = in(g, y), spread = broadcast_in_dim(in(g, c), shape, {});
          for (int k = 0; k < 400; ++k) {
            v = k % 5 == 4 ? tanh(v) : k % 5 == 2 ? v * spread : k % 5 == 3 ? maximum(v, outer) : v + outer * 0.125;
            if (k % 50 == 0) n = sin(n) + 0.5;
          }
          return std::vector<Var>{s[0] + 1.0, v, n};
        });
    b.output(r[1]);
    b.output(r[2]);
    expect_same(*b.g, 1e-9);
  }
}

// The bodies of large loops and branches are functions of their own: what goes from one to the next
// (numbers, indices, exchanged buffers) is the same as in one piece.
TEST(Large, LoopsAndBranchesAreCut) {
  Builder b;
  Var x = b.input(DType::f64, {9}), start = b.input(DType::f64, {}), table = b.input(DType::f64, {40});
  auto r = while_loop(
      *b.g, {b.scalar(0, DType::i32), x, x * 0.5, start}, [](const std::vector<Var>& s) { return s[0] < 7.0; },
      [&](const std::vector<Var>& s) {
        graph::Graph& g = *s[0].graph;
        Var v = s[1], w = s[2], n = s[3];
        for (int k = 0; k < 60; ++k) {
          Var place = convert(abs(n) * 10.0, DType::i32);
          Var read = dynamic_slice(in(g, table), {place}, {1});
          n = tanh(n + reshape(read, {}) * 0.25);
          v = v * 0.5 + broadcast_in_dim(n, {9}, {}) - w * broadcast_in_dim(reduce_max(v, {0}), {9}, {}) * 0.125;
        }
        auto chosen = if_else(
            g, n > 0.0,
            [&](graph::Graph& yes) {
              Var y = in(yes, v), m = in(yes, n);
              for (int k = 0; k < 50; ++k)
                y = tanh(y + broadcast_in_dim(reduce_sum(y, {0}) * 0.01, {9}, {})), m = m * 0.9 + 0.01;
              return std::vector<Var>{y, m};
            },
            [&](graph::Graph& no) {
              return std::vector<Var>{in(no, v) * 0.5, in(no, n) - 0.25};
            });
        return std::vector<Var>{s[0] + 1.0, w, chosen[0], chosen[1]};  // exchanged
      });
  for (int k = 1; k < 4; ++k) b.output(r[static_cast<size_t>(k)]);
  expect_same(*b.g, 1e-9);
  std::string text =
      llvm_backend::text(compiler::compile(*optimized(*b.g), llvm_backend::target()), llvm_backend::Text::llvm);
  EXPECT_NE(text.find("call i32 @part1("), std::string::npos);
}

// Not a benchmark: what took quadratic time took ten times as long.
TEST(Large, CompileTimeIsLinear) {
  auto seconds = [](int ops) {
    Builder b;
    Var x = b.input(DType::f32, {}), y = b.input(DType::f32, {});
    auto r = while_loop(
        *b.g, {b.scalar(0, DType::i32), x}, [](const std::vector<Var>& s) { return s[0] < 2.0; },
        [&](const std::vector<Var>& s) {
          Var v = s[1], outer = in(*s[0].graph, y);
          for (int k = 0; k < ops; ++k) v = k % 2 ? tanh(v) : v * outer;
          return std::vector<Var>{s[0] + 1.0, v};
        });
    b.output(r[1]);
    load_llvm();
    loops::Program p = compiler::compile(*optimized(*b.g), llvm_backend::target());
    std::clock_t start = std::clock();
    llvm_backend::compile(p);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  double one = seconds(1500), four = seconds(6000);
  EXPECT_LT(four, 9 * one);
}

}  // namespace
}  // namespace anvil::test
