// Factorisations: each matrix of a stack by itself, by the functions that generated code ends in, too
// (runtime/factorise.h).
#include "runtime/factorise.h"

#include "backend/eigen/kernels.h"
#include "base/interrupt.h"

namespace anvil::eigen {
namespace {

struct Stack {
  explicit Stack(const Shape& shape)
      : m(shape[shape.size() - 2]), n(shape.back()), batch(elements(Shape(shape.begin(), shape.end() - 2))) {}
  int64_t m, n, batch;
};

// Number b of a stack whose batch is stored first.
template <class T>
std::vector<T> taken(const Tensor& t, int64_t b, int64_t batch) {
  std::vector<T> one(static_cast<size_t>(elements(t.type.shape) / batch));
  for (size_t e = 0; e < one.size(); ++e) one[e] = t.as<T>()[b + batch * static_cast<int64_t>(e)];
  worked(static_cast<int64_t>(one.size()));
  return one;
}
template <class T>
void put(const std::vector<T>& one, const Tensor& t, int64_t b, int64_t batch) {
  for (size_t e = 0; e < one.size(); ++e) t.as<T>()[b + batch * static_cast<int64_t>(e)] = one[e];
}

Tensors lu(const Call& call, const Tensors& in) {
  const Tensors out = make_results(call);
  const Stack s(in[0].type.shape);
  visit_float(in[0].type.dtype, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b) {
      const auto a = taken<T>(in[0], b, s.batch);
      auto packed = taken<T>(out[0], b, s.batch);
      auto pivots = taken<int32_t>(out[1], b, s.batch), order = taken<int32_t>(out[2], b, s.batch);
      runtime::lu<T>(packed.data(), pivots.data(), order.data(), a.data(), s.m, s.n);
      put(packed, out[0], b, s.batch), put(pivots, out[1], b, s.batch), put(order, out[2], b, s.batch);
    }
  });
  return out;
}

// f(stack, operands, results) of one matrix after the other, where all are floats.
template <class F>
Tensors each_matrix(const Call& call, const Tensors& in, F f) {
  const Tensors out = make_results(call);
  const Stack s(in[0].type.shape);
  visit_float(in[0].type.dtype, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b) {
      std::vector<std::vector<T>> operands, results;
      for (const Tensor& t : in) operands.push_back(taken<T>(t, b, s.batch));
      for (const Tensor& t : out) results.push_back(taken<T>(t, b, s.batch));
      f(s, operands, results);
      for (size_t k = 0; k < out.size(); ++k) put(results[k], out[k], b, s.batch);
    }
  });
  return out;
}

Tensors qr(const Call& call, const Tensors& in) {
  return each_matrix(
      call, in, [](const Stack& s, auto& x, auto& y) { runtime::qr(y[0].data(), y[1].data(), x[0].data(), s.m, s.n); });
}
Tensors geqrf(const Call& call, const Tensors& in) {
  return each_matrix(call, in, [](const Stack& s, auto& x, auto& y) {
    runtime::geqrf(y[0].data(), y[1].data(), x[0].data(), s.m, s.n);
  });
}
Tensors householder_product(const Call& call, const Tensors& in) {
  return each_matrix(call, in, [](const Stack& s, auto& x, auto& y) {
    const auto taus = static_cast<int64_t>(x[1].size());
    runtime::householder_product(y[0].data(), x[0].data(), x[1].data(), s.m, s.n, taus);
  });
}
Tensors eigh(const Call& call, const Tensors& in) {
  return each_matrix(
      call, in, [](const Stack& s, auto& x, auto& y) { runtime::eigh(y[0].data(), y[1].data(), x[0].data(), s.n); });
}
Tensors svd(const Call& call, const Tensors& in) {
  return each_matrix(call, in, [](const Stack& s, auto& x, auto& y) {
    runtime::svd(y[0].data(), y[1].data(), y[2].data(), x[0].data(), s.m, s.n);
  });
}
Tensors eigh_values(const Call& call, const Tensors& in) {
  return each_matrix(call, in,
                     [](const Stack& s, auto& x, auto& y) { runtime::eigh(y[0].data(), {}, x[0].data(), s.n); });
}
Tensors svd_values(const Call& call, const Tensors& in) {
  return each_matrix(
      call, in, [](const Stack& s, auto& x, auto& y) { runtime::svd({}, y[0].data(), {}, x[0].data(), s.m, s.n); });
}

}  // namespace

std::vector<NamedKernel> factorisation_kernels() {
  return {{"lu", lu},
          {"qr", qr},
          {"geqrf", geqrf},
          {"householder_product", householder_product},
          {"eigh", eigh},
          {"svd", svd},
          {"eigh_values", eigh_values},
          {"svd_values", svd_values}};
}

}  // namespace anvil::eigen
