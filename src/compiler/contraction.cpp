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
// rows or columns stay loops: they fuse, no step of a tile is wasted, and their operands need no packing. Small
// floats are widened where they are packed, and sums of theirs rounded where they are stored.
#include "compiler/beside.h"
#include "compiler/contraction_cost.h"
#include "compiler/passes.h"
#include "compiler/traverse.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::For;

class Finder {
 public:
  Finder(Program& p, const Target& target) : program_(p), target_(target) {}

  void block(Block& b) {
    for (Stmt& s : b) {
      Contraction c;
      if (match(s, c) && worthwhile(c))
        s = {std::move(c), loops::origins(s)};
      else
        each_block(s, [this](Block& inner) { block(inner); });
    }
  }
  // Those that are worthwhile as a part of another one, when that has got its form (beside.cpp).
  void beside_others(Block& b) {
    for (size_t k = 0; k < b.size(); ++k) {
      each_block(b[k], [this](Block& inner) { beside_others(inner); });
      Contraction c;
      if (!match(b[k], c)) continue;
      const auto shape = shape_of(program_, c);
      Stmt found = {std::move(c), loops::origins(b[k])};
      if (shape && worthwhile_beside(b, k, found, *shape)) b[k] = std::move(found);
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
        !is_float(product->dtype) || start->op != Op::constant || start->constant != Scalar(0).rounded_to(start->dtype))
      return false;
    const Expr sum = Contraction::loaded(store->value);
    const DType stored = store->value->dtype;
    if (sum->op != Op::local || sum->local != declare->local || compute_type(stored) != product->dtype) return false;
    c.buffer = store->buffer;
    c.place = store->place;
    c.product = product;
    if (c.weight()) return false;
    for (Expr operand : {c.left(), c.right()})
      if (operand->op != Op::load || operand->dtype != stored ||
          root(program_, operand->buffer) == root(program_, c.buffer))
        return false;
    for (const For* f : loops) c.axes.push_back({f->variable, f->end});
    return true;
  }

  bool worthwhile(const Contraction& c) const {
    const auto shape = shape_of(program_, c);
    return shape && (target_.any_size || packed_is_faster(*shape, target_));
  }

  bool worthwhile_beside(const Block& b, size_t k, const Stmt& small, const ProductShape& shape) const {
    const auto is_faster = [&](const Stmt& s) {
      const auto* other = std::get_if<Contraction>(&s.is);
      return other && faster_beside(*shape_of(program_, *other), shape, target_);
    };
    const size_t first = k - std::min(k, furthest_beside), end = std::min(b.size(), k + furthest_beside + 1);
    for (size_t i = first; i < end; ++i)
      if (i != k && is_faster(b[i]) && become_one(program_, b, i, k, small)) return true;
    return false;
  }

  Program& program_;
  const Target& target_;
};

}  // namespace

void find_contractions(Program& p, const Target& target) {
  Finder finder(p, target);
  finder.block(p.body);
  store_contractions(p);
  lay_out_contractions(p);
  move_batches(p);
  weigh_contractions(p);
  finder.beside_others(p.body);
}

}  // namespace anvil::compiler
