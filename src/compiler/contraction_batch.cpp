// Batches of products that lie side by side in memory, where each product would be packed from a cache line for each
// of its elements, and stored to one: operands are copied first so that the batch comes last, and so lies what leaves,
// before it is copied to its place.
//
//   contract b, j, i, p:                        for p, for i, for b: t1[i, p, b] = x1[b, i, p]
//     out1[b, i, j] = sum of                    for j, for p, for b: t2[p, j, b] = x2[b, p, j]
//       x1[b, i, p] * x2[b, p, j]               contract b, j, i, p:
//                                                 t3[i, j, b] = sum of t1[i, p, b] * t2[p, j, b]
//                                               for j, for i, for b: out1[b, i, j] = t3[i, j, b]
//
// Contractions of a block that have an operand in common share the copy.
#include <algorithm>
#include <utility>

#include "compiler/passes.h"
#include "compiler/traverse.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::For;
using Axes = std::vector<Contraction::Axis>;

class BatchMover {
 public:
  explicit BatchMover(Program& p) : program_(p) {}

  void block(Block& b) {
    std::vector<Copy> outside = std::exchange(copies_, {});
    Block result;
    for (Stmt& s : b) {
      each_block(s, [this](Block& inner) { block(inner); });
      Block after;
      if (auto c = std::get_if<Contraction>(&s.is)) {
        const loops::Origins from = s.origins;
        const Contraction whole = *c;
        Expr left = copied(whole, c->left(), from, result), right = copied(whole, c->right(), from, result);
        c->product = with_loads(whole, left, right);
        move_result(whole, *c, after);
        for (Stmt& t : after) loops::add_origins(t, from);
      }
      result.push_back(std::move(s));
      for (Stmt& t : after) result.push_back(std::move(t));
      forget_changed(result.back());
    }
    b = std::move(result);
    copies_ = std::move(outside);
  }

 private:
  // Of an operand, in the order of the copy: the elements that it reads, from where on, and how far from each other.
  struct Copy {
    BufferId from, to;
    Affine first;
    std::vector<std::pair<int64_t, int64_t>> extents_and_steps;
    size_t nest;  // in the block
  };

  // The axes that move an access, the batch last and what lies closer together first; none where the batch does not
  // lie side by side there.
  Axes batch_last(const Contraction& c, BufferId b, const Index& place) const {
    const auto step = [&](const Contraction::Axis& x) { return loops::step(program_, b, place, x.variable); };
    const auto of_batch = [&](const Contraction::Axis& x) {
      return (loops::step(program_, c.left(), x.variable) == 0) ==
                 (loops::step(program_, c.right(), x.variable) == 0) &&
             loops::step(program_, c.buffer, c.place, x.variable) != 0;
    };
    Axes axes;
    for (const auto& x : c.axes)
      if (step(x) != 0) axes.push_back(x);
    sort_by_step(axes, b, place);
    int64_t size = 1;
    for (const auto& x : axes) size *= x.extent;
    const bool side_by_side = !axes.empty() && step(axes[0]) == 1 && axes[0].extent > 1 && of_batch(axes[0]);
    const auto products = std::stable_partition(axes.begin(), axes.end(), [&](const auto& x) { return !of_batch(x); });
    if (!side_by_side || products == axes.begin() || size > elements(shape(b))) return {};
    return axes;
  }
  void sort_by_step(Axes& axes, BufferId b, const Index& place) const {
    const auto step = [&](const auto& x) { return std::abs(loops::step(program_, b, place, x.variable)); };
    std::stable_sort(axes.begin(), axes.end(), [&](const auto& x, const auto& y) { return step(x) < step(y); });
  }
  const Shape& shape(BufferId b) const { return program_.buffers[static_cast<size_t>(b)].shape; }

  BufferId temporary(BufferId like, const Axes& axes) {
    Shape extents;
    for (const auto& x : axes) extents.push_back(x.extent);
    return make_temporary(program_, like, std::move(extents), "b");
  }
  static Index place_of(const Axes& axes) {
    Index place;
    for (const auto& x : axes) place.push_back(loops::variable(x.variable));
    return place;
  }
  // The first axis innermost.
  static Stmt nest(const Axes& axes, loops::Store store) {
    Stmt s = {std::move(store)};
    for (const auto& x : axes) {
      For loop;
      loop.variable = x.variable;
      loop.end = x.extent;
      loop.body.push_back(std::move(s));
      s = {std::move(loop)};
    }
    return s;
  }

  // The operand, or a load of its copy.
  Expr copied(const Contraction& c, Expr operand, const loops::Origins& from, Block& before) {
    const Axes axes = batch_last(c, operand->buffer, operand->place);
    if (axes.empty()) return operand;
    Copy copy = {operand->buffer, -1, linear(program_, operand->buffer, operand->place), {}, before.size()};
    for (const auto& x : axes) {
      copy.extents_and_steps.push_back({x.extent, loops::factor(copy.first, x.variable)});
      std::erase_if(copy.first.terms, [&](const loops::Term& t) { return t.variable == x.variable; });
    }
    auto known = std::find_if(copies_.begin(), copies_.end(), [&](const Copy& k) {
      return k.from == copy.from && k.first == copy.first && k.extents_and_steps == copy.extents_and_steps;
    });
    if (known == copies_.end()) {
      copy.to = temporary(operand->buffer, axes);
      before.push_back(nest(axes, {copy.to, place_of(axes), operand}));
      known = copies_.insert(copies_.end(), std::move(copy));
    }
    loops::add_origins(before[known->nest], from);
    return program_.exprs.load(known->to, operand->dtype, place_of(axes));
  }
  Expr with_loads(const Contraction& c, Expr left, Expr right) {
    const auto widened = [&](Expr old, Expr load) {
      return old->op == Op::convert ? program_.exprs.convert(load, old->dtype) : load;
    };
    return program_.exprs.binary(Op::mul, widened(c.product->args[0], left), widened(c.product->args[1], right));
  }

  void move_result(const Contraction& whole, Contraction& c, Block& after) {
    Axes axes = batch_last(whole, whole.buffer, whole.place);
    if (axes.empty()) return;
    c.buffer = temporary(whole.buffer, axes);
    c.place = place_of(axes);
    const Expr load = program_.exprs.load(c.buffer, program_.buffers[static_cast<size_t>(c.buffer)].dtype, c.place);
    sort_by_step(axes, whole.buffer, whole.place);
    after.push_back(nest(axes, {whole.buffer, whole.place, load}));
  }

  void forget_changed(const Stmt& s) {
    each_access_inside(s, [this](BufferId b, const Index*, AccessKind kind) {
      if (kind == AccessKind::read) return;
      std::erase_if(copies_, [&](const Copy& k) { return root(program_, k.from) == root(program_, b); });
    });
  }

  Program& program_;
  std::vector<Copy> copies_;  // made before in this block, of what has not changed since
};

}  // namespace

void move_batches(Program& p) { BatchMover(p).block(p.body); }

}  // namespace anvil::compiler
