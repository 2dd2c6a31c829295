// Whether a matrix is all finite, which factorisations ask first, and what their results are where it is not.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/interrupt.h"

namespace anvil::runtime {

template <class T>
bool all_finite(const T* x, int64_t count) {
  T sum = 0;  // NaN as soon as one is infinite or NaN
  in_pieces(count, 1, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) sum += x[i] * T(0);
  });
  return sum == T(0);
}

template <class T>
void fill_nan(T* x, int64_t count) {
  std::fill(x, x + count, std::numeric_limits<T>::quiet_NaN());
}

}  // namespace anvil::runtime
