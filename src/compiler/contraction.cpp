// Sums of products: loops that only sum products of two loads, in any order and over any layout, are a
// contraction, which runs over packed blocks where it is large.
//
//   for j in 0..n                          contract j in 0..n, i in 0..m, p in 0..k:
//     for i in 0..m                          out1[i, j] = sum of x1[p, i] * x2[p, j]
//       a1 = 0
//       for p in 0..k
//         a1 += x1[p, i] * x2[p, j]
//       out1[i, j] = a1
//
// A loop that moves the result and one operand is of its rows or columns, one that moves both operands only is
// the depth, one that moves all three makes a batch of products: so transposed operands, slices, several
// dimensions at once and the windows of convolutions are the same thing. Small products and those with few
// rows or columns stay loops: they fuse, no step of a tile is wasted, and their operands need no packing.
#include <algorithm>

#include "compiler/passes.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::For;

constexpr double least_work = 1 << 18;  // multiplications, of all products
// What things cost, in multiplications of the packed kernel (bench/contractions.cpp). One in loops: where the
// rows of an operand lie together as in the result, where they do not, or it has to come from memory for each
// few columns, where the elements of a batch lie side by side. Packing an element: of lines that lie together, whose depth does, among others of a batch. A sum that
// is stored, with its row and alone.
constexpr double loops_along = 2, loops_across = 3, loops_of_batch = 4;
constexpr double pack_line = 8, pack_across = 12, pack_batch = 40;
constexpr double store_row = 16, store_alone = 20;
constexpr int64_t in_cache = 1 << 19;            // bytes
constexpr int64_t few_tiles = 4, long_run = 32;  // product/product.cpp: what is read where it lies

class Finder {
 public:
  Finder(Program& p, const Target& target) : program_(p), target_(target) {}

  void block(Block& b) {
    for (Stmt& s : b) {
      Contraction c;
      if (match(s, c) && worthwhile(c))
        s = {std::move(c)};
      else
        each_block(s, [this](Block& inner) { block(inner); });
    }
  }

 private:
  // The loops of a perfect nest, outermost first, and the block inside of them.
  static const Block* loops_of(const Stmt& s, std::vector<const For*>& loops) {
    const Block* body = nullptr;
    for (auto f = std::get_if<For>(&s.is); f != nullptr;
         f = body->size() == 1 ? std::get_if<For>(&(*body)[0].is) : nullptr) {
      if (f->begin != 0) return nullptr;
      loops.push_back(f);
      body = &f->body;
    }
    return body;
  }

  bool match(const Stmt& s, Contraction& c) const {
    std::vector<const For*> loops;
    const Block* body = loops_of(s, loops);
    if (body == nullptr || body->size() != 3) return false;
    auto declare = std::get_if<loops::Declare>(&(*body)[0].is);
    auto store = std::get_if<loops::Store>(&(*body)[2].is);
    const Block* inner = loops_of((*body)[1], loops);
    if (declare == nullptr || store == nullptr || inner == nullptr || inner->size() != 1) return false;
    auto update = std::get_if<loops::Update>(&(*inner)[0].is);
    const Expr start = declare->value, product = update == nullptr ? nullptr : update->value;
    if (update == nullptr || update->op != Op::add || update->local != declare->local || product->op != Op::mul ||
        (product->dtype != DType::f32 && product->dtype != DType::f64) || start->op != Op::constant ||
        start->constant != Scalar(0).rounded_to(start->dtype) || store->value->op != Op::local ||
        store->value->local != declare->local)
      return false;
    c.buffer = store->buffer;
    c.place = store->place;
    c.product = product;
    for (Expr operand : {c.left(), c.right()})
      if (operand->op != Op::load || root(program_, operand->buffer) == root(program_, c.buffer)) return false;
    for (const For* f : loops) c.axes.push_back({f->variable, f->end});
    return true;
  }

  // The sides of a product as the kernel sees them: its rows lie together in the result.
  struct Sides {
    double all = 1;
    int64_t rows = 1, columns = 1, depth = 1, rows_together = 1;  // in the result
    int depths = 0;                                               // loops of it
    int64_t bytes_of_a = 0;
    bool row_in_a = false, depth_in_a = false, any_in_b = false, run_in_b = false,
         batch_together = false;  // steps of 1
  };
  // False where a loop moves one operand only.
  bool measure(const Contraction& c, Sides& s) const {
    Expr a = c.left(), b = c.right();
    for (const auto& [v, _] : c.axes)
      if (step(c.buffer, c.place, v) == 1 && step(a, v) == 0 && step(b, v) != 0) {
        std::swap(a, b);
        break;
      }
    const loops::Buffer& of_a = program_.buffers[static_cast<size_t>(a->buffer)];
    s.bytes_of_a = elements(of_a.shape) * static_cast<int64_t>(size_of(of_a.dtype));
    for (const auto& [v, extent] : c.axes) {
      const int64_t result = step(c.buffer, c.place, v), in_a = step(a, v), in_b = step(b, v);
      s.all *= static_cast<double>(extent);
      if (result == 0) {
        if (in_a == 0 || in_b == 0) return false;
        s.depth *= extent;
        ++s.depths;
        s.depth_in_a = s.depth_in_a || in_a == 1;
        s.any_in_b = s.any_in_b || in_b == 1;
        s.run_in_b = s.run_in_b || (in_b == 1 && extent >= long_run);
      } else if ((in_a == 0) == (in_b == 0)) {
        s.batch_together = s.batch_together || result == 1;
      } else if (in_b == 0) {
        s.rows *= extent;
        s.row_in_a = s.row_in_a || in_a == 1;
        if (result == 1) s.rows_together = extent;
      } else {
        s.columns *= extent;
        s.any_in_b = s.any_in_b || in_b == 1;
      }
    }
    return true;
  }
  bool worthwhile(const Contraction& c) const {
    Sides s;
    if (!measure(c, s)) return false;
    if (target_.contract_all) return true;
    const int64_t height = 2 * target_.vector_bytes / static_cast<int64_t>(size_of(c.product->dtype)),
                  width = target_.vector_bytes == 64   ? 12
                          : target_.vector_bytes == 32 ? 6
                                                       : 4;
    const auto whole = [](int64_t n, int64_t size) { return static_cast<double>((n + size - 1) / size * size); };
    const auto rows = static_cast<double>(s.rows), columns = static_cast<double>(s.columns),
               depth = static_cast<double>(s.depth);
    const bool a_lies = s.row_in_a && s.depths == 1 && s.rows >= height && s.columns <= few_tiles * width;
    const double a = a_lies         ? 0
                     : s.row_in_a   ? pack_line
                     : s.depth_in_a ? pack_across
                                    : pack_batch,
                 b = s.run_in_b   ? 0
                     : s.any_in_b ? pack_line
                                  : pack_batch,
                 result = s.rows_together >= height ? store_row : store_alone,
                 loops = s.batch_together                         ? loops_of_batch
                         : s.row_in_a && s.bytes_of_a <= in_cache ? loops_along
                                                                  : loops_across;
    const double packed =
        depth * (whole(s.rows, height) * whole(s.columns, width) + a * rows + b * columns) + result * rows * columns;
    return s.all >= least_work && packed < loops * rows * columns * depth;
  }
  int64_t step(BufferId b, const Index& place, Variable v) const {
    return loops::factor(linear(program_, b, place), v);
  }
  int64_t step(Expr load, Variable v) const { return step(load->buffer, load->place, v); }

  Program& program_;
  const Target& target_;
};

}  // namespace

void find_contractions(Program& p, const Target& target) {
  Finder(p, target).block(p.body);
  lay_out_contractions(p);
}

}  // namespace anvil::compiler
