// Reductions and running sums; no dimensions mean no reduction. The reduced elements of one
// result are gathered first, so that a fold sees a plain array in column-major order.
#include <functional>

#include "backend/eigen/kernels.h"
#include "backend/eigen/odometer.h"
#include "primitives/vocabulary/primitive.h"
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

// result(group, out, place) for each group of elements that one place of the output stands for.
Tensors reduce(const Call& call, const Tensors& in,
               const std::function<void(const Tensor&, const Tensor&, int64_t)>& result) {
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
  const Tensor gathered = graph::allocate({in[0].type.dtype, group});
  const View dense = whole(gathered);
  walk(kept, outer, {0, strides(kept)}, [&](int64_t from, int64_t to) {
    inner.offset = from;
    copy_box(group, in[0], inner, gathered, dense);
    result(gathered, out, to);
  });
  return {out};
}

// The operation of a monoid on two numbers.
template <class T>
T (*operation(loops::Op op))
(T, T) {
  using loops::Op;
  switch (op) {
    case Op::add: return scalar::add<T>;
    case Op::mul: return scalar::mul<T>;
    case Op::maximum: return scalar::maximum<T>;
    case Op::minimum: return scalar::minimum<T>;
    default: break;
  }
  if constexpr (std::is_integral_v<T>) switch (op) {
      case Op::bit_and: return scalar::bit_and<T>;
      case Op::bit_or: return scalar::bit_or<T>;
      case Op::bit_xor: return scalar::bit_xor<T>;
      default: break;
    }
  throw InternalError("evaluate: no number is reduced by " + std::string(loops::name(op)));
}

// operation.operator()<T>() joins two numbers.
template <class Operation>
Tensor running(const Tensor& in, int64_t along, Scalar initial, const Operation& operation) {
  const Tensor out = graph::allocate(in.type);
  const auto dim = static_cast<size_t>(along);
  Shape others = out.type.shape;
  int64_t n = others[dim], step = strides(others)[dim];
  others[dim] = n > 0 ? 1 : 0;
  visit_computed(out.type.dtype, [&]<class T>() {
    const T* x = in.as<T>();
    T* y = out.as<T>();
    const auto joined = operation.template operator()<T>();
    walk(others, whole(out), whole(out), [&](int64_t first, int64_t) {
      T running_value = initial.as<T>();
      in_pieces(n, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          y[first + i * step] = running_value = joined(running_value, x[first + i * step]);
      });
    });
  });
  return out;
}
Tensors cumsum(const Call& call, const Tensors& in) {
  const auto add = []<class T>() { return [](T a, T b) { return scalar::add(a, b); }; };
  return {running(in[0], call.params.integer("dim"), 0, add)};
}

}  // namespace

Tensor running_by_monoid(const primitives::Monoid& m, const Tensor& in, int64_t dim, const Tensor& initial) {
  const DType t = in.type.dtype, computed = compute_type(t);
  const Scalar first = graph::element(graph::converted(initial, computed), 0);
  const auto by = [op = is_bool(t) ? m.op_on_bool : m.op]<class T>() { return operation<T>(op); };
  return graph::converted(running(graph::converted(in, computed), dim, first, by), t);
}

Tensors reduce_by_monoid(const Call& call, const Tensors& in) {
  const primitives::Monoid& m = *primitives::primitive_of(call).monoid;
  return reduce(call, in, [&](const Tensor& group, const Tensor& out, int64_t place) {
    const DType t = group.type.dtype;
    const int64_t n = elements(group.type.shape);
    visit_computed(t, [&]<class T>() {
      const T* x = group.as<T>();
      out.as<T>()[place] =
          m.op == loops::Op::add ? sum(x, n) : fold(x, n, m.start(t).template as<T>(), operation<T>(m.op));
    });
  });
}

std::vector<NamedKernel> reduce_kernels() { return {{"cumsum", cumsum}}; }

}  // namespace anvil::eigen
