// Radix sort: words go digit by digit, from the lowest one, to places that follow from how often each digit is met.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/interrupt.h"
#include "runtime/sort/lines.h"

namespace anvil::sorting {

// [low, high) of a word.
struct Bits {
  int low, high;
  int digits(int bits) const { return (high - low + bits - 1) / bits; }
};

// The tables of large digits must be few enough for the first cache.
constexpr int small_digit = 8, large_digit = 11, most_large_digits = 3;

// The words source(i), each asked for twice, by the given bits. They end in the one of the arrays that is returned,
// or are put(place, word) where that is a function. source(i) may be b[i].
template <int bits, class Word, class Source, class Put>
Word* radix_sort(int64_t n, Bits by, const Source& source, const Put& put, Word* a, Word* b) {
  constexpr bool to_array = std::is_null_pointer_v<Put>;
  constexpr int most = bits == large_digit ? most_large_digits : std::min<int>(8, sizeof(Word));
  constexpr size_t buckets = size_t(1) << bits;
  using Count = std::conditional_t<bits == large_digit, uint32_t, int64_t>;
  std::array<std::array<Count, buckets>, most> counts;  // of the digits that there are
  const auto digit = [low = by.low](Word w, int d) { return static_cast<size_t>(w >> (low + bits * d)) % buckets; };

  const auto count = [&]<int... d>(std::integer_sequence<int, d...>) {
    in_pieces(n, sizeof...(d), [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) {
        const auto key = static_cast<uint64_t>(source(i) >> by.low);
        (++counts[size_t(d)][(key >> (bits * d)) % buckets], ...);
      }
    });
  };
  const int digits = by.digits(bits);
  for (int d = 0; d < digits; ++d) counts[size_t(d)].fill(0);
  [&]<int... d>(std::integer_sequence<int, d...>) {
    (void)((digits == d + 1 && (count(std::make_integer_sequence<int, d + 1>()), true)) || ...);
  }
  (std::make_integer_sequence<int, most>());

  // Digits that all words share are left out.
  std::array<int, most> used{};
  size_t passes = 0;
  const Word first = source(0);
  for (int d = 0; d < digits; ++d)
    if (static_cast<int64_t>(counts[size_t(d)][digit(first, d)]) < n) used[passes++] = d;

  const auto pass = [&](int d, auto from, auto to) {  // copies, which no store can change
    auto& place = counts[size_t(d)];
    Count next = 0;
    for (Count& p : place) next += std::exchange(p, next);
    in_pieces(n, 5, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Word w = from(i);
        to(static_cast<int64_t>(place[digit(w, d)]++), w);
      }
    });
  };
  const auto move = [&](size_t k, const auto& to) {
    if (k == 0)
      pass(used[k], source, to);
    else
      pass(
          used[k], [from = b](int64_t i) { return from[i]; }, to);
  };
  const auto to_a = [&] { return [to = a](int64_t place, Word w) { to[place] = w; }; };
  if (passes == 0) {
    for_each_place(n, [&](int64_t i) {
      if constexpr (to_array)
        a[i] = source(i);
      else
        put(i, source(i));
    });
    return a;
  }
  for (size_t k = 0; k + 1 < passes; ++k) {
    move(k, to_a());
    std::swap(a, b);
  }
  if constexpr (to_array)
    move(passes - 1, to_a());
  else
    move(passes - 1, put);
  return a;
}

}  // namespace anvil::sorting
