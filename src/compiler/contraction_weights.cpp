// An operand of a contraction that was only multiplied by weights, which do not depend on what it alone has, is read
// as it was, and the product is weighted as it is made:
//
//   for j, for p: t1[p, j] = x1[p, j] * x2[p]          contract j, i, p:
//   contract j, i, p: t2[i, j] = sum of                  t2[i, j] = sum of x1[p, i] * x2[p] * x3[p, j]
//     t1[p, i] * x3[p, j]
//
// So X'WX does not store WX.
#include <algorithm>
#include <optional>

#include "compiler/passes.h"
#include "compiler/store_nest.h"
#include "compiler/traverse.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;

class Weigher {
 public:
  explicit Weigher(Program& p) : program_(p), accesses_(count_accesses(p)) {}
  void block(Block& b) {
    for (size_t k = 0; k < b.size(); ++k) {
      each_block(b[k], [this](Block& inner) { block(inner); });
      if (std::holds_alternative<Contraction>(b[k].is)) k -= weigh(b, k);
    }
  }

 private:
  // How many statements in front of the contraction have gone.
  size_t weigh(Block& b, size_t k) {
    auto& c = std::get<Contraction>(b[k].is);
    if (c.weight() || c.product->args[0]->op == Op::convert || c.left() == c.right()) return 0;
    for (const bool left : {true, false}) {
      const Expr operand = left ? c.left() : c.right(), other = left ? c.right() : c.left();
      const std::optional<size_t> n = maker(b, k, operand->buffer);
      if (!n) continue;
      const std::optional<Expr> weighted = weighted_operand(c, b[*n], operand, other);
      if (!weighted || changed(b, *n + 1, k, *weighted)) continue;
      c.product = program_.exprs.binary(Op::mul, *weighted, other);
      loops::add_origins(b[k], loops::origins(b[*n]));
      b.erase(b.begin() + static_cast<ptrdiff_t>(*n));
      return 1;
    }
    return 0;
  }

  // The statement of the block that makes a buffer which only this contraction reads.
  std::optional<size_t> maker(const Block& b, size_t k, BufferId x) const {
    const loops::Buffer& buffer = program_.buffers[static_cast<size_t>(x)];
    if (buffer.kind != loops::Buffer::Kind::temporary || buffer.alias >= 0 || accesses_[static_cast<size_t>(x)] != 2)
      return std::nullopt;
    for (size_t n = k; n-- > 0;)
      if (const std::optional<StoreNest> nest = store_nest(b[n]); nest && nest->store->buffer == x) return n;
    return std::nullopt;
  }

  // What the nest stores, where the contraction reads it: a load times a weight.
  std::optional<Expr> weighted_operand(const Contraction& c, const Stmt& nest, Expr operand, Expr other) {
    const std::optional<Piece> all = piece_of(nest);
    if (!all || all->extents != program_.buffers[static_cast<size_t>(operand->buffer)].shape ||
        all->value->op != Op::mul)
      return std::nullopt;
    VariableMap map;
    for (size_t d = 0; d < all->variables.size(); ++d)
      if (all->variables[d] >= 0) map[all->variables[d]] = operand->place[d];
    for (const int side : {0, 1}) {
      const Expr x = all->value->args[side], w = all->value->args[1 - side];
      if (x->op != Op::load || w->op != Op::load) return std::nullopt;
      auto rewriter = variable_rewriter(program_.exprs, map);
      const Expr read = rewriter(x), weight = rewriter(w);
      const auto moves = [&](Expr load, const Contraction::Axis& axis) {
        return loops::step(program_, load, axis.variable) != 0;
      };
      const auto fits = [&](const Contraction::Axis& axis) {
        return moves(read, axis) == moves(operand, axis) &&
               (!moves(weight, axis) || (moves(operand, axis) && moves(other, axis)));
      };
      const auto weighs = [&](const Contraction::Axis& axis) { return moves(weight, axis); };
      if (root(program_, x->buffer) != root(program_, c.buffer) &&
          root(program_, w->buffer) != root(program_, c.buffer) && std::all_of(c.axes.begin(), c.axes.end(), fits) &&
          std::any_of(c.axes.begin(), c.axes.end(), weighs))
        return program_.exprs.binary(Op::mul, read, weight);
    }
    return std::nullopt;
  }

  // Whether statements store to what an expression reads, or exchange it.
  bool changed(const Block& b, size_t first, size_t last, Expr e) const {
    bool found = false;
    const auto change = [&](BufferId x) {
      each_node(e, [&](Expr load) {
        found = found || (load->op == Op::load && root(program_, load->buffer) == root(program_, x));
      });
    };
    for (size_t k = first; k < last; ++k)
      each_access_inside(b[k], [&](BufferId x, const Index*, AccessKind kind) {
        if (kind != AccessKind::read) change(x);
      });
    return found;
  }

  Program& program_;
  std::vector<int> accesses_;
};

}  // namespace

void weigh_contractions(Program& p) { Weigher(p).block(p.body); }

}  // namespace anvil::compiler
