// A line in order: its elements become words, which begin with ranks and end with positions where those are asked for,
// so that what compares equal keeps its order. Many words are sorted by radix, few by comparisons.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

#include "runtime/sort/lines.h"
#include "runtime/sort/radix.h"
#include "runtime/sort/ranks.h"

namespace anvil::sorting {

__extension__ using uint128_t = unsigned __int128;

constexpr int64_t short_list = 24, long_list_for_a_digit = 24;
// Larger digits are fewer, but their tables must be worth it, and their buckets on no more pages than small ones have
// buckets: on 1000 pages a pass takes up to four times as long wherever others use the caches, too.
constexpr int64_t long_list_for_large_digits = 4000, bytes_for_large_digits = 256 * 4096;

inline bool is_short(int64_t n, size_t bytes) {
  return n <= short_list || n < long_list_for_a_digit * static_cast<int64_t>(std::min(bytes, size_t(4)));
}
// By so many bits, of which floats have a dozen in which few of them differ, most elements of a line are told apart.
inline int most_bits(int64_t n) {
  const int bits = std::bit_width(static_cast<uint64_t>(n)) + 12;
  return (bits + small_digit - 1) / small_digit * small_digit;
}

template <class Word>
void sort_short(Word* a, int64_t n) {
  if (n > short_list) return std::sort(a, a + n);
  for (int64_t i = 1; i < n; ++i) {
    const Word w = a[i];
    int64_t k = i;
    for (; k > 0 && w < a[k - 1]; --k) a[k] = a[k - 1];
    a[k] = w;
  }
}

template <class Word, class Source, class Put>
Word* sort_by_digits(int64_t n, Bits by, const Source& source, const Put& put, Word* a, Word* b) {
  if (n >= long_list_for_large_digits && n * static_cast<int64_t>(sizeof(Word)) <= bytes_for_large_digits &&
      by.digits(large_digit) <= most_large_digits)
    return radix_sort<large_digit>(n, by, source, put, a, b);
  return radix_sort<small_digit>(n, by, source, put, a, b);
}

// Whether no element i comes after the next one.
template <class Source>
bool in_order(int64_t n, const Source& source) {
  bool yes = true;
  in_pieces(n - 1, 1, [&](int64_t first, int64_t end) {
    for (int64_t i = first; yes && i < end; ++i) yes = !(source(i + 1) < source(i));
  });
  return yes;
}

// a[0, n), which differ in these bits and below, in place.
template <class Word>
void sort_list(Word* a, int64_t n, Bits by, Word* scratch) {
  if (is_short(n, sizeof(Word))) return sort_short(a, n);
  const auto source = [a](int64_t i) { return a[i]; };
  if (in_order(n, source)) return;
  const Word* sorted = sort_by_digits(n, by, source, nullptr, scratch, a);
  if (sorted != a) std::copy(sorted, sorted + n, a);
}

// visit(start, count) for several words that follow each other and agree from this bit on.
template <class Word, class Visit>
void for_ties(const Word* a, int64_t n, int bit, const Visit& visit) {
  int64_t start = 0;
  const auto end_at = [&](int64_t end) {
    if (end - start > 1) visit(start, end - start);
    start = end;
  };
  for_each_place(n - 1, [&](int64_t i) {
    if ((a[i] ^ a[i + 1]) >> bit != 0) end_at(i + 1);
  });
  end_at(n);
}

// ranks[i] of the elements at(i), and bits in which alone they differ. That those of floats are turned round below zero
// changes nothing: where signs differ, that is one of the bits, and of the same sign all that lie below are the same.
template <class U, class At>
Bits load_ranks(U* ranks, int64_t n, const Ranks<U>& of, const At& at) {
  constexpr int64_t size = 32;  // compilers use vectors for loops of a known length over memory of their own
  if (is_short(n, sizeof(U))) {
    for (int64_t i = 0; i < n; ++i) ranks[i] = of.total(at(i));
    return {0, 8 * sizeof(U)};
  }
  std::array<U, size> any{}, all, block;
  all.fill(std::numeric_limits<U>::max());
  in_pieces(n, 2, [&, ranks](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; i += size) {
      const int64_t count = std::min(size, end - i);
      if (count == size)
        for (int64_t j = 0; j < size; ++j) block[size_t(j)] = at(i + j);
      else
        for (int64_t j = 0; j < size; ++j) block[size_t(j)] = at(i + j % count);
      for (size_t j = 0; j < size; ++j) any[j] |= block[j], all[j] &= block[j];
      for (U& x : block) x = of.total(x);
      std::copy_n(block.data(), count, ranks + i);
    }
  });
  const U different = std::reduce(any.begin(), any.end(), U(0), std::bit_or<U>()) ^
                      std::reduce(all.begin(), all.end(), all[0], std::bit_and<U>());
  if (different == 0) return {0, 0};
  return {std::countr_zero(different), static_cast<int>(std::bit_width(different))};
}

// How rank i becomes a word: as it is; or its bits from `low` on, as many as there is room for, in front of i. And what
// is asked for in the end, the rank or i.
template <class U>
struct RankForm {
  using Word = U;
  const U* ranks;
  static constexpr bool cut = false;
  static constexpr int start = 0, low = 0;  // of ranks in words, of what they hold of ranks

  RankForm(const U* r, int64_t, Bits) : ranks(r) {}
  Word operator()(int64_t i) const { return ranks[i]; }
  static U result(Word w) { return w; }
};
template <class W, class U>
struct PositionForm {
  using Word = W;
  const U* ranks;
  static constexpr bool cut = sizeof(U) > 4;  // whether there may be bits that there is no room for
  int start, low;

  PositionForm(const U* r, int64_t n, Bits different)
      : ranks(r),
        start(std::bit_width(static_cast<uint64_t>(n))),
        low(std::max(different.low, different.high - 8 * int(sizeof(Word)) + start)) {}
  Word operator()(int64_t i) const { return Word(ranks[i] >> low) << start | Word(i); }
  int64_t result(Word w) const { return static_cast<int64_t>(w & ((Word(1) << start) - 1)); }
};

// put(place, result) for ranks, which differ in these bits, in their order. `memory`: for two words of each; the ranks
// themselves may be the second of either.
template <class Form, class U, class Put>
void sort_line(const U* ranks, int64_t n, Bits different, typename Form::Word* memory, const Put& put) {
  using Word = typename Form::Word;
  constexpr int width = 8 * sizeof(U);
  const Form form(ranks, n, different);
  const auto result = [=](int64_t place, Word w) { put(place, form.result(w)); };
  const bool few = is_short(n, sizeof(U));
  if (!few && in_order(n, [=](int64_t i) { return ranks[i]; }))
    return for_each_place(n, [=](int64_t i) { result(i, form(i)); });

  const int start = form.start, low = std::max(form.low, different.low);
  const Bits held{start + low - form.low, start + different.high - form.low},
      upper{width > 32 ? std::max(held.low, held.high - most_bits(n)) : held.low, held.high};
  // Words that are the same, by what they have no room for.
  const auto sort_rest = [&](Word* a, int64_t count, Word* scratch) {
    if constexpr (Form::cut) {
      if (low == different.low) return;
      Form rest = form;
      rest.low = different.low;
      for_ties(a, count, start, [&](int64_t first, int64_t m) {
        for_each_place(m, [&](int64_t i) { a[first + i] = rest(form.result(a[first + i])); });
        sort_list(a + first, m, Bits{start, start + low - different.low}, scratch + first);
      });
    }
  };

  Word *a = memory, *b = memory + n;
  if (few) {
    for (int64_t i = 0; i < n; ++i) a[i] = form(i);
    sort_short(a, n);
    sort_rest(a, n, b);
  } else if constexpr (width <= 32) {
    sort_by_digits(n, upper, form, result, a, b);
    return;
  } else {
    a = sort_by_digits(n, upper, form, nullptr, a, b);
    if (a != memory) b = memory;
    if (upper.low == held.low)
      sort_rest(a, n, b);
    else
      for_ties(a, n, upper.low, [&](int64_t first, int64_t m) {
        sort_list(a + first, m, Bits{held.low, upper.low}, b + first);
        sort_rest(a + first, m, b + first);
      });
  }
  for_each_place(n, [=](int64_t i) { result(i, a[i]); });
}

}  // namespace anvil::sorting
