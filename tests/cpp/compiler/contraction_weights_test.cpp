// Products of operands that were only multiplied by weights.
#include "compiler/graphs.h"

namespace anvil::test {
namespace {

using namespace primitives;

Var along(Var w, Shape shape, std::vector<int64_t> dims) {
  return record("broadcast_in_dim", {w}, {{"shape", shape}, {"broadcast_dimensions", dims}});
}
size_t temporaries(const std::string& text) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(" temporary", at)) != std::string::npos; ++at) ++n;
  return n;
}
std::string contractions(const graph::Graph& g) {
  for (const compiler::Stage& s : compiler::stages(g, {64, 32, true}))
    if (s.name == "contraction") return s.text;
  return "no such pass";
}
void expect_valid(const graph::Graph& g) {
  for (const compiler::Target& target : {compiler::Target{64, 32}, compiler::Target{64, 32, true}})
    expect_passes_agree(g, numbers_for(g), 1e-11, target);
}

TEST(ContractionWeights, OfTheDepthAreNoTemporary) {
  for (const bool left : {true, false}) {
    Builder b;
    Var x = b.input(DType::f64, {90, 20}), w = b.input(DType::f64, {90}), y = b.input(DType::f64, {90, 30});
    Var weighted = along(w, {90, 20}, {0}) * x;
    b.output(left ? dot_general(weighted, y, {0}, {0}, {}, {}) : dot_general(y, weighted, {0}, {0}, {}, {}));
    const std::string text = contractions(*b.g);
    EXPECT_NE(text.find("sum of (x1["), std::string::npos) << text;
    EXPECT_EQ(temporaries(text), 0u) << text;
    expect_valid(*b.g);
  }
}

// A batch with weights of its own, or the same for all; of both steps of a depth of two.
TEST(ContractionWeights, OfABatchAndOfSomeSteps) {
  for (const bool own : {true, false}) {
    Builder b;
    const Shape shape = {30, 12, 6};
    Var x = b.input(DType::f64, shape), w = own ? b.input(DType::f64, {30, 6}) : b.input(DType::f64, {30});
    const std::vector<int64_t> dims = own ? std::vector<int64_t>{0, 2} : std::vector<int64_t>{0};
    b.output(dot_general(x * along(w, shape, dims), b.input(DType::f64, {30, 14, 6}), {0}, {0}, {2}, {2}));
    EXPECT_NE(contractions(*b.g).find("sum of (x1["), std::string::npos) << contractions(*b.g);
    expect_valid(*b.g);
  }
  Builder b;
  const Shape shape = {8, 9, 20};
  Var x = b.input(DType::f64, shape), w = b.input(DType::f64, {9});
  b.output(dot_general(x * along(w, shape, {1}), b.input(DType::f64, {8, 9, 25}), {0, 1}, {0, 1}, {}, {}));
  expect_valid(*b.g);
}

// Weights of rows, of everything, of an operand that something else reads, too, of small floats, and those that an operand has alone.
TEST(ContractionWeights, OthersStay) {
  Builder b;
  Var x = b.input(DType::f64, {40, 20}), y = b.input(DType::f64, {40, 30}), w = b.input(DType::f64, {20});
  b.output(dot_general(x * along(w, {40, 20}, {1}), y, {0}, {0}, {}, {}));
  Var v = b.input(DType::f64, {40}), twice = x * along(v, {40, 20}, {0});
  b.output(dot_general(twice, y, {0}, {0}, {}, {}));
  b.output(dot_general(twice, sin(y), {0}, {0}, {}, {}));
  Var h = b.input(DType::f16, {40, 20}), u = b.input(DType::f16, {40});
  b.output(dot_general(h * along(u, {40, 20}, {0}), b.input(DType::f16, {40, 30}), {0}, {0}, {}, {}));
  b.output(dot_general(along(v, {40, 25}, {0}) * along(b.input(DType::f64, {25}), {40, 25}, {1}), y, {0}, {0}, {}, {}));
  // one number for all, which is known where another nest reads it
  Var sum = reduce_sum(v, {0});
  b.output(dot_general(along(sum, {40, 20}, {}) * cos(x), y, {0}, {0}, {}, {}));
  b.output(cos(x) * along(sum, {40, 20}, {}));
  EXPECT_EQ(contractions(*b.g).find("sum of ("), std::string::npos) << contractions(*b.g);
  for (const compiler::Target& target : {compiler::Target{64, 32}, compiler::Target{64, 32, true}})
    expect_passes_agree(*b.g, numbers_for(*b.g), 2e-2, target);
}

// A vector with itself, both operands of which are the one that was weighted (it is moved into the sum otherwise).
TEST(ContractionWeights, OfBothOperandsStay) {
  Builder b;
  Var x = b.input(DType::f64, {34, 4}), weighted = x * b.input(DType::f64, {34, 4});
  b.output(dot_general(weighted, weighted, {0}, {0}, {1}, {1}));
  for (const char* left_out : {"", "inline"})
    EXPECT_EQ(validate_passes(*b.g, numbers_for(*b.g), {1e-11, {64, 32, true}, {left_out}}), "");
}

// What was weighted has changed when the product is made.
TEST(ContractionWeights, OfAStateThatChangesStayAsTheyWere) {
  Builder b;
  Var x = b.input(DType::f64, {30, 20}), y = b.input(DType::f64, {30, 20}), zero = b.scalar(0, DType::i32);
  auto r = while_loop(
      *b.g, {x * 2.0, y, zero}, [](std::vector<Var>& s) { return s[2] < 3.0; },
      [&](std::vector<Var>& s) {
        Var weighted = s[0] * along(reshape(slice(s[1], {0, 0}, {30, 1}, {1, 1}), {30}), {30, 20}, {0});
        Var from = literal(*s[0].graph, 1, {DType::i32, {}});
        Var changed = dynamic_update_slice(s[0], slice(s[1], {0, 0}, {1, 3}, {1, 1}), {from, from - from});
        Var square = dot_general(weighted, changed, {0}, {0}, {}, {});
        return std::vector<Var>{changed, along(reduce_sum(square, {0, 1}), {30, 20}, {}) * 1e-3 + s[1], s[2] + 1.0};
      });
  b.output(r[0]);
  b.output(r[1]);
  expect_valid(*b.g);
}

}  // namespace
}  // namespace anvil::test
