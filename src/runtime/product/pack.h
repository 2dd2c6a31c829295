// Packing: lines of an operand of a contraction, in panels of some height, each panel step by step of
// the depth, so that the inner kernel reads it in order. Where an element stands is the sum of two
// offsets: of its line, and of its step of the depth.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/small_float.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace anvil::product {

// Offsets of elements in memory: a table, or one at each `step` from `first` on.
struct Places {
  const int64_t* at;
  int64_t count, first = 0, step = 0;
  int64_t operator[](int64_t i) const { return at ? at[i] : first + i * step; }
  Places from(int64_t i, int64_t n) const {
    n = std::min(n, count - i);
    return at ? Places{at + i, n} : Places{nullptr, n, first + i * step, step};
  }
  // How many, from some place on, follow each other in memory.
  int64_t run(int64_t i) const {
    if (!at) return step == 1 ? count - i : 1;
    int64_t n = 1;
    while (i + n < count && at[i + n] == at[i] + n) ++n;
    return n;
  }
};

constexpr int64_t square = 4;

// to[i + height * p] = from[lines[i] + p] for i, p < square
#if defined(__SSE2__)
inline void transpose(float* to, int64_t height, const float* from, const int64_t* lines) {
  __m128 a = _mm_loadu_ps(from + lines[0]), b = _mm_loadu_ps(from + lines[1]), c = _mm_loadu_ps(from + lines[2]),
         d = _mm_loadu_ps(from + lines[3]);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(to, a);
  _mm_storeu_ps(to + height, b);
  _mm_storeu_ps(to + 2 * height, c);
  _mm_storeu_ps(to + 3 * height, d);
}
inline void transpose(double* to, int64_t height, const double* from, const int64_t* lines) {
  for (int64_t i = 0; i < square; i += 2)
    for (int64_t p = 0; p < square; p += 2) {
      const __m128d a = _mm_loadu_pd(from + lines[i] + p), b = _mm_loadu_pd(from + lines[i + 1] + p);
      _mm_storeu_pd(to + i + height * p, _mm_unpacklo_pd(a, b));
      _mm_storeu_pd(to + i + height * (p + 1), _mm_unpackhi_pd(a, b));
    }
}
#else
template <class T>
void transpose(T* to, int64_t height, const T* from, const int64_t* lines) {
  for (int64_t p = 0; p < square; ++p)
    for (int64_t i = 0; i < square; ++i) to[i + height * p] = from[lines[i] + p];
}
#endif

// Runs of elements, at `height` elements from each other in `to` and at the depth's places in `from`.
template <int64_t n, class T>
void copy_runs(T* to, int64_t height, const T* from, const Places& depth) {
  for (int64_t p = 0; p < depth.count; ++p) std::memcpy(to + height * p, from + depth[p], n * sizeof(T));
}
template <class T>
void copy_run(T* to, int64_t height, const T* from, const Places& depth, int64_t n) {
  for (; n >= 16; n -= 16, to += 16, from += 16) copy_runs<16>(to, height, from, depth);
  for (; n >= 12; n -= 12, to += 12, from += 12) copy_runs<12>(to, height, from, depth);
  for (; n >= 4; n -= 4, to += 4, from += 4) copy_runs<4>(to, height, from, depth);
  for (; n > 0; --n, ++to, ++from) copy_runs<1>(to, height, from, depth);
}

// The elements of a step after each other. Steps far from each other are no pattern that the processor foresees.
template <class T>
void gather_lines(T* to, int64_t height, const T* from, const Places& lines, const Places& depth) {
  constexpr int64_t together = 32, ahead = 8, in_line = 8;
  int64_t offsets[together];
  for (int64_t i = 0; i < lines.count; i += together) {
    const int64_t n = std::min(lines.count - i, together);
    for (int64_t r = 0; r < n; ++r) offsets[r] = lines[i + r];
    for (int64_t p = 0; p < depth.count; ++p) {
      const T *const step = from + depth[p], *const later = from + depth[std::min(p + ahead, depth.count - 1)];
      for (int64_t r = 0; r < n; r += in_line) __builtin_prefetch(later + offsets[r]);
      for (int64_t r = 0; r < n; ++r) to[i + r + height * p] = step[offsets[r]];
    }
  }
}

// Some lines in squares, where the depth lies together.
template <class T>
void pack_lines(T* to, int64_t height, const T* from, const Places& lines, const Places& depth) {
  int64_t i = 0;
  for (; i + square <= lines.count && depth.run(0) >= square; i += square) {
    const int64_t four[square] = {lines[i], lines[i + 1], lines[i + 2], lines[i + 3]};
    for (int64_t p = 0; p < depth.count;) {
      const bool together = depth.from(p, square).run(0) == square;
      if (together)
        transpose(to + i + height * p, height, from + depth[p], four);
      else
        for (int64_t r = 0; r < square; ++r) to[i + r + height * p] = from[lines[i + r] + depth[p]];
      p += together ? square : 1;
    }
  }
  if (i < lines.count) gather_lines(to + i, height, from, lines.from(i, lines.count - i), depth);
}

// One panel: to[i + height * p] = from[lines[i] + depth[p]].
template <class T>
void pack_panel(T* to, int64_t height, const T* from, const Places& lines, const Places& depth) {
  for (int64_t i = 0, n = 0; i < lines.count; i += n) {
    n = lines.run(i);
    if (n >= square) {
      copy_run(to + i, height, from + lines[i], depth, n);
      continue;
    }
    while (i + n < lines.count && lines.run(i + n) < square) ++n;
    pack_lines(to + i, height, from, lines.from(i, n), depth);
  }
}

// The same of small floats, which become numbers to compute with.
template <class T, class S>
void pack_panel(T* to, int64_t height, const S* from, const Places& lines, const Places& depth) {
  for (int64_t i = 0, n = 0; i < lines.count; i += n) {
    n = lines.run(i);
    const S* const run = from + lines[i];
    for (int64_t p = 0; p < depth.count; ++p) {
      const S* const step = run + depth[p];
      for (int64_t r = 0; r < n; ++r) to[i + r + height * p] = step[r];
    }
  }
}

// All panels of an array of S; the last one is filled up with zeros.
template <class T, class S>
__attribute__((noinline)) void pack(T* to, const void* from, const Places& lines, const Places& depth, int64_t height) {
  for (int64_t first = 0; first < lines.count; first += height, to += height * depth.count) {
    if (first + height > lines.count) std::fill(to, to + height * depth.count, T(0));
    pack_panel(to, height, static_cast<const S*>(from), lines.from(first, height), depth);
  }
}

// The steps of a panel times their weights.
template <class T>
void weigh(T* panel, int64_t height, const T* weights, const Places& depth) {
  for (int64_t p = 0; p < depth.count; ++p)
    for (int64_t i = 0; i < height; ++i) panel[i + height * p] *= weights[depth[p]];
}

// to[rows[i] + columns[j]] = from[i + ld * j]
template <class T, class S>
void put(void* to, const Places& rows, const Places& columns, const T* from, int64_t ld) {
  for (int64_t j = 0; j < columns.count; ++j)
    for (int64_t i = 0; i < rows.count; ++i) static_cast<S*>(to)[rows[i] + columns[j]] = S(from[i + ld * j]);
}

// How the elements of the arrays become numbers of T, and sums elements. Nothing is to be done for T itself: `put`
// is null.
template <class T>
struct Storage {
  void (*pack)(T* to, const void* from, const Places& lines, const Places& depth, int64_t height);
  void (*put)(void* to, const Places& rows, const Places& columns, const T* from, int64_t ld);
};
template <class S, class T = Compute<S>>
constexpr Storage<T> storage() {
  return {pack<T, S>, std::is_same_v<S, T> ? nullptr : put<T, S>};
}

}  // namespace anvil::product
