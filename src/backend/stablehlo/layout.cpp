#include "backend/stablehlo/layout.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "base/interrupt.h"

namespace anvil::stablehlo {

std::string dense_number(Scalar x, DType t) {
  if (is_bool(t)) return x.as<bool>() ? "true" : "false";
  if (t == DType::ui64) return std::to_string(x.as<uint64_t>());
  if (!is_float(t)) return std::to_string(x.as<int64_t>());
  char text[40];
  double value = x.rounded_to(t).as<double>();
  if (std::isfinite(value)) {
    std::snprintf(text, sizeof text, compute_type(t) == DType::f32 ? "%.8e" : "%.16e", value);
    return text;
  }
  const uint64_t bits = visit(t, [x]<class T>() {
    T element = x.as<T>();
    uint64_t word = 0;
    std::memcpy(&word, &element, sizeof element);
    return word;
  });
  std::snprintf(text, sizeof text, "0x%0*" PRIX64, static_cast<int>(2 * size_of(t)), bits);
  return text;
}

namespace {
void nested(const graph::Tensor& t, size_t dim, RowMajorWalk& walk, std::string& text) {
  if (dim == t.type.shape.size()) {
    if ((text.size() & 0xFFFF) < 16) poll();
    text += dense_number(graph::element(t, walk.position()), t.type.dtype);
    walk.next();
    return;
  }
  text += "[";
  for (int64_t i = 0; i < t.type.shape[dim]; ++i) {
    if (i) text += ", ";
    nested(t, dim + 1, walk, text);
  }
  text += "]";
}
}  // namespace

std::string dense_literal(const graph::Tensor& t) {
  int64_t n = elements(t.type.shape);
  if (n == 0) return "dense<>";
  size_t bytes = size_of(t.type.dtype);
  const char* data = t.as<char>();
  bool splat = true;
  for (int64_t i = 1; i < n && splat; ++i) splat = std::memcmp(data, data + i * bytes, bytes) == 0;
  if (splat) return "dense<" + dense_number(graph::element(t, 0), t.type.dtype) + ">";
  std::string text = "dense<";
  RowMajorWalk walk(t.type.shape);
  nested(t, 0, walk, text);
  return text + ">";
}

}  // namespace anvil::stablehlo
