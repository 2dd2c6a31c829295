#include "graph/tensor.h"

#include <cstdlib>
#include <new>

namespace anvil::graph {

std::string text(const TensorType& t) {
  return std::string(name(t.dtype)) + (t.ambiguous ? "?" : "") + "[" + join(t.shape, ", ") + "]";
}

std::string hlo_text(const TensorType& t) {
  std::string element = is_bool(t.dtype) ? "i1" : std::string(name(t.dtype));
  return "tensor<" + join(t.shape, "x") + (t.shape.empty() ? "" : "x") + element + ">";
}

Tensor allocate(const TensorType& type) {
  size_t bytes = static_cast<size_t>(elements(type.shape)) * size_of(type.dtype);
  void* p = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (p == nullptr) throw std::bad_alloc();
  return {type, std::shared_ptr<void>(p, std::free)};
}

Tensor full(const TensorType& type, Scalar value) {
  Tensor t = allocate(type);
  int64_t n = elements(type.shape);
  visit(type.dtype, [&]<class T>() {
    T x = value.as<T>();
    for (int64_t i = 0; i < n; ++i) t.as<T>()[i] = x;
  });
  return t;
}

Scalar element(const Tensor& t, int64_t i) {
  return visit(t.type.dtype, [&]<class T>() { return Scalar(t.as<T>()[i]); });
}
void set_element(const Tensor& t, int64_t i, Scalar x) {
  visit(t.type.dtype, [&]<class T>() { t.as<T>()[i] = x.as<T>(); });
}

}  // namespace anvil::graph
