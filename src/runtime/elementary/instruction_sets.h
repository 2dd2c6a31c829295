// What is compiled once for each instruction set. A header declares the kernels of its namespace by
// ANVIL_KERNELS_OF_SETS(Kernels); each of baseline.cpp, avx2.cpp and avx512.cpp beside it defines
// kernels() in a namespace of that name; kernels_of(isa) gives those of a set.
#pragma once
#include <type_traits>

#include "runtime/elementary/table.h"

#define ANVIL_KERNELS_OF_SET(Kernels, set) \
  namespace set {                          \
  Kernels kernels();                       \
  }
#if defined(__x86_64__)
#define ANVIL_KERNELS_OF_SETS(Kernels)                            \
  ANVIL_KERNELS_OF_SET(Kernels, baseline)                         \
  ANVIL_KERNELS_OF_SET(Kernels, avx2)                             \
  ANVIL_KERNELS_OF_SET(Kernels, avx512)                           \
  inline Kernels kernels_of(elementary::Isa isa) {                \
    if (isa == elementary::Isa::avx512) return avx512::kernels(); \
    if (isa == elementary::Isa::avx2) return avx2::kernels();     \
    return baseline::kernels();                                   \
  }
#else
#define ANVIL_KERNELS_OF_SETS(Kernels)    \
  ANVIL_KERNELS_OF_SET(Kernels, baseline) \
  inline Kernels kernels_of(elementary::Isa) { return baseline::kernels(); }
#endif

namespace anvil::elementary {

// Of kernels for floats and for doubles, those for T.
template <class T, class Kernels>
auto of_type(const Kernels& kernels) {
  if constexpr (std::is_same_v<T, float>)
    return kernels.f32;
  else
    return kernels.f64;
}

}  // namespace anvil::elementary
