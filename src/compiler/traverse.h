// What several passes need: walks over statements, expressions and accesses, and the
// rewriting of expressions.
#pragma once
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "loops/program.h"

namespace anvil::compiler {

using loops::Affine;
using loops::Block;
using loops::BufferId;
using loops::Expr;
using loops::Index;
using loops::LocalId;
using loops::Op;
using loops::Program;
using loops::Stmt;
using loops::Variable;

// f(expression) for the expressions that a statement has itself, without its blocks.
template <class S, class F>
void each_expression(S& stmt, F&& f) {
  std::visit(
      [&](auto& s) {
        using T = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<T, loops::If> || std::is_same_v<T, loops::While>)
          f(s.condition);
        else if constexpr (std::is_same_v<T, loops::Call>)
          for (auto& e : s.numbers) f(e);
        else if constexpr (!std::is_same_v<T, loops::For> && !std::is_same_v<T, loops::Swap>)
          f(s.value);
      },
      stmt.is);
}
// f(block) for the blocks inside a statement, in the order in which they run.
template <class S, class F>
void each_block(S& stmt, F&& f) {
  std::visit(
      [&](auto& s) {
        using T = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<T, loops::For>)
          f(s.body);
        else if constexpr (std::is_same_v<T, loops::If>)
          f(s.yes), f(s.no);
        else if constexpr (std::is_same_v<T, loops::While>)
          f(s.before), f(s.body);
      },
      stmt.is);
}

// f(node) for each node of an expression once, operands first.
template <class F>
void each_node(Expr e, std::unordered_set<Expr>& seen, F&& f) {
  if (!seen.insert(e).second) return;
  for (int i = 0, n = e->argument_count(); i < n; ++i) each_node(e->args[static_cast<size_t>(i)], seen, f);
  f(e);
}
template <class F>
void each_node(Expr e, F&& f) {
  std::unordered_set<Expr> seen;
  each_node(e, seen, f);
}

enum class Access : uint8_t { read, write, whole };  // whole: by a runtime function or a swap
// f(buffer, index or null, kind) for what a statement itself accesses, without its blocks:
// first what it reads.
template <class F>
void each_access(const Stmt& stmt, F&& f) {
  std::unordered_set<Expr> seen;
  each_expression(stmt, [&](Expr e) {
    each_node(e, seen, [&](Expr x) {
      if (x->op == Op::load) f(x->buffer, &x->place, Access::read);
    });
  });
  if (auto s = std::get_if<loops::Store>(&stmt.is)) f(s->buffer, &s->place, Access::write);
  if (auto c = std::get_if<loops::Call>(&stmt.is))
    for (BufferId b : c->buffers) f(b, static_cast<const Index*>(nullptr), Access::whole);
  if (auto s = std::get_if<loops::Swap>(&stmt.is)) {
    f(s->first, static_cast<const Index*>(nullptr), Access::whole);
    f(s->second, static_cast<const Index*>(nullptr), Access::whole);
  }
}
// The same for a statement with everything inside it.
template <class F>
void each_access_inside(const Stmt& stmt, F&& f) {
  each_access(stmt, f);
  each_block(stmt, [&](const Block& b) {
    for (const Stmt& s : b) each_access_inside(s, f);
  });
}

inline BufferId root(const Program& p, BufferId b) {
  BufferId up = p.buffers[static_cast<size_t>(b)].alias;
  return up < 0 ? b : up;
}

// Removes stores to temporaries that nothing reads, and loops that are empty then.
void remove_dead_stores(Program&);

// An index with variables replaced by indices.
using VariableMap = std::unordered_map<Variable, Affine>;
Affine substitute(const VariableMap&, const Affine&);
Index substitute(const VariableMap&, const Index&);

// Rebuilds expressions: leaf(e) gives the replacement of a load, index or local, or null to
// keep it. Each node is rebuilt once as long as the rewriter lives.
template <class Leaf>
class Rewriter {
 public:
  Rewriter(loops::ExprPool& pool, Leaf leaf) : pool_(pool), leaf_(std::move(leaf)) {}
  Expr operator()(Expr e) {
    auto known = done_.find(e);
    if (known != done_.end()) return known->second;
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
    done_.emplace(e, result);
    return result;
  }
  void forget() { done_.clear(); }

 private:
  loops::ExprPool& pool_;
  Leaf leaf_;
  std::unordered_map<Expr, Expr> done_;
};
// The rewriter that replaces variables.
inline auto variable_rewriter(loops::ExprPool& pool, const VariableMap& map) {
  return Rewriter(pool, [&pool, &map](Expr e) -> Expr {
    if (e->op == Op::load) return pool.load(e->buffer, e->dtype, substitute(map, e->place));
    if (e->op == Op::index) return pool.index(substitute(map, e->place[0]));
    return nullptr;
  });
}
// Replaces expressions and places in a statement and everything inside it.
template <class R>
void rewrite(Stmt& stmt, R& rewriter, const VariableMap& map) {
  each_expression(stmt, [&](Expr& e) { e = rewriter(e); });
  if (auto s = std::get_if<loops::Store>(&stmt.is)) s->place = substitute(map, s->place);
  each_block(stmt, [&](Block& b) {
    for (Stmt& s : b) rewrite(s, rewriter, map);
  });
}

}  // namespace anvil::compiler
