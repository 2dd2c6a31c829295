// Groups of lines become rows of words, and what the networks make of them goes back.
#include "runtime/sort/interleaved.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/pool.h"
#include "runtime/threads.h"

namespace anvil::sorting {
namespace {

constexpr int64_t cache_bytes = 1 << 20;
// A group takes the same time however many of its lines there are, and more passes where they are long.
int64_t fewest_lines(int64_t n) {
  const int passes = std::bit_width(static_cast<uint64_t>(n));
  return std::max(4, passes * passes / 25);
}

int64_t padded(int64_t n, const Kernels& k) { return (n + k.block - 1) / k.block * k.block; }

// Rows of `bytes` that lie `to_step` and `from_step` bytes apart. What is asked for ahead are lines of the cache
// on other pages, which no processor foresees.
template <size_t bytes>
void copy_rows(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t rows) {
  constexpr int64_t ahead = 16;
  for (int64_t i = 0; i < rows; ++i, to += to_step, from += from_step) {
    __builtin_prefetch(from + ahead * from_step);
    __builtin_prefetch(to + ahead * to_step, 1);
    std::memcpy(to, from, bytes);
  }
}
template <class W>
void copy_rows(W* to, int64_t to_step, const W* from, int64_t from_step, int64_t rows, int64_t lanes) {
  const auto copy = [&]<size_t bytes>(std::integral_constant<size_t, bytes>) {
    constexpr auto size = static_cast<int64_t>(sizeof(W));
    copy_rows<bytes>(reinterpret_cast<char*>(to), to_step * size, reinterpret_cast<const char*>(from), from_step * size,
                     rows);
  };
  switch (static_cast<size_t>(lanes) * sizeof(W)) {
    case 64: return copy(std::integral_constant<size_t, 64>());
    case 32: return copy(std::integral_constant<size_t, 32>());
    case 16: return copy(std::integral_constant<size_t, 16>());
    default: return copy(std::integral_constant<size_t, 8>());
  }
}

// Lines [first, first + count) of `lanes` that a group has room for; the last one is repeated.
struct Group {
  const Lines& lines;
  int64_t first, count, lanes;

  Line line(int64_t lane) const { return lines[first + std::min(lane, count - 1)]; }
  bool beside_each_other() const { return count == lanes && line(lanes - 1).first == line(0).first + lanes - 1; }

  template <class W>
  void load(W* rows, const void* from) const {
    const W* const in = static_cast<const W*>(from);
    if (beside_each_other()) {
      const Line l = line(0);
      return copy_rows(rows, lanes, in + l.first, l.stride, l.n, lanes);
    }
    constexpr int64_t piece = 64;  // rows that stay in the first cache while lane after lane is filled
    for (int64_t start = 0; start < lines.n; start += piece)
      for (int64_t c = 0; c < lanes; ++c) {
        const Line l = line(c);
        for (int64_t i = start; i < std::min(start + piece, l.n); ++i) rows[i * lanes + c] = in[l.first + i * l.stride];
      }
  }
  template <class W>
  void store(void* to, const W* rows) const {
    W* const out = static_cast<W*>(to);
    if (beside_each_other()) {
      const Line l = line(0);
      return copy_rows(out + l.first, l.stride, rows, lanes, l.n, lanes);
    }
    for (int64_t c = 0; c < count; ++c) {
      const Line l = line(c);
      for (int64_t i = 0; i < l.n; ++i) out[l.first + i * l.stride] = rows[i * lanes + c];
    }
  }
  // The elements at the first n positions of each line.
  template <class W>
  void take(void* to, const void* from, const int64_t* positions, int64_t n, Lines results) const {
    for (int64_t c = 0; c < count; ++c) {
      const Line l = line(c), r = results[first + c];
      const W* const in = static_cast<const W*>(from) + l.first;
      W* const out = static_cast<W*>(to) + r.first;
      for (int64_t i = 0; i < n; ++i) out[i * r.stride] = in[positions[i * lanes + c] * l.stride];
    }
  }
  void take(const Operand& x, const int64_t* positions, int64_t n, Lines results) const {
    visit_bits(size_of(x.dtype), [&]<class U>() { take<U>(x.out, x.in, positions, n, results); });
  }
};

// f(group, memory of so many bytes) for all lines; `nanoseconds` is about what an element takes.
template <class F>
void for_each_group(const Lines& lines, int64_t lanes, int64_t bytes, double nanoseconds, const F& f) {
  const int64_t groups = (lines.count() + lanes - 1) / lanes;
  runtime::share_ranges(groups, nanoseconds * double(lanes * lines.n), [&](int64_t begin, int64_t end) {
    const runtime::Block memory(static_cast<size_t>(bytes));
    for (int64_t g = begin; g < end; ++g) {
      f(Group{lines, g * lanes, std::min(lanes, lines.count() - g * lanes), lanes}, memory.data());
      worked(8 * lanes * lines.n);
    }
  });
}

// How the bits of a dtype become words and back.
template <class W>
struct Code {
  const Kernels& kernels;
  DType dtype;
  W flip;

  Code(const Kernels& k, DType t, bool descending) : kernels(k), dtype(t), flip(descending ? -1 : 0) {
    if (t == DType::ui32 || t == DType::ui64) flip ^= std::numeric_limits<W>::min();
  }
  bool encode(W* bits, int64_t count, Order order) const {
    if (is_float(dtype)) {
      if constexpr (sizeof(W) == 4)
        return kernels.words32(bits, count, order, flip);
      else
        return kernels.words64(bits, count, order, flip);
    }
    turn(bits, count);
    return false;
  }
  void decode(W* words, int64_t count) const {
    if (!is_float(dtype)) return turn(words, count);
    if constexpr (sizeof(W) == 4)
      kernels.floats32(words, count, flip);
    else
      kernels.floats64(words, count, flip);
  }
  void turn(W* bits, int64_t count) const {
    if (flip == 0) return;
    for (int64_t i = 0; i < count; ++i) bits[i] ^= flip;
  }
};

template <class W>
void sort_alone(const Operand& x, const Lines& lines, bool descending, const Kernels& kernels) {
  const int64_t rows = padded(lines.n, kernels), lanes = kernels.register_bytes / int64_t(sizeof(W));
  const Code<W> code(kernels, x.dtype, descending);
  for_each_group(lines, lanes, rows * kernels.register_bytes, 2, [&](const Group& group, char* memory) {
    W* const words = reinterpret_cast<W*>(memory);
    group.load(words, x.in);
    const bool special = code.encode(words, lines.n * lanes, Order::equal);
    std::fill(words + lines.n * lanes, words + rows * lanes, std::numeric_limits<W>::max());
    if constexpr (sizeof(W) == 4)
      kernels.sort32(words, rows);
    else
      kernels.sort64(words, rows);
    code.decode(words, lines.n * lanes);
    group.store(x.out, words);
    using U = std::make_unsigned_t<W>;
    for (int64_t c = 0; special && c < group.count; ++c)
      put_back(static_cast<U*>(x.out), static_cast<const U*>(x.in), group.line(c), Ranks<U>(x.dtype), descending);
  });
}

// Rows of words with the positions that they stand for: in the lower half of the word where the elements
// have 32 bits, else beside it.
struct Positioned {
  const Kernels& kernels;
  bool beside;
  int64_t n, rows, best_rows, lanes;

  Positioned(const Kernels& k, DType t, int64_t size, int64_t best)
      : kernels(k),
        beside(size_of(t) == 8),
        n(size),
        rows(padded(n, k)),
        best_rows(best),
        lanes(k.register_bytes / int64_t(sizeof(int64_t))) {}

  int64_t bytes() const { return 2 * (rows + best_rows) * kernels.register_bytes; }
  int64_t* words(char* memory) const { return reinterpret_cast<int64_t*>(memory); }
  int64_t* positions(char* memory) const { return words(memory) + rows * lanes; }
  int64_t* best(char* memory) const { return positions(memory) + rows * lanes; }
  int64_t* best_positions(char* memory) const { return best(memory) + best_rows * lanes; }

  void load(char* memory, const Group& group, const Operand& key, bool descending, Order order) const {
    const int64_t count = n * lanes;
    int64_t *const w = words(memory), *const p = positions(memory);
    if (beside) {
      group.load(w, key.in);
      Code<int64_t>(kernels, key.dtype, descending).encode(w, count, order);
      for (int64_t i = 0; i < rows; ++i) std::fill_n(p + i * lanes, lanes, i);
    } else {
      auto* const narrow = reinterpret_cast<int32_t*>(p);
      group.load(narrow, key.in);
      Code<int32_t>(kernels, key.dtype, descending).encode(narrow, rows * lanes, order);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t c = i * lanes; c < (i + 1) * lanes; ++c) w[c] = int64_t(narrow[c]) * (int64_t(1) << 32) + i;
    }
    std::fill(w + count, w + rows * lanes, std::numeric_limits<int64_t>::max());
  }
  const int64_t* sorted(char* memory) const {
    if (beside) {
      kernels.sort_pairs(words(memory), positions(memory), rows);
      return positions(memory);
    }
    kernels.sort64(words(memory), rows);
    return lower_halves(words(memory), n);
  }
  const int64_t* smallest(char* memory) const {
    int64_t* const b = best(memory);
    std::fill_n(b, 2 * best_rows * lanes, std::numeric_limits<int64_t>::max());
    if (beside) {
      kernels.smallest_pairs(b, best_positions(memory), best_rows, words(memory), positions(memory), n);
      return best_positions(memory);
    }
    kernels.smallest64(b, best_rows, words(memory), n);
    return lower_halves(b, best_rows);
  }
  const int64_t* lower_halves(int64_t* words, int64_t count) const {
    for (int64_t i = 0; i < count * lanes; ++i) words[i] &= 0xffffffff;
    return words;
  }
};

}  // namespace

bool worth_interleaving(DType t, const Lines& lines, bool with_positions, elementary::Isa isa) {
  const Kernels k = kernels_of(isa);
  const auto size = static_cast<int64_t>(size_of(t));
  if (size < 4 || lines.count() < fewest_lines(lines.n)) return false;
  const bool pairs = with_positions && size == 8;
  if (pairs && k.register_bytes < 32) return false;  // without comparisons of 64 bits
  return lines.n <= cache_bytes / k.register_bytes / (pairs ? 2 : 1);
}

void sort_interleaved(Operand x, const Lines& lines, bool descending, elementary::Isa isa) {
  const Kernels kernels = kernels_of(isa);
  if (size_of(x.dtype) == 4)
    sort_alone<int32_t>(x, lines, descending, kernels);
  else
    sort_alone<int64_t>(x, lines, descending, kernels);
}

void sort_interleaved(std::span<const Operand> operands, const Lines& lines, bool descending, elementary::Isa isa) {
  const Kernels kernels = kernels_of(isa);
  const Positioned rows(kernels, operands[0].dtype, lines.n, 0);
  for_each_group(lines, rows.lanes, rows.bytes(), 8, [&](const Group& group, char* memory) {
    rows.load(memory, group, operands[0], descending, Order::equal);
    const int64_t* const positions = rows.sorted(memory);
    for (const Operand& x : operands) group.take(x, positions, lines.n, lines);
  });
}

void largest_interleaved(Operand values, int32_t* indices, int64_t k, const Lines& lines, elementary::Isa isa) {
  const Kernels kernels = kernels_of(isa);
  const Positioned rows(kernels, values.dtype, lines.n, k);
  const Lines results{k, lines.inner, lines.outer};
  for_each_group(lines, rows.lanes, rows.bytes(), 2, [&](const Group& group, char* memory) {
    rows.load(memory, group, values, true, Order::total);
    const int64_t* const positions = rows.smallest(memory);
    group.take(values, positions, k, results);
    for (int64_t c = 0; c < group.count; ++c) {
      const Line r = results[group.first + c];
      for (int64_t i = 0; i < k; ++i)
        indices[r.first + i * r.stride] = static_cast<int32_t>(positions[i * rows.lanes + c]);
    }
  });
}

}  // namespace anvil::sorting
