#include "base/dtype.h"

namespace anvil {

std::optional<DType> parse_dtype(std::string_view s) {
  if (s == "i1" || s == "pred") return DType::boolean;
  for (size_t i = 0; i < descriptors.size(); ++i)
    if (descriptors[i].name == s) return static_cast<DType>(i);
  return std::nullopt;
}

DType unsigned_of_size(size_t bytes) {
  return bytes == 1 ? DType::ui8 : bytes == 2 ? DType::ui16 : bytes == 4 ? DType::ui32 : DType::ui64;
}
DType signed_of_size(size_t bytes) {
  return bytes == 1 ? DType::i8 : bytes == 2 ? DType::i16 : bytes == 4 ? DType::i32 : DType::i64;
}

}  // namespace anvil
