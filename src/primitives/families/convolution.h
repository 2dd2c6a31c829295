// The parameters of a convolution, and what its files share.
#pragma once
#include "primitives/families/window.h"

namespace anvil::primitives {

// `input` and `output` name the batch, the feature and then the spatial dimensions, `kernel` the output feature, the
// input feature and then the spatial ones. `reversed` are spatial dimensions (numbered as such) in which the kernel runs
// backwards.
struct Convolution {
  std::vector<int64_t> strides, low, high, input_dilation, kernel_dilation, reversed, input, kernel, output;
  int64_t feature_groups, batch_groups;

  explicit Convolution(const Params& p)
      : strides(p.ints("window_strides")),
        low(p.ints("padding_low")),
        high(p.ints("padding_high")),
        input_dilation(p.ints("lhs_dilation")),
        kernel_dilation(p.ints("rhs_dilation")),
        reversed(p.ints("reversed")),
        input(p.ints("input_dims")),
        kernel(p.ints("kernel_dims")),
        output(p.ints("output_dims")),
        feature_groups(p.integer("feature_group_count")),
        batch_groups(p.integer("batch_group_count")) {}
  Params params() const {
    return {{"window_strides", strides},
            {"padding_low", low},
            {"padding_high", high},
            {"lhs_dilation", input_dilation},
            {"rhs_dilation", kernel_dilation},
            {"reversed", reversed, true},
            {"input_dims", input, true},
            {"kernel_dims", kernel, true},
            {"output_dims", output, true},
            {"feature_group_count", feature_groups},
            {"batch_group_count", batch_groups}};
  }
  size_t spatial() const { return strides.size(); }
  int64_t groups() const { return feature_groups * batch_groups; }
  WindowDimension window(size_t k, const Shape& kernel_shape) const {
    return {kernel_shape[static_cast<size_t>(kernel[k + 2])],
            strides[k],
            kernel_dilation[k],
            input_dilation[k],
            low[k],
            high[k]};
  }
};

inline int64_t& at(Shape& shape, int64_t dim) { return shape[static_cast<size_t>(dim)]; }
inline int64_t at(const Shape& shape, int64_t dim) { return shape[static_cast<size_t>(dim)]; }

Shape convolution_shape(const Shape& input, const Shape& kernel, const Convolution&);  // of the result
Var convolve(const Var& input, const Var& kernel, const Convolution&);                 // the primitive

std::vector<ValuePtr> expand_convolution(graph::Graph& to, const graph::Call&);
void reverse_convolution(ReverseStep&);

}  // namespace anvil::primitives
