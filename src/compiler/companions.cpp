#include "compiler/companions.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::For;

constexpr size_t most_members = 24;  // of a group: their steps share the caches
constexpr size_t most_between = 64;  // statements from a nest, as far as nests become one

bool near(size_t a, size_t b) { return std::max(a, b) - std::min(a, b) <= most_between; }
size_t common(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}
// Its result, or its operands.
std::vector<std::pair<BufferId, const Index*>> places(const Contraction& c, bool result) {
  if (result) return {{c.buffer, &c.place}};
  return {{c.left()->buffer, &c.left()->place}, {c.right()->buffer, &c.right()->place}};
}
bool touches(const Stmt& s, BufferId b, AccessKind wanted) {
  bool found = false;
  each_access_inside(s,
                     [&](BufferId x, const Index*, AccessKind kind) { found = found || (x == b && kind == wanted); });
  return found;
}
bool same_dimension(const Stmt& nest, BufferId b, Variable loop, const Index& place, Variable axis) {
  for (size_t d = 0; d < place.size(); ++d) {
    if (!(place[d] == loops::variable(axis))) continue;
    bool all = true;
    each_access_inside(nest, [&](BufferId x, const Index* at, AccessKind) {
      if (x == b) all = all && at && (*at)[d] == loops::variable(loop);
    });
    return all;
  }
  return false;
}

}  // namespace

bool Group::has(size_t statement) const {
  return std::any_of(nests.begin(), nests.end(), [&](const Walk& w) { return w.nest == statement; }) ||
         std::any_of(partners.begin(), partners.end(), [&](const Partner& p) { return p.statement == statement; });
}

std::set<BufferId> Group::between() const {
  std::set<BufferId> all;
  for (const Partner& p : partners) all.insert(p.between.begin(), p.between.end());
  return all;
}

Companions::Companions(const Program& p, Block& b, const std::vector<int>& accesses)
    : program_(p), block_(b), accesses_(accesses) {
  for (size_t k = 0; k < b.size(); ++k)
    if (std::holds_alternative<Contraction>(b[k].is))
      each_access(b[k], [&](BufferId x, const Index*, AccessKind) {
        if (is_temporary(x)) contractions_[x].insert(k);
      });
  for (size_t k = 0; k < b.size(); ++k)
    if (!contractions_.empty())
      each_access_inside(b[k], [&](BufferId x, const Index*, AccessKind) {
        if (contractions_.count(x)) touching_[x].insert(k), beside_.insert(k);
      });
}

bool Companions::is_temporary(BufferId b) const {
  const loops::Buffer& x = program_.buffers[static_cast<size_t>(b)];
  return x.kind == loops::Buffer::Kind::temporary && accesses_[static_cast<size_t>(b)] < many_accesses && x.alias < 0;
}
double Companions::bytes(BufferId b) const {
  const loops::Buffer& x = program_.buffers[static_cast<size_t>(b)];
  return static_cast<double>(elements(x.shape)) * static_cast<double>(size_of(x.dtype));
}
const loops::Footprint& Companions::touched(size_t k) const {
  auto known = touched_.find(k);
  if (known == touched_.end()) known = touched_.emplace(k, loops::Footprint(program_, block_[k])).first;
  return known->second;
}

std::vector<Walk> Companions::walks(size_t nest) const {
  const std::vector<For*> loops = outer_loops(&std::get<For>(block_[nest].is));
  std::vector<Walk> list = {{nest, loops, loops, 0}};
  for (size_t k = 1; k < loops.size() && (k > 1 || independent(program_, *loops[0])); ++k) {
    if (!independent(program_, *loops[k])) break;
    std::vector<For*> order = loops;
    std::rotate(order.begin(), order.begin() + static_cast<ptrdiff_t>(k),
                order.begin() + static_cast<ptrdiff_t>(k) + 1);
    list.push_back({nest, loops, std::move(order), k});
  }
  return list;
}

std::vector<Partner> Companions::partners_of(const Walk& walk) const {
  std::set<size_t> beside;
  each_access_inside(block_[walk.nest], [&](BufferId x, const Index*, AccessKind) {
    if (auto known = contractions_.find(x); known != contractions_.end())
      beside.insert(known->second.begin(), known->second.end());
  });
  std::vector<Partner> list;
  for (size_t k : beside)
    if (Partner p = partner(k, walk); !p.axes.empty()) list.push_back(std::move(p));
  return list;
}

bool Companions::remove_those_that_wait(Group& group, size_t loops) const {
  const Walk& walk = group.nests[0];
  return std::erase_if(group.partners, [&](const Partner& p) {
           return !near(p.statement, walk.nest) || !nothing_waits(steps({{walk}, {p}}, loops));
         }) > 0;
}

std::set<size_t> Companions::around(const Group& group) const {
  std::set<size_t> found;
  const auto add = [&](const std::unordered_map<BufferId, std::set<size_t>>& list, BufferId x) {
    if (auto known = list.find(x); known != list.end())
      for (size_t k : known->second)
        if (!group.has(k) && near(k, group.nests[0].nest)) found.insert(k);
  };
  if (group.nests.size() + group.partners.size() >= most_members) return found;
  for (const Walk& w : group.nests)
    each_access_inside(block_[w.nest], [&](BufferId x, const Index*, AccessKind) { add(contractions_, x); });
  for (const Partner& p : group.partners)
    each_access(block_[p.statement], [&](BufferId x, const Index*, AccessKind) { add(touching_, x); });
  return found;
}

bool Companions::join(Group& group, size_t nest, size_t loops) const {
  for (Walk& walk : walks(nest)) {
    if (walk.first > 0 && loops > 1) continue;
    std::vector<std::pair<Partner*, Partner>> known;
    bool fits = true;
    for (Partner& p : group.partners)
      if (Partner other = partner(p.statement, walk); !other.between.empty()) {
        fits = fits && common(other.axes, p.axes) >= loops;
        known.emplace_back(&p, std::move(other));
      }
    if (!fits || known.empty()) continue;
    Steps members = steps(group, loops);
    members[nest] = walk.order[loops - 1]->variable;
    if (!nothing_waits(members)) continue;
    for (auto& [p, other] : known) p->between.merge(other.between);
    group.nests.push_back(std::move(walk));
    return true;
  }
  return false;
}
std::optional<Partner> Companions::partner_of(const Group& group, size_t k, size_t loops) const {
  Partner all = {k, {}, {}};
  for (const Walk& walk : group.nests) {
    Partner p = partner(k, walk);
    if (p.between.empty()) continue;
    if (all.between.empty()) all.axes = p.axes;
    all.axes.resize(common(all.axes, p.axes));
    all.between.merge(p.between);
  }
  if (all.axes.size() < loops) return std::nullopt;
  Steps members = steps(group, loops);
  members[k] = all.axes[loops - 1];
  if (!nothing_waits(members)) return std::nullopt;
  return all;
}

// Whether no step of a statement needs what another one makes in other steps: they depend on each other by what lies along
// the axis, and on nothing that stays apart and depends on one of them.
bool Companions::nothing_waits(const Steps& members) const {
  std::map<BufferId, std::optional<size_t>> dimensions;
  for (const auto& [k, axis] : members)
    each_access_inside(block_[k], [&, v = axis](BufferId x, const Index* place, AccessKind) {
      const std::optional<size_t> d = place ? dimension_of(*place, v) : std::nullopt;
      if (auto [known, first] = dimensions.emplace(x, d); !first && known->second != d) known->second = std::nullopt;
    });
  loops::Footprint before, others, apart;  // of members, of what depends on these, of members without what lies so
  for (size_t k = members.begin()->first; k <= members.rbegin()->first; ++k) {
    if (members.count(k) == 0) {
      if (conflict(touched(k), before) || conflict(touched(k), others)) others.add(touched(k));
      continue;
    }
    loops::Footprint own = touched(k);
    before.add(own);
    if (conflict(own, others)) return false;
    for (const auto& [x, d] : dimensions)
      if (d) own.forget(x);
    if (conflict(own, apart)) return false;
    apart.add(own);
  }
  return true;
}
Companions::Steps Companions::steps(const Group& group, size_t loops) {
  Steps members;
  for (const Walk& w : group.nests) members[w.nest] = w.order[loops - 1]->variable;
  for (const Partner& p : group.partners) members[p.statement] = p.axes[loops - 1];
  return members;
}

bool Companions::mostly_alone(const Group& group) const {
  std::map<BufferId, int> seen;
  const auto count = [&](size_t k) {
    each_access_inside(block_[k], [&](BufferId x, const Index*, AccessKind) { ++seen[x]; });
  };
  for (const Walk& w : group.nests) count(w.nest);
  for (const Partner& p : group.partners) count(p.statement);
  double all = 0, alone = 0;
  for (BufferId x : group.between()) {
    all += bytes(x);
    if (seen[x] == accesses_[static_cast<size_t>(x)]) alone += bytes(x);
  }
  return alone >= 0.5 * all;
}

bool Companions::makes_depth(const For* f) const {
  bool found = false;
  if (f != nullptr)
    for (const Stmt& s : f->body)
      each_access(s, [&](BufferId x, const Index* place, AccessKind kind) {
        const auto known = contractions_.find(x);
        if (kind != AccessKind::write || known == contractions_.end() || found) return;
        for (size_t k : known->second)
          for (const auto& [operand, at] : places(contraction(k), false))
            for (size_t d = 0; operand == x && d < at->size(); ++d)
              found = found || ((*place)[d] == loops::variable(f->variable) && (*at)[d].terms.size() == 1 &&
                                is_depth(contraction(k), (*at)[d].terms[0].variable));
      });
  return found;
}

Partner Companions::partner(size_t k, const Walk& walk) const {
  const Contraction& c = contraction(k);
  const Stmt& nest = block_[walk.nest];
  const bool before = k < walk.nest;
  Partner p = {k, {}, {}};
  for (const auto& [x, place] : places(c, before)) {
    if (!is_temporary(x) || !touches(nest, x, before ? AccessKind::read : AccessKind::write)) continue;
    std::vector<Variable> axes = axes_of(c, nest, x, *place, walk.order);
    if (p.between.empty()) p.axes = axes;
    p.axes.resize(common(axes, p.axes));
    p.between.insert(x);
  }
  return p;
}

// Axes that are at a step where the leading loops of the nest are at it: in one dimension of the buffer each of them
// is all that moves all accesses.
std::vector<Variable> Companions::axes_of(const Contraction& c, const Stmt& nest, BufferId b, const Index& place,
                                          const std::vector<For*>& loops) const {
  std::vector<Variable> found;
  for (const For* f : loops) {
    const auto axis = std::find_if(c.axes.begin(), c.axes.end(), [&](const Contraction::Axis& x) {
      return f->begin == 0 && x.extent == f->end && std::count(found.begin(), found.end(), x.variable) == 0 &&
             same_dimension(nest, b, f->variable, place, x.variable);
    });
    if (axis == c.axes.end() ||
        (is_depth(c, axis->variable) && c.product->dtype != program_.buffers[static_cast<size_t>(c.buffer)].dtype))
      break;
    found.push_back(axis->variable);
    if (is_depth(c, axis->variable)) break;
  }
  return found;
}

bool Companions::is_depth(const Partner& p, size_t axis) const {
  return is_depth(contraction(p.statement), p.axes[axis]);
}
bool Companions::moves_one_operand(const Partner& p, size_t axis) const {
  const Contraction& c = contraction(p.statement);
  return (step(program_, c.left(), p.axes[axis]) == 0) != (step(program_, c.right(), p.axes[axis]) == 0);
}

}  // namespace anvil::compiler
