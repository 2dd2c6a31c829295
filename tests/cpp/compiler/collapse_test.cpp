// Adjacent loops over memory that become one.
#include "compiler/graphs.h"
#include "primitives/vocabulary/composite.h"

namespace anvil::test {
namespace {

using namespace primitives;

Var convolved_rows(Var x, Var w, int64_t stride) {  // x: examples, rows, features
  const std::vector<int64_t> one = {1}, zero = {0}, dims = {0, 2, 1};
  return record("convolution", {x, w},
                {{"window_strides", std::vector<int64_t>{stride}},
                 {"padding_low", zero},
                 {"padding_high", zero},
                 {"lhs_dilation", one},
                 {"rhs_dilation", one},
                 {"reversed", std::vector<int64_t>{}, true},
                 {"input_dims", dims, true},
                 {"kernel_dims", dims, true},
                 {"output_dims", dims, true},
                 {"feature_group_count", int64_t(1)},
                 {"batch_group_count", int64_t(1)}});
}

// Examples and rows lie in memory as one dimension, which a window shifts by whole rows.
TEST(Collapse, LoopsThatAWindowShifts) {
  for (const int64_t stride : {1, 2}) {
    Builder b;
    Var x = b.input(DType::f32, {4, 20, 2}), w = b.input(DType::f32, {2, 3, 2});
    b.output(convolved_rows(x, w, stride));
    const graph::GraphPtr g = expand(*b.g, Reader::backend);
    std::string text;
    for (const compiler::Stage& s : compiler::stages(*g, {64, 32}))
      if (s.name == "collapse") text = s.text;
    EXPECT_EQ(text.find("x1'") != std::string::npos, stride == 1) << text;
    for (const compiler::Target& target : targets) expect_passes_agree(*g, numbers_for(*g), 1e-5, target);
  }
}

}  // namespace
}  // namespace anvil::test
