// The derivatives of a convolution, which are convolutions.
#include "primitives/families/convolution.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

// `groups` of a dimension become groups of another one.
Var move_groups(const Var& x, int64_t from, int64_t to, int64_t groups) {
  Var y = split(x, from, groups);
  Ints order;
  for (int64_t d = 0; d < static_cast<int64_t>(x.shape().size()); ++d) {
    order.push_back(d + (d > from));
    if (d == to) order.push_back(from + 1);
  }
  return merged(transpose(y, order), to);
}

// Each element of the input was multiplied by the kernel's elements in backward order: the
// cotangent, its elements `strides` apart, is convolved with the kernel from features to inputs.
Var input_cotangent(const Convolution& c, const Var& g, const Shape& x, Var w) {
  Convolution back = c;
  back.strides = c.input_dilation;
  back.input_dilation = c.strides;
  back.input = c.output;
  back.output = c.input;
  std::swap(back.kernel[0], back.kernel[1]);
  back.feature_groups = c.groups();
  back.batch_groups = 1;
  back.reversed = other_axes(c.spatial(), c.reversed);
  for (size_t k = 0; k < c.spatial(); ++k) {
    int64_t covered = dilated(at(w.shape(), c.kernel[k + 2]), c.kernel_dilation[k]);
    back.low[k] = covered - 1 - c.low[k];
    back.high[k] = dilated(at(x, c.input[k + 2]), c.input_dilation[k]) + covered - 1 -
                   dilated(at(g.shape(), c.output[k + 2]), c.strides[k]) - back.low[k];
  }
  if (c.groups() > 1) w = move_groups(w, c.kernel[0], c.kernel[1], c.groups());
  Var dx = convolve(g, w, back);
  return c.batch_groups > 1 ? move_groups(dx, c.input[1], c.input[0], c.batch_groups) : dx;
}

// The sum over the batch: the input's features as a batch, convolved with the cotangent.
Var kernel_cotangent(const Convolution& c, Var g, Var x, const Shape& w) {
  Convolution back = c;
  back.strides = c.kernel_dilation;
  back.kernel_dilation = c.strides;
  back.reversed = {};
  std::swap(back.input[0], back.input[1]);
  back.kernel = c.output;
  std::swap(back.kernel[0], back.kernel[1]);  // of the cotangent: features out, batch in
  back.output = c.kernel;
  std::swap(back.output[0], back.output[1]);  // of the kernel: inputs are the batch, outputs the features
  std::swap(back.feature_groups, back.batch_groups);
  for (size_t k = 0; k < c.spatial(); ++k)
    back.high[k] = dilated(at(w, c.kernel[k + 2]), c.kernel_dilation[k]) - 1 +
                   dilated(at(g.shape(), c.output[k + 2]), c.strides[k]) -
                   dilated(at(x.shape(), c.input[k + 2]), c.input_dilation[k]) - c.low[k];
  Var dw = convolve(x, g, back);
  Ints backwards;
  for (int64_t k : c.reversed) backwards.push_back(c.kernel[static_cast<size_t>(k) + 2]);
  return backwards.empty() ? dw : reverse(dw, backwards);
}

}  // namespace

void reverse_convolution(ReverseStep& step) {
  Var x = operand(step, 0), w = operand(step, 1), g = cotangent(step);
  if (elements(x.shape()) == 0 || elements(w.shape()) == 0 || elements(g.shape()) == 0) return;
  Convolution c(step.call.params);
  if (step.required[0]) set(step, 0, input_cotangent(c, g, x.shape(), w));
  if (step.required[1]) set(step, 1, kernel_cotangent(c, g, x, w.shape()));
}

}  // namespace anvil::primitives
