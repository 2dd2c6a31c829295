// Interleaved matrices with AVX-512: registers of 64 bytes.
#if defined(__x86_64__)
#include <immintrin.h>
#include <cstddef>
#include <type_traits>
#include "runtime/interleaved/interleaved.h"

#define ANVIL_ELEMENTARY_ISA avx512
#define ANVIL_ELEMENTARY_AVX2
#define ANVIL_ELEMENTARY_AVX512
#define ANVIL_INTERLEAVED_BYTES 64

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")
#endif
#include "runtime/interleaved/kernels.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
