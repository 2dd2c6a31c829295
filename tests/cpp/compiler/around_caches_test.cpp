// Large results that go to memory around the caches.
#include <cstring>

#include "compiler/machine_code.h"
#include "compiler/stage_text.h"

namespace anvil::test {
namespace {

using namespace primitives;
constexpr compiler::Target small_cache = {32, 16, false, 25'000, 64};

int stores(const graph::Graph& g, const compiler::Target& target = small_cache) {
  const std::string text = after(*optimized(g), "around", target);
  int n = 0;
  for (size_t at = text.find("around caches"); at != std::string::npos; at = text.find("around caches", at + 1)) ++n;
  return n;
}
void expect_right(const graph::Graph& g, const std::vector<Tensor>& inputs, double tolerance = 1e-12) {
  expect_passes_agree(*optimized(g), inputs, tolerance, small_cache);
  expect_machine_code_right(g, inputs, tolerance, small_tasks(64));
}

TEST(AroundCaches, ResultsThatNobodyReads) {
  for (const DType t : {DType::f32, DType::f64, DType::i32})
    for (const int64_t n : {320, 4096}) {
      Builder b;
      Var x = b.input(t, {n}), y = b.input(t, {n});
      b.output(x + y);
      b.output(x * y + x);
      EXPECT_EQ(stores(*b.g), 2);
      expect_right(*b.g, {numbers(t, {n}), numbers(t, {n})}, t == DType::f32 ? 1e-6 : 1e-12);
    }
}
TEST(AroundCaches, ColumnsAndTasks) {
  Builder b;
  Var x = b.input(DType::f64, {64, 30}), v = b.input(DType::f64, {64});
  b.output(x * broadcast_in_dim(v, {64, 30}, {0}));
  EXPECT_EQ(stores(*b.g), 1);
  expect_right(*b.g, {numbers(DType::f64, {64, 30}), numbers(DType::f64, {64})});
}
// Parts of a result, and what tasks of equal size leave over.
TEST(AroundCaches, InSeveralLoops) {
  Builder joined;
  Var y = joined.input(DType::f64, {320});
  joined.output(concatenate({exp(y), y * 2.0}, 0));
  EXPECT_EQ(stores(*joined.g), 2) << after(*optimized(*joined.g), "around", small_cache);
  expect_right(*joined.g, {numbers(DType::f64, {320})});
  Builder rest;
  rest.output(rest.input(DType::f64, {8008}) * 2.0);
  compiler::Target tasks = small_cache;
  tasks.task = 100;
  EXPECT_EQ(stores(*rest.g, tasks), 1) << after(*optimized(*rest.g), "around", tasks);
  expect_right(*rest.g, {numbers(DType::f64, {8008})});
}
// Read again, written again, less than caches hold, lines that are not whole, numbers that do not
// follow each other.
TEST(AroundCaches, NotWhereItDoesNotPay) {
  const auto of = [](Shape shape, const compiler::Target& target = small_cache) {
    Builder b;
    b.output(exp(b.input(DType::f64, std::move(shape))));
    return stores(*b.g, target);
  };
  EXPECT_EQ(of({320}), 1);
  EXPECT_EQ(of({322}), 0);
  EXPECT_EQ(of({24}), 0);
  compiler::Target large = small_cache;
  large.cache = 1 << 19;
  EXPECT_EQ(of({320}, large), 0);
  EXPECT_EQ(of({6 << 17}, large), 1);

  Builder twice;
  Var x = twice.input(DType::f64, {320});
  Var e = exp(x);
  twice.output(e);
  twice.output(reshape(reduce_sum(reshape(e, {16, 20}), {0}), {20}));
  Builder read;
  Var c = cumsum(read.input(DType::f64, {320}), 0);
  read.output(c);
  read.output(reverse(c, {0}) * 2.0);
  EXPECT_EQ(stores(*read.g), 1) << after(*optimized(*read.g), "around", small_cache);
  expect_right(*read.g, {numbers(DType::f64, {320})});
  Builder over;
  Var y = over.input(DType::f64, {320});
  over.output(pad(exp(y), over.input(DType::f64, {}), {0}, {1}, {1}));
  EXPECT_EQ(stores(*over.g), 0) << after(*optimized(*over.g), "around", small_cache);
  expect_right(*twice.g, {numbers(DType::f64, {320})});
  expect_right(*over.g, {numbers(DType::f64, {320}), numbers(DType::f64, {})});

  Builder loop;
  Var z = loop.input(DType::f64, {320});
  for (Var v : while_loop(
           *loop.g, {z}, [](const auto& s) { return reduce_max(s[0], {0}) < 100.0; },
           [](const auto& s) { return std::vector<Var>{s[0] + 30.0}; }))
    loop.output(v);
  expect_right(*loop.g, {numbers(DType::f64, {320})});

  Builder across;
  across.output(transpose(exp(across.input(DType::f64, {40, 48})), {1, 0}));
  expect_right(*across.g, {numbers(DType::f64, {40, 48})});
}
// The memory of results may lie anywhere.
TEST(AroundCaches, ResultsThatDoNotLieOnLines) {
  load_llvm();
  constexpr size_t n = 512;
  Builder b;
  b.output(b.input(DType::f32, {n}) * 2.0);
  compiler::Target target = llvm_backend::target();
  target.cache = 64;
  const loops::Program p = compiler::compile(*optimized(*b.g), target);
  const runtime::Executable code = llvm_backend::compile(p);
  ASSERT_EQ(code.aligned.size(), 1u) << print(p);
  EXPECT_EQ(code.aligned[0].buffer, 1u);
  EXPECT_EQ(code.aligned[0].bytes, n * sizeof(float));
  alignas(64) float x[n], y[n + 16];
  for (size_t i = 0; i < n; ++i) x[i] = float(i);
  for (size_t shift = 0; shift <= 8; ++shift) {
    std::fill(y, y + n + 16, -1.0f);
    void* buffers[] = {x, y + shift};
    runtime::run(code, buffers);
    for (size_t i = 0; i < n + 16; ++i) ASSERT_EQ(y[i], i < shift || i >= n + shift ? -1.0f : 2.0f * float(i - shift));
  }
}
#if defined(__x86_64__)
// And what the processor may still be writing is there when others are told so.
TEST(AroundCaches, Instructions) {
  load_llvm();
  Builder b;
  b.output(b.input(DType::f64, {512}) * 2.0);
  const auto text_of = [&](double cache) {
    compiler::Target target = llvm_backend::target();
    target.cache = cache;
    return llvm_backend::text(compiler::compile(*optimized(*b.g), target), llvm_backend::Text::assembly);
  };
  const std::string around = text_of(64), usual = text_of(1 << 19);
  EXPECT_NE(around.find("movntp"), std::string::npos) << around;
  EXPECT_EQ(usual.find("movnt"), std::string::npos);
  EXPECT_NE(around.find("sfence"), std::string::npos);
  EXPECT_EQ(usual.find("sfence"), std::string::npos);
}
#endif

}  // namespace
}  // namespace anvil::test
