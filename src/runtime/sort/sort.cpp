// A line becomes a list of (rank, position), which is in order and stable at once; long lists
// are sorted digit by digit from the lowest (radix sort), short ones by comparisons. With
// several keys the lines are sorted by the last key first. Several lines of moderate length go
// through networks together.
#include "runtime/sort/sort.h"

#include <algorithm>
#include <array>
#include <cmath>
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
#include "runtime/threads.h"

namespace anvil::runtime {
namespace {

using namespace sorting;

// ---- entries of a line --------------------------------------------------------------------

struct Narrow {  // ranks of up to 32 bits, in front of the position
  uint64_t word;
  static Narrow of(uint64_t rank, uint64_t position) { return {rank << 32 | position}; }
  uint64_t key() const { return word >> 32; }
  uint64_t position() const { return word & 0xffffffff; }
  bool operator<(const Narrow& o) const { return word < o.word; }
};
struct Wide {
  uint64_t rank, at;
  static Wide of(uint64_t rank, uint64_t position) { return {rank, position}; }
  uint64_t key() const { return rank; }
  uint64_t position() const { return at; }
  bool operator<(const Wide& o) const { return rank != o.rank ? rank < o.rank : at < o.at; }
};
template <class U>
struct Bare {
  U rank;
  U key() const { return rank; }
  bool operator<(const Bare& o) const { return rank < o.rank; }
};

constexpr int digit_bits = 8;
constexpr size_t buckets = size_t(1) << digit_bits;

// Digits that all entries share are left out. Gives the one of the two arrays with the result.
template <int digits, class Entry>
Entry* radix_sort(Entry* a, Entry* b, int64_t n) {
  std::array<std::array<int64_t, buckets>, digits> counts{};
  const auto digit = [](const Entry& e, int d) { return static_cast<size_t>(e.key() >> (digit_bits * d)) % buckets; };
  const auto count = [&]<int... d>(const Entry& e, std::integer_sequence<int, d...>) {
    (++counts[static_cast<size_t>(d)][digit(e, d)], ...);
  };
  in_pieces(n, digits, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) count(a[i], std::make_integer_sequence<int, digits>());
  });
  for (int d = 0; d < digits; ++d) {
    auto& place = counts[static_cast<size_t>(d)];
    if (place[digit(a[0], d)] == n) continue;
    int64_t next = 0;
    for (int64_t& p : place) next += std::exchange(p, next);
    in_pieces(n, 5, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) b[place[digit(a[i], d)]++] = a[i];
    });
    std::swap(a, b);
  }
  return a;
}

constexpr int64_t short_line = 24, long_line_for_a_digit = 24;

// `bytes`: of the ranks.
template <class Entry>
Entry* sort_entries(Entry* a, Entry* b, int64_t n, size_t bytes) {
  if (n >= long_line_for_a_digit * static_cast<int64_t>(bytes)) switch (bytes) {
      case 1: return radix_sort<1>(a, b, n);
      case 2: return radix_sort<2>(a, b, n);
      case 4: return radix_sort<4>(a, b, n);
      default: return radix_sort<8>(a, b, n);
    }
  if (n > short_line) {
    std::sort(a, a + n);
    return a;
  }
  for (int64_t i = 1; i < n; ++i) {
    Entry e = a[i];
    int64_t k = i;
    for (; k > 0 && e < a[k - 1]; --k) a[k] = a[k - 1];
    a[k] = e;
  }
  return a;
}

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

// Alone, the ranks can be sorted without positions and turned back.
template <class U>
void sort_values(const Operand& x, Line line, bool descending, void* scratch) {
  const U* const in = static_cast<const U*>(x.in);
  U* const out = static_cast<U*>(x.out);
  Bare<U>*a = static_cast<Bare<U>*>(scratch), *b = a + line.n;
  const Ranks<U> ranks(x.dtype, descending);
  bool special = false;
  for_each_place(line.n, [&](int64_t i) {
    const U bits = in[line.first + i * line.stride];
    a[i].rank = ranks.equal(bits);
    special |= a[i].rank != ranks.total(bits);
  });
  const Bare<U>* sorted = sort_entries(a, b, line.n, sizeof(U));
  for_each_place(line.n, [&](int64_t i) { out[line.first + i * line.stride] = ranks.bits(sorted[i].rank); });
  if (special) put_back(out, in, line, ranks, descending);
}

// The positions of a line's elements in the order of one key after what `order` says; the
// first key sorted by (`fresh`) starts from the line's own order.
template <class U, class Entry, class Position>
void sort_positions(Position* order, bool fresh, const Operand& key, Line line, bool descending, void* scratch) {
  Entry *a = static_cast<Entry*>(scratch), *b = a + line.n;
  const U* const in = static_cast<const U*>(key.in);
  const Ranks<U> ranks(key.dtype, descending);
  for_each_place(line.n, [&](int64_t i) {
    const int64_t at = fresh ? i : static_cast<int64_t>(order[i]);
    a[i] = Entry::of(ranks.equal(in[line.first + at * line.stride]), static_cast<uint64_t>(i));
  });
  const Entry* sorted = sort_entries(a, b, line.n, sizeof(U));
  if (fresh) {
    for_each_place(line.n, [&](int64_t i) { order[i] = static_cast<Position>(sorted[i].position()); });
    return;
  }
  Position* before = reinterpret_cast<Position*>(sorted == a ? b : a);
  std::copy(order, order + line.n, before);
  for_each_place(line.n, [&](int64_t i) { order[i] = before[sorted[i].position()]; });
}

template <class Position>
void take(const Operand& x, const Position* order, Line line) {
  visit_bits(size_of(x.dtype), [&]<class U>() {
    U* to = static_cast<U*>(x.out) + line.first;
    const U* from = static_cast<const U*>(x.in) + line.first;
    for_each_place(line.n,
                   [&](int64_t i) { to[i * line.stride] = from[static_cast<int64_t>(order[i]) * line.stride]; });
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
    visit_bits(size_of(operands[0].dtype), [&]<class U>() {
      for_each_line(lines, 2 * static_cast<size_t>(lines.n) * sizeof(U),
                    [&](Line line, char* scratch) { sort_values<U>(operands[0], line, descending, scratch); });
    });
  }
  template <class Position>
  void together() const {
    const size_t entries = 2 * static_cast<size_t>(lines.n) * sizeof(Wide),
                 positions = static_cast<size_t>(lines.n) * sizeof(Position);
    for_each_line(lines, entries + positions, [&](Line line, char* scratch) {
      auto* order = reinterpret_cast<Position*>(scratch + entries);
      for (int64_t k = keys; k-- > 0;) {
        const Operand& key = operands[static_cast<size_t>(k)];
        visit_bits(size_of(key.dtype), [&]<class U>() {
          using Entry = std::conditional_t<sizeof(U) <= 4 && sizeof(Position) <= 4, Narrow, Wide>;
          sort_positions<U, Entry>(order, k == keys - 1, key, line, descending, scratch);
        });
      }
      for (const Operand& x : operands) take(x, order, line);
    });
  }
};

bool fits_32_bits(int64_t n) { return n <= std::numeric_limits<uint32_t>::max(); }

// The k largest of a line, the first of equal ones first, and their positions. While the line goes by, some more than
// k are kept of those that can still be among them; where k is many the whole line is sorted.
template <class U, class Entry>
void select_largest(const Operand& values, int32_t* indices, int64_t k, const Lines& lines) {
  const int64_t n = lines.n;
  const U* const in = static_cast<const U*>(values.in);
  const Ranks<U> ranks(values.dtype, true);
  constexpr int64_t many = 1 << 17, spare = 512;
  const int64_t room = k > many ? 2 * n : std::min(n, 2 * k + spare);
  for_each_line(lines, static_cast<size_t>(room) * sizeof(Entry), [&](Line line, char* scratch) {
    auto* a = reinterpret_cast<Entry*>(scratch);
    const auto entry = [&](int64_t i) {
      return Entry::of(ranks.total(in[line.first + i * line.stride]), static_cast<uint64_t>(i));
    };
    const Entry* best = a;
    if (k > many) {
      for_each_place(n, [&](int64_t i) { a[i] = entry(i); });
      best = sort_entries(a, a + n, n, sizeof(U));
    } else if (k > 0) {
      int64_t held = 0;
      bool full = false;  // k that are at least as good as a[k - 1] are known
      for_each_place(n, [&](int64_t i) {
        const Entry x = entry(i);
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
    }
    for_each_place(k, [&](int64_t i) {
      const auto at = static_cast<int64_t>(best[i].position());
      static_cast<U*>(values.out)[line.first + i * line.stride] = in[line.first + at * line.stride];
      indices[line.first + i * line.stride] = static_cast<int32_t>(at);
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
    return fits_32_bits(s.lines.n) ? s.together<uint32_t>() : s.together<uint64_t>();
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
    visit_bits(size_of(dtype), [&]<class U>() {
      using Entry = std::conditional_t<sizeof(U) <= 4, Narrow, Wide>;
      select_largest<U, Entry>(values, indices, k, lines);
    });
  });
}

}  // namespace anvil::runtime
