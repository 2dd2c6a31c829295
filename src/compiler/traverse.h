// What several passes need: the rewriting of expressions, and the removal of dead stores.
#pragma once
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/interrupt.h"
#include "loops/walk.h"

namespace anvil::compiler {

using loops::AccessKind;
using loops::Affine;
using loops::Block;
using loops::BufferId;
using loops::each_access;
using loops::each_access_inside;
using loops::each_block;
using loops::each_expression;
using loops::each_node;
using loops::Expr;
using loops::Index;
using loops::LocalId;
using loops::Op;
using loops::Program;
using loops::root;
using loops::Stmt;
using loops::Variable;

// How many accesses each buffer has in a program; `many` where another one is a view of it.
constexpr int many_accesses = 1000;
std::vector<int> count_accesses(const Program&);

// Steps of a sum that becomes a vector where its operands lie along it.
constexpr int64_t long_sum = 32;

// A temporary whose name is `mark` with a number; one of the dtype of another buffer, whose name stands before them.
BufferId make_temporary(Program&, DType, Shape, const char* mark);
BufferId make_temporary(Program&, BufferId like, Shape, const char* mark);
LocalId make_local(Program&, LocalId like);
LocalId make_local(Program&, DType);
// A variable with the name of another one; a loop over it of `count` steps from 0 on, its body empty.
Variable make_variable(Program&, Variable like);
loops::For make_loop(Program&, Variable like, int64_t count);
Variable make_parameter(Program&, int64_t low, int64_t high);  // which something has to bind

double multiplications(const loops::Contraction&);

// Whether no two steps of some loops are at the same place.
bool visits_once(const Index&, std::set<Variable> loops);

// The dimension of an access that a loop or an axis moves, one element at each step, if it moves no other one.
std::optional<size_t> dimension_of(const Index&, Variable axis);

// Removes stores to temporaries that nothing reads, and loops that are empty then.
void remove_dead_stores(Program&);

// The loops of a nest, outermost first, up to the first body of several statements; none of null.
inline std::vector<loops::For*> outer_loops(loops::For* f) {
  std::vector<loops::For*> list;
  for (; f != nullptr; f = f->body.size() == 1 ? std::get_if<loops::For>(&f->body[0].is) : nullptr) list.push_back(f);
  return list;
}

// Gives replace(s, f, result) each loop f that no vector loop is around, outermost first, with its statement s. Where that
// is true, what it put into `result` stands in place of s.
template <class Replace>
void replace_loops(Block& block, const Replace& replace) {
  Block result;
  for (Stmt& s : block) {
    poll();
    auto f = std::get_if<loops::For>(&s.is);
    if (f && replace(s, *f, result)) continue;
    if (!f || f->kind != loops::For::Kind::vector) each_block(s, [&](Block& inner) { replace_loops(inner, replace); });
    result.push_back(std::move(s));
  }
  block = std::move(result);
}

// Buffers get their dimensions in another order, in memory and wherever they are accessed: orders[b] has them with
// the one that comes first in memory first, or is empty where they stay.
using Order = std::vector<size_t>;
void reorder_dimensions(Program&, const std::vector<Order>& orders);

// An index with variables replaced by indices.
using VariableMap = std::unordered_map<Variable, Affine>;
Affine substitute(const VariableMap&, const Affine&);
Index substitute(const VariableMap&, const Index&);
void substitute_in_wanted(const VariableMap&, Stmt&);  // of contractions, a statement or inside of it

// Rebuilds expressions: leaf(e) gives the replacement of a load, index or local, or null to
// keep it. Each node is rebuilt once as long as the rewriter lives.
template <class Leaf>
class Rewriter {
 public:
  Rewriter(loops::ExprPool& pool, Leaf leaf) : pool_(pool), leaf_(std::move(leaf)) {}
  Expr operator()(Expr e) {
    if (const Expr* known = done_.find(e)) return *known;
    Expr result = e;
    if (e->argument_count() == 0) {
      if (e->op != Op::constant)
        if (Expr replaced = leaf_(e)) result = replaced;
    } else {
      loops::Node copy = *e;
      for (int i = 0, n = e->argument_count(); i < n; ++i)
        copy.args[static_cast<size_t>(i)] = (*this)(e->args[static_cast<size_t>(i)]);
      if (copy.args != e->args) result = pool_.node(std::move(copy));
    }
    *done_.insert(e).first = result;
    return result;
  }
  void forget() { done_.clear(); }

 private:
  loops::ExprPool& pool_;
  Leaf leaf_;
  loops::ExprMap<Expr> done_;
};
// The rewriter that replaces variables.
inline auto variable_rewriter(loops::ExprPool& pool, const VariableMap& map) {
  return Rewriter(pool, [&pool, &map](Expr e) -> Expr {
    if (e->op == Op::load) return pool.load(e->buffer, e->dtype, substitute(map, e->place));
    if (e->op == Op::index) return pool.index(substitute(map, e->place[0]));
    return nullptr;
  });
}
// Replaces expressions in a statement and everything inside it, and places of what it stores by place(buffer, place).
template <class R, class P>
void rewrite_places(Stmt& stmt, R& rewriter, const P& place) {
  each_expression(stmt, [&](Expr& e) { e = rewriter(e); });
  if (auto s = std::get_if<loops::Store>(&stmt.is)) s->place = place(s->buffer, s->place);
  if (auto c = std::get_if<loops::Contraction>(&stmt.is)) {
    c->place = place(c->buffer, c->place);
    for (auto& b : c->beside) b.place = place(b.buffer, b.place);
  }
  each_block(stmt, [&](Block& b) {
    for (Stmt& s : b) rewrite_places(s, rewriter, place);
  });
}
template <class R>
void rewrite(Stmt& stmt, R& rewriter, const VariableMap& map) {
  rewrite_places(stmt, rewriter, [&](BufferId, const Index& place) { return substitute(map, place); });
  substitute_in_wanted(map, stmt);
}
// f becomes the loop over the `size` steps of a block. A block of one step is no loop: f's variable is gone from its body.
void take_block(Program&, loops::For& f, const Affine& block, int64_t size);
// The same; gives the loop over the `count` blocks, its body empty.
loops::For loop_over_blocks(Program&, loops::For& f, int64_t count, int64_t size);

}  // namespace anvil::compiler
