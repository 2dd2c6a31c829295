// Contractions: sums of products of two arrays in any layout, C[batch, row, column] = sum of
// A[batch, row, depth] * B[batch, depth, column], each also times a weight [batch, depth] as in X'WX. Blocks of A and B
// are packed so that an inner kernel, which keeps a tile of C in registers, reads both in order (Goto and van de Geijn,
// Anatomy of high-performance matrix multiplication, 2008). What the kernel can read as well where it is stays there, if
// copies would be used a few times only or caches hold it: rows of A that lie together, columns of B that do or whose
// depth does. Threads share the tiles of C; the order of each sum is fixed, so that the numbers are the same for any
// number of them. Few lines with others over a long depth that lies together are multiplied where they are (dots.h).
// Small floats become floats as they are packed; sums of theirs are complete before they are rounded. Weights come in
// when an operand, whichever, is packed, or into a copy of a block of its lines.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "runtime/elementary/instruction_sets.h"
#include "runtime/product/pack.h"

namespace anvil::product {

// A loop of a contraction: how many steps, and how many elements each moves on in C, A, B and the weights; 0 in
// an array that does not have it. What is in C and one operand is a row (A's) or a column (B's), in
// both operands only the depth, anything else in C a batch.
struct Axis {
  int64_t extent, c, a, b, weights = 0;
};
enum class Into : uint8_t { set, add, subtract };  // what becomes of C
enum class Elements : uint8_t { all, lower, upper };
// What becomes of which elements of C. Of row i those of columns j <= i + shift are `lower`, and j >= i + shift `upper`;
// as far as a tile reaches, others change as well, and where C is set they are 0 elsewhere.
struct Update {
  Into into = Into::set;
  Elements of = Elements::all;
  int64_t shift = 0;
  bool changes(int64_t i, int64_t j) const { return changes(i, i + 1, j, j + 1); }
  bool changes(int64_t i0, int64_t i1, int64_t j0, int64_t j1) const {  // any of a tile
    return of == Elements::all || (of == Elements::lower ? j0 < i1 + shift : j1 > i0 + shift);
  }
  Update turned() const {
    return {into, of == Elements::lower ? Elements::upper : of == Elements::upper ? Elements::lower : of, -shift};
  }
};
// A product of the same A with another B, beside the first: its columns have axes of their own, of which those steps
// count that are in C and B; all other axes take the steps of the first product.
struct Beside {
  void* c;
  const void* b;
  std::vector<Axis> columns;
};
// Any instruction set that the processor has may be asked for. Every axis is in C or in both operands, those of the
// weights in both operands; all arrays are floats of one dtype. `weights` may be null, and is so for small floats, which
// are set. Where not all elements change, C has one axis of rows and one of columns, and no small floats.
void contract(DType, void* c, const void* a, const void* b, const void* weights, std::span<const Axis> axes,
              const Update& = {}, elementary::Isa isa = elementary::detected_isa(),
              std::span<const Beside> beside = {});
template <class S>
void contract(S* c, const S* a, const S* b, std::span<const Axis> axes,
              elementary::Isa isa = elementary::detected_isa()) {
  contract(dtype_of<S>(), c, a, b, nullptr, axes, {}, isa);
}

// Steps of the depth, for elements of so many bytes, after which sums go to C: panels of B stay in the first cache.
constexpr int64_t depth_block(size_t element_bytes) { return element_bytes == 4 ? 512 : 384; }

// Lines of an operand that lie together are read where they lie if few tiles of the other operand use them, or if their
// memory is small; if some tiles do, where the second cache has room for what is packed of the other one beside them.
constexpr int64_t few_tiles = 4;
constexpr bool in_place(int64_t tiles, int64_t bytes, int64_t packed_of_other) {
  constexpr int64_t some_tiles = 8, in_second_cache = 256 << 10, beside = 160 << 10, in_third_cache = 8 << 20;
  return tiles <= few_tiles || bytes <= in_second_cache ||
         (tiles <= some_tiles && packed_of_other <= beside && bytes <= in_third_cache);
}
// Columns of B whose depth lies together, in runs of so many elements, are read along it if no more tiles use them.
constexpr int64_t least_run = 64;
constexpr int64_t tiles_of_streams(int64_t element_bytes) { return element_bytes == 4 ? 8 : 32; }

// The lanes of a tile are along the side of C whose lines follow each other there, unless these are a few and the
// others, in the operand that has them, lie together: then that is read along memory, the more so where it is large.
inline bool lanes_along_others(int64_t lines, int64_t others, int64_t depth, bool others_together) {
  constexpr int64_t large = 1 << 21;
  return others_together && lines >= 2 && lines <= (others * depth > large ? 48 : 8) && others > 4 * lines;
}

// The offsets of lines at even distances, as the kernels take them.
inline std::vector<int64_t> even_steps(int64_t count, int64_t step) {
  std::vector<int64_t> list(static_cast<size_t>(count));
  for (int64_t p = 0; p < count; ++p) list[static_cast<size_t>(p)] = p * step;
  return list;
}

// A matrix in memory: element (i, j) at data[i * row + j * column].
template <class T>
struct View {
  const T* data;
  int64_t row, column;
};
// C = A B for matrices; c is m x n, column-major and dense.
template <class T>
void multiply(T* c, View<T> a, View<T> b, int64_t m, int64_t n, int64_t k,
              elementary::Isa isa = elementary::detected_isa());
// C -= A B for matrices of any layout, at least for some elements of C.
template <class T>
void subtract(T* c, int64_t row, int64_t column, View<T> a, View<T> b, int64_t m, int64_t n, int64_t k,
              Elements of = Elements::all, elementary::Isa isa = elementary::detected_isa());

// What is fetched into the second cache while a tile is computed: at each step of its depth as many elements as it has
// rows, from an offset on.
template <class T>
struct Fetch {
  const T* from;
  const int64_t* steps;
};

// The inner kernels of one instruction set: c (rows x columns, leading dimension ldc) =, += or -= a b, where
// a has k columns of `rows`, at the offsets `steps`. Of b there are k rows of `columns`, ldb from each other, or
// columns of k where they lie: groups of `narrow`, which begin anywhere (a pointer for each column is more than there
// are registers). At the edges of C tiles are half as high and as wide as multiples of `narrow`: [half or
// whole][multiple].
constexpr int most_widths = 3;
constexpr int64_t most_rows = 32, most_columns = 12;

// Lines of a tile of sums of whole vectors, for registers of so many bytes.
struct DotTile {
  int rows, columns;
};
constexpr DotTile dot_tile(int64_t vector_bytes) {
#if defined(__aarch64__)
  return vector_bytes == 16 ? DotTile{5, 5} : DotTile{3, 3};
#else
  return vector_bytes == 64 ? DotTile{5, 5} : vector_bytes == 32 ? DotTile{4, 3} : DotTile{3, 3};
#endif
}

// Those with lanes along a depth that lies together: sums[i row + j column + lane] += a[i][p] b[j][p] for the p of
// that lane, to be added up by `add_lanes`. k is a multiple of `lanes`, and there are at least as many rows as columns.
// Meanwhile the lines at `next` are fetched into the second cache.
constexpr int64_t most_dots = 5, lines_ahead = 3;
template <class T>
struct Dots {
  int64_t lanes;
  using Tile = void (*)(int64_t k, const T* const* a, const T* const* b, T* sums, int64_t row, int64_t column,
                        const T* const* next);
  Tile tile[most_dots][most_dots];
  void (*add_lanes)(int64_t n, const T* sums, T* to);
  void (*weigh)(int64_t k, const T* line, const T* weights, T* to);
};

template <class T>
struct Kernel {
  int64_t rows, columns, narrow;
  using Together = void (*)(int64_t k, const T* a, const int64_t* steps, const T* b, int64_t ldb, Fetch<T>, T* c,
                            int64_t ldc, Into);
  using Streamed = void (*)(int64_t k, const T* a, const int64_t* steps, const T* const* b, int64_t ldb, Fetch<T>, T* c,
                            int64_t ldc, Into);
  Together together[2][most_widths];
  Streamed streamed[2][most_widths];
  // X B = C in place of `columns` columns of C, those of x from k on, of which there are `rows` rows: of the upper
  // triangle B k + columns rows are packed, and the columns of X before are known.
  void (*solve)(int64_t k, T* x, int64_t ldx, const T* b);
  Copies<T> copy_rows, copy_columns;  // for panels of as many lines as a tile has
  Dots<T> dots;
};
struct Kernels {
  Kernel<float> f32;
  Kernel<double> f64;
};
ANVIL_KERNELS_OF_SETS(Kernels)

}  // namespace anvil::product
