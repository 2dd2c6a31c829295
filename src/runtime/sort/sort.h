// Sorting and selection along one dimension of dense tensors, for generated code. Both are
// stable. What `sort` calls smaller is what R and NumPy do: NaN is above all numbers and
// equal to every other NaN, -0 equals 0; `descending` turns exactly that around. `top_k`
// takes floats in their total order, -NaN < -Inf < ... < -0 < 0 < ... < Inf < NaN, as XLA does.
#pragma once
#include <cstdint>

namespace anvil::runtime {

struct Run;

int32_t sort(Run*, void* const* buffers, const int64_t* numbers);
int32_t top_k(Run*, void* const* buffers, const int64_t* numbers);

}  // namespace anvil::runtime
