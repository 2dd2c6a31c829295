// The elementary functions with AVX-512: plain numbers, vectors of 32 and of 64 bytes.
#if defined(__x86_64__)
#include <immintrin.h>
#include <cstddef>
#include <limits>
#include <type_traits>
#include "runtime/elementary/kernels.h"
#include "runtime/elementary/special.h"

#define ANVIL_ELEMENTARY_ISA avx512
#define ANVIL_ELEMENTARY_AVX2
#define ANVIL_ELEMENTARY_AVX512
#define ANVIL_ELEMENTARY_TYPES(X, name) \
  X(name, f32) X(name, f64) X(name, f32x8) X(name, f64x4) X(name, f32x16) X(name, f64x8)
#define ANVIL_ELEMENTARY_WIDEST_F32 f32x16
#define ANVIL_ELEMENTARY_WIDEST_F64 f64x8

#define ANVIL_KERNELS "runtime/elementary/kernels.inc"
#include "runtime/elementary/with_avx512.inc"
#endif
