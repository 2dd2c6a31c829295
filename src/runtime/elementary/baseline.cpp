// The elementary functions for any processor of the architecture: on x86-64 plain numbers
// only (fma is a call of the C library there), elsewhere also vectors of 16 bytes.
#include <cstddef>
#include <limits>
#include <type_traits>
#include "runtime/elementary/kernels.h"
#include "runtime/elementary/special.h"

#define ANVIL_ELEMENTARY_ISA baseline
#if defined(__x86_64__)
#define ANVIL_ELEMENTARY_TYPES(X, name) X(name, f32) X(name, f64)
#define ANVIL_ELEMENTARY_WIDEST_F32 f32
#define ANVIL_ELEMENTARY_WIDEST_F64 f64
#include <immintrin.h>
#else
#define ANVIL_ELEMENTARY_TYPES(X, name) X(name, f32) X(name, f64) X(name, f32x4) X(name, f64x2)
#define ANVIL_ELEMENTARY_WIDEST_F32 f32x4
#define ANVIL_ELEMENTARY_WIDEST_F64 f64x2
#if defined(__aarch64__)
#include <arm_neon.h>
#endif
#endif
#include "runtime/elementary/kernels.inc"
