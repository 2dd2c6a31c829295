// Layers of convolutions of images, for tests and benchmarks: examples, features, rows, columns.
#pragma once
#include <vector>

#include "primitives/vocabulary/var.h"

namespace anvil::test {

struct Layer {
  int64_t batch, features, size, results, window, groups = 1, stride = 1;
  Shape input() const { return {batch, features, size, size}; }
  Shape kernel() const { return {results, features / groups, window, window}; }
};

inline primitives::Var convolved(const Layer& l, primitives::Var x, primitives::Var w) {
  const std::vector<int64_t> ones = {1, 1}, zeros = {0, 0}, strides = {l.stride, l.stride}, dims = {0, 1, 2, 3};
  return primitives::record("convolution", {x, w},
                            {{"window_strides", strides},
                             {"padding_low", zeros},
                             {"padding_high", zeros},
                             {"lhs_dilation", ones},
                             {"rhs_dilation", ones},
                             {"reversed", std::vector<int64_t>{}, true},
                             {"input_dims", dims, true},
                             {"kernel_dims", dims, true},
                             {"output_dims", dims, true},
                             {"feature_group_count", l.groups},
                             {"batch_group_count", int64_t(1)}});
}

}  // namespace anvil::test
