// Interleaved matrices with AVX2: registers of 32 bytes.
#if defined(__x86_64__)
#include <immintrin.h>
#include <cstddef>
#include <type_traits>
#include "runtime/interleaved/interleaved.h"

#define ANVIL_ELEMENTARY_ISA avx2
#define ANVIL_ELEMENTARY_AVX2
#define ANVIL_INTERLEAVED_BYTES 32

#define ANVIL_KERNELS "runtime/interleaved/kernels.inc"
#include "runtime/elementary/with_avx2.inc"
#endif
