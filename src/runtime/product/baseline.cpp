// Products on any processor: tiles in registers of 16 bytes.
#include "runtime/product/product.h"

#define ANVIL_PRODUCT_ISA baseline
#define ANVIL_PRODUCT_BYTES 16
#if defined(__aarch64__)
#define ANVIL_PRODUCT_COLUMNS 8
#define ANVIL_PRODUCT_NARROW 4
#else
#define ANVIL_PRODUCT_COLUMNS 4
#define ANVIL_PRODUCT_NARROW 2
#endif
#include "runtime/product/kernel.inc"
