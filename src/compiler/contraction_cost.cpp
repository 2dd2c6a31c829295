#include "compiler/contraction_cost.h"

#include "runtime/product/product.h"

namespace anvil::compiler {

using loops::Expr;
using loops::step;

namespace {

constexpr double least_work = 1 << 18;  // multiplications
// What things cost, in multiplications of the packed kernel (bench/contractions.cpp).
constexpr double in_loops = 2, in_loops_across = 3;  // one in loops; where an operand is read across memory, or is
constexpr int64_t in_cache = 1 << 19;                // larger than this and read again for each few columns
constexpr double in_loops_of_batch = 4;              // where the elements of a batch lie side by side
constexpr double in_loops_of_windows = 1.3;          // where windows overlap, which blocks would copy, along memory
constexpr double pack_together = 8, pack_across = 12, pack_batch = 40;  // one element
constexpr double store_row = 16, store_alone = 20;                      // one sum

struct Tile {
  int64_t rows, columns;
};
Tile tile_of(const ProductShape& s, const Target& target) {
  const int64_t rows = 2 * target.vector_bytes / s.element_bytes;
  return {rows, target.vector_bytes >= 64 ? 12 : target.vector_bytes == 32 ? 6 : 4};
}
double whole(int64_t n, int64_t size) { return static_cast<double>((n + size - 1) / size * size); }

double cost_packed(const ProductShape& s, const Tile& tile) {
  double a = pack_batch, b = pack_batch;  // of an element
  if (s.rows_of_a_together)
    a = s.depth_loops == 1 && s.rows >= tile.rows && s.columns <= product::few_tiles * tile.columns ? 0 : pack_together;
  else if (s.depth_of_a_together)
    a = pack_across;
  if (s.b_together)
    b = s.depth_of_b_together >= product::least_run && s.rows <= product::few_tiles * tile.rows ? 0 : pack_together;
  const double rows = static_cast<double>(s.rows), columns = static_cast<double>(s.columns);
  return static_cast<double>(s.depth) *
             (whole(s.rows, tile.rows) * whole(s.columns, tile.columns) + a * rows + b * columns) +
         (s.rows_together >= tile.rows ? store_row : store_alone) * rows * columns;
}

double cost_of_one_in_loops(const ProductShape& s, const Tile& tile) {
  if (s.batch_together) return in_loops_of_batch;
  const bool windows = s.bytes_of_a < s.rows * s.depth * s.element_bytes / 2;
  if (windows && (s.rows_together >= tile.rows / 2 || s.depth_together)) return in_loops_of_windows;
  return s.rows_of_a_together && s.bytes_of_a <= in_cache ? in_loops : in_loops_across;
}

}  // namespace

std::optional<ProductShape> shape_of(const loops::Program& p, const loops::Contraction& c) {
  Expr a = c.left(), b = c.right();
  for (const auto& [v, _] : c.axes)
    if (step(p, c.buffer, c.place, v) == 1 && step(p, a, v) == 0 && step(p, b, v) != 0) {
      std::swap(a, b);
      break;
    }
  ProductShape s;
  s.element_bytes = static_cast<int>(size_of(a->dtype));
  s.bytes_of_a = elements(p.buffers[static_cast<size_t>(a->buffer)].shape) * s.element_bytes;
  for (const auto& [v, extent] : c.axes) {
    const int64_t result = step(p, c.buffer, c.place, v), in_a = step(p, a, v), in_b = step(p, b, v);
    s.all *= static_cast<double>(extent);
    if (result == 0) {
      if (in_a == 0 || in_b == 0) return std::nullopt;
      s.depth *= extent;
      ++s.depth_loops;
      s.depth_of_a_together = s.depth_of_a_together || in_a == 1;
      if (in_b == 1) s.b_together = true, s.depth_of_b_together = extent;
      s.depth_together = s.depth_together || (in_a == 1 && in_b == 1 && extent >= product::least_run);
    } else if ((in_a == 0) == (in_b == 0)) {
      s.batch_together = s.batch_together || result == 1;
    } else if (in_b == 0) {
      s.rows *= extent;
      s.rows_of_a_together = s.rows_of_a_together || in_a == 1;
      if (result == 1) s.rows_together = extent;
    } else {
      s.columns *= extent;
      s.b_together = s.b_together || in_b == 1;
    }
  }
  return s;
}

bool packed_is_faster(const ProductShape& s, const Target& target) {
  const Tile tile = tile_of(s, target);
  const double in_loops_all = cost_of_one_in_loops(s, tile) * static_cast<double>(s.rows) *
                              static_cast<double>(s.columns) * static_cast<double>(s.depth);
  return s.all >= least_work && cost_packed(s, tile) < in_loops_all;
}

}  // namespace anvil::compiler
