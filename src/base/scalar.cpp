#include "base/scalar.h"

#include <cstdio>
#include <cstdlib>

namespace anvil {

// The shorter of fixed and scientific notation with the fewest digits that give the same
// number of dtype T: a double to 15 digits, as R's as.character() does, others exactly.
template <class T>
static std::string real_text(double x) {
  if (x != x) return "NaN";
  x = static_cast<Compute<T>>(T(x));
  if (std::isinf(x)) return x < 0 ? "-Inf" : "Inf";
  char scientific[40], fifteen[40];
  std::snprintf(fifteen, sizeof fifteen, "%.14e", x);
  auto same = [&] {
    const double read = std::strtod(scientific, nullptr);
    if constexpr (std::is_same_v<T, double>)
      return read == std::strtod(fifteen, nullptr);
    else
      return static_cast<float>(T(read)) == static_cast<float>(x);
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
  if (is_float(t)) return visit_real(t, [this]<class T>() { return real_text<T>(as<double>()); });
  if (t == DType::ui64) return std::to_string(as<uint64_t>());
  return std::to_string(as<int64_t>());
}

Scalar lowest(DType t) {
  return visit(t, []<class T>() {
    if constexpr (is_real_number<T>)
      return Scalar(-INFINITY);
    else
      return Scalar(std::numeric_limits<T>::min());
  });
}
Scalar highest(DType t) {
  return visit(t, []<class T>() {
    if constexpr (is_real_number<T>)
      return Scalar(INFINITY);
    else
      return Scalar(std::numeric_limits<T>::max());
  });
}

}  // namespace anvil
