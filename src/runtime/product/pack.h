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
  bool apart = false;  // in several arrays
  int64_t operator[](int64_t i) const { return at ? at[i] : first + i * step; }
  Places from(int64_t i, int64_t n) const {
    n = std::min(n, count - i);
    return at ? Places{at + i, n, 0, 0, apart} : Places{nullptr, n, first + i * step, step};
  }
  // How many, from some place on, follow each other in memory.
  int64_t run(int64_t i) const {
    if (!at) return step == 1 ? count - i : 1;
    int64_t n = 1;
    while (i + n < count && at[i + n] == at[i] + n) ++n;
    return n;
  }
};

// Of a line of the caches. What is fetched of several that follow each other are those that elements end in: the first
// one has come with what lies before.
template <class T>
constexpr int64_t in_line = 64 / sizeof(T);

constexpr int64_t square = 4;

// to[i + height * p] = lines[i][p] for i, p < square
#if defined(__SSE2__)
inline void transpose(float* to, int64_t height, const float* const* lines, int64_t p) {
  __m128 a = _mm_loadu_ps(lines[0] + p), b = _mm_loadu_ps(lines[1] + p), c = _mm_loadu_ps(lines[2] + p),
         d = _mm_loadu_ps(lines[3] + p);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(to, a);
  _mm_storeu_ps(to + height, b);
  _mm_storeu_ps(to + 2 * height, c);
  _mm_storeu_ps(to + 3 * height, d);
}
inline void transpose(double* to, int64_t height, const double* const* lines, int64_t p) {
  for (int64_t i = 0; i < square; i += 2)
    for (int64_t q = 0; q < square; q += 2) {
      const __m128d a = _mm_loadu_pd(lines[i] + p + q), b = _mm_loadu_pd(lines[i + 1] + p + q);
      _mm_storeu_pd(to + i + height * q, _mm_unpacklo_pd(a, b));
      _mm_storeu_pd(to + i + height * (q + 1), _mm_unpackhi_pd(a, b));
    }
}
#else
template <class T>
void transpose(T* to, int64_t height, const T* const* lines, int64_t p) {
  for (int64_t q = 0; q < square; ++q)
    for (int64_t i = 0; i < square; ++i) to[i + height * q] = lines[i][p + q];
}
#endif

// Some lines, n steps of which lie together: to[i + height * p] = from[lines[i] + p].
template <class T>
void transpose_lines(T* to, int64_t height, const T* from, const Places& lines, int64_t n) {
  int64_t i = 0;
  for (; i + square <= lines.count; i += square) {
    const T* const four[square] = {from + lines[i], from + lines[i + 1], from + lines[i + 2], from + lines[i + 3]};
    for (int64_t r = i + square; r < std::min(i + 2 * square, lines.count); ++r)
      for (int64_t q = 0; q < std::min(n, 4 * in_line<T>); q += in_line<T>) __builtin_prefetch(from + lines[r] + q);
    int64_t p = 0;
    for (; p + square <= n; p += square) transpose(to + i + height * p, height, four, p);
    for (; p < n; ++p)
      for (int64_t r = 0; r < square; ++r) to[i + r + height * p] = four[r][p];
  }
  for (; i < lines.count; ++i) {
    const T* const line = from + lines[i];
    for (int64_t p = 0; p < n; ++p) to[i + height * p] = line[p];
  }
}

// The elements of a step after each other. Steps far from each other are no pattern that the processor foresees.
template <class T>
void gather_lines(T* to, int64_t height, const T* from, const Places& lines, const Places& depth) {
  constexpr int64_t together = 32, ahead = 8, of_line = 8;
  int64_t offsets[together];
  for (int64_t i = 0; i < lines.count; i += together) {
    const int64_t n = std::min(lines.count - i, together);
    for (int64_t r = 0; r < n; ++r) offsets[r] = lines[i + r];
    for (int64_t p = 0; p < depth.count; ++p) {
      const T *const step = from + depth[p], *const later = from + depth[std::min(p + ahead, depth.count - 1)];
      for (int64_t r = 0; r < n; r += of_line) __builtin_prefetch(later + offsets[r]);
      for (int64_t r = 0; r < n; ++r) to[i + r + height * p] = step[offsets[r]];
    }
  }
}

// Panels of one height: to[i + height * p] = from[lines[i] + depth[p]] for i < height, of lines that all lie together
// or do so in runs of 16, 8 and 4; null where that is no part of the height. And of lines apart from each other, n steps
// of which lie together; or null.
template <class T>
struct Copies {
  void (*together)(T* to, const T* from, const Places& depth);
  using Runs = void (*)(T* to, const T* from, const Places& lines, const Places& depth);
  Runs in_runs[3];
  using Transposed = void (*)(T* to, const T* from, const Places& lines, int64_t n);
  Transposed transposed;
};

// Lines apart from each other, whose steps may lie together in runs.
template <class T>
void pack_lines(T* to, int64_t height, const T* from, const Places& lines, const Places& depth,
                const Copies<T>* copies) {
  for (int64_t p = 0, n = 0; p < depth.count; p += n) {
    n = depth.run(p);
    if (n >= square) {
      T* const steps = to + height * p;
      if (copies && copies->transposed && lines.count == height)
        copies->transposed(steps, from + depth[p], lines, n);
      else
        transpose_lines(steps, height, from + depth[p], lines, n);
      continue;
    }
    while (p + n < depth.count && depth.run(p + n) < square) ++n;
    gather_lines(to + height * p, height, from, lines, depth.from(p, n));
  }
}

// Some lines of a panel, each the first of n that lie together.
constexpr int64_t most_lines = 32;
struct Firsts {
  int64_t count = 0, of[most_lines];
  void add(int64_t line) { of[count++] = line; }
};
template <int64_t n, class T>
void copy_runs(T* to, int64_t height, const T* from, const Places& lines, const Firsts& firsts, const Places& depth) {
  constexpr int64_t ahead = 8;
  if (firsts.count == 0) return;
  int64_t offsets[most_lines];
  for (int64_t k = 0; k < firsts.count; ++k) offsets[k] = lines[firsts.of[k]];
  for (int64_t p = 0; p < depth.count; ++p) {
    const T *const step = from + depth[p], *const later = from + depth[std::min(p + ahead, depth.count - 1)];
    for (int64_t k = 0; k < firsts.count; ++k) {
      __builtin_prefetch(later + offsets[k]);
      std::memcpy(to + height * p + firsts.of[k], step + offsets[k], n * sizeof(T));
    }
  }
}

// One panel: to[i + height * p] = from[lines[i] + depth[p]]. Lines that lie together in runs are copied by runs of
// the same length, those of all of the panel at each step. `copies`: for panels of this height, or null.
template <class T>
void pack_panel(T* to, int64_t height, const T* from, const Places& lines, const Places& depth,
                const Copies<T>* copies = nullptr) {
  for (int64_t first = 0; first < lines.count; first += most_lines) {
    const Places some = lines.from(first, most_lines);
    Firsts of_16, of_8, of_4, of_1;
    for (int64_t i = 0, n = 0; i < some.count; i += n) {
      n = some.run(i);
      if (n < square) {
        while (i + n < some.count && some.run(i + n) < square) ++n;
        pack_lines(to + first + i, height, from, some.from(i, n), depth, copies);
        continue;
      }
      int64_t line = i;
      for (; line + 16 <= i + n; line += 16) of_16.add(line);
      for (; line + 8 <= i + n; line += 8) of_8.add(line);
      for (; line + 4 <= i + n; line += 4) of_4.add(line);
      for (; line < i + n; ++line) of_1.add(line);
    }
    copy_runs<16>(to + first, height, from, some, of_16, depth);
    copy_runs<8>(to + first, height, from, some, of_8, depth);
    copy_runs<4>(to + first, height, from, some, of_4, depth);
    copy_runs<1>(to + first, height, from, some, of_1, depth);
  }
}

// The same of small floats, which become numbers to compute with.
template <class T, class S>
void pack_panel(T* to, int64_t height, const S* from, const Places& lines, const Places& depth, const Copies<T>*) {
  for (int64_t i = 0, n = 0; i < lines.count; i += n) {
    n = lines.run(i);
    const S* const run = from + lines[i];
    for (int64_t p = 0; p < depth.count; ++p) {
      const S* const step = run + depth[p];
      for (int64_t r = 0; r < n; ++r) to[i + r + height * p] = step[r];
    }
  }
}

inline bool in_runs_of(int64_t n, const Places& lines) {
  for (int64_t i = 0; i < lines.count; i += n)
    if (lines.run(i) < n) return false;
  return true;
}

// A panel of at most `height` lines of an array of S, filled up with zeros.
template <class T, class S>
__attribute__((noinline)) void pack(T* to, const void* from, const Places& lines, const Places& depth, int64_t height,
                                    const Copies<T>& copies) {
  const S* const elements = static_cast<const S*>(from);
  if constexpr (std::is_same_v<S, T>) {
    if (lines.run(0) >= height) return copies.together(to, elements + lines[0], depth);
    if (lines.count == height)
      for (int64_t k = 0; k < 3; ++k)
        if (copies.in_runs[k] && in_runs_of(16 >> k, lines)) return copies.in_runs[k](to, elements, lines, depth);
  }
  if (lines.count < height) std::fill(to, to + height * depth.count, T(0));
  pack_panel(to, height, elements, lines, depth, &copies);
}

// The steps of a panel times their weights.
template <class T>
void weigh(T* panel, int64_t height, const T* weights, const Places& depth) {
  for (int64_t p = 0; p < depth.count; ++p, panel += height)
    for (int64_t r = 0; r < height; ++r) panel[r] *= weights[depth[p]];
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
  void (*pack)(T* to, const void* from, const Places& lines, const Places& depth, int64_t height, const Copies<T>&);
  void (*put)(void* to, const Places& rows, const Places& columns, const T* from, int64_t ld);
};
template <class S, class T = Compute<S>>
constexpr Storage<T> storage() {
  return {pack<T, S>, std::is_same_v<S, T> ? nullptr : put<T, S>};
}

}  // namespace anvil::product
