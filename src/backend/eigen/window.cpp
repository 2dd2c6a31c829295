// Windows over a tensor, and reductions by a region: all places of the result take one step of
// the reduction at once.
#include <algorithm>

#include "backend/eigen/kernels.h"
#include "backend/eigen/odometer.h"
#include "primitives/families/monoid.h"
#include "runtime/scalar.h"

namespace anvil::eigen {
namespace {

// ---- windows ------------------------------------------------------------------------------

Tensors windows(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  auto steps = strides(in[0].type.shape);
  View source{0, steps};
  const auto& dims = call.params.ints("dims");
  for (size_t k = 0; k < dims.size(); ++k) {
    auto d = static_cast<size_t>(dims[k]);
    source.strides[d] = scaled(steps[d], call.params.ints("strides")[k]);
    source.strides.push_back(scaled(steps[d], call.params.ints("dilations")[k]));
  }
  copy_box(out.type.shape, in[0], source, out, whole(out));
  return {out};
}

Tensors sum_windows(const Call& call, const Tensors& in) {
  Tensor out = graph::full(call.outputs[0]->type, 0);
  const Shape &from = in[0].type.shape, &to = out.type.shape;
  auto steps = strides(from);
  View source{0, steps}, target = whole(out);
  Shape box = to;
  const auto& dims = call.params.ints("dims");
  for (size_t k = 0; k < dims.size(); ++k) {
    auto d = static_cast<size_t>(dims[k]);
    int64_t size = from[to.size() + k], by = scaled(steps[d], call.params.ints("dilations")[k]);
    source.offset += (size - 1) * by;
    source.strides[to.size() + k] -= by;
    target.strides.push_back(0);
    box.push_back(size);
  }
  visit_computed(out.type.dtype, [&]<class T>() {
    const T* x = in[0].as<T>();
    T* y = out.as<T>();
    walk(box, source, target, [&](int64_t i, int64_t o) { y[o] = scalar::add(y[o], x[i]); });
  });
  return {out};
}

// ---- folds --------------------------------------------------------------------------------

Tensor spread(const Tensor& number, const Shape& shape) {
  return graph::full({number.type.dtype, shape}, graph::element(number, 0));
}

// The elements of x at one place of the dimensions that are folded.
Tensor part(const Tensor& x, const Shape& shape, const View& view) {
  Tensor t = graph::allocate({x.type.dtype, shape});
  copy_box(shape, x, view, t, whole(t));
  return t;
}

Tensors step(const graph::Graph& body, Tensors accumulators, const Call& call, const Tensors& in, const Shape& shape,
             const View& view, const Region& apply) {
  for (size_t k = 0; k < call.outputs.size(); ++k) accumulators.push_back(part(in[k], shape, view));
  return apply(body, accumulators);
}

Tensors reduce(const Call& call, const Tensors& in, const Region& apply) {
  const Shape &from = in[0].type.shape, &to = call.outputs[0]->type.shape;
  auto steps = strides(from);
  std::vector<int64_t> dims = call.params.ints("dims");
  std::sort(dims.begin(), dims.end());
  Shape extents;
  View view;
  for (size_t d = 0; d < from.size(); ++d)
    if (std::binary_search(dims.begin(), dims.end(), static_cast<int64_t>(d)))
      extents.push_back(from[d]);
    else
      view.strides.push_back(steps[d]);
  Tensors accumulators;
  for (size_t k = 0; k < call.outputs.size(); ++k) accumulators.push_back(spread(in[call.outputs.size() + k], to));
  std::vector<int64_t> at(dims.size(), 0);
  for (int64_t i = 0, n = elements(extents); i < n; ++i) {
    view.offset = 0;
    for (size_t k = 0; k < dims.size(); ++k) view.offset += at[k] * steps[static_cast<size_t>(dims[k])];
    accumulators = step(*call.params.graph("body"), accumulators, call, in, to, view, apply);
    for (size_t k = dims.size(); k-- > 0 && ++at[k] == extents[k];) at[k] = 0;  // the last one is fastest
  }
  return accumulators;
}

Tensors cumulative(const Call& call, const Tensors& in, const Region& apply) {
  const DType t = in[0].type.dtype;
  const primitives::Monoid* m =
      call.outputs.size() == 1 ? primitives::monoid_of(*call.params.graph("body"), t) : nullptr;
  // small floats are rounded at every step, which changes no extreme
  if (m && (!is_small(t) || m->idempotent)) return {running_by_monoid(*m, in[0], call.params.integer("dim"), in[1])};
  Shape shape = in[0].type.shape;
  auto d = static_cast<size_t>(call.params.integer("dim"));
  View view{0, strides(shape)};
  int64_t n = shape[d], by = view.strides[d];
  shape[d] = std::min<int64_t>(n, 1);
  Tensors results, accumulators;
  for (size_t k = 0; k < call.outputs.size(); ++k) {
    results.push_back(make_result(call, k));
    accumulators.push_back(spread(in[call.outputs.size() + k], shape));
  }
  for (int64_t i = 0; i < n; ++i) {
    view.offset = i * by;
    accumulators = step(*call.params.graph("body"), accumulators, call, in, shape, view, apply);
    for (size_t k = 0; k < results.size(); ++k)
      copy_box(shape, accumulators[k], whole(accumulators[k]), results[k], view);
  }
  return results;
}

}  // namespace

std::vector<NamedKernel> window_kernels() { return {{"windows", windows}, {"sum_windows", sum_windows}}; }
std::vector<NamedRegionKernel> fold_kernels() { return {{"reduce", reduce}, {"cumulative", cumulative}}; }

}  // namespace anvil::eigen
