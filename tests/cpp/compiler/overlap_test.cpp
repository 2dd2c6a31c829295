// Sums over windows along memory: which steps are made together, and that each is made once.
#include "compiler/machine_code.h"
#include "compiler/stage_text.h"
#include "primitives/vocabulary/composite.h"

namespace anvil::test {
namespace {

using namespace primitives;

const compiler::Target wide{64, 32};

struct Filter {
  int64_t places, steps, results = 1, stride = 1, dilation = 1;
  bool backwards = false;
  DType dtype = DType::f64;
};
graph::GraphPtr filtered(const Filter& f) {
  Builder b;
  const std::vector<int64_t> zero = {0}, one = {1}, dims = {0, 1, 2};
  const int64_t reach = (f.places - 1) * f.stride + (f.steps - 1) * f.dilation + 1;
  Var x = b.input(f.dtype, {1, 1, reach}), w = b.input(f.dtype, {f.results, 1, f.steps});
  if (f.backwards) x = reverse(x, {2});
  b.output(record("convolution", {x, w},
                  {{"window_strides", std::vector<int64_t>{f.stride}},
                   {"padding_low", zero},
                   {"padding_high", zero},
                   {"lhs_dilation", one},
                   {"rhs_dilation", std::vector<int64_t>{f.dilation}},
                   {"reversed", std::vector<int64_t>{}, true},
                   {"input_dims", dims, true},
                   {"kernel_dims", dims, true},
                   {"output_dims", dims, true},
                   {"feature_group_count", int64_t(1)},
                   {"batch_group_count", int64_t(1)}}));
  return expand(*b.g, Reader::backend);
}
std::string text_of(const Filter& f) { return after(*filtered(f), "overlap", wide); }
bool shares(const Filter& f) { return text_of(f) != after(*filtered(f), "parallel", wide); }

TEST(Overlap, StepsAVectorApartAreMadeTogether) {
  const std::string text = text_of({4000, 50});
  for (const char* part : {" in 0..2 reduction {", " in 0..8 reduction {", " in 48..50 reduction {", " + 16], a1)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " " << text;
  EXPECT_EQ(text.find(" + 24], a1)"), std::string::npos) << text;
  const std::string one_block = text_of({8000, 16});
  EXPECT_EQ(one_block.find(" in 0..1 reduction"), std::string::npos) << one_block;
  EXPECT_NE(one_block.find(" + 8], a1)"), std::string::npos) << one_block;
  Filter floats{8000, 50};
  floats.dtype = DType::f32;
  EXPECT_NE(text_of(floats).find(" + 16], a1)"), std::string::npos) << text_of(floats);
}
TEST(Overlap, OthersStayAsTheyAre) {
  EXPECT_TRUE(shares({4000, 50}));
  EXPECT_FALSE(shares({8000, 15})) << "a window and a half";
  EXPECT_FALSE(shares({500, 50})) << "little work";
  EXPECT_FALSE(shares({24, 4000})) << "too few sums: each waits for itself";
  EXPECT_FALSE(shares({4000, 50, 1, 2})) << "places that are no vectors";
  EXPECT_FALSE(shares({4000, 50, 1, 1, 3})) << "steps that never are a vector apart";
}

TEST(Overlap, EveryLengthIsRight) {
  std::vector<Filter> filters;
  for (int64_t steps = 1; steps <= 100; steps += 3) filters.push_back({6000 + steps, steps});
  for (const int64_t places : {1, 7, 31, 64, 65, 4100}) filters.push_back({places, 37});
  for (const int64_t dilation : {2, 3, 4, 8, 16}) filters.push_back({4001, 40, 1, 1, dilation});
  filters.push_back({3001, 40, 3});
  filters.push_back({501, 1200});
  for (Filter f : filters)
    for (const DType t : {DType::f32, DType::f64})
      for (const bool backwards : {false, true}) {
        if (backwards && f.steps % 12 != 1) continue;
        f.dtype = t, f.backwards = backwards;
        const graph::GraphPtr g = filtered(f);
        const auto inputs = numbers_for(*g);
        const double tolerance = t == DType::f64 ? 1e-12 : 1e-4;
        if (f.steps % 20 == 10) expect_passes_agree(*g, inputs, tolerance, wide);
        expect_machine_code_right(*g, inputs, tolerance, llvm_backend::target());
      }
}
// No step touches what the filter does not reach.
TEST(Overlap, InfinitiesStayWhereTheyAre) {
  const graph::GraphPtr g = filtered({6000, 50});
  std::vector<Tensor> inputs = numbers_for(*g);
  for (const int64_t place : {0, 100, 6048}) inputs[0].as<double>()[place] = INFINITY;
  const std::vector<Tensor> got = run_compiled(*g, inputs, {1});
  for (int64_t i = 0; i < 6000; ++i) {
    const bool reached = i == 0 || (i <= 100 && 100 < i + 50) || i + 50 > 6048;
    EXPECT_EQ(std::isfinite(got[0].as<double>()[i]), !reached) << i;
  }
}

}  // namespace
}  // namespace anvil::test
