// A block of the depth, of all lines, stays in the caches while all tiles pass over it; where one side has too many
// lines for that, it is cut into groups. Sums are kept as vectors, and added up across lanes at the end of a chunk of
// the depth. Threads share the groups and the chunks, which follow from the shape alone and are added up in their order.
#include "runtime/product/dots.h"

#include <algorithm>
#include <limits>

#include "base/interrupt.h"
#include "runtime/pool.h"
#include "runtime/threads.h"

namespace anvil::product {
namespace {

constexpr int64_t bytes_of_line = 3072;        // in a block: the lines of a tile fill most of the first cache
constexpr int64_t bytes_of_lines = 360 << 10;  // at most, of the second
constexpr int64_t bytes_of_sums = 256 << 10;   // of a group, beside them
constexpr double nanoseconds_of_byte = 0.004;  // of the numbers of a product
constexpr double nanoseconds_of_chunk = 40e3;  // at least
constexpr double nanoseconds_of_sum = 60;      // of a chunk, for each sum that it adds up across lanes
constexpr int64_t most_chunks = 64;
constexpr double nanoseconds_of_group = 20e3;  // at least, where threads share lines
constexpr int64_t groups_of_thread = 2;

// In products of tiles over packed blocks: an element of a line for a tile, also where a product takes two
// instructions and more to spread an element of B; a lane of a sum, kept and added up, also where the first cache does
// not hold all sums; one that is loaded and stored for a block more than the depth would need; one of a block of a line
// in groups, which is fetched later; a lane's share of an element that is packed, and of the end of a line.
constexpr double read_for_tile = 1.8, read_without_fma = 0.75, keep_lane = 15, keep_far_lane = 26, load_lane = 10,
                 lane_in_groups = 300, pack_lane = 1.6;
constexpr int64_t narrow_tile = 4;  // of packed blocks
constexpr double bytes_of_near_sums = 32 << 10;
double read_element([[maybe_unused]] int64_t vector_bytes) {
#if defined(__x86_64__)
  if (vector_bytes == 16) return read_without_fma;
#endif
  return read_for_tile;
}

constexpr int64_t pieces(int64_t n, int64_t size) { return (n + size - 1) / size; }

// n lines in as few tiles of at most `most` as there can be, none much smaller than others; those from the `first` ones
// on in tiles of their own.
struct Cut {
  int64_t n, first, of_first, count;
  Cut(int64_t lines, int64_t most, int64_t first_ones)
      : n(lines),
        first(std::min(lines, first_ones)),
        of_first(pieces(first, most)),
        count(of_first + pieces(n - first, most)) {}
  int64_t operator[](int64_t tile) const {
    return tile <= of_first ? first * tile / of_first : first + (n - first) * (tile - of_first) / (count - of_first);
  }
};
// Further lines of a matrix with itself take no part in the tiles that it has below the diagonal.
struct Cuts {
  Cut rows, columns;
  Cuts(int64_t m, int64_t n, const DotTile& tile, bool symmetric)
      : rows(m, m >= n ? tile.rows : tile.columns, symmetric ? n : m),
        columns(n, m >= n ? tile.columns : tile.rows, symmetric ? m : n) {}
};

// How many lines a block has at most.
constexpr int64_t lines_of_block(int64_t run_bytes) { return bytes_of_lines / std::min(run_bytes, bytes_of_line); }

// So many steps of the depth lie together in both operands, from each multiple on: those of its first axes.
int64_t run_of(const Offsets& at) { return std::min(at.row_depth.run(0), at.column_depth.run(0)); }

// As far as both have lines; one of them may have further ones.
bool one_matrix(const Offsets& at) {
  const auto& [fewer, more] =
      std::minmax(at.rows, at.columns, [](const Places& x, const Places& y) { return x.count < y.count; });
  if (more.count > fewer.count && !more.apart) return false;
  for (int64_t i = 0; i < fewer.count; ++i)
    if (at.rows[i] != at.columns[i]) return false;
  return true;
}

double nanoseconds_of(const Offsets& at, size_t bytes) {
  return nanoseconds_of_byte * double(bytes) * double(at.rows.count) * double(at.columns.count) *
         double(at.row_depth.count);
}

// Into how many chunks the depth is cut.
int64_t chunks_of(const Offsets& at, int64_t blocks, size_t bytes) {
  const double sums = double(at.rows.count) * double(at.columns.count);
  const double least = std::max(nanoseconds_of_chunk, nanoseconds_of_sum * sums);
  const double wish = std::min(nanoseconds_of(at, bytes) / least, double(most_chunks) / double(at.of_c.count));
  return std::clamp<int64_t>(int64_t(wish), 1, blocks);
}

// Lines of a side of C, where they are in the operand that has them, and in C.
struct Lines {
  Places at, in_c;
  Lines from(int64_t first, int64_t n) const { return {at.from(first, n), in_c.from(first, n)}; }
};

// C = A B for each of a batch, or for some of its rows or columns, task by task.
template <class T>
class DotProducts {
 public:
  DotProducts(const T* a, const T* b, const T* weights, const Offsets& at, const Lines& rows, const Lines& columns,
              bool one_matrix, const Update& update, const Dots<T>& dots)
      : a_(a),
        b_(b),
        weights_(weights),
        at_(at),
        rows_(rows),
        columns_(columns),
        update_(update),
        dots_(dots),
        m_(rows.at.count),
        n_(columns.at.count),
        k_(at.row_depth.count),
        run_(run_of(at)),
        cuts_(m_, n_, dot_tile(dots.lanes * int64_t(sizeof(T))), one_matrix),
        blocks_of_run_(pieces(run_, block)),
        blocks_(k_ / run_ * blocks_of_run_),
        chunks_(chunks_of(at, blocks_, sizeof(T))),
        one_matrix_(one_matrix) {}

  int64_t tasks() const { return at_.of_c.count * chunks_; }
  int64_t sums() const { return chunks_ == 1 ? 0 : tasks() * elements(); }  // that are kept between the two steps
  size_t bytes() const {                                                    // that each task uses
    return size_t((elements() + m_ + n_) * dots_.lanes) * sizeof(T) + 2 * size_t(m_ + n_ + lines_ahead) * sizeof(T*) +
           (weights_ ? size_t((most_dots + 1) * block + dots_.lanes) * sizeof(T) : 0);
  }
  void run(int64_t task, T* c, T* sums, const runtime::Block& memory) const {
    T* const of_lanes = vectors(task / chunks_, task % chunks_, memory);
    T* const to = chunks_ == 1 ? of_lanes : sums + task * elements();
    dots_.add_lanes(elements(), of_lanes, to);
    if (chunks_ == 1) put(c, task, to);
  }
  void add_chunks(T* c, T* sums) const {
    if (chunks_ > 1)
      for (int64_t k = 0; k < at_.of_c.count; ++k) put(c, k, sums + k * chunks_ * elements());
  }

 private:
  static constexpr int64_t block = bytes_of_line / int64_t(sizeof(T));

  int64_t elements() const { return m_ * n_; }

  // Sums over one chunk of the depth, as vectors: of C column by column.
  T* vectors(int64_t batch, int64_t chunk, const runtime::Block& memory) const {
    T *const sums = reinterpret_cast<T*>(memory.data()), *const ends = sums + elements() * dots_.lanes;
    const T** lines = reinterpret_cast<const T**>(ends + (m_ + n_) * dots_.lanes);
    const T** next = lines + m_ + n_ + lines_ahead;
    T* const copies = reinterpret_cast<T*>(next + m_ + n_ + lines_ahead);
    std::fill(sums, sums + elements() * dots_.lanes, T(0));
    const int64_t first = blocks_ * chunk / chunks_, end = blocks_ * (chunk + 1) / chunks_;
    find_lines(next, batch, first);
    for (int64_t b = first; b < end; ++b) {
      std::swap(lines, next);
      find_lines(next, batch, std::min(b + 1, end - 1));
      const int64_t p = first_of(b), depth = std::min(block, run_ - p % run_), rest = depth % dots_.lanes;
      const T* const weights = weights_ ? weights_of(batch, p, depth, copies + most_dots * block) : nullptr;
      add_block(depth - rest, lines, weights, copies, sums, next, symmetric(batch));
      if (rest > 0) {
        std::fill(ends, ends + (m_ + n_) * dots_.lanes, T(0));
        for (int64_t l = 0; l < m_ + n_; ++l) {
          T* const copy = ends + l * dots_.lanes;
          std::copy_n(lines[l] + depth - rest, rest, copy);
          lines[l] = copy;
        }
        add_block(dots_.lanes, lines, weights ? weights + depth - rest : nullptr, copies, sums, next, symmetric(batch));
      }
      worked(elements() * depth / 8);
    }
    return sums;
  }

  // Into C goes the sum of those of all chunks.
  void put(T* c, int64_t batch, T* of_chunks) const {
    for (int64_t chunk = 1; chunk < chunks_; ++chunk)
      for (int64_t e = 0; e < elements(); ++e) of_chunks[e] += of_chunks[chunk * elements() + e];
    c += at_.of_c[batch];
    for (int64_t j = 0; j < n_; ++j)
      for (int64_t i = 0; i < m_; ++i)
        if (update_.into == Into::set || update_.changes(i, j)) {
          const int64_t from = symmetric(batch) && i < j && j < m_ ? j + m_ * i : i + m_ * j;
          put_in<1>(c + rows_.in_c[i] + columns_.in_c[j], of_chunks + from, update_.into);
        }
  }

  int64_t first_of(int64_t b) const { return b / blocks_of_run_ * run_ + b % blocks_of_run_ * block; }
  // Where a block of the depth begins in each line.
  void find_lines(const T** lines, int64_t batch, int64_t b) const {
    const T* const a = a_ + at_.of_rows[batch] + at_.row_depth[first_of(b)];
    for (int64_t i = 0; i < m_; ++i) lines[i] = a + rows_.at[i];
    const T* const others = b_ + at_.of_columns[batch] + at_.column_depth[first_of(b)];
    for (int64_t j = 0; j < n_; ++j) lines[m_ + j] = others + columns_.at[j];
    std::fill_n(lines + m_ + n_, lines_ahead, lines[m_ + n_ - 1]);
  }
  // Whether A and B are one matrix: then C is symmetric, and only what lies below the diagonal is made. It may have
  // further rows, or columns.
  bool symmetric(int64_t batch) const { return one_matrix_ && at_.of_rows[batch] == at_.of_columns[batch]; }

  // Those of a block of the depth, in memory where as many as a vector has may be read behind them.
  const T* weights_of(int64_t batch, int64_t p, int64_t depth, T* copies) const {
    const T* const from = weights_ + at_.of_weights[batch];
    const Places at = at_.weights.from(p, depth);
    if (at.run(0) == depth)
      std::copy_n(from + at[0], depth, copies);
    else
      for (int64_t i = 0; i < depth; ++i) copies[i] = from[at[i]];
    std::fill_n(copies + depth, dots_.lanes, T(0));
    return copies;
  }

  // Where there are weights the lines of B in a tile are copied, times these.
  void add_block(int64_t depth, const T* const* lines, const T* weights, T* copies, T* sums, const T* const* next,
                 bool below) const {
    const auto wanted = [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
      return below ? i1 > j0 || j1 > m_ : update_.changes(i0, i1, j0, j1);
    };
    const int64_t tiles = cuts_.rows.count * cuts_.columns.count / (below ? 2 : 1),
                  count = below ? std::max(m_, n_) : m_ + n_;
    int64_t tile = 0;
    for (int64_t q = 0; q < cuts_.columns.count; ++q) {
      const int64_t j0 = cuts_.columns[q], j1 = cuts_.columns[q + 1];
      const T* const* others = lines + m_ + j0;
      const T* weighted[most_dots];
      for (int64_t j = 0; weights != nullptr && j < j1 - j0; ++j) {
        dots_.weigh(depth, others[j], weights, copies + j * block);
        weighted[j] = copies + j * block;
      }
      if (weights != nullptr) others = weighted;
      for (int64_t r = 0; r < cuts_.rows.count; ++r) {
        const int64_t i0 = cuts_.rows[r], i1 = cuts_.rows[r + 1];
        if (!wanted(i0, i1, j0, j1)) continue;
        T* const to = sums + dots_.lanes * (i0 + m_ * j0);
        const T* const* const later = next + std::min(count * tile++ / std::max<int64_t>(tiles, 1), count);
        if (i1 - i0 >= j1 - j0)
          dots_.tile[i1 - i0 - 1][j1 - j0 - 1](depth, lines + i0, others, to, dots_.lanes, dots_.lanes * m_, later);
        else
          dots_.tile[j1 - j0 - 1][i1 - i0 - 1](depth, others, lines + i0, to, dots_.lanes * m_, dots_.lanes, later);
      }
    }
  }

  const T *a_, *b_, *weights_;
  const Offsets& at_;
  Lines rows_, columns_;
  Update update_;
  Dots<T> dots_;
  int64_t m_, n_, k_, run_;
  Cuts cuts_;
  int64_t blocks_of_run_, blocks_, chunks_;  // of the depth
  bool one_matrix_;
};

}  // namespace

double cost_of_dots(const DotShape& s) {
  const int64_t most = lines_of_block(s.run * s.element_bytes),
                lines = s.symmetric ? std::max(s.rows, s.columns) : s.rows + s.columns;
  if (s.symmetric ? lines > most : std::min(s.rows, s.columns) > most / 2)
    return std::numeric_limits<double>::infinity();
  const int64_t lanes = s.vector_bytes / s.element_bytes, block = bytes_of_line / s.element_bytes;
  const double runs = double(s.depth / s.run), lanes_of_c = double(lanes * s.rows * s.columns);
  const double blocks = runs * double(pieces(s.run, block)), more_blocks = blocks - double(pieces(s.depth, block)),
               ends = s.run < s.depth && s.run % lanes != 0 ? runs : 0;
  const double keep = lanes_of_c * double(s.element_bytes) > bytes_of_near_sums ? keep_far_lane : keep_lane;
  const DotTile tile = dot_tile(s.vector_bytes);
  const auto reads = [&](int64_t m, int64_t n, bool symmetric) {
    const Cuts cuts(m, n, tile, symmetric);
    return double(m * cuts.columns.count + n * cuts.rows.count) * (symmetric ? 0.5 + 0.5 / double(cuts.rows.count) : 1);
  };
  const int64_t few = std::min(s.rows, s.columns), further = std::max(s.rows, s.columns) - few;
  const double read = s.symmetric ? reads(few, few, true) + (further > 0 ? reads(few, further, false) : 0)
                                  : reads(s.rows, s.columns, false);
  return read_element(s.vector_bytes) * double(s.depth) * read +
         (keep + load_lane * (more_blocks + ends)) * lanes_of_c +
         double(lanes * lines) * (pack_lane * ends * double(lanes) + (lines > most ? lane_in_groups * blocks : 0));
}

template <class T>
bool dots_are_faster(const T* a, const T* b, const Offsets& at, elementary::Isa isa) {
  const int64_t run = run_of(at);
  if (run == 1) return false;
  const int64_t lanes = elementary::of_type<T>(kernels_of(isa)).dots.lanes, m = at.rows.count, n = at.columns.count;
  const auto whole = [](int64_t lines, int64_t size) { return double(pieces(lines, size) * size); };
  const double packed =
      double(at.row_depth.count) * (whole(m, lanes) * whole(n, narrow_tile) + pack_lane * double(lanes) * double(m));
  return cost_of_dots(
             {m, n, at.row_depth.count, run, sizeof(T), lanes * int64_t(sizeof(T)), a == b && one_matrix(at)}) < packed;
}
template bool dots_are_faster(const float*, const float*, const Offsets&, elementary::Isa);
template bool dots_are_faster(const double*, const double*, const Offsets&, elementary::Isa);

namespace {

// C, its larger side cut into groups of lines: for the caches, and for threads where there are no other parts.
template <class T>
std::vector<DotProducts<T>> in_groups(const T* a, const T* b, const T* weights, const Offsets& at, const Update& update,
                                      const Dots<T>& dots, double nanoseconds) {
  const Lines rows{at.rows, at.c_rows}, columns{at.columns, at.c_columns};
  const auto part = [&](const Lines& some_rows, const Lines& some_columns, bool symmetric) {
    return DotProducts<T>(a, b, weights, at, some_rows, some_columns, symmetric, update, dots);
  };
  const bool symmetric = a == b && one_matrix(at), by_rows = rows.at.count >= columns.at.count;
  const DotProducts<T> all = part(rows, columns, symmetric);
  if (symmetric || update.of != Elements::all) return {all};

  constexpr auto bytes = int64_t(sizeof(T));
  const Lines& cut = by_rows ? rows : columns;
  const int64_t n = cut.at.count, others = by_rows ? columns.at.count : rows.at.count,
                most = lines_of_block(run_of(at) * bytes), by_sums = bytes_of_sums / (dots.lanes * bytes * others);
  int64_t count = pieces(n, std::clamp<int64_t>(by_sums, 1, std::max(most - others, most / 2)));
  if (const int threads = runtime::threads(); threads > 1) {
    const double wish = std::min(double(groups_of_thread * threads), nanoseconds / nanoseconds_of_group);
    count = std::clamp<int64_t>(int64_t(wish) / all.tasks(), count, n);
  }
  std::vector<DotProducts<T>> groups;
  for (int64_t g = 0; g < count; ++g) {
    const Lines some = cut.from(n * g / count, n * (g + 1) / count - n * g / count);
    groups.push_back(by_rows ? part(some, columns, false) : part(rows, some, false));
  }
  return groups;
}

template <class T>
void add_groups(T* c, const std::vector<DotProducts<T>>& groups, double nanoseconds) {
  const int64_t tasks = groups[0].tasks(), count = int64_t(groups.size());
  std::vector<int64_t> first(1, 0);  // of the sums of each group
  size_t bytes = 0;
  for (const auto& group : groups) {
    first.push_back(first.back() + group.sums());
    bytes = std::max(bytes, group.bytes());
  }
  const runtime::Block memory_of_sums(size_t(first.back()) * sizeof(T));
  T* const sums = reinterpret_cast<T*>(memory_of_sums.data());
  runtime::share(tasks * count, nanoseconds, [&](runtime::Tasks& all, int thread) {
    const runtime::Block own(bytes);
    for (int64_t t; (t = all.take(thread)) >= 0;)
      groups[size_t(t / tasks)].run(t % tasks, c, sums + first[size_t(t / tasks)], own);
  });
  for (size_t g = 0; g < groups.size(); ++g) groups[g].add_chunks(c, sums + first[g]);
}

}  // namespace

template <class T>
void add_dots(T* c, const T* a, const T* b, const T* weights, const Offsets& at, const Update& update,
              elementary::Isa isa) {
  const double nanoseconds = nanoseconds_of(at, sizeof(T)) * double(at.of_c.count);
  const Kernel<T> kernel = elementary::of_type<T>(kernels_of(isa));
  add_groups(c, in_groups<T>(a, b, weights, at, update, kernel.dots, nanoseconds), nanoseconds);
}
template void add_dots(float*, const float*, const float*, const float*, const Offsets&, const Update&,
                       elementary::Isa);
template void add_dots(double*, const double*, const double*, const double*, const Offsets&, const Update&,
                       elementary::Isa);

}  // namespace anvil::product
