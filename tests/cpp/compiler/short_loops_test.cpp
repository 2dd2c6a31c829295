// What is left of short vectors over a state that changes in place.
#include "compiler/machine_code.h"
#include "compiler/stage_text.h"

namespace anvil::test {
namespace {

using namespace primitives;

// Three steps of a state of n numbers.
template <class Step>
graph::GraphPtr steps_of(int64_t n, DType t, const Step& step) {
  Builder b;
  const Var x = b.input(t, {n}), a = b.input(t, {n});
  const auto r = while_loop(
      *b.g, {x * 0.5, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[1] < 3.0; },
      [&](std::vector<Var>& s) {
        return std::vector<Var>{step(s[0], in(*s[0].graph, a)), s[1] + 1.0};
      });
  b.output(r[0]);
  return b.g;
}
Var exp_of(Var x, Var a) { return exp(-(a * x)) + 0.1; }

std::string scheduled(const graph::Graph& g, const compiler::Target& target = {64, 32}) {
  for (const compiler::Stage& s : compiler::stages(*optimized(g), target))
    if (s.name == "schedule") return s.text;
  return "";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ShortLoops, RestsInPlaceAreShorterVectors) {
  const std::string text = scheduled(*steps_of(15, DType::f64, exp_of));
  for (const char* part : {" in 0..8 vector 8 {", " in 8..12 vector 4 {", " in 12..14 vector 2 {", " in 14..15 {"})
    EXPECT_TRUE(has(text, part)) << part << " " << text;
}
TEST(ShortLoops, OthersAreVectorsThatReachBack) {
  const std::string whole = scheduled(*steps_of(16, DType::f64, exp_of));
  EXPECT_TRUE(has(whole, " in 0..16 vector 8")) << whole;
  const std::string swapped = scheduled(*steps_of(50, DType::f64, exp_of));
  EXPECT_TRUE(has(swapped, " in 0..50 vector 8")) << "a state that is written elsewhere: " << swapped;
  Builder b;
  const Var x = b.input(DType::f64, {15});
  b.output(exp(x));
  EXPECT_TRUE(has(scheduled(*b.g), " in 0..15 vector 8")) << "no loop";
}
TEST(ShortLoops, EveryLengthIsRight) {
  for (const DType t : {DType::f32, DType::f64})
    for (int64_t n = 1; n <= 40; ++n) {
      const graph::GraphPtr g = steps_of(n, t, exp_of);
      const auto inputs = numbers_for(*g);
      if (n > 6) expect_passes_agree(*optimized(*g), inputs, t == DType::f64 ? 1e-12 : 1e-5, {64, 32});
      expect_machine_code_right(*g, inputs, t == DType::f64 ? 1e-12 : 1e-5, llvm_backend::target());
    }
}
// A step that reads its neighbours' numbers needs them as they were.
TEST(ShortLoops, NeighboursAreReadBeforeTheyChange) {
  for (int64_t n : {9, 11, 13, 15}) {
    const graph::GraphPtr g =
        steps_of(n, DType::f64, [](Var x, Var a) { return exp(-reverse(x, {0})) * a + reverse(a, {0}); });
    const auto inputs = numbers_for(*g);
    expect_passes_agree(*optimized(*g), inputs, 1e-12, {64, 32});
    expect_machine_code_right(*g, inputs, 1e-12, llvm_backend::target());
  }
}

}  // namespace
}  // namespace anvil::test
