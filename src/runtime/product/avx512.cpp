// Products with AVX-512: tiles of two registers of 64 bytes by 12 columns.
#if defined(__x86_64__)
#include "runtime/product/product.h"

#define ANVIL_PRODUCT_ISA avx512
#define ANVIL_PRODUCT_BYTES 64
#define ANVIL_PRODUCT_COLUMNS 12

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")
#endif
#include "runtime/product/kernel.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
