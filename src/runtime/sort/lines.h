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

// Zeros and NaNs of a line of floats that was sorted by ranks, in which they are all the same, as they came.
template <class U>
void put_back(U* out, const U* in, Line line, const Ranks<U>& ranks, bool descending) {
  int64_t nans = 0, next_zero = line.n;
  for_each_place(line.n, [&](int64_t i) {
    const U x = out[line.first + i * line.stride];
    nans += ranks.is_nan(x);
    if (ranks.is_zero(x)) next_zero = std::min(next_zero, i);
  });
  int64_t next_nan = descending ? 0 : line.n - nans;
  for_each_place(line.n, [&](int64_t i) {
    const U x = in[line.first + i * line.stride];
    const bool nan = ranks.is_nan(x);
    if (nan || ranks.is_zero(x)) out[line.first + (nan ? next_nan++ : next_zero++) * line.stride] = x;
  });
}

}  // namespace anvil::sorting
