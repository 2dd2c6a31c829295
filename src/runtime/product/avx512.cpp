// Products with AVX-512: tiles of two registers of 64 bytes by 12 columns.
#if defined(__x86_64__)
#include "runtime/product/product.h"

#define ANVIL_PRODUCT_ISA avx512
#define ANVIL_PRODUCT_BYTES 64
#define ANVIL_PRODUCT_NARROW 4
#define ANVIL_PRODUCT_COLUMNS 12

#define ANVIL_KERNELS "runtime/product/kernel.inc"
#include "runtime/elementary/with_avx512.inc"
#endif
