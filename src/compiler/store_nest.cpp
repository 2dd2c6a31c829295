#include "compiler/store_nest.h"

#include <algorithm>

namespace anvil::compiler {

using loops::For;

const For* StoreNest::loop_of(const Affine& a) const {
  for (const For* f : loops)
    if (f->variable == a.terms[0].variable) return f;
  return nullptr;
}

std::optional<StoreNest> store_nest(const Stmt& s) {
  StoreNest n;
  const Stmt* inner = &s;
  while (auto f = std::get_if<For>(&inner->is)) {
    if (f->body.size() != 1 || f->begin != 0) return std::nullopt;
    n.loops.push_back(f);
    inner = &f->body[0];
  }
  n.store = std::get_if<loops::Store>(&inner->is);
  if (n.store == nullptr) return std::nullopt;
  const auto moves = [&](const For* f) {
    return std::any_of(n.store->place.begin(), n.store->place.end(), [&](const Affine& a) {
      return a.terms.size() == 1 && a.terms[0].variable == f->variable && a.terms[0].factor == 1;
    });
  };
  return std::all_of(n.loops.begin(), n.loops.end(), moves) ? std::optional(n) : std::nullopt;
}

std::vector<Expr> loads_of(const StoreNest& n, BufferId b) {
  std::vector<Expr> list;
  each_node(n.store->value, [&](Expr e) {
    if (e->op == Op::load && e->buffer == b) list.push_back(e);
  });
  return list;
}

std::vector<Ranges> grid(const StoreNest& n, const Cuts& cuts, size_t most) {
  std::vector<Ranges> list(1);
  for (const For* f : n.loops) {
    std::vector<int64_t> starts = {0};
    if (const auto found = cuts.find(f->variable); found != cuts.end())
      starts.insert(starts.end(), found->second.begin(), found->second.end());
    if (list.size() * starts.size() > most) return {};
    std::vector<Ranges> next;
    for (const Ranges& r : list)
      for (size_t k = 0; k < starts.size(); ++k) {
        next.push_back(r);
        next.back()[f->variable] = {starts[k], k + 1 < starts.size() ? starts[k + 1] : f->end};
      }
    list = std::move(next);
  }
  return list;
}

Stmt part(Program& p, const Stmt& nest, const Ranges& ranges) {
  const StoreNest n = store_nest(nest).value();
  VariableMap map;
  for (const For* f : n.loops) {
    const auto [begin, end] = ranges.at(f->variable);
    map[f->variable] = end - begin > 1 ? loops::variable(f->variable) + begin : Affine{begin, {}};
  }
  const Stmt* innermost = &nest;
  while (auto f = std::get_if<For>(&innermost->is)) innermost = &f->body[0];
  Stmt s = *innermost;
  auto rewriter = variable_rewriter(p.exprs, map);
  rewrite(s, rewriter, map);
  for (auto f = n.loops.rbegin(); f != n.loops.rend(); ++f) {
    const auto [begin, end] = ranges.at((*f)->variable);
    if (end - begin == 1) continue;
    For loop;
    loop.variable = (*f)->variable;
    loop.end = end - begin;
    loop.body.push_back(std::move(s));
    s = Stmt{std::move(loop)};
  }
  return s;
}

std::optional<Piece> piece_of(const Stmt& s) {
  const std::optional<StoreNest> n = store_nest(s);
  if (!n) return std::nullopt;
  Piece p{{}, {}, {}, n->store->value, loops::origins(s)};
  for (const Affine& a : n->store->place) {
    if (a.terms.size() > 1) return std::nullopt;
    const For* loop = a.terms.empty() ? nullptr : n->loop_of(a);
    if (!a.terms.empty() && (loop == nullptr || a.terms[0].factor != 1)) return std::nullopt;
    p.low.push_back(a.constant);
    p.extents.push_back(loop ? loop->end : 1);
    p.variables.push_back(loop ? loop->variable : -1);
  }
  return p;
}

bool meet(const Piece& a, const Piece& b) {
  for (size_t d = 0; d < a.low.size(); ++d)
    if (a.low[d] >= b.low[d] + b.extents[d] || b.low[d] >= a.low[d] + a.extents[d]) return false;
  return true;
}

}  // namespace anvil::compiler
