// What factorisations do with all elements of a matrix, shared by threads: copies, and whether they are finite, which is
// asked first; what the results are where they are not.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "base/interrupt.h"
#include "runtime/threads.h"

namespace anvil::runtime {

constexpr double nanoseconds_of_element = 0.3;

template <class T>
void copy_elements(T* to, const T* from, int64_t count) {
  share_ranges(count, nanoseconds_of_element, [&](int64_t first, int64_t end) {
    std::copy(from + first, from + end, to + first);
    worked(end - first);
  });
}

template <class T>
bool all_finite(const T* x, int64_t count) {
  constexpr int64_t at_once = 16;
  std::atomic<bool> finite{true};
  share_ranges(count, nanoseconds_of_element, [&](int64_t first, int64_t end) {
    T sums[at_once] = {};  // NaN as soon as one is infinite or NaN
    worked(end - first);
    for (; end - first >= at_once; first += at_once)
      for (int64_t i = 0; i < at_once; ++i) sums[i] += x[first + i] * T(0);
    for (; first < end; ++first) sums[0] += x[first] * T(0);
    if (!std::all_of(sums, sums + at_once, [](T sum) { return sum == T(0); })) finite = false;
  });
  return finite;
}

template <class T>
void fill_nan(T* x, int64_t count) {
  std::fill(x, x + count, std::numeric_limits<T>::quiet_NaN());
}

}  // namespace anvil::runtime
