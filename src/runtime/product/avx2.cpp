// Products with AVX2: tiles of two registers of 32 bytes by 6 columns.
#if defined(__x86_64__)
#include "runtime/product/product.h"

#define ANVIL_PRODUCT_ISA avx2
#define ANVIL_PRODUCT_BYTES 32
#define ANVIL_PRODUCT_NARROW 2
#define ANVIL_PRODUCT_COLUMNS 6

#define ANVIL_KERNELS "runtime/product/kernel.inc"
#include "runtime/elementary/with_avx2.inc"
#endif
