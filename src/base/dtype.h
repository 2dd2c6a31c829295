// The element types of tensors: names, sizes, classes, and `visit`, which calls a
// generic function with the C++ type of a dtype. `tape` is the type of the handles
// that reverse mode uses to remember the states of a loop; no user ever sees one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace anvil {

enum class DType : uint8_t { boolean, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f32, f64, tape };

std::string_view name(DType);                        // "bool", "i8", ..., "ui64", "f32", "f64"
std::optional<DType> parse_dtype(std::string_view);  // also "i1" and "pred" for bool
size_t size_of(DType);                               // bytes of one element (bool: 1)
DType unsigned_of_size(size_t bytes);                // ui8, ui16, ui32 or ui64

constexpr bool is_bool(DType t) { return t == DType::boolean; }
constexpr bool is_float(DType t) { return t == DType::f32 || t == DType::f64; }
constexpr bool is_signed_integer(DType t) { return t >= DType::i8 && t <= DType::i64; }
constexpr bool is_unsigned_integer(DType t) { return t >= DType::ui8 && t <= DType::ui64; }
constexpr bool is_integer(DType t) { return is_signed_integer(t) || is_unsigned_integer(t); }
constexpr bool is_numeric(DType t) { return is_float(t) || is_integer(t); }

// The dtype of a C++ type; bool is stored as one byte, 0 or 1.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::boolean;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1 ? DType::i8 : sizeof(T) == 2 ? DType::i16 : sizeof(T) == 4 ? DType::i32 : DType::i64;
  else
    return sizeof(T) == 1 ? DType::ui8 : sizeof(T) == 2 ? DType::ui16 : sizeof(T) == 4 ? DType::ui32 : DType::ui64;
}

// visit(dtype, []<class T>() { ... })
template <class F>
auto visit(DType t, F&& f) {
  switch (t) {
    case DType::boolean: return f.template operator()<bool>();
    case DType::i8: return f.template operator()<int8_t>();
    case DType::i16: return f.template operator()<int16_t>();
    case DType::i32: return f.template operator()<int32_t>();
    case DType::i64: return f.template operator()<int64_t>();
    case DType::ui8: return f.template operator()<uint8_t>();
    case DType::ui16: return f.template operator()<uint16_t>();
    case DType::ui32: return f.template operator()<uint32_t>();
    case DType::ui64:
    case DType::tape: return f.template operator()<uint64_t>();
    case DType::f32: return f.template operator()<float>();
    case DType::f64: break;
  }
  return f.template operator()<double>();
}
template <class F>
auto visit_float(DType t, F&& f) {
  return t == DType::f32 ? f.template operator()<float>() : f.template operator()<double>();
}

}  // namespace anvil
