// Facts of loops and the decision how each runs.
#include "backend/llvm/analysis.h"

#include <algorithm>

#include "base/error.h"

namespace anvil::llvm_backend {

using loops::Bind;
using loops::Block;
using loops::Call;
using loops::Declare;
using loops::For;
using loops::If;
using loops::Let;
using loops::Op;
using loops::Stmt;
using loops::Store;
using loops::Swap;
using loops::Update;
using loops::While;

namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

// How many numbers the call of a contraction takes: see runtime/functions.h.
size_t contraction_numbers(const loops::Contraction& c) {
  const size_t arrays = c.weight() ? 4 : 3;
  size_t numbers = 7 + arrays + (1 + arrays) * c.axes.size();
  for (const auto& b : c.beside) numbers += 3 + 3 * b.columns.size();
  return numbers;
}
size_t contraction_buffers(const loops::Contraction& c) { return 4 + 2 * c.beside.size(); }

}  // namespace

std::vector<const Update*> running_updates(const For& f) {
  std::vector<const Update*> list;
  for (const Stmt& s : f.body)
    if (const auto* u = std::get_if<Update>(&s.is); u && u->running) list.push_back(u);
  return list;
}

Analysis::Analysis(const Program& program) : program_(program) {
  for (const Stmt& s : program.body) {
    Facts own;
    collect(s, own);
  }
  plan(program.body, false, 0, 1);
}

BufferId Analysis::root(BufferId b) const { return loops::root(program_, b); }

bool Analysis::overlap(BufferId a, BufferId b) const {
  a = root(a), b = root(b);
  if (a == b) return true;
  const loops::Buffer &x = program_.buffers[size_t(a)], &y = program_.buffers[size_t(b)];
  if (x.offset < 0 || y.offset < 0 || x.own != y.own) return false;
  const auto bytes = [](const loops::Buffer& t) { return elements(t.shape) * int64_t(size_of(t.dtype)); };
  return x.offset < y.offset + bytes(y) && y.offset < x.offset + bytes(x);
}

const Facts& Analysis::facts(const void* statement) const { return facts_.at(statement); }
const Plan& Analysis::plan(const For* f) const { return plans_.at(f); }

Facts Analysis::facts_of(const Stmt& s) {
  if (const auto* f = std::get_if<For>(&s.is)) return facts(f);
  if (const auto* w = std::get_if<While>(&s.is)) return facts(w);
  if (const auto* i = std::get_if<If>(&s.is)) return facts(i);
  Facts simple;
  collect(s, simple);
  return simple;
}

double Analysis::work(Expr e) const {
  if (e->op == Op::constant || e->op == Op::local) return 0;
  const loops::Effort effort = loops::effort(e->op);
  return effort == loops::Effort::call ? 16 : effort == loops::Effort::several ? 4 : 1;
}

// Each node once a statement.
void Analysis::collect(Expr e, Facts& f, std::set<Expr>& seen) const {
  if (!seen.insert(e).second) return;
  f.work += work(e);
  if (e->op == Op::local) f.read.insert(e->local);
  for (int i = 0; i < e->argument_count(); ++i) collect(e->args[size_t(i)], f, seen);
}

void Analysis::merge(Facts& into, const Facts& from, double times) const {
  into.changed.insert(from.changed.begin(), from.changed.end());
  into.made.insert(from.made.begin(), from.made.end());
  into.updated.insert(from.updated.begin(), from.updated.end());
  into.read.insert(from.read.begin(), from.read.end());
  into.bound.insert(from.bound.begin(), from.bound.end());
  into.control |= from.control;
  into.work += times * from.work;
}

void Analysis::collect(const Block& block, Facts& f) {
  for (const Stmt& s : block) collect(s, f);
}

void Analysis::collect(const Stmt& statement, Facts& f) {
  std::set<Expr> seen;
  const auto compound = [&](const void* key, std::initializer_list<const Block*> blocks, Expr condition, double times) {
    Facts inner;
    for (const Block* b : blocks) collect(*b, inner);
    if (condition) collect(condition, inner, seen);
    merge(f, inner, times);
    facts_[key] = std::move(inner);
  };
  std::visit(Overloaded{
                 [&](const For& s) {
                   const double steps =
                       s.kind == For::Kind::vector ? double(s.end - s.begin) / s.width : double(s.end - s.begin);
                   compound(&s, {&s.body}, nullptr, std::max(0.0, steps));
                   f.control |= s.kind == For::Kind::parallel;
                 },
                 [&](const While& s) {
                   compound(&s, {&s.before, &s.body}, s.condition, 1), f.control = true;
                 },
                 [&](const If& s) {
                   compound(&s, {&s.yes, &s.no}, s.condition, 1), f.control = true;
                 },
                 [&](const Store& s) {
                   collect(s.value, f, seen);
                   f.changed.insert(root(s.buffer));
                   f.work += 1;
                 },
                 [&](const Let& s) { collect(s.value, f, seen), f.made.insert(s.local); },
                 [&](const Declare& s) { collect(s.value, f, seen), f.made.insert(s.local); },
                 [&](const Update& s) {
                   loops::each_operand(statement, [&](Expr e) { collect(e, f, seen); });
                   f.updated.insert(s.local);
                   f.work += 1;
                 },
                 [&](const Bind& s) { collect(s.value, f, seen), f.bound.insert(s.parameter); },
                 [&](const Call& s) {
                   for (Expr e : s.numbers) collect(e, f, seen);
                   for (BufferId b : s.buffers) f.changed.insert(root(b)), called_.insert(root(b));
                   most_call_buffers_ = std::max(most_call_buffers_, s.buffers.size());
                   most_call_numbers_ = std::max(most_call_numbers_, s.numbers.size());
                   f.control = true;
                   f.work += 1000;
                 },
                 [&](const loops::Contraction& s) {
                   loops::each_access(statement, [&](BufferId b, const loops::Index*, loops::AccessKind) {
                     f.changed.insert(root(b)), called_.insert(root(b));
                   });
                   most_call_buffers_ = std::max(most_call_buffers_, contraction_buffers(s));
                   most_call_numbers_ = std::max(most_call_numbers_, contraction_numbers(s));
                   f.control = true;
                   f.work += 1000;
                 },
                 [&](const Swap& s) {
                   f.changed.insert({s.first, s.second});
                   swapped_.insert({s.first, s.second});
                   swaps_.emplace_back(s.first, s.second);
                   f.control = true;
                 },
                 [&](const loops::Prefetch&) { f.work += 1; },
             },
             statement.is);
}

// The updates of outer locals below a loop, where nothing but loops lies between.
static void find_updates(const Block& block, std::vector<const For*>& path, std::vector<UpdatePath>& found) {
  for (const Stmt& s : block) {
    if (const auto* u = std::get_if<Update>(&s.is)) found.push_back({u, path});
    if (const auto* inner = std::get_if<For>(&s.is)) {
      path.push_back(inner);
      find_updates(inner->body, path, found);
      path.pop_back();
    }
  }
}

std::vector<UpdatePath> Analysis::updates(const For& f) const {
  const Facts& known = facts(&f);
  std::vector<UpdatePath> all, result;
  std::vector<const For*> path{&f};
  if (known.updated.empty() || known.control) return result;
  find_updates(f.body, path, all);
  for (UpdatePath& u : all)
    if (!u.update->running && !known.made.count(u.update->local) && !known.read.count(u.update->local) &&
        loops::accumulates(*u.update) != Op::local)
      result.push_back(std::move(u));
  return result;
}

// Every outer local that is updated runs along the loop, or only accumulates, by one operation, below the same blocked
// loops.
bool Analysis::reductions_fit(const For& f, const Facts& known) const {
  std::set<LocalId> run;
  for (const Update* u : running_updates(f)) run.insert(u->local);
  const std::vector<UpdatePath> paths = updates(f);
  const auto scheduled = [](const UpdatePath& u) {
    std::vector<const For*> blocked;
    for (const For* loop : u.loops)
      if (loop->kind != For::Kind::serial) blocked.push_back(loop);
    return blocked;
  };
  for (LocalId l : known.updated) {
    if (known.made.count(l) || run.count(l)) continue;
    const UpdatePath* first = nullptr;
    for (const UpdatePath& u : paths) {
      if (u.update->local != l) continue;
      if (!first) first = &u;
      if (loops::accumulates(*u.update) != loops::accumulates(*first->update) || scheduled(u) != scheduled(*first))
        return false;
    }
    if (!first) return false;
  }
  return true;
}

// May the steps of this loop run side by side? What one step changes no other may touch: not in
// the same buffer, nor in another one that has its place in the arena.
bool Analysis::independent(const For& f, bool* in_place) const {
  const loops::Footprint body(program_, f.body);
  *in_place = false;
  for (const auto& [b, memory] : body.memory()) {
    if (!memory.written) continue;
    *in_place |= memory.read;
    for (const auto& [other, _] : body.memory())
      if (other != b && overlap(other, b)) return false;
  }
  return steps_apart(program_, loops::steps(f, body));
}

void Analysis::plan(const Block& block, bool lanes, int blocked, double runs) {
  constexpr double runs_of_while = 1000;
  for (const Stmt& s : block) {
    if (const auto* f = std::get_if<For>(&s.is))
      plan(*f, lanes, blocked, runs);
    else
      loops::each_block(s, [&](const Block& inner) {
        plan(inner, lanes, blocked, std::holds_alternative<While>(s.is) ? runs * runs_of_while : runs);
      });
  }
}

void Analysis::plan(const For& f, bool lanes, int blocked, double runs) {
  Plan p;
  const Facts& known = facts(&f);
  const int64_t n = f.end - f.begin;
  if (f.kind == For::Kind::vector && !lanes) p.width = f.width;
  if (f.kind != For::Kind::serial) p.copies = f.copies;
  while (p.width > n) p.width /= 2;
  while (p.step() > n) --p.copies;
  const bool runs_along = !running_updates(f).empty();
  if (runs_along && p.width == 1) p = {};
  const bool wanted = p.step() > 1;
  if (wanted && (known.control || blocked == most_axes || !independent(f, &p.in_place) || !reductions_fit(f, known)))
    p = {};
  p.in_place |= runs_along;  // a step that is made again would go on from the end
  p.blocked = p.step() > 1;
  p.runs = runs * double(std::max<int64_t>(1, n / p.step()));
  plan(f.body, lanes || p.width > 1, blocked + p.blocked, p.runs);
  p.body_work = work(f.body) * p.copies;
  plans_[&f] = p;
}

double Analysis::straight_size(const loops::Block& block) const {
  double sum = 0;
  for (const Stmt& s : block)
    if (!std::holds_alternative<For>(s.is) && !std::holds_alternative<loops::While>(s.is) &&
        !std::holds_alternative<loops::If>(s.is))
      sum += size(s);
  return sum;
}

double Analysis::size(const For& f) const {
  const Plan& p = plan(&f);
  const bool twice = (f.end - f.begin) % p.step() != 0 && (p.in_place || !facts(&f).updated.empty());
  return 4 + size(f.body) * p.copies * (twice ? 2 : 1);
}
double Analysis::size(const Block& block) const {
  double sum = 0;
  for (const Stmt& s : block) sum += size(s);
  return sum;
}
double Analysis::size(const Stmt& s) const {
  const auto nodes = [](Expr e) {
    std::set<Expr> seen;
    const auto walk = [&seen](const auto& self, Expr x) -> void {
      if (!seen.insert(x).second) return;
      for (int i = 0; i < x->argument_count(); ++i) self(self, x->args[size_t(i)]);
    };
    walk(walk, e);
    return double(seen.size());
  };
  return std::visit(Overloaded{
                        [&](const For& f) { return size(f); },
                        [&](const While& w) { return 4 + size(w.before) + size(w.body) + nodes(w.condition); },
                        [&](const If& i) { return 4 + size(i.yes) + size(i.no) + nodes(i.condition); },
                        [&](const Call& c) { return 4 + 2.0 * double(c.buffers.size() + c.numbers.size()); },
                        [&](const Swap&) { return 4.0; },
                        [&](const loops::Prefetch& f) { return 1 + double(f.bytes) / loops::cache_line; },
                        [&](const loops::Contraction& c) { return 10 + 2.0 * double(contraction_numbers(c)); },
                        [&](const auto& simple) { return 1 + nodes(simple.value); },
                    },
                    s.is);
}

double Analysis::work(const Block& block) {
  double sum = 0;
  for (const Stmt& s : block) {
    if (const auto* f = std::get_if<For>(&s.is)) {
      const Plan& p = plan(f);
      sum += p.body_work * std::max(1.0, double(f->end - f->begin) / double(p.step()));
    } else {
      sum += facts_of(s).work;
    }
  }
  return sum;
}

}  // namespace anvil::llvm_backend
