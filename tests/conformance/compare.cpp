// Comparison of tensors; see compare.h.
#include "compare.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace anvil::conformance {

using graph::Tensor;

// Floats in order, as integers: neighbours differ by one, both zeros are zero.
static int64_t rank_of(double x, DType t) {
  return visit(t, [x]<class T>() {
    const T element = convert_number<T>(x);
    uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof element);
    const uint64_t sign = uint64_t(1) << (8 * sizeof(T) - 1), size = bits & ~sign;
    return bits & sign ? -static_cast<int64_t>(size) : static_cast<int64_t>(size);
  });
}

static uint64_t ulps_between(double a, double e, DType t) {
  if ((std::isnan(a) && std::isnan(e)) || a == e) return 0;
  if (!std::isfinite(a) || !std::isfinite(e)) return std::numeric_limits<uint64_t>::max();
  int64_t x = rank_of(a, t), y = rank_of(e, t);
  return x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
               : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
}

static bool matches(double a, double e, DType t, const Tolerance& limit) {
  uint64_t ulps = ulps_between(a, e, t);
  if (ulps < limit.at_least_ulps) return false;
  if (ulps <= limit.ulps) return true;
  if (!std::isfinite(a) || !std::isfinite(e)) return false;
  double d = std::fabs(a - e);
  return d <= limit.absolute || d <= limit.relative * std::fabs(e);
}

static bool matches(const Tensor& actual, const Tensor& expected, int64_t i, const Tolerance& limit) {
  Scalar a = graph::element(actual, i), e = graph::element(expected, i);
  if (is_float(expected.type.dtype)) return matches(a.as<double>(), e.as<double>(), expected.type.dtype, limit);
  return expected.type.dtype == DType::ui64 ? a.as<uint64_t>() == e.as<uint64_t>() : a.as<int64_t>() == e.as<int64_t>();
}

static std::string number(const Tensor& t, int64_t i) {
  Scalar x = graph::element(t, i);
  if (t.type.dtype == DType::ui64) return std::to_string(x.as<uint64_t>());
  if (!is_float(t.type.dtype)) return std::to_string(x.as<int64_t>());
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", t.type.dtype == DType::f32 ? 9 : 17, x.as<double>());
  return text;
}

static std::string place(int64_t i, const Shape& shape) {
  std::string s = "[";
  for (size_t d = 0; d < shape.size(); ++d) {
    s += (d ? ", " : "") + std::to_string(i % shape[d]);
    i /= shape[d];
  }
  return s + "]";
}

std::optional<std::string> difference(const Tensor& actual, const Tensor& expected, const Tolerance& limit,
                                      const Tensor* alternative) {
  if (!same_type(actual.type, expected.type))
    return hlo_text(actual.type) + " where " + hlo_text(expected.type) + " is expected";
  int64_t n = elements(expected.type.shape), bad = 0, first = -1;
  for (int64_t i = 0; i < n; ++i) {
    if (matches(actual, expected, i, limit) || (alternative && matches(actual, *alternative, i, limit))) continue;
    if (bad++ == 0) first = i;
  }
  if (bad == 0) return std::nullopt;
  return std::to_string(bad) + " of " + std::to_string(n) + " elements differ, first at " +
         place(first, expected.type.shape) + ": " + number(actual, first) + " for " + number(expected, first);
}

}  // namespace anvil::conformance
