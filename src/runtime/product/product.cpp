// Blocking, and the edges of C.
#include "runtime/product/product.h"

#include <algorithm>
#include <vector>

#include "base/interrupt.h"
#include "runtime/pool.h"
#include "runtime/product/axes.h"
#include "runtime/product/dots.h"
#include "runtime/product/pack.h"
#include "runtime/product/side.h"
#include "runtime/threads.h"

namespace anvil::product {
namespace {

constexpr int64_t block_bytes = 512 << 10;        // of a block of A, for the second cache
constexpr int64_t wide = 3072;                    // columns of a block of B, for the third
constexpr int64_t in_caches = 512 << 10;          // at most, of what need not be fetched early
constexpr double nanoseconds_of_product = 0.004;  // by bytes of a number
constexpr double nanoseconds_of_part = 20e3;      // at least, where threads share a product
constexpr int64_t parts_of_thread = 2;
constexpr int64_t sum_rows = 512, sum_columns = 768;  // of sums that are kept until they are rounded

// ---- blocks ------------------------------------------------------------------------------------

// C = A B for one of a batch, or for some of its rows and columns.
template <class T>
class Blocks {
 public:
  Blocks(const Offsets& at, const Storage<T>& storage, const Update& update, bool weighted, elementary::Isa isa)
      : kernel_(elementary::of_type<T>(kernels_of(isa))),
        storage_(storage),
        update_(update),
        m_(at.rows),
        c_rows_(at.c_rows),
        n_(at.columns),
        c_columns_(at.c_columns),
        a_depth_(at.row_depth),
        b_depth_(at.column_depth),
        weights_(at.weights),
        n_block_(std::min(panels(n_.count, kernel_.columns), wide / kernel_.columns)),
        m_block_(std::min(panels(m_.count, kernel_.rows),
                          std::max<int64_t>(1, block_bytes / int64_t(sizeof(T)) / deepest() / kernel_.rows))) {
    if (rounds()) {
      n_sums_ = std::min(panels(n_.count, kernel_.columns), sum_columns / kernel_.columns);
      m_sums_ = std::min(panels(m_.count, kernel_.rows), sum_rows / kernel_.rows);
    }
    if (!rounds()) choose_places();
    if (weighted) a_in_place_ = false;
    const int64_t depth = deepest();
    packed_steps_ = even_steps(depth, kernel_.rows);
    if (a_depth_.at == nullptr) a_steps_ = even_steps(depth, a_depth_.step);
    if (b_depth_.at == nullptr) b_steps_ = even_steps(depth, b_depth_.step);
    for (int64_t i = 0; i < m_.count; i += kernel_.rows) {
      const Places lines = m_.from(i, kernel_.rows);
      const bool half = lines.count <= kernel_.rows / 2;
      const int64_t taken = half ? kernel_.rows / 2 : kernel_.rows;
      rows_.push_back({i, lines.count, taken, half ? 0u : 1u, !a_in_place_ || lines.run(0) < taken,
                       c_rows_.from(i, kernel_.rows).run(0)});
    }
    for (int64_t j = 0; j < n_.count; j += columns_.back().count) {
      const Places lines = n_.from(j, columns_of_panel(n_.count - j));
      const int64_t widths = panels(lines.count, kernel_.narrow), taken = widths * kernel_.narrow;
      const bool packed =
          streams_b_ ? !even_in_groups(lines, taken, kernel_.narrow) : b_step_ < 0 || lines.run(0) < taken;
      columns_.push_back(
          {j, lines.count, taken, size_t(widths - 1), packed, spacing(c_columns_.from(j, lines.count), lines.count)});
    }
  }

  // For packed blocks, which all of a batch can use.
  runtime::Block memory() const {
    const int64_t packed = (m_block_ * kernel_.rows + n_block_ * kernel_.columns) * deepest();
    return runtime::Block(size_t(packed + sums_rows() * n_sums_ * kernel_.columns) * sizeof(T) + 64);
  }

  // Parts of C that are made by themselves: as many as asked for, or fewer, whole tiles with about the same number of
  // elements each, along that side of C where less is packed again for each part. From panels of rows and columns to
  // others.
  struct Part {
    int64_t i0, i1, j0, j1;
  };
  std::vector<Part> parts(int64_t wish) const {
    const bool by_rows = m_.count > n_.count;
    const std::vector<Panel>& cut = by_rows ? rows_ : columns_;
    const int64_t others = by_rows ? n_.count : m_.count, tiles = int64_t(cut.size()),
                  count = std::clamp<int64_t>(wish, 1, tiles);
    const Update update = by_rows ? update_ : update_.turned();
    const auto elements = [&](int64_t tile) {
      const Panel& lines = cut[size_t(tile)];
      if (update.of == Elements::all) return others * lines.count;
      const int64_t each =
          update.of == Elements::lower ? lines.first + lines.count + update.shift : others - lines.first - update.shift;
      return std::clamp<int64_t>(each, 0, others) * lines.count;
    };
    int64_t all = 0;
    for (int64_t tile = 0; tile < tiles; ++tile) all += elements(tile);
    std::vector<Part> list;
    for (int64_t first = 0, end = 0, made = 0; first < tiles; first = end) {
      for (const int64_t goal = all * (int64_t(list.size()) + 1) / count; end < tiles && (end == first || made < goal);
           ++end)
        made += elements(end);
      list.push_back(by_rows ? Part{first, end, 0, int64_t(columns_.size())}
                             : Part{0, int64_t(rows_.size()), first, end});
    }
    return list;
  }

  void run(void* c, const void* a, const void* b, const T* weights, const Part& part,
           const runtime::Block& memory) const {
    T* const own = reinterpret_cast<T*>(memory.data());
    if (!rounds()) return add_up({static_cast<T*>(c)}, a, b, weights, part, own);
    T *const sums = own, *const packed = sums + sums_rows() * n_sums_ * kernel_.columns;
    for (int64_t j = part.j0; j < part.j1; j += n_sums_)
      for (int64_t i = part.i0; i < part.i1; i += m_sums_) {
        const Part some = {i, std::min(i + m_sums_, part.i1), j, std::min(j + n_sums_, part.j1)};
        add_up({sums, first_of(rows_, i), first_of(columns_, j), sums_rows()}, a, b, weights, some, packed);
        storage_.put(c, lines_of(c_rows_, rows_, some.i0, some.i1), lines_of(c_columns_, columns_, some.j0, some.j1),
                     sums, sums_rows());
      }
  }

 private:
  static constexpr int64_t most_depth = depth_block(sizeof(T));  // of a block
  int64_t deepest() const { return std::min(a_depth_.count, most_depth); }

  // C, or a matrix of whole tiles for a part of it that begins in row i and column j.
  struct Sums {
    T* data;
    int64_t i = 0, j = 0, ld = 0;
  };
  bool rounds() const { return storage_.put != nullptr; }
  int64_t sums_rows() const { return m_sums_ * kernel_.rows; }

  // Of so many columns that are left: the last two panels share what is more than one, since narrow tiles are slow.
  int64_t columns_of_panel(int64_t left) const {
    const int64_t whole = kernel_.columns, more = left - whole;
    if (more <= 0 || more > kernel_.narrow || whole <= 2 * kernel_.narrow) return whole;
    return whole - kernel_.narrow;
  }
  static int64_t first_of(const std::vector<Panel>& panels, int64_t k) { return panels[size_t(k)].first; }
  static Places lines_of(const Places& all, const std::vector<Panel>& panels, int64_t from, int64_t end) {
    const Panel& last = panels[size_t(end - 1)];
    const int64_t first = first_of(panels, from);
    return all.from(first, last.first + last.count - first);
  }

  void add_up(const Sums& c, const void* a, const void* b, const T* weights, const Part& part, T* packed_a) const {
    T* const packed_b = packed_a + m_block_ * kernel_.rows * deepest();
    const bool once = part.i1 - part.i0 <= m_block_;  // is each panel of B used
    for (int64_t j0 = part.j0; j0 < part.j1; j0 += n_block_)
      for (int64_t p0 = 0, depth = 0; p0 < a_depth_.count; p0 += depth) {
        const int64_t j1 = std::min(j0 + n_block_, part.j1);
        depth = depth_from(p0);
        Side<T> rows(a, m_, part.i1, a_depth_.from(p0, depth), steps_of(a_depth_, a_steps_, p0), rows_, a_ahead_);
        Side<T> columns(b, n_, j1, b_depth_.from(p0, depth), steps_of(b_depth_, b_steps_, p0), columns_, b_ahead_);
        for (int64_t i0 = part.i0; i0 < part.i1; i0 += m_block_) {
          const int64_t i1 = std::min(i0 + m_block_, part.i1);
          for (int64_t j = j0; j < j1; ++j) {
            T* const of_columns = packed_b + (once ? 0 : j - j0) * kernel_.columns * depth;
            for (int64_t i = i0; i < i1; ++i) {
              if (!wanted(rows.of(i), columns.of(j))) {
                if (p0 == 0 && update_.into == Into::set) leave_out(c, rows.of(i), columns.of(j));
                continue;
              }
              T* const of_rows = packed_a + (i - i0) * kernel_.rows * depth;
              if (columns.needs(j))
                storage_.pack(of_columns, b, columns.lines(j), columns.depth(), kernel_.columns, kernel_.copy_columns);
              if (rows.needs(i)) {
                storage_.pack(of_rows, a, rows.lines(i), rows.depth(), kernel_.rows, kernel_.copy_rows);
                if (weights) weigh(of_rows, kernel_.rows, weights, weights_.from(p0, depth));
              }
              add_tile(c, rows.of(i), of_rows, a, columns.of(j), of_columns, b, p0, depth,
                       next(rows, i, i1, columns, j));
            }
          }
          worked((i1 - i0) * kernel_.rows * (j1 - j0) * kernel_.columns * depth / 8);
        }
      }
  }

  // Of the block that begins there: blocks are about equal, since tiles of few steps are slow, and end where runs do.
  int64_t depth_from(int64_t first) const {
    const int64_t left = a_depth_.count - first, blocks = panels(left, most_depth), even = panels(left, blocks);
    if (!streams_b_ || blocks == 1) return even;
    const int64_t last = even - 1, whole_run = last + runs_[size_t(first + last)];
    return whole_run <= most_depth ? whole_run : even;
  }
  // Offsets of the steps of a block of the depth.
  static const int64_t* steps_of(const Places& depth, const std::vector<int64_t>& even, int64_t first) {
    return depth.at ? depth.at + first : even.data();
  }
  // What tiles after that of i and j will need, of those of a block that ends at i1.
  Fetch<T> next(Side<T>& rows, int64_t i, int64_t i1, Side<T>& columns, int64_t j) const {
    if (rounds()) return {};
    if (i + 1 < i1) return rows.fetch(i + 1, kernel_.rows);
    const Fetch<T> found = columns.fetch(j + 1, kernel_.rows);
    if (found.from != nullptr || (rows.of(i).packed && columns.goes_on(j + 1))) return found;
    return rows.fetch(i + 1, kernel_.rows);
  }
  // Whether a tile holds any element that is.
  bool wanted(const Panel& row, const Panel& column) const {
    return update_.changes(row.first, row.first + row.count, column.first, column.first + column.count);
  }
  // What is not asked for becomes 0 where memory may hold anything: arithmetic is slow with some numbers.
  void leave_out(const Sums& c, const Panel& row, const Panel& column) const {
    tile(c, row, column, Into::set, [&](T* to, int64_t ld, Into in) {
      kernel_.together[row.kernel][column.kernel](0, nullptr, nullptr, nullptr, 0, {}, to, ld, in);
    });
  }
  void add_tile(const Sums& c, const Panel& row, const T* packed_a, const void* a, const Panel& column,
                const T* packed_b, const void* b, int64_t p0, int64_t depth, Fetch<T> later) const {
    const T* lines = packed_a;
    const int64_t* steps = packed_steps_.data();
    if (!row.packed) {
      lines = static_cast<const T*>(a) + m_[row.first] + (a_depth_.at ? 0 : a_depth_[p0]);
      steps = steps_of(a_depth_, a_steps_, p0);
    }
    if (later.from == nullptr) later = {lines, steps};
    const Into into = update_.into == Into::set && p0 > 0 ? Into::add : update_.into;
    tile(c, row, column, into, [&](T* to, int64_t ld, Into in) {
      const auto together = kernel_.together[row.kernel][column.kernel];
      if (column.packed)
        together(depth, lines, steps, packed_b, kernel_.columns, later, to, ld, in);
      else if (!streams_b_)
        together(depth, lines, steps, static_cast<const T*>(b) + n_[column.first] + b_depth_[p0], b_step_, later, to,
                 ld, in);
      else
        stream(row, column, lines, steps, static_cast<const T*>(b), p0, depth, later, to, ld, in);
    });
  }

  // What is read where it lies.
  void choose_places() {
    const auto bytes = [](const Places& lines, const Places& depth) {  // of the memory that they lie in
      if (lines.apart) return lines.count * depth.count * int64_t(sizeof(T));
      const auto reach = [](const Places& at) { return std::abs(at[at.count - 1] - at[0]); };
      return (reach(lines) + reach(depth) + 1) * int64_t(sizeof(T));
    };
    const auto of_copy = [](const Places& lines, const Places& depth) {
      return lines.count * std::min(depth.count, most_depth) * int64_t(sizeof(T));
    };
    const int64_t rows = panels(m_.count, kernel_.rows), columns = panels(n_.count, kernel_.columns);
    a_in_place_ = in_place(columns, bytes(m_, a_depth_), of_copy(n_, b_depth_));
    if (rows <= most_tiles(n_)) streams_b_ = find_runs();
    if (!streams_b_ && in_place(rows, bytes(n_, b_depth_), of_copy(m_, a_depth_)))
      b_step_ = spacing(b_depth_, b_depth_.count);
    const auto ahead = [](int64_t elements) {
      return elements * int64_t(sizeof(T)) > in_caches ? Ahead::always : Ahead::once;
    };
    a_ahead_ = ahead(m_.count * a_depth_.count);
    if (b_step_ >= 0) b_ahead_ = ahead(n_.count * b_depth_.count);
    // windows that share most of their elements with those before
    if (streams_b_ && n_.count * b_depth_.count * int64_t(sizeof(T)) > 2 * bytes(n_, b_depth_)) b_ahead_ = Ahead::never;
  }
  // For how many tiles at most columns of B are read along their depth.
  static int64_t most_tiles(const Places& lines) {
    constexpr int64_t same_places = 4096;  // bytes: lines at such a distance drive each other out of the first cache
    return lines.count > 1 && (lines[1] - lines[0]) * int64_t(sizeof(T)) % same_places == 0
               ? few_tiles / 2
               : tiles_of_streams(sizeof(T));
  }
  // Whether the depth lies together in B, in long runs.
  bool find_runs() {
    runs_.resize(size_t(b_depth_.count), 1);
    int64_t runs = 1;
    for (int64_t p = b_depth_.count - 1; p-- > 0;) {
      if (b_depth_[p + 1] == b_depth_[p] + 1)
        runs_[size_t(p)] += runs_[size_t(p) + 1];
      else
        ++runs;
    }
    return b_depth_.count >= least_run * runs;
  }
  static int64_t panels(int64_t n, int64_t height) { return (n + height - 1) / height; }
  // Between `count` places, -1 where that is not always the same.
  static int64_t spacing(const Places& at, int64_t count) {
    if (at.count < count) return -1;
    if (!at.at) return at.step;
    for (int64_t i = 2; i < count; ++i)
      if (at[i] - at[i - 1] != at[1] - at[0]) return -1;
    return count > 1 ? at[1] - at[0] : 0;
  }

  // kernel(to, leading dimension, into): to C where it has the places of the tile, as a matrix of whole ones has.
  template <class F>
  void tile(const Sums& sums, const Panel& row, const Panel& column, Into into, F&& kernel) const {
    T* const c = sums.data;
    const int64_t i = row.first, j = column.first;
    if (sums.ld > 0) return kernel(c + i - sums.i + sums.ld * (j - sums.j), sums.ld, into);
    if (row.in_c >= row.taken && column.count == column.taken && column.in_c >= 0)
      return kernel(c + c_rows_[i] + c_columns_[j], column.in_c, into);
    const Places rows = c_rows_.from(i, row.count), columns = c_columns_.from(j, column.count);
    alignas(64) T edge[most_rows * most_columns];
    kernel(edge, row.taken, Into::set);
    for (int64_t r = 0, n = 0; r < rows.count; r += n) {
      n = rows.run(r);
      put_in(n, c + rows[r], columns, edge + r, row.taken, into);
    }
  }

  // Columns of B where they lie, as far as their depth lies together.
  void stream(const Panel& row, const Panel& column, const T* a, const int64_t* steps, const T* b, int64_t first,
              int64_t depth, const Fetch<T>& later, T* c, int64_t ld, Into into) const {
    const int64_t j = column.first, spacing = n_[j + 1] - n_[j];
    for (int64_t p = 0, run = 0; p < depth; p += run) {
      run = std::min(runs_[size_t(first + p)], depth - p);
      const T* groups[most_widths];
      for (size_t g = 0; g <= column.kernel; ++g)
        groups[g] = b + n_[j + int64_t(g) * kernel_.narrow] + b_depth_[first + p];
      kernel_.streamed[row.kernel][column.kernel](run, a, steps + p, groups, spacing, {later.from, later.steps + p}, c,
                                                  ld, into == Into::set && p > 0 ? Into::add : into);
    }
  }

  Kernel<T> kernel_;
  Storage<T> storage_;
  Update update_;
  Places m_, c_rows_, n_, c_columns_, a_depth_, b_depth_, weights_;
  int64_t n_block_, m_block_, n_sums_ = 0, m_sums_ = 0;  // panels
  bool a_in_place_ = false, streams_b_ = false;
  int64_t b_step_ = -1;                                    // of the depth, where that is read as it lies
  Ahead a_ahead_ = Ahead::once, b_ahead_ = Ahead::once;    // where they lie
  std::vector<int64_t> packed_steps_, a_steps_, b_steps_;  // of the depth
  std::vector<Panel> rows_, columns_;
  std::vector<int64_t> runs_;  // how many steps of the depth, from each on, lie together in B
};

// A product of each of a batch, in parts. `bytes`: of an element of the arrays.
template <class T>
void contract_stored(void* c, const void* a, const void* b, const T* weights, const Offsets& at,
                     const Storage<T>& storage, int64_t bytes, const Update& update, elementary::Isa isa) {
  if (const T* x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
      storage.put == nullptr && dots_are_faster(x, y, at, isa))
    return add_dots(static_cast<T*>(c), x, y, weights, at, update, isa);
  const Blocks<T> blocks(at, storage, update, weights != nullptr, isa);
  const double nanoseconds = nanoseconds_of_product * double(sizeof(T)) * double(at.rows.count) *
                             double(at.columns.count) * double(at.row_depth.count);
  // the numbers are the same however C is cut
  const double wish =
      std::min(double(parts_of_thread * runtime::threads()) / double(at.of_c.count), nanoseconds / nanoseconds_of_part);
  const auto parts = blocks.parts(runtime::threads() > 1 ? int64_t(wish) : 1);
  runtime::share(
      at.of_c.count * int64_t(parts.size()), nanoseconds * double(at.of_c.count),
      [&](runtime::Tasks& tasks, int thread) {
        const runtime::Block memory = blocks.memory();
        for (int64_t t; (t = tasks.take(thread)) >= 0;) {
          const int64_t k = t / int64_t(parts.size());
          blocks.run(static_cast<char*>(c) + bytes * at.of_c[k], static_cast<const char*>(a) + bytes * at.of_rows[k],
                     static_cast<const char*>(b) + bytes * at.of_columns[k],
                     weights ? weights + at.of_weights[k] : nullptr, parts[size_t(t) % parts.size()], memory);
        }
      });
}

}  // namespace

void contract(DType stored, void* c, const void* a, const void* b, const void* weights, std::span<const Axis> axes,
              const Update& update, elementary::Isa isa, std::span<const Beside> beside) {
  const auto from = [&](const void* first, const void* other) {  // in elements
    return (reinterpret_cast<intptr_t>(other) - reinterpret_cast<intptr_t>(first)) / int64_t(size_of(stored));
  };
  std::vector<FurtherColumns> further;
  for (const Beside& x : beside) further.push_back({x.columns, from(c, x.c), from(b, x.b)});
  const Offsets at(axes, std::move(further));
  if (at.rows.count == 0 || at.columns.count == 0 || at.of_c.count == 0) return;
  if (at.turned) std::swap(a, b);
  visit_real(stored, [&]<class S>() {
    if (at.row_depth.count == 0)
      for (int64_t k = 0; k < at.of_c.count && update.into == Into::set; ++k)
        zero(static_cast<S*>(c) + at.of_c[k], at.c_rows, at.c_columns);
    else
      contract_stored<Compute<S>>(c, a, b, static_cast<const Compute<S>*>(weights), at, storage<S>(), sizeof(S),
                                  at.turned ? update.turned() : update, isa);
  });
}

template <class T>
void multiply(T* c, View<T> a, View<T> b, int64_t m, int64_t n, int64_t k, elementary::Isa isa) {
  const Axis axes[] = {{m, 1, a.row, 0}, {n, m, 0, b.column}, {k, 0, a.column, b.row}};
  contract<T>(c, a.data, b.data, axes, isa);
}

template <class T>
void subtract(T* c, int64_t row, int64_t column, View<T> a, View<T> b, int64_t m, int64_t n, int64_t k, Elements of,
              elementary::Isa isa) {
  if (m == 0 || n == 0 || k == 0) return;
  const Axis axes[] = {{m, row, a.row, 0}, {n, column, 0, b.column}, {k, 0, a.column, b.row}};
  const Offsets at(axes);
  if (at.turned) std::swap(a, b);
  const Update update = {Into::subtract, of};
  contract_stored<T>(c, a.data, b.data, nullptr, at, storage<T>(), sizeof(T), at.turned ? update.turned() : update,
                     isa);
}

template void multiply(float*, View<float>, View<float>, int64_t, int64_t, int64_t, elementary::Isa);
template void multiply(double*, View<double>, View<double>, int64_t, int64_t, int64_t, elementary::Isa);
template void subtract(float*, int64_t, int64_t, View<float>, View<float>, int64_t, int64_t, int64_t, Elements,
                       elementary::Isa);
template void subtract(double*, int64_t, int64_t, View<double>, View<double>, int64_t, int64_t, int64_t, Elements,
                       elementary::Isa);

}  // namespace anvil::product
