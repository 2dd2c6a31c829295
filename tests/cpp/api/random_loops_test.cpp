// Random loops: what reverse mode records of them, in segments, through branches, inner loops and
// checkpoints, gives the derivatives that differences of values give, and compiled code the same.
//   ANVIL_FUZZ_SEED=17 ANVIL_FUZZ_COUNT=1 ./anvil_test_api --gtest_filter='Random*'
#include <cstdlib>

#include "support/agreement.h"
#include "support/gradient_check.h"
#include "support/random_loops.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

using graph::Graph;

int64_t number_from(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

std::vector<Tensor> arguments(uint64_t seed) {
  const auto at = static_cast<double>(seed % 100);
  const Shape arrays = {RandomLoops(seed).length};
  return {spread_values(DType::f64, {}, -0.8, 0.8, at), spread_values(DType::f64, arrays, -1, 1, at + 1),
          spread_values(DType::f64, arrays, -1, 1, at + 2)};
}
Program program_of(uint64_t seed) {
  return [seed](Graph& g, const std::vector<Var>& x) { return RandomLoops(seed)(g, x); };
}

TEST(RandomLoops, GradientsAgreeWithDifferences) {
  const int64_t first = number_from("ANVIL_FUZZ_SEED", 1), count = number_from("ANVIL_FUZZ_COUNT", 300);
  for (int64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto s = static_cast<uint64_t>(seed);
    expect_gradients(program_of(s), arguments(s), s % 8 == 0 ? 2 : 1, 1e-5);
    if (::testing::Test::HasFailure()) return;
  }
}

// Loops within loops whose inner ones are read for their number of steps only: seed 2430040.
TEST(RandomLoops, ThirdDerivativesAreWellFormed) {
  std::vector<uint64_t> seeds = {2430040};
  for (uint64_t seed = 1; seed <= 40; ++seed) seeds.push_back(seed);
  for (uint64_t seed : seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Graph g = build(program_of(seed), arguments(seed));
    for (int order = 1; order <= 3; ++order) {
      std::vector<bool> wrt;
      for (const auto& v : g.inputs) wrt.push_back(is_float(v->type.dtype));
      g = *transform::vjp(g, wrt);
      ASSERT_NO_THROW(primitives::verify(g)) << "order " << order;
    }
  }
}

TEST(RandomLoops, CompiledGradientsAgreeWithEigen) {
  const int64_t first = number_from("ANVIL_FUZZ_SEED", 1), count = number_from("ANVIL_FUZZ_COUNT", 300) / 3;
  for (int64_t seed = first; seed < first + count; ++seed) {
    const auto s = static_cast<uint64_t>(seed);
    const std::vector<Tensor> at = arguments(s);
    Graph g = build(program_of(s), at);
    weigh(g, 1);
    const auto slopes = transform::gradient(g, {true, true, true}, true);
    const std::string why = disagreement(*slopes, at, eigen::evaluate(*slopes, at), run_compiled(*slopes, at));
    ASSERT_EQ(why, "") << "seed " << seed << "\n" << graph::print(g);
  }
}

}  // namespace
}  // namespace anvil::test
