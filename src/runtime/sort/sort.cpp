// Lines are sorted by the total order of their elements; zeros and NaNs are put right afterwards. With several keys
// lines are sorted by the last key first. Several lines of moderate length go through networks together.
#include "runtime/sort/sort.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/interrupt.h"
#include "runtime/pool.h"
#include "runtime/run.h"
#include "runtime/sort/interleaved.h"
#include "runtime/sort/lines.h"
#include "runtime/sort/ranks.h"
#include "runtime/sort/words.h"
#include "runtime/threads.h"

namespace anvil::runtime {
namespace {

using namespace sorting;

// ---- lines --------------------------------------------------------------------------------

// visit(line, memory of so many bytes) for all lines.
template <class F>
void for_each_line(const Lines& lines, size_t bytes, F&& visit) {
  share_ranges(lines.count(), 20.0 * static_cast<double>(lines.n), [&](int64_t first, int64_t end) {
    const Block memory(bytes);
    for (int64_t l = first; l < end; ++l) {
      visit(lines[l], memory.data());
      worked(20 * lines.n);
    }
  });
}

// A line of floats in total order, or the positions of its elements, becomes ordered as floats compare: NaNs go to
// one end, and they and zeros of both signs are as they came. bits(x) of what is sorted, at(i) of the line, of which
// make(i) is sorted.
template <class T, class U, class BitsOf, class At, class Make>
void compare_as_floats(T* sorted, int64_t n, const Ranks<U>& ranks, bool descending, const BitsOf& bits, const At& at,
                       const Make& make) {
  if (n == 0) return;
  const auto is_nan = [&](T x) { return ranks.is_nan(bits(x)); };
  const auto below = [&](U rank) { return [=, &ranks, &bits](T x) { return ranks.total(bits(x)) < rank; }; };
  const auto [first_zero, second_zero] = std::minmax({ranks.total(0), ranks.total(ranks.negative_zero())});
  T *const end = sorted + n, *numbers = sorted, *numbers_end = end;
  if (is_nan(sorted[0])) numbers = std::partition_point(sorted, end, is_nan);
  if (numbers != end && is_nan(end[-1])) numbers_end = std::partition_point(numbers, end, std::not_fn(is_nan));

  T *const nans = descending ? sorted : numbers_end, *const nans_end = descending ? numbers : end;
  const bool at_wrong_end = descending ? numbers_end != end : numbers != sorted,
             nans_differ = nans != nans_end && bits(nans[0]) != bits(nans_end[-1]);
  T* const second = std::partition_point(numbers, numbers_end, below(second_zero));
  const bool zeros_differ =
      second != numbers && second != numbers_end && ranks.is_zero(bits(second[-1])) && ranks.is_zero(bits(second[0]));
  if (!at_wrong_end && !nans_differ && !zeros_differ) return;

  const int64_t count = numbers_end - numbers;
  numbers = static_cast<T*>(std::memmove(descending ? end - count : sorted, numbers, size_t(count) * sizeof(T)));
  const int64_t zero = std::partition_point(numbers, numbers + count, below(first_zero)) - sorted;
  put_back(n, ranks, zero, descending ? 0 : count, at, [&](int64_t place, int64_t i) { sorted[place] = make(i); });
}

// What is done with the places of sorted elements.
template <class U>
struct PutValue {
  U* out;
  Ranks<U> ranks;
  void operator()(int64_t place, U rank) const { out[place] = ranks.bits(rank); }
};
template <class Position>
struct PutPosition {
  Position* out;
  void operator()(int64_t place, int64_t i) const { out[place] = static_cast<Position>(i); }
};

// A line of n elements at(i) goes to `out`. `memory`: for 2 n.
template <class U, class At>
void sort_values(U* out, int64_t n, const Ranks<U>& ranks, bool descending, U* memory, const At& at) {
  U* const loaded = memory + n;
  const Bits different = load_ranks(loaded, n, ranks, at);
  sort_line<RankForm<U>>(loaded, n, different, memory, PutValue<U>{out, ranks});
  if (ranks.of_floats())
    compare_as_floats(
        out, n, ranks, descending, [](U x) { return x; }, at, at);
}

// The positions of its elements; `memory` is for 2 n words, `loaded` for n ranks.
template <class Word, class Position, class U, class At>
void sort_positions(Position* out, int64_t n, const Ranks<U>& ranks, bool descending, Word* memory, U* loaded,
                    const At& at) {
  const Bits different = load_ranks(loaded, n, ranks, at);
  sort_line<PositionForm<Word, U>>(loaded, n, different, memory, PutPosition<Position>{out});
  if (!ranks.of_floats()) return;
  const auto bits = [loaded, ranks](Position i) { return ranks.bits(loaded[i]); };
  compare_as_floats(out, n, ranks, descending, bits, bits, [](int64_t i) { return static_cast<Position>(i); });
}

template <class T, class Position>
void take(const T* from, int64_t from_stride, const Position* order, T* to, int64_t to_stride, int64_t n) {
  for_each_place(n, [=](int64_t i) { to[i * to_stride] = from[static_cast<int64_t>(order[i]) * from_stride]; });
}
template <class Position>
void take(const Operand& x, const Position* order, Line line) {
  visit_bits(size_of(x.dtype), [&]<class U>() {
    take(static_cast<const U*>(x.in) + line.first, line.stride, order, static_cast<U*>(x.out) + line.first, line.stride,
         line.n);
  });
}

// ---- the two functions --------------------------------------------------------------------

// numbers: operands, keys, descending, n, inner, outer, dtype of each operand.
struct Sort {
  Sort(void* const* p, const int64_t* d) : keys(d[1]), descending(d[2] != 0), lines{d[3], d[4], d[5]} {
    for (int64_t k = 0; k < d[0]; ++k) operands.push_back({p[k], p[d[0] + k], static_cast<DType>(d[6 + k])});
  }
  int64_t keys;
  bool descending;
  Lines lines;
  std::vector<Operand> operands;

  bool is_alone() const { return operands.size() == 1; }
  bool interleaved() const { return keys == 1 && worth_interleaving(operands[0].dtype, lines, !is_alone()); }
  void alone() const {
    const Operand& x = operands[0];
    visit_bits(size_of(x.dtype), [&]<class U>() {
      const int64_t n = lines.n, arrays = lines.inner > 1 ? 3 : 2;
      const Ranks<U> ranks(x.dtype, descending);
      for_each_line(lines, static_cast<size_t>(arrays * n) * sizeof(U), [&](Line line, char* scratch) {
        U *const memory = reinterpret_cast<U*>(scratch), *const sorted = memory + 2 * n;
        const U* const in = static_cast<const U*>(x.in) + line.first;
        U* const out = static_cast<U*>(x.out) + line.first;
        if (line.stride == 1) return sort_values(out, n, ranks, descending, memory, [in](int64_t i) { return in[i]; });
        sort_values(sorted, n, ranks, descending, memory, [=](int64_t i) { return in[i * line.stride]; });
        for_each_place(n, [=](int64_t i) { out[i * line.stride] = sorted[i]; });
      });
    });
  }
  // The keys are sorted by from the last one on, each in the order that the ones after it gave.
  template <class Word, class Position>
  void together() const {
    const auto n = static_cast<size_t>(lines.n);
    const size_t words = 2 * n * sizeof(Word), loaded = n * sizeof(uint64_t), positions = 2 * n * sizeof(Position);
    for_each_line(lines, words + loaded + positions, [&](Line line, char* scratch) {
      auto* const order = reinterpret_cast<Position*>(scratch + words + loaded);
      for (int64_t k = keys; k-- > 0;)
        sort_by(operands[static_cast<size_t>(k)], line, k == keys - 1, order, reinterpret_cast<Word*>(scratch),
                scratch + words);
      for (const Operand& x : operands) take(x, order, line);
    });
  }
  template <class Word, class Position>
  void sort_by(const Operand& key, Line line, bool first, Position* order, Word* memory, char* loaded) const {
    visit_bits(size_of(key.dtype), [&]<class U>() {
      const U* const in = static_cast<const U*>(key.in) + line.first;
      const auto sort_to = [&](Position* to, const auto& at) {
        sort_positions(to, line.n, Ranks<U>(key.dtype, descending), descending, memory, reinterpret_cast<U*>(loaded),
                       at);
      };
      if (first && line.stride == 1) return sort_to(order, [=](int64_t i) { return in[i]; });
      if (first) return sort_to(order, [=](int64_t i) { return in[i * line.stride]; });
      Position *const places = order + line.n, *const before = reinterpret_cast<Position*>(memory);
      sort_to(places, [=](int64_t i) { return in[static_cast<int64_t>(order[i]) * line.stride]; });
      std::copy(order, order + line.n, before);
      take(before, 1, places, order, 1, line.n);
    });
  }
};

bool fits_32_bits(int64_t n) { return n <= std::numeric_limits<uint32_t>::max(); }

// The k largest of a line, the first of equal ones first, and their positions: few of many. While the line goes by,
// some more than k are kept of those that can still be among them.
template <class U>
void select_largest(const Operand& values, int32_t* indices, int64_t k, const Lines& lines) {
  using Word = std::conditional_t<sizeof(U) <= 4, uint64_t, uint128_t>;
  const int64_t n = lines.n;
  const U* const in = static_cast<const U*>(values.in);
  constexpr int start = 32;  // of ranks, in front of positions
  const Ranks<U> ranks(values.dtype, true);
  constexpr int64_t spare = 512;
  const int64_t room = std::min(n, 2 * k + spare);
  for_each_line(lines, static_cast<size_t>(room) * sizeof(Word), [&](Line line, char* scratch) {
    auto* a = reinterpret_cast<Word*>(scratch);
    int64_t held = 0;
    bool full = false;  // k that are at least as good as a[k - 1] are known
    for_each_place(k > 0 ? n : 0, [&](int64_t i) {
      const Word x = Word(ranks.total(in[line.first + i * line.stride])) << start | Word(i);
      if (full && !(x < a[k - 1])) return;
      if (held == room) {
        std::nth_element(a, a + (k - 1), a + held);
        held = k, full = true;
        if (!(x < a[k - 1])) return;
      }
      a[held++] = x;
    });
    if (k < held) std::nth_element(a, a + k, a + held);
    std::sort(a, a + k);
    for_each_place(k, [&](int64_t i) {
      const auto at = static_cast<int64_t>(static_cast<uint32_t>(a[i]));
      static_cast<U*>(values.out)[line.first + i * line.stride] = in[line.first + at * line.stride];
      indices[line.first + i * line.stride] = static_cast<int32_t>(at);
    });
  });
}

// The same from the whole line in order.
template <class U>
void sort_largest(const Operand& values, int32_t* indices, int64_t k, const Lines& lines) {
  const auto n = static_cast<size_t>(lines.n);
  const Ranks<U> ranks(values.dtype, true);
  for_each_line(lines, n * (2 * sizeof(uint64_t) + sizeof(U)), [&](Line line, char* scratch) {
    auto* const memory = reinterpret_cast<uint64_t*>(scratch);
    U* const loaded = reinterpret_cast<U*>(memory + 2 * n);
    const U* const in = static_cast<const U*>(values.in) + line.first;
    const Bits different = load_ranks(loaded, line.n, ranks, [=](int64_t i) { return in[i * line.stride]; });
    sort_line<PositionForm<uint64_t, U>>(loaded, line.n, different, memory, [&](int64_t place, int64_t i) {
      if (place >= k) return;
      static_cast<U*>(values.out)[line.first + place * line.stride] = in[i * line.stride];
      indices[line.first + place * line.stride] = static_cast<int32_t>(i);
    });
  });
}

}  // namespace

int32_t sort(Run* run, void* const* buffers, const int64_t* numbers) {
  return guarded(run, [&] {
    const Sort s(buffers, numbers);
    if (s.interleaved()) {
      if (s.is_alone()) return sort_interleaved(s.operands[0], s.lines, s.descending);
      return sort_interleaved(std::span(s.operands), s.lines, s.descending);
    }
    if (s.is_alone()) return s.alone();
    return fits_32_bits(s.lines.n) ? s.together<uint64_t, uint32_t>() : s.together<uint128_t, uint64_t>();
  });
}

// numbers: n, k, lines, dtype of the operand.
int32_t top_k(Run* run, void* const* buffers, const int64_t* numbers) {
  return guarded(run, [&] {
    const int64_t n = numbers[0], k = numbers[1];
    const Lines lines{n, numbers[2], 1};
    const auto dtype = static_cast<DType>(numbers[3]);
    auto* const indices = static_cast<int32_t*>(buffers[1]);
    const Operand values{buffers[0], buffers[2], dtype};
    if (k > 0 && k <= most_largest && worth_interleaving(dtype, lines, true))
      return largest_interleaved(values, indices, k, lines);
    constexpr int64_t many = 1 << 17;
    visit_bits(size_of(dtype), [&]<class U>() {
      if (k > many) return sort_largest<U>(values, indices, k, lines);
      select_largest<U>(values, indices, k, lines);
    });
  });
}

}  // namespace anvil::runtime
