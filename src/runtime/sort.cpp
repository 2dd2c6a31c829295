// Every element gets a rank: an unsigned number that is in order where the elements are. A
// line is then a list of (rank, position), which is in order and stable at once; long lists
// are sorted digit by digit from the lowest (radix sort), short ones by comparisons. With
// several keys the lines are sorted by the last key first.
#include "runtime/sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <utility>

#include "base/dtype.h"
#include "base/interrupt.h"
#include "runtime/pool.h"
#include "runtime/run.h"
#include "runtime/threads.h"

namespace anvil::runtime {
namespace {

// ---- ranks ------------------------------------------------------------------------------

template <class T>
using Rank = Unsigned<T>;
template <class T>
constexpr Rank<T> top_bit = Rank<T>(Rank<T>(1) << (8 * sizeof(T) - 1));

// In total order for floats; rank_value() takes it back. Both without a branch: signs come in no order.
template <class T>
constexpr Rank<T> ones_if_signed(Rank<T> bits) {
  return Rank<T>(std::make_signed_t<Rank<T>>(bits) >> (8 * sizeof(T) - 1));
}
template <class T>
Rank<T> total_rank(T x) {
  auto bits = std::bit_cast<Rank<T>>(x);
  if constexpr (is_real_number<T>) return Rank<T>(bits ^ (ones_if_signed<T>(bits) | top_bit<T>));
  if constexpr (std::signed_integral<T>) return Rank<T>(bits ^ top_bit<T>);
  return bits;
}
template <class T>
T rank_value(Rank<T> r) {
  if constexpr (is_real_number<T>)
    r = Rank<T>(r ^ (ones_if_signed<T>(Rank<T>(~r)) | top_bit<T>));
  else if constexpr (std::signed_integral<T>)
    r = Rank<T>(r ^ top_bit<T>);
  return std::bit_cast<T>(r);
}
// The same for elements that are equal.
template <class T>
Rank<T> rank(T x) {
  if constexpr (is_real_number<T>) {
    if (x != x) return std::numeric_limits<Rank<T>>::max();
    if (x == T(0)) x = T(0);
  }
  return total_rank(x);
}

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

// A line of a tensor: n elements, `stride` apart.
struct Line {
  int64_t first, stride, n;
};
// visit(line, memory of so many bytes) for all lines along a dimension of n elements, with the products of
// the sizes before (inner) and after it (outer).
template <class F>
void for_each_line(int64_t n, int64_t inner, int64_t outer, size_t bytes, F&& visit) {
  share_ranges(inner * outer, 20.0 * static_cast<double>(n), [&](int64_t first, int64_t end) {
    const Block memory(bytes);
    for (int64_t l = first; l < end; ++l) {
      visit(Line{l / inner * inner * n + l % inner, inner, n}, memory.data());
      worked(20 * n);
    }
  });
}
// f(i) for every place of a line, polling now and then.
template <class F>
void for_each_place(int64_t n, F&& f) {
  in_pieces(n, 5, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) f(i);
  });
}

// Alone, the ranks can be sorted without positions and turned back. What differs in bits but
// not in order, zeros and NaNs, is put back as it came.
template <class T>
void sort_values(T* out, const T* in, Line line, bool descending, void* scratch) {
  using E = Bare<Rank<T>>;
  E *a = static_cast<E*>(scratch), *b = a + line.n;
  int64_t n = 0, zeros = 0, negative_zeros = 0;
  const Rank<T> flip = descending ? Rank<T>(~Rank<T>(0)) : Rank<T>(0);
  for_each_place(line.n, [&](int64_t i) {
    const T x = in[line.first + i * line.stride];
    if (x != x) return;
    if constexpr (is_real_number<T>)
      if (x == T(0)) ++zeros, negative_zeros += total_rank(x) < top_bit<T>;
    a[n++].rank = Rank<T>(total_rank(x) ^ flip);
  });
  const E* sorted = n == 0 ? a : sort_entries(a, b, n, sizeof(T));
  const int64_t nans = line.n - n, first = descending ? nans : 0;
  const auto put = [&](int64_t i, T x) { out[line.first + i * line.stride] = x; };
  for_each_place(n, [&](int64_t i) { put(first + i, rank_value<T>(Rank<T>(sorted[i].rank ^ flip))); });
  if constexpr (is_real_number<T>) {
    if (nans == 0 && (negative_zeros == 0 || negative_zeros == zeros)) return;
    const E zero{Rank<T>(total_rank(descending ? T(0) : T(-0.0)) ^ flip)};
    int64_t next_nan = descending ? 0 : n, next_zero = first + (std::lower_bound(sorted, sorted + n, zero) - sorted);
    for_each_place(line.n, [&](int64_t i) {
      const T x = in[line.first + i * line.stride];
      if (x != x)
        put(next_nan++, x);
      else if (x == T(0))
        put(next_zero++, x);
    });
  }
}

// The positions of a line's elements in the order of one key after what `order` says; the
// first key sorted by (`fresh`) starts from the line's own order.
template <class T, class Entry, class Position>
void sort_positions(Position* order, bool fresh, const T* key, Line line, bool descending, void* scratch) {
  Entry *a = static_cast<Entry*>(scratch), *b = a + line.n;
  const Rank<T> flip = descending ? Rank<T>(~Rank<T>(0)) : Rank<T>(0);
  for_each_place(line.n, [&](int64_t i) {
    const int64_t at = fresh ? i : static_cast<int64_t>(order[i]);
    a[i] = Entry::of(Rank<T>(rank(key[line.first + at * line.stride]) ^ flip), static_cast<uint64_t>(i));
  });
  const Entry* sorted = sort_entries(a, b, line.n, sizeof(T));
  if (fresh) {
    for_each_place(line.n, [&](int64_t i) { order[i] = static_cast<Position>(sorted[i].position()); });
    return;
  }
  Position* before = reinterpret_cast<Position*>(sorted == a ? b : a);
  std::copy(order, order + line.n, before);
  for_each_place(line.n, [&](int64_t i) { order[i] = before[sorted[i].position()]; });
}

template <class Bits, class Position>
void take(void* out, const void* in, const Position* order, Line line) {
  Bits* to = static_cast<Bits*>(out) + line.first;
  const Bits* from = static_cast<const Bits*>(in) + line.first;
  for_each_place(line.n, [&](int64_t i) { to[i * line.stride] = from[static_cast<int64_t>(order[i]) * line.stride]; });
}
template <class Position>
void take(size_t bytes, void* out, const void* in, const Position* order, Line line) {
  switch (bytes) {
    case 1: return take<uint8_t>(out, in, order, line);
    case 2: return take<uint16_t>(out, in, order, line);
    case 4: return take<uint32_t>(out, in, order, line);
    default: return take<uint64_t>(out, in, order, line);
  }
}

// ---- the two functions --------------------------------------------------------------------

// numbers: operands, keys, descending, n, inner, outer, dtype of each operand.
struct Sort {
  Sort(void* const* p, const int64_t* d)
      : count(d[0]),
        keys(d[1]),
        descending(d[2] != 0),
        n(d[3]),
        inner(d[4]),
        outer(d[5]),
        out(p),
        in(p + d[0]),
        dtypes(d + 6) {}
  int64_t count, keys;
  bool descending;
  int64_t n, inner, outer;
  void *const *out, *const *in;
  const int64_t* dtypes;
  DType dtype(int64_t k) const { return static_cast<DType>(dtypes[k]); }

  void alone() const {
    visit(dtype(0), [this]<class T>() {
      for_each_line(n, inner, outer, 2 * static_cast<size_t>(n) * sizeof(T), [&](Line line, char* scratch) {
        sort_values(static_cast<T*>(out[0]), static_cast<const T*>(in[0]), line, descending, scratch);
      });
    });
  }
  template <class Position>
  void together() const {
    const size_t entries = 2 * static_cast<size_t>(n) * sizeof(Wide),
                 positions = static_cast<size_t>(n) * sizeof(Position);
    for_each_line(n, inner, outer, entries + positions, [&](Line line, char* scratch) {
      auto* order = reinterpret_cast<Position*>(scratch + entries);
      for (int64_t k = keys; k-- > 0;)
        visit(dtype(k), [&]<class T>() {
          using Entry = std::conditional_t<sizeof(T) <= 4 && sizeof(Position) <= 4, Narrow, Wide>;
          sort_positions<T, Entry>(order, k == keys - 1, static_cast<const T*>(in[k]), line, descending, scratch);
        });
      for (int64_t k = 0; k < count; ++k) take(size_of(dtype(k)), out[k], in[k], order, line);
    });
  }
};

bool fits_32_bits(int64_t n) { return n <= std::numeric_limits<uint32_t>::max(); }

// The k largest of a line, the first of equal ones first, and their positions. While the line goes by, some more than
// k are kept of those that can still be among them; where k is many the whole line is sorted.
template <class T, class Entry>
void select_largest(T* values, int32_t* indices, const T* in, int64_t n, int64_t k, int64_t lines) {
  constexpr int64_t many = 1 << 17, spare = 512;
  const int64_t room = k > many ? 2 * n : std::min(n, 2 * k + spare);
  for_each_line(n, lines, 1, static_cast<size_t>(room) * sizeof(Entry), [&](Line line, char* scratch) {
    auto* a = reinterpret_cast<Entry*>(scratch);
    const auto entry = [&](int64_t i) {
      return Entry::of(Rank<T>(~total_rank(in[line.first + i * line.stride])), static_cast<uint64_t>(i));
    };
    const Entry* best = a;
    if (k > many) {
      for_each_place(n, [&](int64_t i) { a[i] = entry(i); });
      best = sort_entries(a, a + n, n, sizeof(T));
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
      values[line.first + i * line.stride] = in[line.first + at * line.stride];
      indices[line.first + i * line.stride] = static_cast<int32_t>(at);
    });
  });
}

}  // namespace

int32_t sort(Run* run, void* const* buffers, const int64_t* numbers) {
  return guarded(run, [&] {
    const Sort s(buffers, numbers);
    if (s.count == 1) return s.alone();
    return fits_32_bits(s.n) ? s.together<uint32_t>() : s.together<uint64_t>();
  });
}

// numbers: n, k, lines, dtype of the operand.
int32_t top_k(Run* run, void* const* buffers, const int64_t* numbers) {
  return guarded(run, [&] {
    const int64_t n = numbers[0], k = numbers[1], lines = numbers[2];
    visit(static_cast<DType>(numbers[3]), [&]<class T>() {
      using Entry = std::conditional_t<sizeof(T) <= 4, Narrow, Wide>;
      select_largest<T, Entry>(static_cast<T*>(buffers[0]), static_cast<int32_t*>(buffers[1]),
                               static_cast<const T*>(buffers[2]), n, k, lines);
    });
  });
}

}  // namespace anvil::runtime
