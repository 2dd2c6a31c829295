#include "graph/tensor.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

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

namespace {

// Holds every number of a class of dtypes.
template <class T>
using Wide = std::conditional_t<is_real_number<T>, double, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <class W>
void store(const Tensor& to, int64_t first, const W* x, int64_t n) {
  visit(to.type.dtype, [&]<class To>() { std::transform(x, x + n, to.as<To>() + first, convert_number<To, W>); });
}

}  // namespace

// By way of wide numbers, some at a time: no code for each pair of dtypes.
void convert_to(const Tensor& to, const Tensor& from) {
  const int64_t n = elements(from.type.shape);
  if (to.type.dtype == from.type.dtype) {
    std::copy_n(static_cast<const char*>(from.data.get()), bytes_of(from.type.dtype, from.type.shape),
                static_cast<char*>(to.data.get()));
    return;
  }
  visit(from.type.dtype, [&]<class From>() {
    constexpr int64_t some = 256;
    Wide<From> wide[some];
    for (int64_t first = 0; first < n; first += some) {
      const int64_t count = std::min(some, n - first);
      std::copy_n(from.as<From>() + first, count, wide);
      store(to, first, wide, count);
      worked(count);
    }
  });
}

}  // namespace anvil::graph
