// Facts about the statements of a block.
#include "compiler/block_facts.h"

namespace anvil::compiler {
namespace {

bool any_within(const std::set<size_t>& list, size_t first, size_t last) {
  const auto next = list.lower_bound(first);
  return next != list.end() && *next <= last;
}

}  // namespace

BlockFacts::BlockFacts(const Program& p, const Block& b) : program_(p) {
  for (size_t k = 0; k < b.size(); ++k) collect(b[k], k);
}

void BlockFacts::collect(const Stmt& s, size_t k) {
  each_access_inside(s, [&](BufferId x, const Index*, AccessKind kind) {
    OfBuffer& f = of(x);
    (kind == AccessKind::read ? f.readers : f.writers).insert(k);
    f.whole = f.whole || kind == AccessKind::whole || std::holds_alternative<loops::Contraction>(s.is);
    f.stores += kind == AccessKind::write;
  });
  collect_names(s, k);
}

void BlockFacts::collect_names(const Stmt& s, size_t k) {
  if (auto u = std::get_if<loops::Update>(&s.is)) updates_[u->local].insert(k);
  if (auto p = std::get_if<loops::Bind>(&s.is)) bindings_[p->parameter].insert(k);
  each_block(s, [&](const Block& b) {
    for (const Stmt& inner : b) collect_names(inner, k);
  });
}

bool BlockFacts::unchanged(Expr value, size_t first, size_t last) const {
  bool same = true;
  each_node(value, [&](Expr e) {
    if (e->op == Op::load) {
      const auto found = buffers_.find(root(program_, e->buffer));
      same = same && (found == buffers_.end() || !any_within(found->second.writers, first, last));
    } else if (e->op == Op::local) {
      const auto found = updates_.find(e->local);
      same = same && (found == updates_.end() || !any_within(found->second, first, last));
    }
  });
  return same;
}

bool BlockFacts::binds(Variable parameter, size_t first, size_t last) const {
  const auto found = bindings_.find(parameter);
  return found != bindings_.end() && any_within(found->second, first, last);
}

}  // namespace anvil::compiler
