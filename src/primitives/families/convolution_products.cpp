// convolution as products: of windows of the input and the kernel, or of the elements of the input and all of the kernel.
#include <algorithm>

#include "primitives/families/convolution.h"
#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

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
  const Shape shape = convolution_shape(x.shape(), w.shape(), c);
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

}  // namespace

std::vector<ValuePtr> expand_convolution(graph::Graph& to, const graph::Call& call) {
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

}  // namespace anvil::primitives
