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

Tensors qr(const Call& call, const Tensors& in) {
  const Tensors out = make_results(call);
  const Stack s(in[0].type.shape);
  visit_float(in[0].type.dtype, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b) {
      const auto a = taken<T>(in[0], b, s.batch);
      auto q = taken<T>(out[0], b, s.batch), r = taken<T>(out[1], b, s.batch);
      runtime::qr<T>(q.data(), r.data(), a.data(), s.m, s.n);
      put(q, out[0], b, s.batch), put(r, out[1], b, s.batch);
    }
  });
  return out;
}

Tensors geqrf(const Call& call, const Tensors& in) {
  const Tensors out = make_results(call);
  const Stack s(in[0].type.shape);
  visit_float(in[0].type.dtype, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b) {
      const auto a = taken<T>(in[0], b, s.batch);
      auto packed = taken<T>(out[0], b, s.batch), taus = taken<T>(out[1], b, s.batch);
      runtime::geqrf<T>(packed.data(), taus.data(), a.data(), s.m, s.n);
      put(packed, out[0], b, s.batch), put(taus, out[1], b, s.batch);
    }
  });
  return out;
}

Tensors householder_product(const Call& call, const Tensors& in) {
  const Tensors out = make_results(call);
  const Stack s(in[0].type.shape);
  visit_float(in[0].type.dtype, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b) {
      const auto packed = taken<T>(in[0], b, s.batch), taus = taken<T>(in[1], b, s.batch);
      auto q = taken<T>(out[0], b, s.batch);
      runtime::householder_product<T>(q.data(), packed.data(), taus.data(), s.m, s.n,
                                      static_cast<int64_t>(taus.size()));
      put(q, out[0], b, s.batch);
    }
  });
  return out;
}

Tensors eigh(const Call& call, const Tensors& in) {
  const Tensors out = make_results(call);
  const Stack s(in[0].type.shape);
  visit_float(in[0].type.dtype, [&]<class T>() {
    for (int64_t b = 0; b < s.batch; ++b) {
      const auto a = taken<T>(in[0], b, s.batch);
      auto values = taken<T>(out[0], b, s.batch), vectors = taken<T>(out[1], b, s.batch);
      runtime::eigh<T>(values.data(), vectors.data(), a.data(), s.n);
      put(values, out[0], b, s.batch), put(vectors, out[1], b, s.batch);
    }
  });
  return out;
}

Tensors svd(const Call& call, const Tensors& in) {
  const Tensors out = make_results(call);
  const Stack stack(in[0].type.shape);
  visit_float(in[0].type.dtype, [&]<class T>() {
    for (int64_t b = 0; b < stack.batch; ++b) {
      const auto a = taken<T>(in[0], b, stack.batch);
      auto u = taken<T>(out[0], b, stack.batch), s = taken<T>(out[1], b, stack.batch),
           vt = taken<T>(out[2], b, stack.batch);
      runtime::svd<T>(u.data(), s.data(), vt.data(), a.data(), stack.m, stack.n);
      put(u, out[0], b, stack.batch), put(s, out[1], b, stack.batch), put(vt, out[2], b, stack.batch);
    }
  });
  return out;
}

}  // namespace

std::vector<NamedKernel> factorisation_kernels() {
  return {{"lu", lu},     {"qr", qr},  {"geqrf", geqrf}, {"householder_product", householder_product},
          {"eigh", eigh}, {"svd", svd}};
}

}  // namespace anvil::eigen
