#include "graph/tensor.h"

#include <algorithm>
#include <cstdlib>

#include "base/interrupt.h"
#include "base/memory.h"

namespace anvil::graph {

std::string text(const TensorType& t) {
  if (t.tape) return "tape";
  return std::string(name(t.dtype)) + (t.ambiguous ? "?" : "") + "[" + join(t.shape, ", ") + "]";
}

std::string hlo_text(const TensorType& t) {
  std::string element = is_bool(t.dtype) ? "i1" : std::string(name(t.dtype));
  return "tensor<" + join(t.shape, "x") + (t.shape.empty() ? "" : "x") + element + ">";
}

Tensor allocate(const TensorType& type) {
  std::shared_ptr<void> data(allocate_data(bytes_of(type.dtype, type.shape)), std::free);  // before `type` is copied
  return {type, std::move(data)};
}

Tensor full(const TensorType& type, Scalar value) {
  Tensor t = allocate(type);
  int64_t n = elements(type.shape);
  visit(type.dtype, [&]<class T>() {
    T x = value.as<T>();
    in_pieces(n, 1, [&](int64_t first, int64_t end) { std::fill(t.as<T>() + first, t.as<T>() + end, x); });
  });
  return t;
}

Scalar element(const Tensor& t, int64_t i) {
  return visit(t.type.dtype, [&]<class T>() { return Scalar(t.as<T>()[i]); });
}
void set_element(const Tensor& t, int64_t i, Scalar x) {
  visit(t.type.dtype, [&]<class T>() { t.as<T>()[i] = x.as<T>(); });
}

Tensor converted(const Tensor& t, DType to) {
  if (t.type.dtype == to) return t;
  Tensor result = allocate({to, t.type.shape, t.type.ambiguous});
  convert_to(result, t);
  return result;
}
void convert_to(const Tensor& to, const Tensor& from) {
  visit(from.type.dtype, [&]<class From>() {
    visit(to.type.dtype, [&]<class To>() {
      in_pieces(elements(from.type.shape), 1, [&](int64_t first, int64_t end) {
        std::transform(from.as<From>() + first, from.as<From>() + end, to.as<To>() + first, convert_number<To, From>);
      });
    });
  });
}

}  // namespace anvil::graph
