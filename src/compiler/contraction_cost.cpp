#include "compiler/contraction_cost.h"

#include <algorithm>
#include <limits>

#include "runtime/product/dots.h"

namespace anvil::compiler {

using loops::Expr;
using loops::step;

namespace {

constexpr double least_work = 1 << 18;  // multiplications
// What things cost, in multiplications of the packed kernel (bench/contractions.cpp).
constexpr double in_loops = 2, in_loops_across = 3;  // one in loops; where an operand is read across memory, or is
constexpr double in_loops_of_few = 1;                // for each of no more columns than the smallest tile has
constexpr int64_t in_cache = 1 << 19;                // larger than this and read again for each few columns
constexpr double in_loops_of_lines = 1.5;            // where lines of the depth are read once, as they lie
constexpr double in_loops_of_vectors = 2.3;          // where the elements of a batch lie side by side, whole vectors
constexpr double in_loops_of_batch = 4;              // where they are not
constexpr double in_loops_of_windows = 1.3;          // where windows overlap, which blocks would copy, along memory
constexpr double in_loops_of_deep_windows = 5;       // across it, or where a few lines of the depth fill the cache
constexpr int64_t many_for_windows = 32;  // columns: for fewer, loops are as fast as blocks that read in place
constexpr double pack_together = 8, pack_across = 12, pack_batch = 20, pack_alone = 40;  // one element
constexpr double pack_widened = 16;                                                      // at least, of a small float
constexpr double store_row = 16, store_alone = 20, store_batch = 28;                     // one sum

struct Tile {  // at edges it has half as many rows, and columns in steps of `narrow`
  int64_t rows, columns, narrow;
};
Tile tile_of(const ProductShape& s, const Target& target) {
  const int64_t rows = 2 * target.vector_bytes / s.element_bytes;
  if (target.vector_bytes >= 64) return {rows, 12, 4};
  return {rows, target.vector_bytes == 32 ? 6 : 4, 2};
}
double whole(int64_t n, int64_t size) { return static_cast<double>((n + size - 1) / size * size); }

double cost_packed(const ProductShape& s, const Tile& tile) {
  double a = s.batch_of_a_together ? pack_batch : pack_alone, b = s.batch_of_b_together ? pack_batch : pack_alone;
  const bool one_step = s.depth_loops == 1;  // from each step of the depth to the next
  const auto in_place = [&](int64_t lines, int64_t of_other, int64_t tile_of_other) {
    return product::in_place(
        (of_other + tile_of_other - 1) / tile_of_other, lines * s.depth * s.element_bytes,
        of_other * std::min(s.depth, product::depth_block(size_t(s.element_bytes))) * s.element_bytes);
  };
  if (s.rows_of_a_together)
    a = (one_step || s.columns >= many_for_windows) && s.rows >= tile.rows && in_place(s.rows, s.columns, tile.columns)
            ? 0
            : pack_together;
  else if (s.depth_of_a_together)
    a = pack_across;
  if (s.b_together) {
    const bool streamed =
        s.rows <= product::tiles_of_streams(s.element_bytes) * tile.rows && s.depth_of_b_together >= product::least_run;
    const bool as_it_lies =
        one_step && s.depth_of_b_together == 1 && s.columns >= tile.columns && in_place(s.columns, s.rows, tile.rows);
    b = streamed || as_it_lies ? 0 : pack_together;
  }
  if (s.widened) a = std::max(a, pack_widened), b = std::max(b, pack_widened);
  const double rows = static_cast<double>(s.rows), columns = static_cast<double>(s.columns);
  const double lanes = a == 0 ? whole(s.rows, tile.rows / 2) * whole(s.columns, tile.narrow)
                              : whole(s.rows, tile.rows) * whole(s.columns, tile.columns);
  const double store = s.batch_together > 0 ? store_batch : s.rows_together >= tile.rows ? store_row : store_alone;
  return static_cast<double>(s.depth) * (lanes + a * rows + b * columns) + store * rows * columns;
}

double cost_of_one_in_loops(const ProductShape& s, const Tile& tile) {
  if (s.batch_together > 0) return s.batch_together % (tile.rows / 2) == 0 ? in_loops_of_vectors : in_loops_of_batch;
  if (s.windows) {
    const bool deep = s.depth * s.element_bytes * tile.rows > in_cache;
    const bool along = (s.rows_of_a_together && s.rows_together >= tile.rows / 2) || s.depth_together;
    return along && !deep ? in_loops_of_windows : in_loops_of_deep_windows;
  }
  if (s.whole_depth_together && std::min(s.rows, s.columns) == 1) return in_loops_of_lines;
  if (!s.rows_of_a_together || s.bytes_of_a > in_cache) return in_loops_across;
  return s.columns <= tile.narrow ? in_loops_of_few : in_loops;
}

// Whether the elements of an operand are those of several of its rows or columns, of which there are `lines`.
bool overlap(const loops::Program& p, Expr operand, double products, int64_t lines, int64_t depth) {
  constexpr double most = 0.75;
  return static_cast<double>(elements(p.buffers[static_cast<size_t>(operand->buffer)].shape)) <
         most * products * static_cast<double>(lines) * static_cast<double>(depth);
}

// Of a product whose rows, those of a, come first in the result.
bool lanes_along_columns(const loops::Program& p, const loops::Contraction& c, Expr a, Expr b) {
  int64_t rows = 1, columns = 1, depth = 1;
  bool together = false;
  for (const auto& [v, extent] : c.axes) {
    const int64_t in_a = step(p, a, v), in_b = step(p, b, v);
    if (step(p, c.buffer, c.place, v) == 0)
      depth *= extent;
    else if (in_b == 0)
      rows *= extent;
    else if (in_a == 0)
      columns *= extent, together = together || in_b == 1;
  }
  return product::lanes_along_others(rows, columns, depth, together);
}

}  // namespace

std::optional<ProductShape> shape_of(const loops::Program& p, const loops::Contraction& c) {
  Expr a = c.left(), b = c.right();
  const auto of_rows_or_columns = [&](loops::Variable v) { return (step(p, a, v) == 0) != (step(p, b, v) == 0); };
  // Rows or columns that lie next to each other in the result: a batch that comes first there gets another place
  // (contraction_layout.cpp).
  int64_t next = 0;
  for (const auto& [v, _] : c.axes)
    if (const int64_t by = step(p, c.buffer, c.place, v); by != 0 && of_rows_or_columns(v))
      next = next == 0 ? by : std::min(next, by);
  for (const auto& [v, _] : c.axes)
    if (step(p, c.buffer, c.place, v) == next && step(p, a, v) == 0 && of_rows_or_columns(v)) {
      std::swap(a, b);
      break;
    }
  if (lanes_along_columns(p, c, a, b)) std::swap(a, b);
  ProductShape s;
  s.element_bytes = static_cast<int>(size_of(compute_type(a->dtype)));
  s.widened = is_small(a->dtype);
  s.bytes_of_a = elements(p.buffers[static_cast<size_t>(a->buffer)].shape) * s.element_bytes;
  double products = 1;  // side by side
  int64_t reach = 1;    // of the depth in a
  bool equal_steps = true;
  for (const auto& [v, extent] : c.axes) {
    const int64_t result = step(p, c.buffer, c.place, v), in_a = step(p, a, v), in_b = step(p, b, v);
    s.all *= static_cast<double>(extent);
    if (result == 0) {
      if (in_a == 0 || in_b == 0) return std::nullopt;
      s.depth *= extent;
      reach += (extent - 1) * in_a;
      equal_steps = equal_steps && in_a == in_b;
      ++s.depth_loops;
      s.depth_of_a_together = s.depth_of_a_together || in_a == 1;
      if (in_b == 1) s.b_together = true, s.depth_of_b_together = extent;
      s.depth_together = s.depth_together || (in_a == 1 && in_b == 1 && extent >= product::least_run);
    } else if ((in_a == 0) == (in_b == 0)) {
      if (result == 1 && (in_a == 1 || in_b == 1)) s.batch_together = extent;
      s.batch_of_a_together = s.batch_of_a_together || in_a == 1;
      s.batch_of_b_together = s.batch_of_b_together || in_b == 1;
      products *= static_cast<double>(extent);
    } else if (in_b == 0) {
      s.rows *= extent;
      s.rows_of_a_together = s.rows_of_a_together || in_a == 1;
      if (result == next) s.rows_together = extent;
    } else {
      s.columns *= extent;
      s.b_together = s.b_together || in_b == 1;
    }
  }
  s.whole_depth_together = equal_steps && reach == s.depth;
  s.one_operand = a->buffer == b->buffer && s.rows == s.columns;
  s.windows = overlap(p, a, products, s.rows, s.depth) || overlap(p, b, products, s.columns, s.depth);
  return s;
}

static double cost_in_loops(const ProductShape& s, const Tile& tile) {
  return cost_of_one_in_loops(s, tile) * static_cast<double>(s.rows) * static_cast<double>(s.columns) *
         static_cast<double>(s.depth);
}
// With so many more columns; infinite where it is no product of lines that lie together.
static double cost_of_dots(const ProductShape& s, const Target& target, int64_t more = 0) {
  if (!s.whole_depth_together || s.widened) return std::numeric_limits<double>::infinity();
  return product::cost_of_dots(
      {s.rows, s.columns + more, s.depth, s.depth, s.element_bytes, target.vector_bytes, s.one_operand});
}

bool packed_is_faster(const ProductShape& s, const Target& target) {
  const Tile tile = tile_of(s, target);
  return s.all >= least_work && std::min(cost_packed(s, tile), cost_of_dots(s, target)) < cost_in_loops(s, tile);
}

bool faster_beside(const ProductShape& other, const ProductShape& s, const Target& target) {
  const int64_t columns = s.rows * s.columns / other.rows;
  ProductShape both = other;
  both.columns += columns;
  return s.whole_depth_together && cost_of_dots(other, target, columns) < cost_packed(both, tile_of(other, target));
}

}  // namespace anvil::compiler
