// Sorting networks with AVX2: registers of 32 bytes.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "runtime/sort/network.h"

#define ANVIL_ELEMENTARY_ISA avx2
#define ANVIL_ELEMENTARY_AVX2
#define ANVIL_SORT_BYTES 32
#define ANVIL_SORT_BLOCK 8

#define ANVIL_KERNELS "runtime/sort/network.inc"
#include "runtime/elementary/with_avx2.inc"
#endif
