#include "compiler/columns.h"

#include <algorithm>

#include "compiler/schedule.h"
#include "loops/dependence.h"

namespace anvil::compiler {
namespace {

using loops::Bind;
using loops::For;
using loops::If;

constexpr int64_t narrow_block = 4, wide_block = 8;       // columns
constexpr double least_updates = 32;                      // of a column
constexpr double most_moved = 4;                          // numbers that become rows and columns again, for each update
constexpr int64_t most_bytes_of_rows = int64_t(8) << 20;  // of a block

bool looks_up(const Block&);
bool looks_up(const Stmt& s) {
  if (std::holds_alternative<Bind>(s.is) || std::holds_alternative<If>(s.is)) return true;
  auto f = std::get_if<For>(&s.is);
  return f && looks_up(f->body);
}
bool looks_up(const Block& b) {
  return std::any_of(b.begin(), b.end(), [](const Stmt& s) { return looks_up(s); });
}

bool begins_sum(const Stmt& s) {
  auto declare = std::get_if<loops::Declare>(&s.is);
  return declare && declare->value->op == Op::constant;
}

// The one dimension of all places that depends on a variable, if it is the variable.
template <class Uses>
std::optional<size_t> moving_dimension(const Uses& uses, Variable v) {
  std::optional<size_t> found;
  for (const auto& u : uses) {
    if (u.place == nullptr) return std::nullopt;
    int dimensions = 0;
    for (size_t d = 0; d < u.place->size(); ++d) {
      const Affine& a = (*u.place)[d];
      if (loops::factor(a, v) == 0) continue;
      if (++dimensions > 1 || !(a == loops::variable(v)) || found.value_or(d) != d) return std::nullopt;
      found = d;
    }
    if (dimensions == 0) return std::nullopt;
  }
  return found;
}

}  // namespace

Columns::Columns(const Program& p, const OwnBuffers& own, const For& f) : program_(p), f_(f) {
  if (f.kind != For::Kind::serial || f.begin != 0 || extent(f) < narrow_block || updates(f.body) < least_updates)
    return;
  for (size_t k = 0; k < f.body.size(); ++k)
    if (updates(f.body[k]) > 0) last_ = k;
  inside_.insert(f.variable);
  for (const Stmt& s : f.body) find_variables(s);
  possible_ =
      find_tables(own) && parts_go_alone() && loop_facts(f).updated.empty() && pays() && independent(p, f, own_);
}

// As many as leave work for several threads.
int64_t Columns::at_once() const { return extent(f_) < 2 * wide_block ? narrow_block : wide_block; }

Columns::Part Columns::part(const Stmt& s, size_t number) const {
  if (number > last_ || begins_sum(s)) return Part::afterwards;
  bool rows = looks_up(s);
  each_access_inside(s, [&](BufferId b, const Index*, AccessKind) { rows = rows || tables_.count(b); });
  return rows ? Part::by_rows : Part::for_each_column;
}

// ---- tables ----
bool Columns::find_tables(const OwnBuffers& own_buffers) {
  std::map<BufferId, Uses> uses;
  for (size_t k = 0; k < f_.body.size(); ++k)
    each_access_inside(f_.body[k], [&](BufferId b, const Index* place, AccessKind kind) {
      uses[b].push_back({k, place, kind});
    });
  const auto step = [this](BufferId b, const Use& u) {
    return u.place ? std::abs(loops::step(program_, b, *u.place, f_.variable)) : 0;
  };
  for (BufferId b : own_buffers.of(f_))
    if (uses.count(b) && std::none_of(uses[b].begin(), uses[b].end(), [&](const Use& u) { return step(b, u) != 0; }))
      own_.push_back(b);
  for (auto& [b, list] : uses) {
    const bool own = std::find(own_.begin(), own_.end(), b) != own_.end();
    if (own && list[0].by > last_) continue;
    if (!own) std::erase_if(list, [this](const Use& u) { return u.by > last_; });
    const bool apart = std::any_of(list.begin(), list.end(),
                                   [&, b = b](const Use& u) { return looks_up(f_.body[u.by]) && step(b, u) > 1; });
    const bool seen_otherwise = std::any_of(uses.begin(), uses.end(), [&, b = b](const auto& other) {
      return other.first != b && root(program_, other.first) == root(program_, b);
    });
    if ((own || apart) && (seen_otherwise || !add_table(b, list, own))) return false;
  }
  return !tables_.empty();
}
// False where not every access is in the column of its step.
bool Columns::add_table(BufferId b, const Uses& uses, bool own) {
  Table t;
  if (!own && !(t.column = moving_dimension(uses, f_.variable))) return false;
  const size_t first = uses[0].by;
  const auto writes = [](const Use& u) { return u.kind == AccessKind::write; };
  t.stored = std::any_of(uses.begin(), uses.end(), writes);
  t.filled = !looks_up(f_.body[first]) &&
             std::all_of(uses.begin(), uses.end(), [&](const Use& u) { return u.by != first || writes(u); });
  const bool alone = std::all_of(uses.begin(), uses.end(), [&](const Use& u) { return u.by == first; });
  auto steps = std::get_if<For>(&f_.body[first].is);
  if (steps && steps->begin == 0 && alone && !t.stored) t.step = moving_dimension(uses, steps->variable);
  t.statement = first;
  find_fixed_dimensions(t, uses);
  tables_.emplace(b, t);
  return true;
}
void Columns::find_fixed_dimensions(Table& t, const Uses& uses) const {
  for (size_t d = 0; uses[0].place && d < uses[0].place->size(); ++d) {
    const Affine& a = (*uses[0].place)[d];
    const auto moves = [this](const loops::Term& x) { return inside_.count(x.variable) > 0; };
    if (std::none_of(a.terms.begin(), a.terms.end(), moves) &&
        std::all_of(uses.begin(), uses.end(), [&](const Use& u) { return u.place && (*u.place)[d] == a; }))
      t.fixed.emplace(d, a);
  }
}
void Columns::find_variables(const Stmt& s) {
  if (auto f = std::get_if<For>(&s.is)) inside_.insert(f->variable);
  if (auto bind = std::get_if<Bind>(&s.is)) inside_.insert(bind->parameter);
  if (auto c = std::get_if<loops::Contraction>(&s.is))
    for (const auto& axis : c->axes) inside_.insert(axis.variable);
  each_block(s, [this](const Block& b) {
    for (const Stmt& inner : b) find_variables(inner);
  });
}

// ---- parts ----
bool Columns::parts_go_alone() const {
  std::unordered_set<LocalId> sums;
  for (size_t k = 0; k <= last_; ++k) {
    const Stmt& s = f_.body[k];
    if (begins_sum(s)) sums.insert(std::get<loops::Declare>(s.is).local);
    const loops::Footprint touched(program_, s);
    for (const auto& [local, use] : touched.locals())
      if (use.read && sums.count(local)) return false;
    auto f = std::get_if<For>(&s.is);
    const Part where = part(s, k);
    bool made = false;
    if (where == Part::afterwards || (where == Part::for_each_column && f && loop_facts(*f).updated.empty())) continue;
    if (!alike(s, made) || made) return false;
  }
  return true;
}
// Whether what is looked up is the same for each column, and locals are needed only where they are made.
bool Columns::alike(const Block& b) const {
  bool made = false;
  return std::all_of(b.begin(), b.end(), [&](const Stmt& s) { return alike(s, made); });
}
bool Columns::alike(const Stmt& s, bool& made) const {  // made: a local, before it
  if (std::holds_alternative<loops::Let>(s.is)) return made = true;
  if (std::holds_alternative<loops::Store>(s.is)) return true;
  if (made) return false;
  if (auto bind = std::get_if<Bind>(&s.is)) return same_for_all(bind->value);
  if (auto branch = std::get_if<If>(&s.is))
    return same_for_all(branch->condition) && alike(branch->yes) && alike(branch->no);
  auto f = std::get_if<For>(&s.is);
  return f && f->kind == For::Kind::serial && alike(f->body);
}
bool Columns::same_for_all(Expr e) const {
  bool same = true;
  each_node(e, [&](Expr x) {
    same = same && x->op != Op::local && !(x->op == Op::load && tables_.count(x->buffer));
    for (const Affine& a : x->place) same = same && loops::factor(a, f_.variable) == 0;
  });
  return same;
}

// ---- costs ----
bool Columns::pays() const {
  double moved = 0;
  int64_t bytes = 0;
  for (const auto& [b, t] : tables_) {
    const loops::Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
    int64_t n = 1;
    for (size_t d = 0; d < buffer.shape.size(); ++d)
      if (d != t.column && !t.fixed.count(d)) n *= buffer.shape[d];
    if (t.column) moved += static_cast<double>(n * ((t.filled ? 0 : 1) + (t.stored ? 1 : 0)));
    if (!t.step) bytes += n * at_once() * static_cast<int64_t>(size_of(buffer.dtype));
  }
  return moved <= most_moved * updates(f_.body) && bytes <= most_bytes_of_rows;
}
// How often a step changes its column at a place that was looked up.
double Columns::updates(const Block& b) const {
  double n = 0;
  for (const Stmt& s : b) n += updates(s);
  return n;
}
double Columns::updates(const Stmt& s) const {
  if (auto f = std::get_if<For>(&s.is)) return static_cast<double>(extent(*f)) * updates(f->body);
  if (auto branch = std::get_if<If>(&s.is)) return std::max(updates(branch->yes), updates(branch->no));
  auto store = std::get_if<loops::Store>(&s.is);
  return store && std::any_of(store->place.begin(), store->place.end(), [this](const Affine& a) {
           return std::any_of(a.terms.begin(), a.terms.end(), [this](const loops::Term& t) {
             return program_.variables[static_cast<size_t>(t.variable)].parameter;
           });
         });
}

}  // namespace anvil::compiler
