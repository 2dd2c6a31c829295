// Walks over loop programs: the expressions, blocks and accesses of a statement. All of them
// visit in the order in which the program runs.
#pragma once
#include <algorithm>

#include "base/function_ref.h"
#include "loops/expression_map.h"
#include "loops/program.h"

namespace anvil::loops {

// f(expression) for the expressions that a statement has itself, without its blocks.
void each_expression(Stmt&, FunctionRef<void(Expr&)> f);
void each_expression(const Stmt&, FunctionRef<void(Expr)> f);
// f(block) for the blocks inside a statement.
void each_block(Stmt&, FunctionRef<void(Block&)> f);
void each_block(const Stmt&, FunctionRef<void(const Block&)> f);

// f(node) for each node of an expression once, operands first.
void each_node(Expr, ExprSet& seen, FunctionRef<void(Expr)> f);
void each_node(Expr, FunctionRef<void(Expr)> f);

bool any_node(Expr, FunctionRef<bool(Expr)> holds);
bool calls_function(Expr);
bool reads_local(Expr, LocalId);

enum class AccessKind : uint8_t { read, write, whole };  // whole: by a runtime function or a swap
// f(buffer, index or null, kind) for what a statement itself accesses, without its blocks:
// first what it reads. A contraction does so for each step of its axes.
using AccessFunction = FunctionRef<void(BufferId, const Index*, AccessKind)>;
void each_access(const Stmt&, AccessFunction f);
// The same for a statement with everything inside it.
void each_access_inside(const Stmt&, AccessFunction f);

inline bool accumulates(Op op) {
  return op == Op::add || op == Op::mul || op == Op::minimum || op == Op::maximum || op == Op::bit_and ||
         op == Op::bit_or;
}
// The operation of an update that accumulates: its own, add for x = fma(a, b, x); Op::local for one that assigns.
inline Op accumulates(const Update& u) {
  if (u.op != Op::local || u.value->op != Op::fma) return u.op;
  const Expr last = u.value->args[2];
  return last->op == Op::local && last->local == u.local ? Op::add : Op::local;
}
// f(expression) for what a statement computes from, but for the local that an update accumulates into.
template <class F>
void each_operand(const Stmt& s, F&& f) {
  if (auto u = std::get_if<Update>(&s.is); u && u->op == Op::local && accumulates(*u) == Op::add)
    f(u->value->args[0]), f(u->value->args[1]);
  else
    each_expression(s, [&](Expr e) { f(e); });
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
