// Interleaved matrices with AVX2: registers of 32 bytes.
#if defined(__x86_64__)
#include <immintrin.h>
#include <cstddef>
#include <type_traits>
#include "runtime/interleaved/interleaved.h"

#define ANVIL_ELEMENTARY_ISA avx2
#define ANVIL_ELEMENTARY_AVX2
#define ANVIL_INTERLEAVED_BYTES 32

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#include "runtime/interleaved/kernels.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
