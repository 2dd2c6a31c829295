// convolution: windows of the input times a kernel, summed over the window and the features. It
// is the product dot_general(windows(pad(input)), kernel), with groups as batching dimensions;
// its derivatives are convolutions.
#include "primitives/families/convolution.h"

#include "primitives/families/families.h"
#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

void check_divides(const char* what, int64_t n, const char* count, int64_t groups) {
  if (n % groups != 0)
    throw Error("shape", std::string("The ") + what + " must be divisible by `" + count + "`.",
                {"x Got size " + std::to_string(n) + " and " + std::to_string(groups) + "."});
}

void check_parameters(const Convolution& c, int64_t rank) {
  check_permutation("input_dims", c.input, rank, "`input`");
  check_permutation("kernel_dims", c.kernel, rank, "`kernel`");
  check_permutation("output_dims", c.output, rank, "the result");
  for (auto [name, values] : {std::pair{"window_strides", &c.strides},
                              {"padding_low", &c.low},
                              {"padding_high", &c.high},
                              {"lhs_dilation", &c.input_dilation},
                              {"rhs_dilation", &c.kernel_dilation}}) {
    check_length(name, *values, rank - 2, "window");
    if (values != &c.low && values != &c.high) check_positive(name, *values);
  }
  check_axes("reversed", c.reversed, rank - 2, "the window");
  for (auto [name, count] : {std::pair{"feature_group_count", c.feature_groups}, {"batch_group_count", c.batch_groups}})
    if (count < 1)
      throw Error("argument", std::string("`") + name + "` must be positive.",
                  {"x Got " + std::to_string(count) + "."});
  if (c.feature_groups > 1 && c.batch_groups > 1)
    throw Error("argument", "`feature_group_count` and `batch_group_count` must not both be greater than 1.",
                {"x Got " + std::to_string(c.feature_groups) + " and " + std::to_string(c.batch_groups) + "."});
}

Types infer_convolution(const Types& t, const Params& params) {
  check_same_dtype("input", t[0], "kernel", t[1]);
  const Shape &x = t[0].shape, &w = t[1].shape;
  if (x.size() < 2 || x.size() != w.size())
    throw Error("shape", "`input` and `kernel` must have the same number of dimensions, at least 2.",
                {"x Got shapes " + in_parentheses(x) + " and " + in_parentheses(w) + "."});
  Convolution c(params);
  check_parameters(c, static_cast<int64_t>(x.size()));
  int64_t batch = at(x, c.input[0]), features = at(x, c.input[1]), results = at(w, c.kernel[0]);
  check_divides("batch dimension of `input`", batch, "batch_group_count", c.batch_groups);
  check_divides("feature dimension of `input`", features, "feature_group_count", c.feature_groups);
  check_divides("output feature dimension of `kernel`", results, "feature_group_count", c.feature_groups);
  check_divides("output feature dimension of `kernel`", results, "batch_group_count", c.batch_groups);
  if (features / c.feature_groups != at(w, c.kernel[1]))
    throw Error(
        "shape", "The input feature dimension of `kernel` must have the size of a group of features.",
        {"x Got " + std::to_string(at(w, c.kernel[1])) + ", but `input` has " + std::to_string(features) +
         " features in " + std::to_string(c.feature_groups) + (c.feature_groups == 1 ? " group." : " groups.")});
  for (size_t k = 0; k < c.spatial(); ++k)
    if (at(w, c.kernel[k + 2]) < 1)
      throw Error("shape", "The spatial dimensions of `kernel` must not be empty.",
                  {"x Got shape " + in_parentheses(w) + "."});
  return {{t[0].dtype, convolution_shape(x, w, c)}};
}

// The last dimension becomes part of `dim`: in each of its `groups` the slowest.
Var joined_to(Var x, int64_t dim, int64_t groups) {
  x = split(x, dim, groups);
  x = moved(x, static_cast<int64_t>(x.shape().size()) - 1, dim + 1);
  return merged(merged(x, dim), dim);
}
// ... and the last one again.
Var taken_out(Var x, int64_t dim, int64_t groups, int64_t size) {
  x = split(split(x, dim, groups), dim, size);
  return merged(moved(x, dim + 1, static_cast<int64_t>(x.shape().size()) - 1), dim);
}

// More inputs are a larger batch of the convolution, more kernels have more features; of pairs of inputs and
// kernels each is a group.
void batch_convolution(BatchStep& step) {
  Convolution c(step.call.params);
  Var x = operand(step, 0), w = operand(step, 1);
  if (!step.batched[1]) {
    const Var y = convolve(joined_to(x, c.input[0], c.batch_groups), w, c);
    return set(step, {taken_out(y, c.output[0], 1, step.size)});
  }
  const int64_t groups = step.batched[0] ? 1 : c.groups();
  if (step.batched[0]) {
    x = joined_to(x, c.batch_groups > 1 ? c.input[0] : c.input[1], 1);
    (c.batch_groups > 1 ? c.batch_groups : c.feature_groups) *= step.size;
  }
  const Var y = convolve(x, joined_to(w, c.kernel[0], groups), c);
  set(step, {taken_out(y, c.output[1], groups, step.size)});
}

}  // namespace

Shape convolution_shape(const Shape& x, const Shape& w, const Convolution& c) {
  Shape shape(x.size());
  at(shape, c.output[0]) = at(x, c.input[0]) / c.batch_groups;
  at(shape, c.output[1]) = at(w, c.kernel[0]);
  for (size_t k = 0; k < c.spatial(); ++k)
    at(shape, c.output[k + 2]) = window_count(at(x, c.input[k + 2]), c.window(k, w));
  return shape;
}

Var convolve(const Var& x, const Var& w, const Convolution& c) { return record("convolution", {x, w}, c.params()); }

void register_convolution(Registry& r) {
  Primitive p = make_primitive("contract", "convolution", {"input", "kernel"},
                               {{"window_strides", Kind::sizes},
                                {"padding_low", Kind::sizes},
                                {"padding_high", Kind::sizes},
                                {"lhs_dilation", Kind::sizes},
                                {"rhs_dilation", Kind::sizes},
                                {"reversed", Kind::axes},
                                {"input_dims", Kind::axes},
                                {"kernel_dims", Kind::axes},
                                {"output_dims", Kind::axes},
                                {"feature_group_count", Kind::integer},
                                {"batch_group_count", Kind::integer}});
  p.acts = Acts::contracts;
  p.bilinear = true;
  p.infer = infer_convolution;
  p.batch = batch_convolution;
  p.expand = expand_convolution;
  p.reverse = reverse_convolution;
  p.hlo = {"stablehlo.convolution", {}, special};
  r.add(std::move(p));
}

}  // namespace anvil::primitives
