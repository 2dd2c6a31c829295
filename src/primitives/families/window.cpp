// reduce_window and select_and_scatter, StableHLO's operators on windows, as reductions over the
// window's dimensions of the view of all windows.
#include "primitives/families/window.h"
#include "primitives/families/families.h"

#include <algorithm>

#include "primitives/families/fold.h"
#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/region.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

using graph::Call;
using graph::Graph;
using graph::GraphPtr;

// ---- reduce_window ------------------------------------------------------------------------

std::vector<WindowDimension> window_dimensions(const char* primitive, const Params& params, const Shape& shape) {
  auto rank = static_cast<int64_t>(shape.size());
  bool dilations = params.find("window_dilations") != nullptr;
  std::vector<const char*> positive = {"window_dimensions", "window_strides"};
  if (dilations) positive.insert(positive.end(), {"base_dilations", "window_dilations"});
  for (const char* what : positive) {
    check_length(what, params.ints(what), rank, primitive);
    check_positive(what, params.ints(what));
  }
  for (const char* what : {"padding_low", "padding_high"}) check_length(what, params.ints(what), rank, primitive);
  std::vector<WindowDimension> list;
  for (size_t d = 0; d < shape.size(); ++d)
    list.push_back({params.ints("window_dimensions")[d], params.ints("window_strides")[d],
                    dilations ? params.ints("window_dilations")[d] : 1,
                    dilations ? params.ints("base_dilations")[d] : 1, params.ints("padding_low")[d],
                    params.ints("padding_high")[d]});
  return list;
}

// Windows over the dimensions in which they do not just pass by.
struct Slide {
  Ints dims, sizes, strides, dilations;
  explicit Slide(const std::vector<WindowDimension>& list) {
    for (size_t d = 0; d < list.size(); ++d) {
      if (list[d].size == 1 && list[d].stride == 1) continue;
      dims.push_back(static_cast<int64_t>(d));
      sizes.push_back(list[d].size);
      strides.push_back(list[d].stride);
      dilations.push_back(list[d].dilation);
    }
  }
  Var over(const Var& x) const { return dims.empty() ? x : windows(x, dims, sizes, strides, dilations); }
  // The window's dimensions in over(x).
  Ints places(size_t rank) const {
    Ints p = all_axes(dims.size());
    for (int64_t& d : p) d += static_cast<int64_t>(rank);
    return p;
  }
};

Types infer_reduce_window(const Types& t, const Params& params) {
  size_t n = check_fold("reduce_window", t, *params.graph("body"));
  auto list = window_dimensions("reduce_window", params, t[0].shape);
  Shape shape;
  for (size_t d = 0; d < list.size(); ++d) shape.push_back(window_count(t[0].shape[d], list[d]));
  Types results;
  for (size_t k = 0; k < n; ++k) results.push_back({t[k].dtype, shape});
  return results;
}

std::vector<ValuePtr> expand_reduce_window(Graph& to, const Call& c) {
  size_t n = c.outputs.size(), rank = c.outputs[0]->type.shape.size();
  auto list = window_dimensions("reduce_window", c.params, c.inputs[0]->type.shape);
  Slide slide(list);
  Vars operands, initial;
  for (size_t k = 0; k < n; ++k) {
    initial.push_back({&to, c.inputs[n + k]});
    operands.push_back(slide.over(padded({&to, c.inputs[k]}, initial[k], list)));
  }
  return values(fold(operands, initial, slide.places(rank), c.params.graph("body")));
}

// Sums flow back through windows of their own, from the elements' side.
bool reverses_reduce_window(const Call& c) {
  return c.outputs.size() == 1 && known(c.inputs[1]) && single_operation(*c.params.graph("body")) == loops::Op::add;
}

Var sums_back(const Call& c, const Var& g, const Var& x) {
  Params p = c.params;
  auto list = window_dimensions("reduce_window", c.params, x.shape());
  Ints low, high;
  for (size_t d = 0; d < list.size(); ++d) {
    const WindowDimension& w = list[d];
    int64_t covered = dilated(w.size, w.dilation);
    low.push_back(covered - 1 - w.low);
    high.push_back(dilated(x.shape()[d], w.base_dilation) + covered - 1 - dilated(g.shape()[d], w.stride) - low[d]);
  }
  std::vector<std::pair<const char*, Ints>> changed = {{"window_strides", p.ints("base_dilations")},
                                                       {"base_dilations", p.ints("window_strides")},
                                                       {"padding_low", low},
                                                       {"padding_high", high}};
  for (auto& [name, value] : changed)
    for (graph::Param& item : p.items)
      if (item.name == name) item.value = value;
  return record("reduce_window", {g, literal(*g.graph, 0, {g.dtype(), {}})}, p);
}

void reverse_reduce_window(ReverseStep& step) {
  const Call& c = step.call;
  if (!reverses_reduce_window(c))
    throw Error("gradient", "The derivative of this `reduce_window` is that of its expansion.");
  Var g = cotangent(step);
  if (elements(g.shape()) > 0) set(step, 0, sums_back(c, g, operand(step, 0)));
}

// ---- select_and_scatter -------------------------------------------------------------------

Types infer_select_and_scatter(const Types& t, const Params& params) {
  check_same_dtype("operand", t[0], "source", t[1]);
  check_same_dtype("operand", t[0], "initial", t[2]);
  check_has_shape("initial", t[2], {});
  auto list = window_dimensions("select_and_scatter", params, t[0].shape);
  Shape windows;
  for (size_t d = 0; d < list.size(); ++d) windows.push_back(window_count(t[0].shape[d], list[d]));
  check_has_shape("source", t[1], windows);
  TensorType scalar{t[0].dtype, {}};
  check_region("select_and_scatter", *params.graph("select"), {scalar, scalar}, {{DType::boolean, {}}});
  check_region("select_and_scatter", *params.graph("scatter"), {scalar, scalar}, {scalar});
  return {{t[0].dtype, t[0].shape}};
}

Var applied(Graph& to, const GraphPtr& g, const Var& a, const Var& b) { return inlined(*g, {a, b}, to).at(0); }

// (value, number) of the element that is selected of two; -1 is no element.
GraphPtr selection(const GraphPtr& selects, DType value, DType number) {
  return inner_graph({{value, {}}, {number, {}}, {value, {}}, {number, {}}}, [&](Graph& g, const Vars& x) {
    Var keep = (x[3] < 0.0) | ((x[1] >= 0.0) & applied(g, selects, x[0], x[2]));
    return Vars{select(keep, x[0], x[2]), select(keep, x[1], x[3])};
  });
}
// (is there one, value) joined with another.
GraphPtr joining(const GraphPtr& scatters, DType value) {
  TensorType flag{DType::boolean, {}}, scalar{value, {}};
  return inner_graph({flag, scalar, flag, scalar}, [&](Graph& g, const Vars& x) {
    Var both = applied(g, scatters, x[1], x[3]);
    return Vars{x[0] | x[2], select(x[2], select(x[0], both, x[3]), x[1])};
  });
}

// Every window selects an element, by its number; every element then looks at all windows that
// it is in: the window w places back starts at (p + low - w), where windows start at multiples
// of the stride.
std::vector<ValuePtr> expand_select_and_scatter(Graph& to, const Call& c) {
  Var x{&to, c.inputs[0]}, source{&to, c.inputs[1]}, initial{&to, c.inputs[2]};
  const GraphPtr& scatters = c.params.graph("scatter");
  auto list = window_dimensions("select_and_scatter", c.params, x.shape());
  size_t rank = x.shape().size();
  DType t = x.dtype(), count = elements(x.shape()) < (int64_t(1) << 31) ? DType::i32 : DType::i64;
  auto scalar = [&](Scalar value, DType dtype) { return literal(to, value, {dtype, {}}); };

  // numbers along the dimensions in which windows move; the same in the others
  Shape numbered(rank, 1);
  for (size_t d = 0; d < rank; ++d) {
    const WindowDimension& w = list[d];
    if (w.size != 1 || w.stride != 1 || w.low != 0 || w.high != 0) numbered[d] = x.shape()[d];
  }
  Var number = literal(to, 0, {count, numbered});
  for (size_t d = 0, step = 1; d < rank; step *= static_cast<size_t>(numbered[d++]))
    if (numbered[d] != 1)
      number = number + iota(to, static_cast<int64_t>(d), count, numbered) * static_cast<double>(step);
  Slide slide(list);
  Vars offered = {slide.over(padded(x, scalar(0, t), list)), slide.over(padded(number, scalar(-1, count), list))};
  const Shape& window_shape = offered[0].shape();
  offered[1] = broadcast_in_dim(offered[1], window_shape, all_axes(window_shape.size()));
  Var selected = fold(offered, {scalar(0, t), scalar(-1, count)}, slide.places(rank),
                      selection(c.params.graph("select"), t, count))[1];

  std::vector<WindowDimension> back = list;
  for (size_t d = 0; d < rank; ++d) {
    back[d].base_dilation = list[d].stride;
    back[d].low = list[d].size - 1 - list[d].low;
    back[d].high = x.shape()[d] + list[d].size - 1 - back[d].low - dilated(source.shape()[d], list[d].stride);
    back[d].stride = 1;
  }
  Slide around(back);
  Var places = around.over(padded(selected, scalar(-1, count), back)),
      values = around.over(padded(source, scalar(0, t), back));
  Var hit = places == broadcast_in_dim(number, places.shape(), all_axes(rank));
  Ints dims = around.places(rank);
  if (const Monoid* m = monoid_of(*scatters, t))
    return {fold({select(hit, values, literal(values, neutral(*m, t)))}, {initial}, dims, scatters)[0].value};
  return {fold({hit, values}, {scalar(true, DType::boolean), initial}, dims, joining(scatters, t))[1].value};
}

}  // namespace

void register_window(Registry& r) {
  register_window_views(r);
  Primitive p = make_primitive("window", "reduce_window", {"..."},
                               {{"window_dimensions", Kind::sizes, false, 1},
                                {"window_strides", Kind::sizes, false, 1},
                                {"base_dilations", Kind::sizes, false, 1},
                                {"window_dilations", Kind::sizes, false, 1},
                                {"padding_low", Kind::sizes, false, 0},
                                {"padding_high", Kind::sizes, false, 0},
                                {"body", Kind::graph}});
  p.batch = batch_fold;
  p.infer = infer_reduce_window;
  p.expand = expand_reduce_window;
  p.reverse = reverse_reduce_window;
  p.reverses = reverses_reduce_window;
  p.hlo = {"stablehlo.reduce_window", {}, special};
  r.add(std::move(p));

  p = make_primitive("window", "select_and_scatter", {"operand", "source", "initial"},
                     {{"window_dimensions", Kind::sizes, false, 1},
                      {"window_strides", Kind::sizes, false, 1},
                      {"padding_low", Kind::sizes, false, 0},
                      {"padding_high", Kind::sizes, false, 0},
                      {"select", Kind::graph},
                      {"scatter", Kind::graph}});
  p.batch = [](BatchStep& step) { record_alongside(step, 2); };
  p.infer = infer_select_and_scatter;
  p.expand = expand_select_and_scatter;
  p.hlo = {"stablehlo.select_and_scatter", {}, special};
  r.add(std::move(p));
}

}  // namespace anvil::primitives
