// The linear algebra that generated code calls; what buffers and numbers mean stands in
// runtime/functions.h.
#pragma once
#include <cstdint>

namespace anvil::runtime {

struct Run;

int32_t contract(Run*, void* const* buffers, const int64_t* numbers);
int32_t cholesky_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t cholesky_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t triangular_solve_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t triangular_solve_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t lu_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t lu_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t qr_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t qr_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t eigh_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t eigh_f64(Run*, void* const* buffers, const int64_t* numbers);
int32_t svd_f32(Run*, void* const* buffers, const int64_t* numbers);
int32_t svd_f64(Run*, void* const* buffers, const int64_t* numbers);

}  // namespace anvil::runtime
