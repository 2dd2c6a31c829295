// Programs and regions as long as anyone writes them: the walks over graphs use no stack, and take
// time that grows as the program does.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/eigen/evaluate.h"
#include "support/interrupt_at.h"
#include "support/regions.h"
#include "transform/simplify.h"
#include "transform/tapes.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

Var chained(Var x, int calls) {
  for (int k = 0; k < calls; k += 2) x = x * 0.5 + 0.25;
  return x;
}

TEST(Large, AHundredThousandCalls) {
  auto f = trace({f64_scalar}, [](Graph&, const Vars& x) { return Vars{chained(x[0], 100'000)}; });
  auto g = transform::gradient(*f, {true}, true);
  transform::optimize(*g);
  auto results = eigen::evaluate(*g, {tensor({}, {3})});
  EXPECT_EQ(numbers(results[0]), std::vector<double>{0.5});
  EXPECT_EQ(numbers(results[1]), std::vector<double>{0});  // 2^-50000
}

TEST(Large, RegionsOfTenThousandCalls) {
  auto body = test::region({DType::f64, DType::f64}, [](const Vars& v) { return Vars{v[0] + chained(v[1], 10'000)}; });
  auto f = trace({f64({3})}, [&](Graph& g, const Vars& x) {
    Var y = test::call("reduce", {x[0], number(g, 0)}, {{"dims", std::vector<int64_t>{0}, true}, {"body", body}})[0];
    return Vars{y};
  });
  EXPECT_NEAR(numbers(eigen::evaluate(*f, {tensor({3}, {1, 2, 3})})[0])[0], 1.5, 1e-12);
  auto g = transform::gradient(*f, {true}, false);
  transform::optimize(*g);
  EXPECT_EQ(numbers(eigen::evaluate(*g, {tensor({3}, {1, 2, 3})})[0]).size(), 3u);
}

TEST(Large, ManyUsesOfOneValue) {
  auto f = trace({f64_scalar}, [](Graph&, const Vars& x) {
    Var sum = x[0];
    for (int k = 0; k < 20'000; ++k) sum = sum + x[0] * double(k % 7);
    return Vars{sum};
  });
  auto g = transform::gradient(*f, {true}, false);
  EXPECT_NEAR(numbers(eigen::evaluate(*g, {tensor({}, {1})})[0])[0], 1 + 59'997.0, 10);
}

TEST(Large, NestedBranches) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Var y = x[0];
    std::function<Vars(Graph&, int)> nested = [&](Graph& b, int depth) -> Vars {
      if (depth == 0) return Vars{in(b, x[0]) * 2.0};
      return if_else(
          b, in(b, x[0]) > 0.0, [&](Graph& yes) { return nested(yes, depth - 1); },
          [&](Graph& no) { return Vars{in(no, x[0])}; });
    };
    return nested(g, 100);
  });
  transform::optimize(*f);
  EXPECT_EQ(numbers(eigen::evaluate(*f, {tensor({}, {3})})[0]), std::vector<double>{6});
}

TEST(Large, EveryTransformationCanBeInterrupted) {
  auto f = trace({f64_scalar}, [](Graph&, const Vars& x) { return Vars{chained(x[0], 100'000)}; });
  using Pass = std::function<void(Graph&)>;
  const std::pair<const char*, Pass> passes[] = {
      {"gradient", [](Graph& g) { transform::gradient(g, {true}, true); }},
      {"inline_scalar_constants", transform::inline_scalar_constants},
      {"simplify_algebra", transform::simplify_algebra},
      {"merge_equal_calls", transform::merge_equal_calls},
      {"remove_dead_calls", [](Graph& g) { transform::remove_dead_calls(g); }},
      {"mirror_values", transform::mirror_values},
      {"capture_invariants", transform::capture_invariants},
      {"evaluate", [](Graph& g) { eigen::evaluate(g, {tensor({}, {1})}); }}};
  for (const auto& [name, pass] : passes) {
    Graph copy = *f;
    const test::InterruptAt first(1);
    EXPECT_THROW(pass(copy), Interrupted) << name;
  }
}

}  // namespace
}  // namespace anvil::testing
