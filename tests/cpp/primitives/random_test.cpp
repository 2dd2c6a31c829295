// Random bits: the known answers of Random123, and of the StableHLO generator for every shape.
#include "runtime/threefry.h"

#include "support/run_compiled.h"
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;

constexpr uint64_t words(uint32_t low, uint32_t high) { return low | uint64_t(high) << 32; }
static_assert(runtime::threefry(0, 0) == std::pair{0x6b200159u, 0x99ba4efeu});
static_assert(runtime::threefry(~uint64_t(0), ~uint64_t(0)) == std::pair{0x1cb996fcu, 0xbb002be7u});
static_assert(runtime::threefry(words(0x13198a2e, 0x03707344), words(0x243f6a88, 0x85a308d3)) ==
              std::pair{0xc4923a9cu, 0x483df7a0u});

Params bits(DType t, Shape shape, std::string algorithm = "THREE_FRY") {
  return {{"rng_algorithm", algorithm}, {"dtype", t}, {"shape", shape}};
}
struct Drawn {
  uint64_t key, counter;
  std::vector<uint64_t> bits;
};
Drawn draw(DType t, Shape shape, uint64_t key = 42, uint64_t counter = 0) {
  auto program = [=](graph::Graph& g, const std::vector<Var>& x) {
    auto results = record(g, registry().at("rng_bit_generator"), {x[0].value}, bits(t, shape));
    return std::vector<Var>{{&g, results[0]}, {&g, results[1]}};
  };
  Tensor state = graph::allocate({DType::ui64, {2}});
  set_element(state, 0, key);
  set_element(state, 1, counter);
  graph::Graph g = build(program, {state});
  verify(g);
  expect_loop_rules_agree(g, {state});
  auto results = eigen::evaluate(g, {state});
  EXPECT_EQ(results[1].type, (TensorType{t, shape}));
  Drawn d{element(results[0], 0).as<uint64_t>(), element(results[0], 1).as<uint64_t>(), {}};
  results[1].type.dtype = std::vector{DType::ui8, DType::ui16, DType::ui32,
                                      DType::ui64}[static_cast<size_t>(std::bit_width(size_of(t)) - 1)];
  for (int64_t k = 0; k < elements(shape); ++k) d.bits.push_back(element(results[1], k).as<uint64_t>());
  return d;
}
void expect_bits(DType t, Shape shape, std::vector<uint64_t> expected, uint64_t blocks) {
  Drawn d = draw(t, shape);
  EXPECT_EQ(d.bits, expected);
  EXPECT_EQ(d.key, 42u);
  EXPECT_EQ(d.counter, blocks);
}

TEST(RandomBits, ThirtyTwoBits) {
  const uint64_t a = 0xde79f4b9, b = 0x4f6cc618, c = 0x268fd86c, d = 0xfe251627, e = 0x8533bc2a, f = 0x1b41c6e8,
                 g = 0x3ffbe4ea;
  expect_bits(DType::ui32, {}, {a}, 1);
  expect_bits(DType::ui32, {3}, {a, b, c}, 2);
  expect_bits(DType::ui32, {5}, {a, b, c, d, e}, 3);
  expect_bits(DType::ui32, {2, 3}, {a, b, c, d, e, f}, 3);
  expect_bits(DType::ui32, {3, 2}, {a, c, e, b, d, f}, 3);
  Drawn square = draw(DType::ui32, {3, 3});
  EXPECT_EQ((std::vector<uint64_t>(square.bits.begin(), square.bits.begin() + 5)),
            (std::vector<uint64_t>{a, b, g, c, d}));
  EXPECT_EQ(square.counter, 6u);
  Drawn wide = draw(DType::ui32, {3, 5});
  EXPECT_EQ((std::vector<uint64_t>{wide.bits[0], wide.bits[3], wide.bits[6], wide.bits[9], wide.bits[12]}),
            (std::vector<uint64_t>{a, b, c, d, e}));
  EXPECT_EQ((std::vector<uint64_t>{wide.bits[1], wide.bits[4]}), (std::vector<uint64_t>{g, 0xdc557f27}));
  EXPECT_EQ(wide.counter, 9u);
  expect_bits(DType::i32, {3}, {a, b, c}, 2);
  expect_bits(DType::f32, {3}, {a, b, c}, 2);
  expect_bits(DType::ui32, {0}, {}, 0);
}

TEST(RandomBits, OtherWidths) {
  expect_bits(DType::ui16, {3}, {0xf4b9, 0xc618, 0xd86c}, 2);
  expect_bits(DType::f16, {3}, {0xf4b9, 0xc618, 0xd86c}, 2);  // bits, no numbers to be rounded
  expect_bits(DType::i8, {3}, {0xb9, 0x18, 0x6c}, 2);
  for (DType t : {DType::ui64, DType::i64, DType::f64})
    expect_bits(t, {3}, {0x4f6cc618de79f4b9, 0xfe251627268fd86c, 0x1b41c6e88533bc2a}, 3);
  Drawn d = draw(DType::ui64, {2, 2}, 1, 2);
  EXPECT_EQ(d.bits, (std::vector<uint64_t>{9236835810183407956u, 18212823393184779219u, 16087790271692313299u,
                                           2658481902456610144u}));
  EXPECT_EQ(d.counter, 6u);
}

TEST(RandomBits, TheCounterWrapsAndStreamsContinue) {
  EXPECT_EQ(draw(DType::ui64, {3}, 42, ~uint64_t(0)).counter, 2u);
  std::vector<uint64_t> all = draw(DType::ui32, {8}).bits, rest = draw(DType::ui32, {4}, 42, 2).bits;
  EXPECT_EQ((std::vector<uint64_t>(all.begin() + 4, all.end())), rest);
  EXPECT_EQ(draw(DType::ui64, {2}, 42, ~uint64_t(0)).bits[1], draw(DType::ui64, {1}).bits[0]);
  draw(DType::ui32, {4, 3, 2}, uint64_t(0xabcdef0123456789), 5);
  draw(DType::ui32, {3, 5, 4}, 7, uint64_t(0xffffffff));
}

// Blocks that two neighbours share, with the registers of each instruction set, and with steps left over.
TEST(RandomBits, CompiledForVectorsOfEachWidth) {
  Tensor state = graph::allocate({DType::ui64, {2}});
  set_element(state, 0, 7);
  set_element(state, 1, ~uint64_t(0) - 100);
  for (const int vector_bytes : {16, 32, 64})
    for (const int64_t n : {128, 257, 383})
      for (const DType t : {DType::ui32, DType::ui64}) {
        const auto program = [=](graph::Graph& g, const std::vector<Var>& x) {
          const auto results = record(g, registry().at("rng_bit_generator"), {x[0].value}, bits(t, {n}));
          const Var drawn{&g, results[1]};
          return std::vector<Var>{drawn, convert(drawn, DType::f32) * 0.5, {&g, results[0]}};
        };
        const graph::Graph g = build(program, {state});
        compiler::Target target = llvm_backend::target();
        target.vector_bytes = vector_bytes;
        const auto got = run_compiled(g, {state}, {1, 2}, &target), want = eigen::evaluate(g, {state});
        for (size_t k = 0; k < want.size(); ++k)
          EXPECT_EQ(
              std::memcmp(got[k].data.get(), want[k].data.get(), bytes_of(want[k].type.dtype, want[k].type.shape)), 0)
              << vector_bytes << " " << n << " " << name(t) << " " << k;
      }
}

TEST(RandomBits, Errors) {
  TensorType state{DType::ui64, {2}};
  expect_error("rng_bit_generator", {state}, bits(DType::ui32, {1}, "PHILOX"), "argument",
               "`rng_algorithm` \"PHILOX\" is not supported.", "i Use \"THREE_FRY\".");
  expect_error("rng_bit_generator", {state}, bits(DType::ui32, {1}, "LCG"), "argument",
               "`rng_algorithm` must be one of \"THREE_FRY\", \"DEFAULT\" or \"PHILOX\".", "x Got \"LCG\".");
  expect_error("rng_bit_generator", {i32({2})}, bits(DType::ui32, {1}), "dtype",
               "`initial_state` must have dtype ui64.", "x Got <i32>.");
  expect_error("rng_bit_generator", {{DType::ui64, {3}}}, bits(DType::ui32, {1}), "shape",
               "`initial_state` must have shape (2).", "x Got (3).");
  expect_error("rng_bit_generator", {state}, bits(DType::boolean, {1}), "dtype",
               "`dtype` must be " + name(Group::numeric) + ".", "x Got <bool>.");
  expect_error("rng_bit_generator", {state}, bits(DType::ui32, {-1}), "argument",
               "`shape` must not contain negative sizes.", "x Got (-1).");
}

}  // namespace
}  // namespace anvil::test
