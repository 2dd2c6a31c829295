#include "base/scalar.h"

#include <cstdio>
#include <cstdlib>

namespace anvil {

// The shorter of fixed and scientific notation with the fewest digits that give the same
// number: a double to 15 digits, as R's as.character() does, a float exactly.
static std::string real_text(double x, bool is_single) {
  if (x != x) return "NaN";
  if (is_single && !std::isinf(x)) x = static_cast<float>(x);
  if (std::isinf(x)) return x < 0 ? "-Inf" : "Inf";
  char scientific[40], fifteen[40];
  std::snprintf(fifteen, sizeof fifteen, "%.14e", x);
  auto same = [&] {
    return is_single ? std::strtof(scientific, nullptr) == static_cast<float>(x)
                     : std::strtod(scientific, nullptr) == std::strtod(fifteen, nullptr);
  };
  int digits = 1;
  for (; digits <= 15; ++digits) {
    std::snprintf(scientific, sizeof scientific, "%.*e", digits - 1, x);
    if (same()) break;
  }
  digits = digits > 15 ? 15 : digits;
  int exponent = std::stoi(std::string(scientific).substr(std::string(scientific).find('e') + 1));
  char fixed[340];
  std::snprintf(fixed, sizeof fixed, "%.*f", std::max(0, digits - 1 - exponent), x);
  return std::string(fixed).size() <= std::string(scientific).size() ? fixed : scientific;
}

std::string Scalar::text(DType t) const {
  if (is_bool(t)) return as<bool>() ? "TRUE" : "FALSE";
  if (is_float(t)) return real_text(as<double>(), t == DType::f32);
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
