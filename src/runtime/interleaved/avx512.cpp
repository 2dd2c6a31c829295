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

#define ANVIL_KERNELS "runtime/interleaved/kernels.inc"
#include "runtime/elementary/with_avx512.inc"
#endif
