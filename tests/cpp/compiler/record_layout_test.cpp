// How what a loop works on slice by slice lies in memory.
#include "compiler/stage_text.h"

namespace anvil::test {
namespace {

using namespace primitives;

// What a loop records in steps lies step by step, and is filled as it lies.
TEST(RecordLayout, StepsComeLast) {
  Builder b;
  Var x = b.input(DType::f64, {7}), from = b.scalar(0, DType::i32), zero = b.scalar(0, DType::f64);
  Var records = broadcast_in_dim(zero, {5, 7}, {});
  auto r = while_loop(
      *b.g, {x, records, from}, [](std::vector<Var>& s) { return s[2] < 4.0; },
      [](std::vector<Var>& s) {
        Var zero_index = literal(*s[0].graph, 0, {DType::i32, {}});
        Var next = sin(s[0]) + 0.5;
        return std::vector<Var>{next, dynamic_update_slice(s[1], reshape(next, {1, 7}), {s[2], zero_index}),
                                s[2] + 1.0};
      });
  b.output(reduce_sum(r[1] * r[1], {0}, true));
  b.output(r[0]);
  const loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12);
  EXPECT_NE(print(p).find("f64[7, 5] temporary"), std::string::npos) << print(p);
}

// A step that goes around: what is known to stand at an edge is no step of a record.
TEST(RecordLayout, EdgesAreNoSteps) {
  Builder b;
  Var x = b.input(DType::f32, {40, 50}), from = b.scalar(0, DType::i32);
  auto r = while_loop(
      *b.g, {x, from}, [](std::vector<Var>& s) { return s[1] < 4.0; },
      [](std::vector<Var>& s) {
        const auto around = [&s](int64_t n) {
          return concatenate({slice(s[0], {n, 0}, {40, 50}, {1, 1}), slice(s[0], {0, 0}, {n, 50}, {1, 1})}, 0);
        };
        const Var sum = around(1) + around(39);
        return std::vector<Var>{select(s[0] < exp(sum * s[0]), s[0] * -1.0, s[0]), s[1] + 1.0};
      });
  b.output(r[0]);
  const std::string text = after(*b.g, "layout");
  EXPECT_EQ(text.find("f32[50, 40]"), std::string::npos) << text;
  expect_passes_agree(*b.g, numbers_for(*b.g));
}

// A tensor that was turned so that its slices lie together is read as it lies.
TEST(RecordLayout, TurnedTensorsStayForTheirSlices) {
  for (const int64_t n : {90, 210}) {
    Builder b;
    Var x = b.input(DType::f64, {12, n, 40}), from = b.scalar(0, DType::i32), h = b.input(DType::f64, {n, 40});
    Var turned = transpose(x, {1, 2, 0});
    auto r = while_loop(
        *b.g, {h, from}, [](std::vector<Var>& s) { return s[1] < 12.0; },
        [&](std::vector<Var>& s) {
          return std::vector<Var>{s[0] * 0.5 + element({s[0].graph, turned.value}, 2, s[1]), s[1] + 1.0};
        });
    b.output(r[0]);
    const std::string text = after(*b.g, "inline");
    EXPECT_EQ(text.find("x1[$p") == std::string::npos, n == 210) << text;
    expect_passes_agree(*b.g, numbers_for(*b.g), 1e-13);
  }
}

}  // namespace
}  // namespace anvil::test
