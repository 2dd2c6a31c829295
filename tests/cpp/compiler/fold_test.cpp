// Convolutions and general reductions: every pass keeps the result, and the loops are those that
// keep sums in registers.
#include "compiler/graphs.h"
#include "primitives/vocabulary/composite.h"
#include "support/regions.h"
#include "transform/reverse.h"
#include "transform/simplify.h"

namespace anvil::test {
namespace {

using loops::For;
using Ints = std::vector<int64_t>;

// x: batch, rows, columns, features; w: rows, columns, features in, out.
Var convolve(Var x, Var w) {
  return call("convolution", {x, w},
              {{"window_strides", Ints{1, 1}},
               {"padding_low", Ints{1, 1}},
               {"padding_high", Ints{1, 1}},
               {"lhs_dilation", Ints{1, 1}},
               {"rhs_dilation", Ints{1, 1}},
               {"reversed", Ints{}, true},
               {"input_dims", Ints{0, 3, 1, 2}, true},
               {"kernel_dims", Ints{3, 2, 0, 1}, true},
               {"output_dims", Ints{0, 3, 1, 2}, true},
               {"feature_group_count", int64_t(1)},
               {"batch_group_count", int64_t(1)}})[0];
}
graph::GraphPtr ready(const graph::Graph& g) {
  graph::Substitution map;
  graph::GraphPtr copy = graph::clone(*primitives::expand(g, primitives::Reader::backend), map);
  transform::inline_scalar_constants(*copy);
  transform::optimize(*copy);
  return copy;
}
// The loops around the first update, outermost first.
bool loops_to_update(const loops::Block& b, std::vector<const For*>& path) {
  for (const loops::Stmt& s : b) {
    if (std::holds_alternative<loops::Update>(s.is)) return true;
    if (auto f = std::get_if<For>(&s.is)) {
      path.push_back(f);
      if (loops_to_update(f->body, path)) return true;
      path.pop_back();
    }
  }
  return false;
}

TEST(Folds, ConvolutionKeepsABlockOfFeaturesInRegisters) {
  Builder b;
  Var x = b.input(DType::f32, {32, 4, 4, 3}), w = b.input(DType::f32, {3, 3, 3, 8});
  b.output(convolve(x, w));
  loops::Program p = expect_passes_agree(*ready(*b.g), numbers_for(*b.g));
  std::vector<const For*> path;
  ASSERT_TRUE(loops_to_update(p.body, path));
  auto vector = std::find_if(path.begin(), path.end(), [](const For* f) { return f->kind == For::Kind::vector; });
  ASSERT_NE(vector, path.end());
  ASSERT_NE(vector, path.begin());
  EXPECT_EQ((*vector)->end, 32);  // the batch lies together
  EXPECT_EQ(vector[-1]->kind, For::Kind::unroll);
  EXPECT_EQ(vector[-1]->end, 8);  // features of the result share what is loaded of the batch
}

TEST(Folds, KernelGradientAddsUpItsLanesOnce) {
  Builder b;
  Var x = b.input(DType::f32, {32, 4, 4, 3}), w = b.input(DType::f32, {3, 3, 3, 8}),
      k = b.input(DType::f32, {32, 4, 4, 8});
  b.output(primitives::reduce_sum(convolve(x, w) * k, {0, 1, 2, 3}));
  auto g = ready(*transform::gradient(*b.g, {false, true, false}, false));
  loops::Program p = expect_passes_agree(*g, numbers_for(*g), 1e-4);
  std::vector<const For*> path;
  ASSERT_TRUE(loops_to_update(p.body, path));
  auto sum = std::find_if(path.begin(), path.end(), [](const For* f) { return f->reduction; });
  ASSERT_NE(sum, path.end());
  EXPECT_EQ((*sum)->kind, For::Kind::vector);  // the outermost loop of the sum
}

TEST(Folds, ArgmaxOfRowsIsOneNestOverLanes) {
  Builder b;
  Var x = b.input(DType::f32, {64, 9});
  auto r = call(
      "reduce",
      {x, primitives::iota(*b.g, 1, DType::i32, x.shape()), b.scalar(-INFINITY, DType::f32), b.scalar(0, DType::i32)},
      {{"dims", Ints{1}, true}, {"body", first_largest(DType::f32, DType::i32)}});
  b.output(r[0]);
  b.output(r[1]);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g));
  EXPECT_EQ(count<For>(p.body), 2);
  EXPECT_EQ(std::get<For>(p.body.at(0).is).kind, For::Kind::vector);
  EXPECT_EQ(largest_temporary(p), 0);
}

TEST(Folds, RunningReductionsAndOrder) {
  Builder b;
  Var x = b.input(DType::f64, {3, 4, 5}), start = b.input(DType::f64, {});
  auto digits =
      region({DType::f64, DType::f64}, [](const std::vector<Var>& v) { return std::vector<Var>{v[0] * 3.0 + v[1]}; });
  for (int64_t dim : {0, 1, 2}) b.output(call("cumulative", {x, start}, {{"dim", dim, true}, {"body", digits}})[0]);
  for (const Ints& dims : {Ints{0, 1, 2}, Ints{2, 0}, Ints{1}, Ints{}})
    b.output(call("reduce", {x * 2.0, start}, {{"dims", dims, true}, {"body", digits}})[0]);
  expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12);
}

// Expressions are walked recursively: a long region must not become one deep expression.
TEST(Folds, LongRegionsAreCutIntoNamedValues) {
  Builder b;
  Var x = b.input(DType::f64, {3, 2}), start = b.input(DType::f64, {});
  auto chain = region({DType::f64, DType::f64}, [](const std::vector<Var>& v) {
    Var y = v[1];
    for (int k = 0; k < 10000; ++k) y = y * 0.999 + 0.001;
    return std::vector<Var>{v[0] + y};
  });
  b.output(call("reduce", {x, start}, {{"dims", Ints{0}, true}, {"body", chain}})[0]);
  loops::Program p = expect_passes_agree(*b.g, numbers_for(*b.g), 1e-12);
  EXPECT_GT(count<loops::Let>(p.body), 300);
}

}  // namespace
}  // namespace anvil::test
