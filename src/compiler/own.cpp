#include "compiler/own.h"

#include <algorithm>
#include <unordered_set>

namespace anvil::compiler {

using loops::For;

constexpr int64_t most_bytes = int64_t(16) << 20;  // of each thread

OwnBuffers::OwnBuffers(const Program& p) : program_(p), uses_(count(p.body)) {}

std::vector<BufferId> OwnBuffers::of(const For& f) const {
  std::vector<BufferId> own;
  int64_t bytes = 0;
  for (const auto& [b, inside] : count(f.body)) {
    const auto all = uses_.find(b);
    const loops::Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
    if (all == uses_.end() || inside.count != all->second.count || all->second.whole ||
        buffer.kind != loops::Buffer::Kind::temporary || !(written_first(f.body, b) || same_in_each_step(f, b)))
      continue;
    bytes += elements(buffer.shape) * static_cast<int64_t>(size_of(buffer.dtype));
    own.push_back(b);
  }
  return bytes <= most_bytes ? own : std::vector<BufferId>();
}

std::map<BufferId, OwnBuffers::Uses> OwnBuffers::count(const Block& block) const {
  std::map<BufferId, Uses> uses;
  for (const Stmt& s : block)
    each_access_inside(s, [&](BufferId b, const Index*, AccessKind kind) {
      Uses& u = uses[root(program_, b)];
      ++u.count;
      u.whole = u.whole || kind == AccessKind::whole;
    });
  return uses;
}

bool OwnBuffers::same_in_each_step(const For& f, BufferId b) const {
  bool loose = false;
  for (const Stmt& s : f.body) {
    Touched t;
    touch(s, b, f.variable, false, t);
    loose = loose || t.reads_others;
    if (t.stores_others || (t.stores && loose)) return false;  // within one statement the order is not looked at
  }
  return true;
}

void OwnBuffers::touch(const Stmt& s, BufferId b, Variable step, bool conditional, Touched& t) const {
  each_access(s, [&](BufferId x, const Index* place, AccessKind kind) {
    if (root(program_, x) != b) return;
    const auto moves = [&](const Affine& a) {
      return std::any_of(a.terms.begin(), a.terms.end(), [&](const loops::Term& term) {
        return term.variable == step || program_.variables[static_cast<size_t>(term.variable)].parameter;
      });
    };
    const bool steady = !conditional && std::none_of(place->begin(), place->end(), moves);
    if (kind == AccessKind::write) {
      t.stores = true;
      t.stores_others = t.stores_others || !steady;
    } else {
      t.reads_others = t.reads_others || !steady;
    }
  });
  const bool inside = conditional || !std::holds_alternative<For>(s.is);
  each_block(s, [&](const Block& block) {
    for (const Stmt& inner : block) touch(inner, b, step, inside, t);
  });
}

bool OwnBuffers::written_first(const Block& block, BufferId b) const {
  for (const Stmt& s : block) {
    bool reads = false, writes = false;
    each_access_inside(s, [&](BufferId x, const Index*, AccessKind kind) {
      if (root(program_, x) == b) (kind == AccessKind::read ? reads : writes) = true;
    });
    if (!reads && !writes) continue;
    auto f = std::get_if<For>(&s.is);
    if (reads) return f && written_first(f->body, b);
    std::vector<const For*> around;
    return fills(s, b, around);
  }
  return false;
}
bool OwnBuffers::fills(const Stmt& s, BufferId b, std::vector<const For*>& around) const {
  if (auto f = std::get_if<For>(&s.is)) {
    around.push_back(f);
    const bool all = std::any_of(f->body.begin(), f->body.end(), [&](const Stmt& x) { return fills(x, b, around); });
    around.pop_back();
    return all;
  }
  bool all = false;
  each_access(s, [&](BufferId x, const Index* place, AccessKind kind) {
    if (kind == AccessKind::write && root(program_, x) == b) all = all || goes_everywhere(s, x, *place, around);
  });
  return all;
}
// Whether loops and the axes of a contraction lead to each element.
bool OwnBuffers::goes_everywhere(const Stmt& s, BufferId b, const Index& place,
                                 const std::vector<const For*>& around) const {
  const Shape& shape = program_.buffers[static_cast<size_t>(b)].shape;
  const auto all_steps = [&](Variable v, int64_t steps) {
    bool axis_does = false;
    if (const auto c = std::get_if<loops::Contraction>(&s.is))
      c->each_axis([&](const auto& axis) { axis_does = axis_does || (axis.variable == v && axis.extent == steps); });
    return axis_does || std::any_of(around.begin(), around.end(),
                                    [&](const For* f) { return f->variable == v && f->begin == 0 && f->end == steps; });
  };
  std::unordered_set<Variable> used;
  for (size_t d = 0; d < shape.size(); ++d) {
    const Affine& a = place[d];
    if (shape[d] == 1 && a.terms.empty()) continue;
    if (a.constant != 0 || a.terms.size() != 1 || a.terms[0].factor != 1 || !used.insert(a.terms[0].variable).second ||
        !all_steps(a.terms[0].variable, shape[d]))
      return false;
  }
  return true;
}

}  // namespace anvil::compiler
