// Walks over loop programs: what a statement holds.
#include "loops/walk.h"

namespace anvil::loops {

namespace {

template <class S, class F>
void visit_expressions(S& stmt, const F& f) {
  std::visit(
      [&](auto& s) {
        using T = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<T, If> || std::is_same_v<T, While>)
          f(s.condition);
        else if constexpr (std::is_same_v<T, Call>)
          for (auto& e : s.numbers) f(e);
        else if constexpr (std::is_same_v<T, Contraction>) {
          f(s.product);
          for (auto& other : s.beside) f(other.operand);
        } else if constexpr (!std::is_same_v<T, For> && !std::is_same_v<T, Swap> && !std::is_same_v<T, Prefetch>)
          f(s.value);
      },
      stmt.is);
}
template <class S, class F>
void visit_blocks(S& stmt, const F& f) {
  if (auto s = std::get_if<For>(&stmt.is)) f(s->body);
  if (auto s = std::get_if<If>(&stmt.is)) f(s->yes), f(s->no);
  if (auto s = std::get_if<While>(&stmt.is)) f(s->before), f(s->body);
}

}  // namespace

void each_expression(Stmt& stmt, FunctionRef<void(Expr&)> f) { visit_expressions(stmt, f); }
void each_expression(const Stmt& stmt, FunctionRef<void(Expr)> f) { visit_expressions(stmt, f); }
void each_block(Stmt& stmt, FunctionRef<void(Block&)> f) { visit_blocks(stmt, f); }
void each_block(const Stmt& stmt, FunctionRef<void(const Block&)> f) { visit_blocks(stmt, f); }

void each_node(Expr e, ExprSet& seen, FunctionRef<void(Expr)> f) {
  if (!seen.insert(e)) return;
  for (int i = 0, n = e->argument_count(); i < n; ++i) each_node(e->args[static_cast<size_t>(i)], seen, f);
  f(e);
}
void each_node(Expr e, FunctionRef<void(Expr)> f) {
  ExprSet seen;
  each_node(e, seen, f);
}

bool any_node(Expr e, FunctionRef<bool(Expr)> holds) {
  bool found = false;
  each_node(e, [&](Expr x) { found = found || holds(x); });
  return found;
}
bool calls_function(Expr e) {
  return any_node(e, [](Expr x) {
    return x->op == Op::function || x->op == Op::power || (x->op == Op::remainder && is_float(x->dtype));
  });
}
bool reads_local(Expr e, LocalId local) {
  return any_node(e, [local](Expr x) { return x->op == Op::local && x->local == local; });
}

static void each_result(const Contraction& c, AccessKind kind, AccessFunction f) {
  f(c.buffer, &c.place, kind);
  for (const Contraction::Beside& b : c.beside) f(b.buffer, &b.place, kind);
}
void each_access(const Stmt& stmt, AccessFunction f) {
  const auto whole = [&](BufferId b) { f(b, nullptr, AccessKind::whole); };
  ExprSet seen;
  each_expression(stmt, [&](Expr e) {
    each_node(e, seen, [&](Expr x) {
      if (x->op == Op::load) f(x->buffer, &x->place, AccessKind::read);
    });
  });
  if (auto c = std::get_if<Contraction>(&stmt.is); c && c->adds) each_result(*c, AccessKind::read, f);
  if (auto s = std::get_if<Prefetch>(&stmt.is)) f(s->buffer, &s->place, AccessKind::read);
  if (auto s = std::get_if<Store>(&stmt.is)) f(s->buffer, &s->place, AccessKind::write);
  if (auto c = std::get_if<Contraction>(&stmt.is)) each_result(*c, AccessKind::write, f);
  if (auto c = std::get_if<Call>(&stmt.is))
    for (BufferId b : c->buffers) whole(b);
  if (auto s = std::get_if<Swap>(&stmt.is)) whole(s->first), whole(s->second);
}
void each_access_inside(const Stmt& stmt, AccessFunction f) {
  each_access(stmt, f);
  each_block(stmt, [&](const Block& b) {
    for (const Stmt& s : b) each_access_inside(s, f);
  });
}

}  // namespace anvil::loops
