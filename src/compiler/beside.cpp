// Products of one operand with several others are one contraction, which packs or reads that operand once:
//
//   contract j in 0..64, i in 0..500, p in 0..256: t1[i, j] = sum of x1[i, p] * x2[p, j]
//   contract k in 0..9, i in 0..500, p in 0..256: t2[i, k] = sum of x1[i, p] * x3[p, k]
//
//   contract j in 0..64, i in 0..500, p in 0..256: t1[i, j] = sum of x1[i, p] * x2[p, j]
//       beside k in 0..9: t2[i, k] = sum of x1[i, p] * x3[p, k]
//
// Queries, keys and values of attention, the gates of a recurrent network, X'X and X'y. The rows have to lie alike in all
// results, the depth in all the other operands; the later contraction runs where the first one does.
#include "compiler/beside.h"

#include <algorithm>
#include <optional>

#include "base/interrupt.h"
#include "compiler/passes.h"
#include "loops/dependence.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::step;

// A contraction as the product of an operand that others may share.
struct Product {
  const Contraction& c;
  Expr shared, other;  // as they stand in the product, without the weight
  Expr shared_load() const { return Contraction::loaded(shared); }
  Expr other_load() const { return Contraction::loaded(other); }
};

// What an axis moves, and by how much; alike are axes of which this is equal.
struct AxisMoves {
  int64_t extent, shared, weight, result, other;
  bool operator==(const AxisMoves&) const = default;
};
AxisMoves moves(const Program& p, const Product& x, const Contraction::Axis& axis) {
  const Expr w = x.c.weight();
  return {axis.extent, step(p, x.shared_load(), axis.variable), w ? step(p, w, axis.variable) : 0,
          step(p, x.c.buffer, x.c.place, axis.variable), step(p, x.other_load(), axis.variable)};
}
bool is_column(const AxisMoves& m) { return m.shared == 0 && m.weight == 0 && m.result != 0 && m.other != 0; }

// Where a load is at the first step of all axes.
Affine start(const Program& p, const Contraction& c, Expr load) {
  Affine at = loops::linear(p, load->buffer, load->place);
  std::erase_if(at.terms, [&](const loops::Term& t) {
    return std::any_of(c.axes.begin(), c.axes.end(), [&](const auto& axis) { return axis.variable == t.variable; });
  });
  return at;
}
bool same_start(const Program& p, const Product& x, Expr of_x, const Product& y, Expr of_y) {
  return root(p, of_x->buffer) == root(p, of_y->buffer) && start(p, x.c, of_x) == start(p, y.c, of_y);
}

// The axes of a second product: which of those of the first one they are, if they are no columns.
struct Alignment {
  Expr shared, other;  // of the first product
  Expr right;          // of the second one
  VariableMap axes;
  std::vector<Contraction::Axis> columns;
};
std::optional<Alignment> align(const Program& p, const Product& x, const Product& y) {
  const Expr wx = x.c.weight(), wy = y.c.weight();
  if ((wx == nullptr) != (wy == nullptr) || x.c.adds != y.c.adds || x.c.product->dtype != y.c.product->dtype ||
      x.shared->dtype != y.shared->dtype || x.shared_load()->dtype != y.shared_load()->dtype ||
      !same_start(p, x, x.shared_load(), y, y.shared_load()) || (wx && !same_start(p, x, wx, y, wy)))
    return std::nullopt;
  Alignment a{x.shared, x.other, y.other, {}, {}};
  std::vector<Contraction::Axis> left = x.c.axes;
  std::erase_if(left, [&](const auto& axis) { return axis.extent == 1 || is_column(moves(p, x, axis)); });
  for (const Contraction::Axis& axis : y.c.axes) {
    const AxisMoves m = moves(p, y, axis);
    const auto same = std::find_if(left.begin(), left.end(), [&](const auto& of_x) { return moves(p, x, of_x) == m; });
    if (axis.extent == 1) {
      a.axes[axis.variable] = Affine{};
    } else if (same != left.end()) {
      a.axes[axis.variable] = loops::variable(same->variable);
      left.erase(same);
    } else if (is_column(m)) {
      a.columns.push_back(axis);
    } else {
      return std::nullopt;
    }
  }
  return left.empty() ? std::optional(std::move(a)) : std::nullopt;
}

// The operand that two contractions share may be the left or the right one of either.
std::optional<Alignment> find_shared(const Program& p, const Contraction& first, const Contraction& second) {
  if (first.wanted || second.wanted) return std::nullopt;
  const Expr l1 = first.left_operand(), r1 = first.product->args[1], l2 = second.left_operand(),
             r2 = second.product->args[1];
  const std::initializer_list<std::pair<Expr, Expr>> orders = {{l1, r1}, {r1, l1}};
  for (const auto& [shared, other] : orders) {
    if (!first.beside.empty() && shared != l1) continue;
    for (const auto& y : {Product{second, l2, r2}, Product{second, r2, l2}})
      if (auto found = align(p, {first, shared, other}, y)) return found;
  }
  return std::nullopt;
}

class Multiplier {
 public:
  explicit Multiplier(Program& p) : program_(p) {}

  void block(Block& b) {
    poll();
    for (size_t k = 0; k < b.size(); ++k) {
      if (std::holds_alternative<Contraction>(b[k].is))
        join_later_ones(b, k);
      else
        each_block(b[k], [this](Block& inner) { block(inner); });
    }
  }

 private:
  void join_later_ones(Block& b, size_t k) {
    loops::Footprint before(program_, b[k]);
    for (size_t other = k + 1; other < b.size() && other <= k + furthest_beside; ++other) {
      const loops::Footprint touched(program_, b[other]);
      if (std::holds_alternative<Contraction>(b[other].is) && !conflict(before, touched) && join(b[k], b[other]))
        b.erase(b.begin() + static_cast<ptrdiff_t>(other--));
      before.add(touched);
    }
  }

  bool join(Stmt& to, const Stmt& from) {
    auto& c = std::get<Contraction>(to.is);
    const auto& other = std::get<Contraction>(from.is);
    auto found = find_shared(program_, c, other);
    if (!found) return false;
    const Expr w = c.weight(), left = w ? program_.exprs.binary(Op::mul, found->shared, w) : found->shared;
    c.product = program_.exprs.binary(Op::mul, left, found->other);
    for (Contraction::Axis& axis : found->columns) {
      const Variable own = make_variable(program_, axis.variable);
      found->axes[axis.variable] = loops::variable(own);
      axis.variable = own;
    }
    auto rewriter = variable_rewriter(program_.exprs, found->axes);
    c.beside.push_back(
        {std::move(found->columns), other.buffer, substitute(found->axes, other.place), rewriter(found->right)});
    loops::unite(to.origins, from.origins);
    return true;
  }

  Program& program_;
};

}  // namespace

bool become_one(const Program& p, const Block& b, size_t contraction, size_t other, const Stmt& as_contraction) {
  const size_t first = std::min(contraction, other), last = std::max(contraction, other);
  const auto at = [&](size_t k) -> const Stmt& { return k == other ? as_contraction : b[k]; };
  if (!find_shared(p, std::get<Contraction>(at(first).is), std::get<Contraction>(at(last).is))) return false;
  const loops::Footprint touched(p, at(last));
  for (size_t k = first; k < last; ++k)
    if (conflict(loops::Footprint(p, at(k)), touched)) return false;
  return true;
}

void multiply_beside_each_other(Program& p) { Multiplier(p).block(p.body); }

}  // namespace anvil::compiler
