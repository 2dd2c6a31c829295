// The lines of a tensor along one of its dimensions, which are sorted each for itself.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/interrupt.h"
#include "runtime/sort/ranks.h"

namespace anvil::sorting {

// n elements, `stride` apart.
struct Line {
  int64_t first, stride, n;
};

// Lines of n elements, with the products of the sizes before (inner) and after (outer) the dimension.
struct Lines {
  int64_t n, inner, outer;
  int64_t count() const { return inner * outer; }
  Line operator[](int64_t l) const { return {l / inner * inner * n + l % inner, inner, n}; }
};

// f(i) for every place of a line, polling now and then.
template <class F>
void for_each_place(int64_t n, F&& f) {
  in_pieces(n, 5, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) f(i);
  });
}

// put(place, i) for the elements bits(i) that are zeros and those that are NaNs, which follow each other from these
// places on as they came.
template <class U, class At, class Put>
void put_back(int64_t n, const Ranks<U>& ranks, int64_t zero, int64_t nan, const At& bits, const Put& put) {
  for_each_place(n, [&](int64_t i) {
    const U x = bits(i);
    if (ranks.is_nan(x))
      put(nan++, i);
    else if (ranks.is_zero(x))
      put(zero++, i);
  });
}

}  // namespace anvil::sorting
