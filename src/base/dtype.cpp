#include "base/dtype.h"

#include <array>

namespace anvil {
namespace {
constexpr std::array<std::string_view, 12> names = {"bool", "i8",   "i16",  "i32", "i64", "ui8",
                                                    "ui16", "ui32", "ui64", "f32", "f64", "tape"};
}

std::string_view name(DType t) { return names[static_cast<size_t>(t)]; }

std::optional<DType> parse_dtype(std::string_view s) {
  if (s == "i1" || s == "pred") return DType::boolean;
  for (size_t i = 0; i + 1 < names.size(); ++i)
    if (names[i] == s) return static_cast<DType>(i);
  return std::nullopt;
}

DType unsigned_of_size(size_t bytes) {
  return bytes == 1 ? DType::ui8 : bytes == 2 ? DType::ui16 : bytes == 4 ? DType::ui32 : DType::ui64;
}

size_t size_of(DType t) {
  return visit(t, []<class T>() { return sizeof(T); });
}

}  // namespace anvil
