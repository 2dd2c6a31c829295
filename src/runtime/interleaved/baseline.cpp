// Interleaved matrices on any processor: registers of 16 bytes.
#include <cstddef>
#include <type_traits>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#include "runtime/interleaved/interleaved.h"

#define ANVIL_ELEMENTARY_ISA baseline
#define ANVIL_INTERLEAVED_BYTES 16
#include "runtime/interleaved/kernels.inc"
