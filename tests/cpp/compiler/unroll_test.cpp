// Small tensors in loops as numbers, and where they stay vectors.
#include "compiler/stage_text.h"

namespace anvil::test {
namespace {

using namespace primitives;

// Three states of many systems: the loop over systems is a vector, and what a step makes of them are numbers.
TEST(Unroll, FewStatesOfManySystems) {
  Builder b;
  Var x = b.input(DType::f64, {3, 50});
  const auto state = [&](Var z, int64_t k) { return slice(z, {k, 0}, {k + 1, 50}, {1, 1}); };
  const auto slope = [&](Var z) {
    return concatenate({state(z, 1) - state(z, 0), state(z, 0) * state(z, 2), exp(state(z, 2) * state(z, 1))}, 0);
  };
  Var first = slope(x), second = slope(x + 0.5 * first);
  b.output(x + first + 2.0 * second);
  const std::string text = after(*b.g, "schedule");
  EXPECT_EQ(text.find("temporary"), std::string::npos) << text;
  EXPECT_NE(text.find("for j in 0..50 vector 8"), std::string::npos) << text;
  for (const compiler::Target& target : targets) expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12, target);
}

// Elements of a matrix at pairs of indices: each pair is two numbers, so that many are read at once.
TEST(Unroll, PairsOfIndices) {
  Builder b;
  Var x = b.input(DType::f64, {20, 30}), u = b.input(DType::f64, {2, 50});
  const auto component = [&](int64_t k, double by) {
    return record("convert", {slice(u, {k, 0}, {k + 1, 50}, {1, 1}) * by},
                  {{"dtype", DType::i32}, {"ambiguous", false}});
  };
  const Var pairs = concatenate({component(0, 20), component(1, 30)}, 0);
  b.output(gather(x, pairs, {1, 1}, {{}, {0, 1}, {}, {}, {0, 1}, 0}));
  const std::string text = after(*b.g, "schedule");
  EXPECT_EQ(text.find("temporary"), std::string::npos) << text;
  EXPECT_NE(text.find("in 0..50 vector 8"), std::string::npos) << text;
  for (const compiler::Target& target : targets) expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12, target);
}

// A state of a loop that its steps put into a function: as numbers while these are few, else as a vector.
TEST(Unroll, FunctionsOfMoreNumbersThanAreCalledOneByOneAreVectors) {
  for (const bool function : {false, true})
    for (int64_t n : {7, 8}) {
      Builder b;
      const Var x = b.input(DType::f64, {n});
      const auto r = while_loop(
          *b.g, {x * 0.5, b.scalar(0, DType::i32)}, [](std::vector<Var>& s) { return s[1] < 20.0; },
          [&](std::vector<Var>& s) {
            return std::vector<Var>{0.3 + 0.5 * (function ? exp(s[0] * -1.0) : s[0]), s[1] + 1.0};
          });
      b.output(r[0]);
      const std::string text = after(*b.g, "schedule");
      EXPECT_EQ(text.find("vector 8") == std::string::npos, !function || n == 7) << n << "\n" << text;
      for (const compiler::Target& target : targets) expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12, target);
    }
}

// A path of few states: they are numbers though each step stores them in the path, as a row of it. More are vectors, and
// stay in memory.
TEST(Unroll, StatesThatAreKeptInAPath) {
  for (int64_t n : {4, 5}) {
    Builder b;
    const Var x = b.input(DType::f64, {n});
    const auto row = [&](const Var& k) { return std::vector<Var>{literal(*k.graph, 0, {DType::i32, {}}), k}; };
    const auto r = while_loop(
        *b.g, {x * 0.5, b.scalar(0, DType::i32), fill(*b.g, 0, {DType::f64, {n, 20}})},
        [](std::vector<Var>& s) { return s[1] < 20.0; },
        [&](std::vector<Var>& s) {
          const Var next = s[0] * (1.0 - s[0]);
          return std::vector<Var>{next, s[1] + 1.0, dynamic_update_slice(s[2], reshape(next, {n, 1}), row(s[1]))};
        });
    b.output(r[0]);
    b.output(r[2]);
    const std::string text = after(*b.g, "schedule"), loop = text.substr(text.find("loop {"));
    EXPECT_EQ(loop.find("for ") > loop.find("  }\n"), n == 4) << text;
    for (const compiler::Target& target : targets) expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12, target);
  }
}

// What a path held before does not matter: it is not filled.
TEST(Unroll, PathsAreNotFilled) {
  Builder b;
  const Var x = b.input(DType::f64, {3});
  const auto integer = [](const Var& k, int64_t i, DType t) { return literal(*k.graph, i, {t, {}}); };
  const auto r = while_loop(
      *b.g, {b.scalar(1, DType::i32), x * 0.5, fill(*b.g, 0, {DType::f64, {20, 3}})},
      [](std::vector<Var>& s) { return s[0] <= 20.0; },
      [&](std::vector<Var>& s) {
        const Var next = s[1] * (1.0 - s[1]);
        const Var at = record("convert", {s[0]}, {{"dtype", DType::i64}, {"ambiguous", false}}) - 1.0;
        return std::vector<Var>{s[0] + 1.0, next,
                                dynamic_update_slice(s[2], reshape(next, {1, 3}), {at, integer(at, 0, DType::i64)})};
      });
  b.output(r[2]);
  const std::string text = after(*b.g, "schedule");
  EXPECT_EQ(text.find("= 0\n"), std::string::npos) << text;
  for (const compiler::Target& target : targets) expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12, target);
}

}  // namespace
}  // namespace anvil::test
