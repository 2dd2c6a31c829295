// Walks over loop programs: the expressions, blocks and accesses of a statement. All of them
// visit in the order in which the program runs.
#pragma once
#include <algorithm>
#include <type_traits>
#include <unordered_set>

#include "loops/program.h"

namespace anvil::loops {

// f(expression) for the expressions that a statement has itself, without its blocks.
template <class S, class F>
void each_expression(S& stmt, F&& f) {
  std::visit(
      [&](auto& s) {
        using T = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<T, If> || std::is_same_v<T, While>)
          f(s.condition);
        else if constexpr (std::is_same_v<T, Call>)
          for (auto& e : s.numbers) f(e);
        else if constexpr (std::is_same_v<T, Contraction>)
          f(s.product);
        else if constexpr (!std::is_same_v<T, For> && !std::is_same_v<T, Swap>)
          f(s.value);
      },
      stmt.is);
}
// f(block) for the blocks inside a statement.
template <class S, class F>
void each_block(S& stmt, F&& f) {
  std::visit(
      [&](auto& s) {
        using T = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<T, For>)
          f(s.body);
        else if constexpr (std::is_same_v<T, If>)
          f(s.yes), f(s.no);
        else if constexpr (std::is_same_v<T, While>)
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

enum class AccessKind : uint8_t { read, write, whole };  // whole: by a runtime function or a swap
// f(buffer, index or null, kind) for what a statement itself accesses, without its blocks:
// first what it reads. A contraction does so for each step of its axes.
template <class F>
void each_access(const Stmt& stmt, F&& f) {
  const auto whole = [&](BufferId b) { f(b, static_cast<const Index*>(nullptr), AccessKind::whole); };
  std::unordered_set<Expr> seen;
  each_expression(stmt, [&](Expr e) {
    each_node(e, seen, [&](Expr x) {
      if (x->op == Op::load) f(x->buffer, &x->place, AccessKind::read);
    });
  });
  if (auto s = std::get_if<Store>(&stmt.is)) f(s->buffer, &s->place, AccessKind::write);
  if (auto c = std::get_if<Contraction>(&stmt.is)) f(c->buffer, &c->place, AccessKind::write);
  if (auto c = std::get_if<Call>(&stmt.is))
    for (BufferId b : c->buffers) whole(b);
  if (auto s = std::get_if<Swap>(&stmt.is)) whole(s->first), whole(s->second);
}
// The same for a statement with everything inside it.
template <class F>
void each_access_inside(const Stmt& stmt, F&& f) {
  each_access(stmt, f);
  each_block(stmt, [&](const Block& b) {
    for (const Stmt& s : b) each_access_inside(s, f);
  });
}

// The operation of an update that accumulates: its own, add for x = fma(a, b, x); Op::local for one that assigns.
inline Op accumulates(const Update& u) {
  if (u.op != Op::local || u.value->op != Op::fma) return u.op;
  const Expr last = u.value->args[2];
  return last->op == Op::local && last->local == u.local ? Op::add : Op::local;
}

// What people look at as one piece: a loop that stands in no other one but a while, with all that is inside, a
// call, a contraction, and a while of numbers alone.
inline bool is_nest(const Stmt&);
inline bool has_nest(const Block& b) {
  return std::any_of(b.begin(), b.end(), [](const Stmt& s) {
    bool found = is_nest(s);
    if (!found) each_block(s, [&](const Block& inner) { found = found || has_nest(inner); });
    return found;
  });
}
inline bool is_nest(const Stmt& s) {
  if (auto w = std::get_if<While>(&s.is)) return !has_nest(w->before) && !has_nest(w->body);
  return std::holds_alternative<For>(s.is) || std::holds_alternative<Call>(s.is) ||
         std::holds_alternative<Contraction>(s.is);
}
// f(statement) for each, in the order in which they stand.
template <class F>
void each_nest(const Block& block, F&& f) {
  for (const Stmt& s : block)
    if (is_nest(s))
      f(s);
    else
      each_block(s, [&](const Block& b) { each_nest(b, f); });
}

// The buffer whose memory this one sees.
inline BufferId root(const Program& p, BufferId b) {
  BufferId up = p.buffers[static_cast<size_t>(b)].alias;
  return up < 0 ? b : up;
}

}  // namespace anvil::loops
