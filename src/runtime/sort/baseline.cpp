// Sorting networks on any processor: registers of 16 bytes.
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "runtime/sort/network.h"

#define ANVIL_ELEMENTARY_ISA baseline
#define ANVIL_SORT_BYTES 16
#define ANVIL_SORT_BLOCK 8
#include "runtime/sort/network.inc"
