// Products with AVX2: tiles of two registers of 32 bytes by 6 columns.
#if defined(__x86_64__)
#include "runtime/product/product.h"

#define ANVIL_PRODUCT_ISA avx2
#define ANVIL_PRODUCT_BYTES 32
#define ANVIL_PRODUCT_COLUMNS 6

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#include "runtime/product/kernel.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
