// The elementary functions with AVX2 and FMA: plain numbers and vectors of 32 bytes.
#if defined(__x86_64__)
#include <immintrin.h>
#include <cstddef>
#include <limits>
#include <type_traits>
#include "runtime/elementary/kernels.h"
#include "runtime/elementary/special.h"

#define ANVIL_ELEMENTARY_ISA avx2
#define ANVIL_ELEMENTARY_AVX2
#define ANVIL_ELEMENTARY_TYPES(X, name) X(name, f32) X(name, f64) X(name, f32x8) X(name, f64x4)
#define ANVIL_ELEMENTARY_WIDEST_F32 f32x8
#define ANVIL_ELEMENTARY_WIDEST_F64 f64x4

#define ANVIL_KERNELS "runtime/elementary/kernels.inc"
#include "runtime/elementary/with_avx2.inc"
#endif
