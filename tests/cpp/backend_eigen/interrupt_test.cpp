// Whatever takes long asks whether to stop while it is at it: one call of each kind, large enough
// to be asked about many times.
#include "support/interrupt_at.h"

#include "backend_eigen/tensors.h"

namespace anvil::eigen {
namespace {

// How often one call asks.
int asked_during(const std::string& primitive, const std::vector<Tensor>& operands, Params params) {
  const test::InterruptAt never(-1);
  run(primitive, operands, std::move(params));
  return never.asked();
}
Tensor drawn(Shape shape, DType t = DType::f64) {
  Tensor x = graph::allocate({t, std::move(shape)});
  uint64_t state = 1;
  for (int64_t i = 0; i < elements(x.type.shape); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    set_element(x, i, 1 + 1e-4 * static_cast<double>(state >> 52));
  }
  return x;
}
Tensor definite(int64_t n) {
  Tensor x = graph::full({DType::f64, {n, n}}, 0.5);
  for (int64_t i = 0; i < n; ++i) set_element(x, i + n * i, static_cast<double>(n));
  return x;
}

TEST(Interrupts, OneCallAsksManyTimes) {
  const int64_t n = 1'000'000;
  const Tensor x = drawn({n}), square = drawn({400, 400}), spd = definite(800);
  const Params along{{"dim", int64_t(0), true}}, over{{"dims", Ints{0}, true}, {"drop", true}};
  EXPECT_GE(asked_during("lgamma", {x}, {}), 40);
  EXPECT_GE(
      asked_during("sort", {x},
                   {{"dim", int64_t(0), true}, {"descending", false}, {"is_stable", true}, {"num_keys", int64_t(1)}}),
      50);
  EXPECT_GE(asked_during("top_k", {x}, {{"k", int64_t(10)}}), 50);
  EXPECT_GE(asked_during("dot_general", {square, square},
                         {{"contracting_dims", Pairs{{1}, {0}}, true}, {"batching_dims", Pairs{{}, {}}, true}}),
            3);
  EXPECT_GE(asked_during("cholesky", {spd}, {{"lower", true}}), 10);
  EXPECT_GE(asked_during("triangular_solve", {spd, drawn({800, 100})},
                         {{"left_side", true}, {"lower", true}, {"unit_diagonal", false}, {"transpose_a", false}}),
            4);
  EXPECT_GE(asked_during("reduce_sum", {x}, over) + asked_during("reduce_max", {x}, over) +
                asked_during("cumsum", {x}, along),
            6);
  EXPECT_GE(asked_during("rng_bit_generator", {graph::full({DType::ui64, {2}}, 1)},
                         {{"rng_algorithm", std::string("THREE_FRY")}, {"dtype", DType::ui32}, {"shape", Shape{n}}}),
            20);
  EXPECT_GE(asked_during("gather", {x, graph::full({DType::i32, {n, 1}}, 1)},
                         {{"slice_sizes", Shape{1}},
                          {"offset_dims", Ints{}, true},
                          {"collapsed_slice_dims", Ints{0}, true},
                          {"operand_batching_dims", Ints{}, true},
                          {"start_indices_batching_dims", Ints{}, true},
                          {"start_index_map", Ints{0}, true},
                          {"index_vector_dim", int64_t(1), true},
                          {"indices_are_sorted", false},
                          {"unique_indices", false}}),
            10);
}

TEST(Interrupts, TheCallStops) {
  const test::InterruptAt later(100);
  EXPECT_THROW(run("sort", {drawn({1'000'000})},
                   {{"dim", int64_t(0), true}, {"descending", false}, {"is_stable", true}, {"num_keys", int64_t(1)}}),
               Interrupted);
}

// Pieces give what the whole gives.
TEST(Interrupts, PiecesOfElementwiseCallsAreTheWhole) {
  const int64_t n = 100'003;
  const Tensor x = drawn({n}), scalar = tensor(DType::f64, {}, {1.2}), high = tensor(DType::f64, {}, {1.3});
  const Tensor sums = run("add", {x, x})[0], inside = run("clamp", {scalar, x, high})[0];
  for (int64_t i = 0; i < n; ++i) {
    double v = x.as<double>()[i];
    ASSERT_EQ(sums.as<double>()[i], v + v) << i;
    ASSERT_EQ(inside.as<double>()[i], std::min(std::max(v, 1.2), 1.3)) << i;
  }
}

}  // namespace
}  // namespace anvil::eigen
