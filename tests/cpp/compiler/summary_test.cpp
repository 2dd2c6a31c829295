// What is said of finished programs: operations and bytes of nests, and the readings of the clock around them.
#include "compiler/summary.h"

#include "compiler/graphs.h"
#include "compiler/schedule.h"
#include "support/random_program.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

using compiler::NestSummary;
using primitives::exp;

constexpr compiler::Target target{64, 32};

std::vector<NestSummary> summary_of(const graph::Graph& g, const compiler::Target& t = target) {
  return compiler::summarise(compiler::compile(g, t));
}

TEST(Summary, CountsOperationsAndBytesOfALoop) {
  Builder b;
  Var x = b.input(DType::f32, {1000}), y = b.input(DType::f32, {1000});
  b.output(exp(x) * y + x);
  const auto nests = summary_of(*b.g);
  ASSERT_EQ(nests.size(), 1u);
  EXPECT_EQ(nests[0].kind, NestSummary::Kind::loop);
  EXPECT_EQ(nests[0].steps, "1000");
  EXPECT_EQ(nests[0].schedule.substr(0, 9), "vector 16");
  EXPECT_EQ(nests[0].flops, 1000 * (compiler::function_weight + 2));
  EXPECT_EQ(nests[0].wide_flops, 0);
  EXPECT_EQ(nests[0].bytes, 3 * 4 * 1000) << "x is read once, though twice in the text";
}

TEST(Summary, TellsWideOperationsApart) {
  Builder b;
  Var x = b.input(DType::f64, {64, 10});
  b.output(reduce_sum(x * x, {0}));
  const auto nests = summary_of(*b.g);
  ASSERT_EQ(nests.size(), 1u);
  EXPECT_EQ(nests[0].wide_flops, 2 * 640);
  EXPECT_EQ(nests[0].flops, 0);
  EXPECT_EQ(nests[0].bytes, 8 * (640 + 10));
}

TEST(Summary, NeighboursInMemoryCountOnce) {
  Builder b;
  Var x = b.input(DType::f32, {1002});
  b.output(slice(x, {0}, {1000}, {1}) + slice(x, {2}, {1002}, {1}));
  const auto nests = summary_of(*b.g);
  ASSERT_EQ(nests.size(), 1u);
  EXPECT_EQ(nests[0].bytes, 4 * 2000);
}

TEST(Summary, OfAContraction) {
  Builder b;
  Var x = b.input(DType::f32, {96, 64}), y = b.input(DType::f32, {64, 48});
  b.output(dot_general(x, y, {1}, {0}, {}, {}));
  compiler::Target all = target;
  all.any_size = true;
  const auto nests = summary_of(*b.g, all);
  ASSERT_EQ(nests.size(), 1u);
  EXPECT_EQ(nests[0].kind, NestSummary::Kind::contraction);
  EXPECT_EQ(nests[0].schedule, "packed");
  EXPECT_EQ(nests[0].flops, 2.0 * 96 * 64 * 48);
  EXPECT_EQ(nests[0].bytes, 4.0 * (96 * 64 + 64 * 48 + 96 * 48));
}

TEST(Summary, ALoopOfNumbersIsOneNest) {
  Builder b;
  Var x = b.input(DType::f64, {});
  b.output(while_loop(
      *b.g, {x}, [](std::vector<Var>& s) { return s[0] < 10.0; },
      [](std::vector<Var>& s) { return std::vector<Var>{s[0] * 2.0 + 1.0}; })[0]);
  const auto nests = summary_of(*b.g);
  ASSERT_EQ(nests.size(), 1u);
  EXPECT_EQ(nests[0].kind, NestSummary::Kind::numbers);
  EXPECT_LT(nests[0].bytes, 0);
}

TEST(Summary, NestsInTheBodiesOfLoopsCountOneByOne) {
  Builder b;
  Var x = b.input(DType::f64, {100});
  const auto r = while_loop(
      *b.g, {x, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[1] < 5.0; },
      [](std::vector<Var>& s) {
        return std::vector<Var>{exp(-s[0]), s[1] + 1.0};
      });
  b.output(r[0]);
  loops::Program p = compiler::compile(*b.g, target);
  const size_t nests = compiler::summarise(p).size();
  EXPECT_EQ(static_cast<size_t>(compiler::time_nests(p)), nests);
  loops::verify(p);
  const std::string text = loops::print(p);
  EXPECT_NE(text.find("call profile_begin(; 0)"), std::string::npos) << text;
  EXPECT_NE(text.find("call profile_end(; " + std::to_string(nests - 1) + ")"), std::string::npos) << text;
}

// Nothing is left out: readings come in pairs around as many nests as are summarised, of any program.
TEST(Summary, OfRandomProgramsAgreesWithTheReadings) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const GraphPtr g = optimized(RandomProgram(seed, {}).graph);
    loops::Program p = compiler::compile(*g, target);
    const auto nests = compiler::summarise(p);
    EXPECT_EQ(static_cast<size_t>(compiler::time_nests(p)), nests.size());
    loops::verify(p);
    for (const NestSummary& n : nests)
      EXPECT_TRUE(n.kind == NestSummary::Kind::numbers || n.bytes >= 0) << loops::print(p);
  }
}

TEST(Comments, StandAboveTheNestsThatTheyAreOf) {
  Builder b;
  Var x = b.input(DType::f32, {100});
  Var y = exp(x);
  b.output(y + 1.0);
  b.output(reduce_sum(y, {0}));
  for (size_t i = 0; i < b.g->calls.size(); ++i) b.g->calls[i].location = static_cast<int>(i) + 1;
  const loops::Program p = compiler::compile(*b.g, target);
  const std::string text = loops::print(p, [](const loops::Origins& o) {
    std::string line = "from";
    for (int location : o) line += " " + std::to_string(location);
    return line + "\nsecond line";
  });
  EXPECT_NE(text.find("  # from 1"), std::string::npos) << text;
  EXPECT_NE(text.find("  # second line\n"), std::string::npos) << text;
  EXPECT_EQ(loops::print(p).find('#'), std::string::npos);
}

}  // namespace
}  // namespace anvil::test
