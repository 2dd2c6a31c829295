// States of loops that change where they lie.
#include "compiler/machine_code.h"
#include "compiler/stage_text.h"

namespace anvil::test {
namespace {

using namespace primitives;
using Vars = std::vector<Var>;

int swaps(const graph::Graph& g) {
  const std::string text = after(*optimized(g), "states");
  int n = 0;
  for (size_t at = text.find("swap "); at != std::string::npos; at = text.find("swap ", at + 1)) ++n;
  return n;
}
// Five steps of a state of vectors and, at its end, a counter; the program gives all vectors.
graph::GraphPtr steps(size_t vectors, int64_t n, const std::function<Vars(Vars)>& step) {
  Builder b;
  Vars state;
  for (size_t k = 0; k < vectors; ++k) state.push_back(b.input(DType::f64, {n}) * 2.0);
  state.push_back(b.scalar(0, DType::i32));
  Vars r = while_loop(
      *b.g, state, [](Vars& s) { return s.back() < 5.0; },
      [&](Vars& s) {
        Vars next = step(Vars(s.begin(), s.end() - 1));
        next.push_back(s.back() + 1.0);
        return next;
      });
  for (size_t k = 0; k < vectors; ++k) b.output(r[k]);
  return b.g;
}
void expect_right(const graph::Graph& g, int left) {
  EXPECT_EQ(swaps(g), left) << after(*optimized(g), "states");
  const auto inputs = numbers_for(g);
  for (const compiler::Target& target : targets) expect_passes_agree(*optimized(g), inputs, 1e-12, target);
  expect_machine_code_right(g, inputs, 1e-12, small_tasks(64));
}

// Also of lengths that are no multiples of vectors.
TEST(States, ElementByElement) {
  for (int64_t n : {17, 20, 37, 64, 100, 1000, 1037})
    expect_right(*steps(1, n, [](Vars s) { return Vars{s[0] * 0.9 + 1.0}; }), 0);
}
TEST(States, SeveralThatAreMadeOfEachOther) {
  for (int64_t n : {20, 100, 1037})
    expect_right(*steps(2, n,
                        [](Vars s) {
                          Var v = s[1] * 0.9 + s[0];
                          return Vars{s[0] - v * 0.1, v};
                        }),
                 0);
}
// Each takes the other one's place: none may be overwritten before that.
TEST(States, ThatChangePlaces) {
  for (int64_t n : {20, 100}) {
    const auto g = steps(2, n, [](Vars s) { return Vars{s[1] * 0.5, s[0] + 1.0}; });
    expect_right(*g, swaps(*g));
    EXPECT_GE(swaps(*g), 1);
  }
}
TEST(States, ThatAreReadElsewhere) {
  for (int64_t n : {20, 100}) {
    expect_right(*steps(1, n, [](Vars s) { return Vars{s[0] * 0.5 + reverse(s[0], {0})}; }), 1);
    expect_right(*steps(1, n, [n](Vars s) { return Vars{s[0] / broadcast_in_dim(reduce_sum(s[0], {0}), {n}, {})}; }),
                 0);
    // what a nest behind the one that makes the state reads of it
    const auto g = steps(2, n, [n](Vars s) {
      return Vars{s[0] * 0.5, s[1] + broadcast_in_dim(reduce_sum(s[0] * reverse(s[1], {0}), {0}), {n}, {})};
    });
    expect_right(*g, swaps(*g));
  }
}
// What is made of the new state reads it where it now lies.
TEST(States, WhoseNewValuesAreReadAtOnce) {
  for (int64_t n : {20, 100})
    expect_right(*steps(2, n,
                        [n](Vars s) {
                          Var next = s[0] * 0.5 + 1.0;
                          return Vars{next, s[1] + broadcast_in_dim(reduce_sum(next, {0}), {n}, {})};
                        }),
                 0);
}
TEST(States, WhoseNewValuesAreReadBehind) {
  for (int64_t n : {20, 100}) {
    Builder b;
    Var x = b.input(DType::f64, {n}), y = b.input(DType::f64, {n}), w = b.input(DType::f64, {n, n});
    Vars r = while_loop(
        *b.g, {x * 2.0, y * 2.0, b.scalar(0, DType::i32)}, [](Vars& s) { return s[2] < 5.0; },
        [&](Vars& s) {
          Var next = exp(s[0] * -0.5);
          return Vars{next, s[1] * 0.1 + dot_general(in(*s[0].graph, w), next, {1}, {0}, {}, {}) * 0.01, s[2] + 1.0};
        });
    b.output(r[0]);
    b.output(r[1]);
    expect_right(*b.g, 0);
  }
}
TEST(States, OfLoopsInLoops) {
  Builder b;
  Var x = b.input(DType::f64, {40});
  Vars r = while_loop(
      *b.g, {x * 1.0, b.scalar(0, DType::i32)}, [](Vars& s) { return s[1] < 3.0; },
      [&](Vars& s) {
        Vars inner = while_loop(
            *s[0].graph, {s[0] * 0.5, s[1] * 1.0}, [](Vars& t) { return t[1] < 5.0; },
            [](Vars& t) {
              return Vars{t[0] * 1.5 - 1.0, t[1] + 1.0};
            });
        return Vars{s[0] * 0.25 + inner[0], s[1] + 1.0};
      });
  b.output(r[0]);
  expect_right(*b.g, 0);
}
// A large state is the result from the start, and there is nothing to copy at the end.
TEST(States, BecomeResults) {
  const auto g = steps(1, 20000, [](Vars s) { return Vars{s[0] * 0.9 + 1.0}; });
  const std::string text = after(*optimized(*g), "results");
  EXPECT_EQ(text.find("temporary"), std::string::npos) << text;
  EXPECT_EQ(text.find("out1[i] = out1[i]\n"), std::string::npos) << text;
  expect_passes_agree(*optimized(*g), numbers_for(*g), 1e-12);
}

}  // namespace
}  // namespace anvil::test
