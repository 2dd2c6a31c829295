// Sorting networks with AVX-512: registers of 64 bytes.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "runtime/sort/network.h"

#define ANVIL_ELEMENTARY_ISA avx512
#define ANVIL_ELEMENTARY_AVX2
#define ANVIL_ELEMENTARY_AVX512
#define ANVIL_SORT_BYTES 64
#define ANVIL_SORT_BLOCK 16

#define ANVIL_KERNELS "runtime/sort/network.inc"
#include "runtime/elementary/with_avx512.inc"
#endif
