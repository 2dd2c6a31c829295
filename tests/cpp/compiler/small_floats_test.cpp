// Small floats in loop programs: converted where an element is read and where one is stored, so
// that no tensor of theirs is copied to f32.
#include "compiler/graphs.h"
#include "compiler/traverse.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace anvil::test {
namespace {

using namespace primitives;

// The elements of temporaries of f32 that a program keeps in memory.
int64_t elements_of_copies(const graph::Graph& g) {
  int64_t most = 0;
  for (const compiler::Target& target : targets) {
    const loops::Program p = compiler::compile(g, target);
    std::vector<bool> stored(p.buffers.size(), false);
    const auto look = [&](const auto& self, const loops::Block& block) -> void {
      for (const loops::Stmt& s : block) {
        if (auto store = std::get_if<loops::Store>(&s.is)) stored[static_cast<size_t>(store->buffer)] = true;
        compiler::each_block(s, [&](const loops::Block& inner) { self(self, inner); });
      }
    };
    look(look, p.body);
    int64_t sum = 0;
    for (size_t b = 0; b < p.buffers.size(); ++b)
      if (stored[b] && p.buffers[b].dtype == DType::f32) sum += elements(p.buffers[b].shape);
    most = std::max(most, sum);
  }
  return most;
}

constexpr int64_t n = 64;

TEST(SmallFloats, NoTensorIsCopied) {
  for (const DType t : {DType::f16, DType::bf16}) {
    Builder b;
    Var x = b.input(t, {n, n}), y = b.input(t, {n, n}), v = b.input(t, {n});
    Var z = record("tanh", {x}) * y + broadcast_in_dim(v, {n, n}, {0});
    b.output(z);
    b.output(reduce_sum(z, {0}));
    b.output(cumsum(y, 0));
    b.output(transpose(dot_general(x, v, {1}, {0}, {}, {}), {0}));
    EXPECT_EQ(elements_of_copies(*b.g), 0) << name(t);
  }
}

TEST(SmallFloats, ProductsPackNoWholeOperand) {
  for (const DType t : {DType::f16, DType::bf16}) {
    Builder b;
    Var x = b.input(t, {n, n}), y = b.input(t, {n, n});
    b.output(dot_general(x, y, {1}, {0}, {}, {}));
    EXPECT_LT(elements_of_copies(*b.g), n * n) << name(t);
  }
}

TEST(SmallFloats, LargeProductsAreContractions) {
  for (const DType t : {DType::f16, DType::bf16}) {
    Builder b;
    Var x = b.input(t, {200, 100}), y = b.input(t, {200, 300});
    b.output(dot_general(x, y, {0}, {0}, {}, {}));
    for (const compiler::Target& target : targets) {
      const loops::Program p = compiler::compile(*b.g, target);
      EXPECT_EQ(std::count_if(p.body.begin(), p.body.end(),
                              [](const loops::Stmt& s) { return std::holds_alternative<loops::Contraction>(s.is); }),
                1)
          << name(t);
    }
    EXPECT_EQ(elements_of_copies(*b.g), 0) << name(t);
  }
}

TEST(SmallFloats, NorIsOneInAGradient) {
  for (const DType t : {DType::f16, DType::bf16}) {
    Builder b;
    Var x = b.input(t, {n, n}), w = b.input(t, {n});
    Var p = record("tanh", {dot_general(x, w, {1}, {0}, {}, {})});
    b.output(reduce_sum(p * p, {0}));
    graph::GraphPtr g = transform::gradient(*b.g, {false, true}, true);
    transform::optimize(*g);
    EXPECT_LE(elements_of_copies(*g), n) << name(t);
  }
}

// What is stored after each call of a chain is what the evaluator rounds to.
TEST(SmallFloats, EveryCallRoundsOnce) {
  for (const DType t : {DType::f16, DType::bf16}) {
    Builder b;
    Var x = b.input(t, {n}), y = b.input(t, {n});
    Var z = (x * y + x) / y - record("exp", {x});
    b.output(z * z + z);
    const auto inputs = numbers_for(*b.g, 0.5, 2);
    for (const compiler::Target& target : targets) expect_passes_agree(*b.g, inputs, 0, target);
  }
}

}  // namespace
}  // namespace anvil::test
