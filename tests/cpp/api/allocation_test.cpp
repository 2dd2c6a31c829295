// An allocation may fail anywhere: whatever the core does with a program then ends with
// std::bad_alloc or with Error, and the same again succeeds. Not so within LLVM, which ends
// the process when it gets no memory: compiling stops here at the loop program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <new>

#include "anvil.h"
#include "base/memory.h"
#include "primitives/vocabulary/composite.h"

namespace {
thread_local int64_t until_failure = 0;  // 0: none fails
}

// GCC takes them for a pair that does not match when it inlines one of them.
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  if (until_failure > 0 && --until_failure == 0) return nullptr;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (void* p = operator new(bytes, std::nothrow)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace anvil {
namespace {

const char* const text = R"(func.func @main(%x: tensor<3x4xf64>, %w: tensor<4xf64>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %start = stablehlo.constant dense<0> : tensor<i32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x4xf64>, tensor<4xf64>) -> tensor<3xf64>
  %t = stablehlo.tanh %p : tensor<3xf64>
  %0:2 = stablehlo.while(%v = %t, %k = %start) : tensor<3xf64>, tensor<i32>
    cond {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %more = stablehlo.compare LT, %k, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %e = stablehlo.exponential %v : tensor<3xf64>
      %m = stablehlo.multiply %e, %v : tensor<3xf64>
      %next = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %m, %next : tensor<3xf64>, tensor<i32>
    }
  %s = "stablehlo.sort"(%0#0) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %less = stablehlo.compare LT, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<3xf64>) -> tensor<3xf64>
  %r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
  return %r : tensor<f64>
})";

using Program = std::function<std::string()>;

graph::GraphPtr simplified(const graph::Graph& g) {
  graph::Substitution map;
  graph::GraphPtr copy = graph::clone(*primitives::expand(g, primitives::Reader::backend), map);
  transform::optimize(*copy);
  return copy;
}

std::vector<std::pair<const char*, Program>> programs() {
  graph::GraphPtr g = stablehlo::read(text);
  auto gradient = [g] {
    return transform::gradient(*primitives::expand(*g, primitives::Reader::reverse), {true, true}, true);
  };
  auto loops = [](const graph::Graph& h) {
    return loops::print(compiler::compile(*simplified(h), compiler::Target{}));
  };
  return {
      {"read", [] { return graph::print(*stablehlo::read(text)); }},
      {"write", [g] { return stablehlo::write(*g, true, {}).text; }},
      {"print", [g] { return graph::print(*g); }},
      {"gradient", [gradient] { return graph::print(*gradient()); }},
      {"simplify", [gradient] { return graph::print(*simplified(*gradient())); }},
      {"evaluate",
       [g] {
         std::vector<graph::Tensor> inputs;
         for (const auto& v : g->inputs) inputs.push_back(graph::full(v->type, Scalar(0.25)));
         return graph::element(eigen::evaluate(*g, inputs)[0], 0).text(DType::f64);
       }},
      {"compile", [g, loops] { return loops(*g); }},
      {"compile a gradient", [gradient, loops] { return loops(*gradient()); }},
  };
}

// The n-th allocation of each run fails, n = 1, 2, 3, ..., in growing steps where there are
// many, until a run makes fewer. `arm` makes the n-th one fail and tells whether it came.
void expect_survival(const char* name, const Program& program, const std::function<void(int64_t)>& arm,
                     const std::function<bool()>& came) {
  const std::string expected = program();
  int64_t failures = 0;
  for (int64_t n = 1;; n += 1 + n / 100) {
    std::string got;
    arm(n);
    try {
      got = program();
    } catch (const std::bad_alloc&) {
      ++failures;
    } catch (const Error& e) {
      ++failures;
      EXPECT_EQ(e.kind, "memory") << name << ", allocation " << n << ": " << e.what();
    }
    const bool failed = came();
    arm(0);
    if (!got.empty()) {
      EXPECT_EQ(got, expected) << name << ", allocation " << n;
    }
    if (n < 100 || n % 7 == 0) {
      EXPECT_EQ(program(), expected) << name << " after the failure of allocation " << n;
    }
    if (!failed) break;
  }
  EXPECT_GT(failures, 0) << name;
}

TEST(Allocation, OfTheLanguageMayFailAnywhere) {
  for (const auto& [name, program] : programs())
    expect_survival(
        name, program, [](int64_t n) { until_failure = n; }, [] { return until_failure == 0; });
}

TEST(Allocation, OfTensorsMayFailAnywhere) {
  for (const auto& [name, program] : programs()) {
    if (std::string(name) != "evaluate") continue;
    int64_t left = 0;
    expect_survival(
        name, program,
        [&](int64_t n) {
          left = n;
          fail_allocation(n);
        },
        [&] {  // armed still: it was not reached
          bool reached = true;
          for (int64_t i = 0; i < left && reached; ++i) reached = !allocation_fails();
          return reached;
        });
  }
}

}  // namespace
}  // namespace anvil
