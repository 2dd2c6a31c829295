#include "base/scalar.h"

#include <cstdio>

namespace anvil {

// The shorter of fixed and scientific notation with the fewest digits (at most 15)
// that give the same number, as R's as.character() does.
static std::string real_text(double x) {
  if (x != x) return "NaN";
  if (std::isinf(x)) return x < 0 ? "-Inf" : "Inf";
  char scientific[40];
  int digits = 1;
  for (; digits <= 15; ++digits) {
    std::snprintf(scientific, sizeof scientific, "%.*e", digits - 1, x);
    char shortest[40];
    std::snprintf(shortest, sizeof shortest, "%.14e", x);
    if (std::stod(scientific) == std::stod(shortest)) break;
  }
  digits = digits > 15 ? 15 : digits;
  int exponent = std::stoi(std::string(scientific).substr(std::string(scientific).find('e') + 1));
  char fixed[340];
  std::snprintf(fixed, sizeof fixed, "%.*f", std::max(0, digits - 1 - exponent), x);
  return std::string(fixed).size() <= std::string(scientific).size() ? fixed : scientific;
}

std::string Scalar::text(DType t) const {
  if (is_bool(t)) return as<bool>() ? "TRUE" : "FALSE";
  if (is_float(t)) return real_text(as<double>());
  if (t == DType::ui64) return std::to_string(as<uint64_t>());
  return std::to_string(as<int64_t>());
}

Scalar lowest(DType t) {
  return visit(t, []<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      return Scalar(-std::numeric_limits<T>::infinity());
    else
      return Scalar(std::numeric_limits<T>::min());
  });
}
Scalar highest(DType t) {
  return visit(t, []<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      return Scalar(std::numeric_limits<T>::infinity());
    else
      return Scalar(std::numeric_limits<T>::max());
  });
}

}  // namespace anvil
