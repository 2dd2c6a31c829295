// convolution: windows of the input times a kernel, summed over the window and the features. It
// is the product dot_general(windows(pad(input)), kernel), with groups as batching dimensions;
// its derivatives are convolutions.
//
// input_dims and output_dims name the batch, the feature and then the spatial dimensions,
// kernel_dims the output feature, the input feature and then the spatial ones. `reversed` are
// spatial dimensions (numbered as such) in which the kernel runs backwards.
#include <algorithm>

#include "primitives/families/families.h"
#include "primitives/families/window.h"
#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

using graph::Call;
using graph::Graph;

struct Convolution {
  Ints strides, low, high, input_dilation, kernel_dilation, reversed, input, kernel, output;
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

int64_t& at(Shape& shape, int64_t dim) { return shape[static_cast<size_t>(dim)]; }
int64_t at(const Shape& shape, int64_t dim) { return shape[static_cast<size_t>(dim)]; }

// ---- types ------------------------------------------------------------------------------

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
  Shape shape(x.size());
  at(shape, c.output[0]) = batch / c.batch_groups;
  at(shape, c.output[1]) = results;
  for (size_t k = 0; k < c.spatial(); ++k) {
    WindowDimension d = c.window(k, w);
    if (d.size < 1)
      throw Error("shape", "The spatial dimensions of `kernel` must not be empty.",
                  {"x Got shape " + in_parentheses(w) + "."});
    at(shape, c.output[k + 2]) = window_count(at(x, c.input[k + 2]), d);
  }
  return {{t[0].dtype, shape}};
}

// ---- as a product -------------------------------------------------------------------------

// A dimension of `groups` runs of elements as two: the place in the run, and the run. merged() is the way back.
Var split(const Var& x, int64_t dim, int64_t groups) {
  Shape shape = x.shape();
  at(shape, dim) /= groups;
  shape.insert(shape.begin() + dim + 1, groups);
  return reshape(x, shape);
}
// Where dimensions are once `dim` is split.
Ints after_split(Ints dims, int64_t dim) {
  for (int64_t& d : dims) d += d > dim;
  return dims;
}

// Without reversed dimensions.
Var as_product(Var x, Var w, const Convolution& c) {
  auto rank = static_cast<int64_t>(x.shape().size());
  std::vector<WindowDimension> around(x.shape().size());
  Ints sizes;
  for (size_t k = 0; k < c.spatial(); ++k) {
    around[static_cast<size_t>(c.input[k + 2])] = c.window(k, w.shape());
    sizes.push_back(at(w.shape(), c.kernel[k + 2]));
  }
  x = padded(x, literal(*x.graph, 0, {x.dtype(), {}}), around);

  Ints input = c.input, kernel = c.kernel;
  Ints input_group, kernel_group;
  if (c.groups() > 1) {
    int64_t of_input = c.feature_groups > 1 ? c.input[1] : c.input[0], of_kernel = c.kernel[0];
    x = split(x, of_input, c.groups());
    w = split(w, of_kernel, c.groups());
    input = after_split(input, of_input);
    kernel = after_split(kernel, of_kernel);
    input_group = {of_input + 1};
    kernel_group = {of_kernel + 1};
    ++rank;
  }
  Ints window = Ints(input.begin() + 2, input.end());
  x = windows(x, window, sizes, c.strides, c.kernel_dilation);
  Ints contracted_x = {input[1]}, contracted_w = {kernel[1]};
  for (size_t k = 0; k < c.spatial(); ++k) {
    contracted_x.push_back(rank + static_cast<int64_t>(k));
    contracted_w.push_back(kernel[k + 2]);
  }
  Var y = dot_general(x, w, contracted_x, contracted_w, input_group, kernel_group);

  // the product has: groups, what is left of the input in its order, the output features
  Ints left = window;
  left.push_back(input[0]);
  std::sort(left.begin(), left.end());
  auto place = [&](int64_t dim) {
    return std::find(left.begin(), left.end(), dim) - left.begin() + static_cast<int64_t>(input_group.size());
  };
  std::vector<Ints> sources(c.output.size());
  sources[static_cast<size_t>(c.output[0])] = {place(input[0])};
  sources[static_cast<size_t>(c.output[1])] = {static_cast<int64_t>(y.shape().size()) - 1};
  if (c.groups() > 1) sources[static_cast<size_t>(c.output[1])].push_back(0);
  for (size_t k = 0; k < c.spatial(); ++k) sources[static_cast<size_t>(c.output[k + 2])] = {place(input[k + 2])};
  Ints order;
  for (const Ints& s : sources) order.insert(order.end(), s.begin(), s.end());
  if (!std::is_sorted(order.begin(), order.end())) y = transpose(y, order);
  return c.groups() > 1 ? merged(y, c.output[1]) : y;
}

// An input with b - 1 zeros between its elements: every b-th element of the result is a convolution of the input as it
// is, with every b-th element of the kernel, so that no zeros are multiplied. Result b q + f, for a kernel that starts
// `low` elements ahead, is the sum over u of kernel[t + b u] input[q + u + (f + t - low) / b], t = (low - f) mod b.
Var by_phases(const Var& x, const Var& w, Convolution c) {
  const auto interleaved = [&](size_t k) {
    return c.input_dilation[k] > 1 && c.strides[k] == 1 && c.kernel_dilation[k] == 1;
  };
  size_t k = 0;
  while (k < c.spatial() && !interleaved(k)) ++k;
  const Shape shape = infer_convolution({x.value->type, w.value->type}, c.params())[0].shape;
  if (k == c.spatial() || elements(x.shape()) == 0 || elements(shape) == 0) return as_product(x, w, c);
  const int64_t b = c.input_dilation[k], low = c.low[k], dim = c.output[k + 2], window = c.kernel[k + 2],
                n = at(x.shape(), c.input[k + 2]), size = at(w.shape(), window), results = at(shape, dim),
                each = (results + b - 1) / b;
  c.input_dilation[k] = 1;
  Shape one = shape;
  at(one, dim) = each;
  Shape apart = one;
  apart.insert(apart.begin() + dim, 1);
  Vars phases;
  for (int64_t f = 0; f < b; ++f) {
    const int64_t t = ((low - f) % b + b) % b;
    Var y = literal(*x.graph, 0, {x.dtype(), one});
    if (t < size) {
      Ints from(w.shape().size(), 0), steps(from.size(), 1);
      at(from, window) = t, at(steps, window) = b;
      const Var part = slice(w, from, w.shape(), steps);
      c.low[k] = -((f + t - low) / b);
      c.high[k] = each + at(part.shape(), window) - 1 - n - c.low[k];
      y = by_phases(x, part, c);
    }
    phases.push_back(reshape(y, apart));
  }
  const Var y = merged(concatenate(phases, dim), dim);
  return slice(y, Ints(shape.size(), 0), shape, Ints(shape.size(), 1));
}

// Whether most of what a kernel meets is padding, as where images start from one pixel, and in the derivative of a
// convolution by its input where the result was small: multiplying each element of the input by all of the kernel is
// less work then, and the products take no more memory than a few results, or little.
bool meets_padding(const Var& x, const Var& w, const Shape& result, const Convolution& c) {
  constexpr int64_t most_of_results = 4, little = 1 << 18;
  int64_t inputs = 1, outputs = 1, taps = 1, phases = 1;
  for (size_t k = 0; k < c.spatial(); ++k) {
    if (c.strides[k] != 1) return false;
    inputs *= at(x.shape(), c.input[k + 2]);
    outputs *= at(result, c.output[k + 2]);
    taps *= at(w.shape(), c.kernel[k + 2]);
    if (c.kernel_dilation[k] == 1) phases *= c.input_dilation[k];
  }
  const int64_t others = at(result, c.output[0]) * at(result, c.output[1]);
  return 2 * inputs * phases <= outputs &&
         (inputs * taps <= most_of_results * outputs || inputs * taps * others <= little);
}
// Element j of the input and place t of the kernel, from its end, meet in element j * input_dilation + t *
// kernel_dilation of the result, but for the padding: windows over the result, one for each element of the input.
Var by_inputs(const Var& x, const Var& w, const Shape& result, const Convolution& c) {
  const size_t spatial = c.spatial();
  const int64_t features = c.output[1];
  const Ints window(c.kernel.begin() + 2, c.kernel.end()), places(c.output.begin() + 2, c.output.end());
  Shape covered = result;
  Ints sizes;
  std::vector<WindowDimension> around(result.size());
  for (size_t k = 0; k < spatial; ++k) {
    sizes.push_back(at(w.shape(), window[k]));
    int64_t& n = at(covered, places[k]);
    const int64_t tail = (sizes[k] - 1) * c.kernel_dilation[k];
    n = dilated(at(x.shape(), c.input[k + 2]), c.input_dilation[k]) + tail;
    WindowDimension& d = around[static_cast<size_t>(places[k])];
    d.low = c.low[k] - tail;
    d.high = at(result, places[k]) - n - d.low;
  }
  // the kernel's places become features, ahead of those that it has; input features stay where they lie, which is faster
  const bool inputs_first = c.kernel[1] < c.kernel[0];
  Ints order = window;
  order.push_back(c.kernel[0]);
  order.insert(inputs_first ? order.begin() : order.end(), c.kernel[1]);
  Convolution of_each = c;
  of_each.low = of_each.high = Ints(spatial, 0);
  of_each.input_dilation = of_each.kernel_dilation = Ints(spatial, 1);
  of_each.kernel = all_axes(order.size());
  if (inputs_first) std::swap(of_each.kernel[0], of_each.kernel[1]);
  Shape kernel(order.size(), 1);
  at(kernel, of_each.kernel[0]) = elements(sizes) * at(w.shape(), c.kernel[0]);
  at(kernel, of_each.kernel[1]) = at(w.shape(), c.kernel[1]);
  Var y = as_product(x, reshape(transpose(reverse(w, window), order), kernel), of_each);

  Shape apart = y.shape();
  at(apart, features) = at(result, features);
  apart.insert(apart.begin() + features, sizes.begin(), sizes.end());
  y = reshape(y, apart);
  for (size_t k = 0; k < spatial; ++k) y = moved(y, features, static_cast<int64_t>(apart.size()) - 1);
  y = from_windows(y, places, c.input_dilation, c.kernel_dilation, covered);
  return padded(y, literal(*x.graph, 0, {x.dtype(), {}}), around);
}

std::vector<ValuePtr> expand_convolution(Graph& to, const Call& call) {
  Var x{&to, call.inputs[0]}, w{&to, call.inputs[1]};
  Convolution c(call.params);
  Ints backwards;
  for (int64_t k : c.reversed) backwards.push_back(c.kernel[static_cast<size_t>(k) + 2]);
  if (!backwards.empty()) w = reverse(w, backwards);
  c.reversed = {};
  const Shape& result = call.outputs[0]->type.shape;
  const bool by_input = elements(x.shape()) > 0 && elements(result) > 0 && meets_padding(x, w, result, c);
  return {(by_input ? by_inputs(x, w, result, c) : by_phases(x, w, c)).value};
}

// ---- derivatives ----------------------------------------------------------------------------

Var convolve(const Var& x, const Var& w, const Convolution& c) { return record("convolution", {x, w}, c.params()); }

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

void reverse_convolution(ReverseStep& step) {
  Var x = operand(step, 0), w = operand(step, 1), g = cotangent(step);
  if (elements(x.shape()) == 0 || elements(w.shape()) == 0 || elements(g.shape()) == 0) return;
  Convolution c(step.call.params);
  if (step.required[0]) set(step, 0, input_cotangent(c, g, x.shape(), w));
  if (step.required[1]) set(step, 1, kernel_cotangent(c, g, x, w.shape()));
}

// ---- batches ----------------------------------------------------------------------------------

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
