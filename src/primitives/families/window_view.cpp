// The view of all windows over a tensor, `windows`: result[o.., w..] = x[o * stride + w *
// dilation], and its adjoint, `sum_windows`, which adds to every element all that it was in.
#include <algorithm>

#include "primitives/families/families.h"
#include "primitives/families/window.h"
#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {

using graph::Call;
using graph::Graph;

// ---- what a window covers -----------------------------------------------------------------

int64_t dilated(int64_t n, int64_t by) { return n <= 0 ? 0 : (n - 1) * by + 1; }

void check_positive(const char* what, const Ints& values) {
  for (size_t d = 0; d < values.size(); ++d)
    if (values[d] < 1)
      throw Error("argument", "`" + std::string(what) + "` must be positive.",
                  {"x Got " + std::to_string(values[d]) + " in dimension " + std::to_string(d + 1) + "."});
}

int64_t window_count(int64_t n, const WindowDimension& w) {
  __extension__ using Wide = __int128;
  Wide covered = static_cast<Wide>(w.size - 1) * w.dilation + 1;
  Wide base = n <= 0 ? 0 : static_cast<Wide>(n - 1) * w.base_dilation + 1;
  Wide padded = base + w.low + w.high;
  if (padded < 0)
    throw Error("shape", "Negative padding must not crop more than there is.",
                {"x A dimension of size " + std::to_string(n) + " is padded by " + std::to_string(w.low) + " and " +
                 std::to_string(w.high) + "."});
  constexpr int64_t most = int64_t(1) << 60;  // so that sums of these have room
  if (padded > most || covered > most || std::max(w.low, w.high) > most || std::min(w.low, w.high) < -most)
    throw Error("shape", "A dimension that windows slide over is too large.", {"x Sizes and paddings go up to 2^60."});
  return covered > padded ? 0 : static_cast<int64_t>((padded - covered) / w.stride + 1);
}

Var padded(const Var& x, const Var& value, const std::vector<WindowDimension>& w) {
  Ints low, high, interior;
  for (const WindowDimension& d : w) {
    low.push_back(d.low);
    high.push_back(d.high);
    interior.push_back(d.base_dilation - 1);
  }
  Ints none(w.size(), 0);
  return low == none && high == none && interior == none ? x : pad(x, value, low, high, interior);
}

Var split(const Var& x, int64_t dim, int64_t groups) {
  Shape shape = x.shape();
  shape[static_cast<size_t>(dim)] /= groups;
  shape.insert(shape.begin() + dim + 1, groups);
  return reshape(x, shape);
}
Var merged(const Var& x, int64_t dim) {
  Shape shape = x.shape();
  shape[static_cast<size_t>(dim)] *= shape[static_cast<size_t>(dim) + 1];
  shape.erase(shape.begin() + dim + 1);
  return reshape(x, shape);
}

// ---- windows and sum_windows ----------------------------------------------------------------

Var windows(const Var& x, Ints dims, Ints sizes, Ints strides, Ints dilations) {
  return record("windows", {x},
                {{"dims", std::move(dims), true},
                 {"sizes", std::move(sizes)},
                 {"strides", std::move(strides)},
                 {"dilations", std::move(dilations)}});
}
Var sum_windows(const Var& x, Ints dims, Ints dilations) {
  return record("sum_windows", {x}, {{"dims", std::move(dims), true}, {"dilations", std::move(dilations)}});
}

namespace {

// `dim` in another size, with zeros between and after its elements, or cropped.
Var resized(const Var& x, int64_t dim, int64_t low, int64_t interior, int64_t size) {
  const auto d = static_cast<size_t>(dim);
  Ints before(x.shape().size(), 0), after = before, between = before;
  before[d] = low;
  between[d] = interior;
  after[d] = size - low - dilated(x.shape()[d], interior + 1);
  if (low == 0 && interior == 0 && after[d] == 0) return x;
  return pad(x, literal(*x.graph, 0, {x.dtype(), {}}), before, after, between);
}
Var exchanged(const Var& x, int64_t a, int64_t b) {
  Ints order = all_axes(x.shape().size());
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  return transpose(x, order);
}

// The same in one dimension: of x, `dim` counts windows, and the last dimension is of the places in each, which goes.
// Place w = r + stride q of window o is element r + stride (o + q): the sums over q for all r come side by side, so
// that no zeros are added for what the stride leaves out, and of windows that do not meet nothing is summed.
Var from_windows(Var x, int64_t dim, int64_t stride, int64_t dilation, int64_t n) {
  const auto d = static_cast<size_t>(dim);
  const auto last = static_cast<int64_t>(x.shape().size()) - 1;
  const int64_t count = x.shape()[d], size = x.shape().back();
  if (count == 1) return resized(merged(moved(x, last, dim), dim), dim, 0, dilation - 1, n);
  if (dilation > 1) {
    const int64_t low = (size - 1) * dilation;
    return sum_windows(resized(x, dim, low, stride - 1, n + low), {dim}, {dilation});
  }
  const int64_t together = (size + stride - 1) / stride;  // windows that an element can be in
  x = resized(x, last, 0, 0, stride * together);
  Shape apart = x.shape();
  apart.back() = stride;
  apart.push_back(together);
  x = reshape(x, apart);
  if (together > count) x = exchanged(x, dim, last + 1);  // o + q: whichever of the two has fewer is summed
  const int64_t few = std::min(together, count) - 1;
  x = sum_windows(resized(x, dim, few, 0, count + together - 1 + few), {dim}, {1});
  return resized(merged(moved(x, last, dim), dim), dim, 0, 0, n);
}

}  // namespace

Var from_windows(Var x, const Ints& dims, const Ints& strides, const Ints& dilations, const Shape& shape) {
  if (elements(x.shape()) == 0) return literal(*x.graph, 0, {x.dtype(), shape});
  for (size_t k = dims.size(); k-- > 0;)  // the last dimension is the window's
    x = from_windows(x, dims[k], strides[k], dilations[k], shape[static_cast<size_t>(dims[k])]);
  return x;
}

namespace {

Types infer_windows(const Types& t, const Params& params) {
  const Ints &dims = params.ints("dims"), &sizes = params.ints("sizes");
  check_axes("dims", dims, static_cast<int64_t>(t[0].shape.size()));
  for (const char* what : {"sizes", "strides", "dilations"}) {
    check_length(what, params.ints(what), static_cast<int64_t>(dims.size()), "dims");
    check_positive(what, params.ints(what));
  }
  TensorType result{t[0].dtype, t[0].shape, t[0].ambiguous};
  for (size_t k = 0; k < dims.size(); ++k) {
    int64_t& n = result.shape[static_cast<size_t>(dims[k])];
    n = window_count(n, {sizes[k], params.ints("strides")[k], params.ints("dilations")[k]});
  }
  result.shape.insert(result.shape.end(), sizes.begin(), sizes.end());
  return {result};
}

void lower_windows(Lowering& l, const Call& c) {
  ValuePtr x = c.inputs[0];
  l.map(c.outputs[0], [&l, x, dims = c.params.ints("dims"), strides = c.params.ints("strides"),
                       dilations = c.params.ints("dilations")](const Index& i) {
    size_t rank = x->type.shape.size();
    Index at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(rank));
    for (size_t k = 0; k < dims.size(); ++k) {
      Affine& d = at[static_cast<size_t>(dims[k])];
      d = d * strides[k] + i[rank + k] * dilations[k];
    }
    return l.load(x, at);
  });
}

// Every element takes the sum over the windows that it was in.
void reverse_windows(ReverseStep& step) {
  const Params& p = step.call.params;
  set(step, 0,
      from_windows(cotangent(step), p.ints("dims"), p.ints("strides"), p.ints("dilations"), operand(step, 0).shape()));
}

// One dimension after the other: a slice for each place in the window, side by side.
std::vector<ValuePtr> expand_windows(Graph& to, const Call& c) {
  Var x{&to, c.inputs[0]};
  const Ints &dims = c.params.ints("dims"), &sizes = c.params.ints("sizes");
  for (size_t k = 0; k < dims.size(); ++k) {
    auto d = static_cast<size_t>(dims[k]);
    size_t rank = x.shape().size();
    int64_t stride = c.params.ints("strides")[k], count = c.outputs[0]->type.shape[d];
    Shape one = x.shape();
    one[d] = count;
    one.push_back(1);
    Vars places;
    for (int64_t w = 0; w < sizes[k]; ++w) {
      Ints start(rank, 0), limit = x.shape(), step(rank, 1);
      start[d] = count == 0 ? 0 : w * c.params.ints("dilations")[k];
      limit[d] = start[d] + dilated(count, stride);
      step[d] = stride;
      places.push_back(reshape(slice(x, start, limit, step), one));
    }
    x = places.size() == 1 ? places[0] : concatenate(places, static_cast<int64_t>(rank));
  }
  return {x.value};
}

// ---- sum_windows: result[p..] = sum over w of x[p + (size - 1 - w) * dilation.., w..] -------

size_t rank_of(const Params& params, const Shape& shape) { return shape.size() - params.ints("dims").size(); }

Types infer_sum_windows(const Types& t, const Params& params) {
  const Ints &dims = params.ints("dims"), &dilations = params.ints("dilations");
  if (dims.size() > t[0].shape.size())
    throw Error("shape", "`operand` must have a last dimension for each of `dims`.",
                {"x Got shape " + in_parentheses(t[0].shape) + "."});
  size_t rank = rank_of(params, t[0].shape);
  check_axes("dims", dims, static_cast<int64_t>(rank));
  check_length("dilations", dilations, static_cast<int64_t>(dims.size()), "dims");
  check_positive("dilations", dilations);
  TensorType result{t[0].dtype, {t[0].shape.begin(), t[0].shape.begin() + static_cast<std::ptrdiff_t>(rank)}};
  for (size_t k = 0; k < dims.size(); ++k) {
    int64_t& n = result.shape[static_cast<size_t>(dims[k])];
    auto d = static_cast<size_t>(dims[k]);
    n = add_sizes(n, -multiply_sizes(std::max<int64_t>(t[0].shape[rank + k], 1) - 1, dilations[k], d), d);
    if (n < 0)
      throw Error("shape", "`operand` is shorter than its windows.",
                  {"x Dimension " + std::to_string(dims[k] + 1) + " lacks " + std::to_string(-n) + " elements."});
  }
  return {result};
}

void lower_sum_windows(Lowering& l, const Call& c) {
  ValuePtr x = c.inputs[0];
  const Ints &dims = c.params.ints("dims"), &dilations = c.params.ints("dilations");
  size_t rank = rank_of(c.params, x->type.shape);
  Shape sizes(x->type.shape.begin() + static_cast<std::ptrdiff_t>(rank), x->type.shape.end());
  l.reduce(c.outputs[0], sizes, is_bool(x->type.dtype) ? loops::Op::bit_or : loops::Op::add, 0,
           [&](const Index& o, const Index& w) {
             Index at = o;
             for (size_t k = 0; k < dims.size(); ++k) {
               Affine& d = at[static_cast<size_t>(dims[k])];
               d = d + w[k] * -dilations[k] + (sizes[k] - 1) * dilations[k];
             }
             at.insert(at.end(), w.begin(), w.end());
             return l.load(x, at);
           });
}

void reverse_sum_windows(ReverseStep& step) {
  const Ints &dims = step.call.params.ints("dims"), &dilations = step.call.params.ints("dilations");
  const Shape& from = operand(step, 0).shape();
  Var g = cotangent(step);
  Ints border(g.shape().size(), 0), sizes, ones(dims.size(), 1);
  for (size_t k = 0; k < dims.size(); ++k) {
    sizes.push_back(from[g.shape().size() + k]);
    border[static_cast<size_t>(dims[k])] = (std::max<int64_t>(sizes[k], 1) - 1) * dilations[k];
  }
  if (elements(sizes) == 0) return;
  Var zero = literal(step.graph, 0, {g.dtype(), {}});
  Var wide = pad(g, zero, border, border, Ints(border.size(), 0));
  set(step, 0, windows(wide, dims, sizes, ones, dilations));
}

std::vector<ValuePtr> expand_sum_windows(Graph& to, const Call& c) {
  Var x{&to, c.inputs[0]};
  const Ints& dims = c.params.ints("dims");
  for (size_t k = dims.size(); k-- > 0;) {  // the last dimension is the window's
    auto d = static_cast<size_t>(dims[k]);
    size_t last = x.shape().size() - 1;
    int64_t size = x.shape()[last], dilation = c.params.ints("dilations")[k], kept = c.outputs[0]->type.shape[d];
    Var total;
    for (int64_t w = 0; w < size; ++w) {
      Ints start(last + 1, 0), limit = x.shape();
      start[d] = (size - 1 - w) * dilation;
      limit[d] = start[d] + kept;
      start[last] = w;
      limit[last] = w + 1;
      Var part = slice(x, start, limit, Ints(last + 1, 1));
      total = w == 0 ? part : total + part;
    }
    Shape shape(x.shape().begin(), x.shape().end() - 1);
    shape[d] = kept;
    x = size == 0 ? literal(to, 0, {x.dtype(), shape}) : reshape(total, shape);
  }
  return {x.value};
}

// ---- the windows' dimensions stay last --------------------------------------------------------

void batch_windows(BatchStep& step) {
  const Var y = record("windows", {operand(step, 0)}, step.call.params);
  set(step, {moved(y, rank(step, 0), static_cast<int64_t>(y.shape().size()) - 1)});
}
void batch_sum_windows(BatchStep& step) {
  const auto rank_of_sums = static_cast<int64_t>(step.call.outputs[0]->type.shape.size());
  set(step, {record("sum_windows", {moved(operand(step, 0), rank(step, 0), rank_of_sums)}, step.call.params)});
}

}  // namespace

void register_window_views(Registry& r) {
  Primitive p = make_primitive(
      "window", "windows", {"operand"},
      {{"dims", Kind::axes}, {"sizes", Kind::sizes}, {"strides", Kind::sizes}, {"dilations", Kind::sizes}});
  p.acts = Acts::moves;
  p.linear = Operands::all();
  p.batch = batch_windows;
  p.infer = infer_windows;
  p.lower = lower_windows;
  p.reverse = reverse_windows;
  p.expand = expand_windows;
  r.add(std::move(p));

  p = make_primitive("window", "sum_windows", {"operand"}, {{"dims", Kind::axes}, {"dilations", Kind::sizes}});
  p.acts = Acts::reduces;
  p.linear = Operands::all();
  p.batch = batch_sum_windows;
  p.infer = infer_sum_windows;
  p.lower = lower_sum_windows;
  p.reverse = reverse_sum_windows;
  p.expand = expand_sum_windows;
  r.add(std::move(p));
}

}  // namespace anvil::primitives
