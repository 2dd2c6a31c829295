// Reductions and running sums; no dimensions mean no reduction. The reduced elements of one result are gathered first, so
// that a fold sees a plain array in column-major order.
#include <functional>

#include "backend/eigen/kernels.h"
#include "backend/eigen/odometer.h"
#include "runtime/scalar.h"

namespace anvil::eigen {
namespace {

// Pairwise: the error grows with log n. From 0, as R's: the sum of -0 is 0.
template <class T>
T sum(const T* x, int64_t n) {
  if (n <= 16) {
    T s = T(0);
    for (int64_t i = 0; i < n; ++i) s = scalar::add(s, x[i]);
    return s;
  }
  constexpr int64_t long_sum = 1 << 15;
  if (n > long_sum) worked(long_sum);
  int64_t half = n / 2;
  return scalar::add(sum(x, half), sum(x + half, n - half));
}
template <class T, class Op>
T fold(const T* x, int64_t n, T initial, Op op) {
  T y = initial;
  in_pieces(n, 1, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) y = op(y, x[i]);
  });
  return y;
}

// result(elements, count) for each group of elements that one place of the output stands for.
template <class T, class F>
Tensors reduce(const Call& call, const Tensors& in, F result) {
  if (call.params.ints("dims").empty()) return {in[0]};
  Tensor out = make_result(call);
  const Shape& shape = in[0].type.shape;
  auto steps = strides(shape);
  std::vector<bool> reduced(shape.size(), false);
  for (int64_t d : call.params.ints("dims")) reduced[static_cast<size_t>(d)] = true;
  Shape kept, group;
  View outer, inner;
  for (size_t d = 0; d < shape.size(); ++d) {
    (reduced[d] ? group : kept).push_back(shape[d]);
    (reduced[d] ? inner : outer).strides.push_back(steps[d]);
  }
  const T* data = in[0].as<T>();
  T* target = out.as<T>();
  const Tensor memory = graph::allocate({in[0].type.dtype, group});
  T* gathered = memory.as<T>();
  walk(kept, outer, {0, strides(kept)}, [&](int64_t from, int64_t to) {
    int64_t n = 0;
    walk(group, inner, inner, [&](int64_t i, int64_t) { gathered[n++] = data[from + i]; });
    target[to] = result(static_cast<const T*>(gathered), n);
  });
  return {out};
}

Tensors reduce_sum(const Call& call, const Tensors& in) {
  return visit(in[0].type.dtype, [&]<class T>() { return reduce<T>(call, in, sum<T>); });
}
template <class Op>
Tensors reduce_with(const Call& call, const Tensors& in, const std::function<Scalar(DType)>& initial, Op op) {
  return visit(in[0].type.dtype, [&]<class T>() {
    T first = initial(in[0].type.dtype).template as<T>();
    return reduce<T>(call, in, [&](const T* x, int64_t n) { return fold(x, n, first, op); });
  });
}
Tensors reduce_prod(const Call& call, const Tensors& in) {
  return reduce_with(
      call, in, [](DType) { return Scalar(1); }, []<class T>(T a, T b) { return scalar::mul(a, b); });
}
Tensors reduce_max(const Call& call, const Tensors& in) {
  return reduce_with(call, in, lowest, []<class T>(T a, T b) { return scalar::maximum(a, b); });
}
Tensors reduce_min(const Call& call, const Tensors& in) {
  return reduce_with(call, in, highest, []<class T>(T a, T b) { return scalar::minimum(a, b); });
}
Tensors reduce_any(const Call& call, const Tensors& in) {
  return reduce<bool>(call, in, [](const bool* x, int64_t n) { return fold(x, n, false, std::logical_or<bool>()); });
}
Tensors reduce_all(const Call& call, const Tensors& in) {
  return reduce<bool>(call, in, [](const bool* x, int64_t n) { return fold(x, n, true, std::logical_and<bool>()); });
}

template <class Op>
Tensors running(const Call& call, const Tensors& in, Scalar initial, Op op) {
  Tensor out = make_result(call);
  size_t dim = static_cast<size_t>(call.params.integer("dim"));
  Shape others = out.type.shape;
  int64_t n = others[dim], step = strides(others)[dim];
  others[dim] = n > 0 ? 1 : 0;
  visit(out.type.dtype, [&]<class T>() {
    const T* x = in[0].as<T>();
    T* y = out.as<T>();
    walk(others, whole(out), whole(out), [&](int64_t first, int64_t) {
      T running_value = initial.as<T>();
      in_pieces(n, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          y[first + i * step] = running_value = op(running_value, x[first + i * step]);
      });
    });
  });
  return {out};
}
Tensors cumsum(const Call& call, const Tensors& in) {
  return running(call, in, 0, []<class T>(T a, T b) { return scalar::add(a, b); });
}

}  // namespace

std::vector<NamedKernel> reduce_kernels() {
  return {{"reduce_sum", reduce_sum}, {"reduce_prod", reduce_prod}, {"reduce_max", reduce_max},
          {"reduce_min", reduce_min}, {"reduce_any", reduce_any},   {"reduce_all", reduce_all},
          {"cumsum", cumsum}};
}

}  // namespace anvil::eigen
