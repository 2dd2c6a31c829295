// The element types of tensors. A dtype is one row of a table: the C++ type in which tensors
// store it says the rest: its class, its size, and with which dtype is computed where it is
// stored. `visit` calls a generic function with the C++ type.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/small_float.h"

namespace anvil {

// dtype, C++ type, name. Saved tensors know dtypes by their place here.
// clang-format off
#define ANVIL_DTYPES(row) \
  row(boolean, bool, "bool") \
  row(i8, int8_t, "i8") \
  row(i16, int16_t, "i16") \
  row(i32, int32_t, "i32") \
  row(i64, int64_t, "i64") \
  row(ui8, uint8_t, "ui8") \
  row(ui16, uint16_t, "ui16") \
  row(ui32, uint32_t, "ui32") \
  row(ui64, uint64_t, "ui64") \
  row(f32, float, "f32") \
  row(f64, double, "f64") \
  row(f16, Float16, "f16") \
  row(bf16, BFloat16, "bf16")
// clang-format on

#define ANVIL_DTYPE(dtype, type, name) dtype,
enum class DType : uint8_t { ANVIL_DTYPES(ANVIL_DTYPE) };
#undef ANVIL_DTYPE

// visit(dtype, []<class T>() { ... })
template <class F>
constexpr auto visit(DType t, F&& f) {
  switch (t) {
#define ANVIL_DTYPE(dtype, type, name) \
  case DType::dtype: return f.template operator()<type>();
    ANVIL_DTYPES(ANVIL_DTYPE)
#undef ANVIL_DTYPE
  }
  return f.template operator()<double>();
}

// The dtype of a C++ type; bool is stored as one byte, 0 or 1.
template <class T>
constexpr DType dtype_of() {
#define ANVIL_DTYPE(dtype, type, name) \
  if (std::is_same_v<T, type>) return DType::dtype;
  ANVIL_DTYPES(ANVIL_DTYPE)
#undef ANVIL_DTYPE
  return std::is_signed_v<T> ? DType::i64 : DType::ui64;  // long long beside long
}

// What a dtype is.
struct Descriptor {
  enum class Kind : uint8_t { boolean, signed_integer, unsigned_integer, floating };
  std::string_view name;
  Kind kind;
  size_t bytes;                              // of an element
  DType compute;                             // what is computed with; only small floats differ from it
  int exponent_bits = 0, mantissa_bits = 0;  // of a float
};
template <class T>
constexpr Descriptor describe(std::string_view name) {
  using enum Descriptor::Kind;
  Descriptor d{name, std::is_signed_v<T> ? signed_integer : unsigned_integer, sizeof(T), dtype_of<Compute<T>>()};
  if (std::is_same_v<T, bool>) d.kind = boolean;
  if (is_real_number<T>) {
    d.kind = floating;
    d.mantissa_bits = std::numeric_limits<T>::digits - 1;
    d.exponent_bits = static_cast<int>(8 * sizeof(T)) - 1 - d.mantissa_bits;
  }
  return d;
}
#define ANVIL_DTYPE(dtype, type, name) describe<type>(name),
inline constexpr auto descriptors = std::to_array<Descriptor>({ANVIL_DTYPES(ANVIL_DTYPE)});
#undef ANVIL_DTYPE
#undef ANVIL_DTYPES
constexpr const Descriptor& descriptor(DType t) { return descriptors[static_cast<size_t>(t)]; }

constexpr std::string_view name(DType t) { return descriptor(t).name; }
std::optional<DType> parse_dtype(std::string_view);                      // also "i1" and "pred" for bool
constexpr size_t size_of(DType t) { return descriptor(t).bytes; }        // bytes of one element (bool: 1)
constexpr DType compute_type(DType t) { return descriptor(t).compute; }  // f32 for small floats
constexpr bool is_small(DType t) { return compute_type(t) != t; }
DType unsigned_of_size(size_t bytes);  // ui8, ui16, ui32 or ui64
DType signed_of_size(size_t bytes);    // i8, i16, i32 or i64

constexpr bool is_bool(DType t) { return t == DType::boolean; }
constexpr bool is_float(DType t) { return descriptor(t).kind == Descriptor::Kind::floating; }
constexpr bool is_signed_integer(DType t) { return descriptor(t).kind == Descriptor::Kind::signed_integer; }
constexpr bool is_unsigned_integer(DType t) { return descriptor(t).kind == Descriptor::Kind::unsigned_integer; }
constexpr bool is_integer(DType t) { return is_signed_integer(t) || is_unsigned_integer(t); }
constexpr bool is_numeric(DType t) { return is_float(t) || is_integer(t); }

// Of floats: visit() with their types.
template <class F>
auto visit_real(DType t, F&& f) {
  return visit(t, [&]<class T>() {
    if constexpr (is_real_number<T>)
      return f.template operator()<T>();
    else
      return f.template operator()<double>();
  });
}
// visit() with what is computed with; and that of floats.
template <class F>
auto visit_computed(DType t, F&& f) {
  return visit(t, [&]<class T>() { return f.template operator()<Compute<T>>(); });
}
template <class F>
auto visit_float(DType t, F&& f) {
  return compute_type(t) == DType::f32 ? f.template operator()<float>() : f.template operator()<double>();
}

}  // namespace anvil
