// The estimates behind the schedule: a vector operation counts as one, a function as many,
// and a vector that is gathered or scattered as many accesses as it has lanes.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "compiler/schedule.h"
#include "loops/dependence.h"
#include "loops/lanes.h"

namespace anvil::compiler {
namespace {

constexpr double weight_of_places = 0.25;  // where elements are counts less for how many lanes there are than they
constexpr double few_of_all = 1. / 16;     // operations
constexpr double operations_of_call = 1000, multiplications_at_once = 8;  // of a contraction

bool computes(Expr e) { return e->op != Op::index && !(e->op == Op::convert && e->args[0]->op == Op::index); }

double weight(Expr e) {
  if (e->op == Op::constant || e->op == Op::local) return 0;
  switch (loops::effort(e->op)) {
    case loops::Effort::call: return function_weight;
    case loops::Effort::several: return 4;
    default: return 1;
  }
}

void collect(const Block& block, LoopFacts& f, std::unordered_set<LocalId>& made,
             std::unordered_set<LocalId>& updated) {
  for (const Stmt& s : block) {
    loops::ExprSet seen;
    each_expression(s, [&](Expr e) {
      each_node(e, seen, [&](Expr x) {
        if (loops::effort(x->op) == loops::Effort::call) f.function = true;
        if (x->op != Op::constant && x->op != Op::local) f.ops += 1;
        if (computes(x)) f.widest = std::max(f.widest, static_cast<int>(size_of(x->dtype)));
      });
    });
    if (std::holds_alternative<loops::Store>(s.is) || std::holds_alternative<loops::Update>(s.is)) f.ops += 1;
    if (auto d = std::get_if<loops::Declare>(&s.is))
      made.insert(d->local);
    else if (auto l = std::get_if<loops::Let>(&s.is))
      made.insert(l->local);
    else if (auto u = std::get_if<loops::Update>(&s.is))
      updated.insert(u->local);
    else if (std::holds_alternative<loops::If>(s.is) || std::holds_alternative<loops::Contraction>(s.is))
      f.one_by_one = true;
    else if (!std::holds_alternative<loops::Store>(s.is) && !std::holds_alternative<loops::For>(s.is) &&
             !std::holds_alternative<loops::Bind>(s.is))
      f.simple = false;
    each_block(s, [&](const Block& b) { collect(b, f, made, updated); });
  }
}

// Locals that are read other than by updates of themselves.
void collect_reads(const Block& block, std::unordered_set<LocalId>& read) {
  for (const Stmt& s : block) {
    loops::each_operand(s, [&](Expr e) {
      each_node(e, [&](Expr x) {
        if (x->op == Op::local) read.insert(x->local);
      });
    });
    each_block(s, [&](const Block& b) { collect_reads(b, read); });
  }
}
void collect_updates(const Block& block, std::unordered_map<LocalId, Op>& ops, bool& mixed) {
  for (const Stmt& s : block) {
    if (auto u = std::get_if<loops::Update>(&s.is)) {
      const Op op = loops::accumulates(*u);
      auto [it, fresh] = ops.try_emplace(u->local, op);
      if (!fresh && it->second != op) mixed = true;
    }
    each_block(s, [&](const Block& b) { collect_updates(b, ops, mixed); });
  }
}

// What operations wait for.
class Chains {
 public:
  Chains(LoopFacts& f, const loops::For& loop) : facts_(f), lane_(loop.variable) {
    block(loop.body);
    double all = 0;
    for (const auto& [bytes, weight] : by_size_) {
      all += weight;
      if (facts_.usual == 0 || weight > by_size_[facts_.usual]) facts_.usual = bytes;
    }
    int widest = 0;
    for (const auto& [bytes, weight] : by_size_)
      if (weight > few_of_all * all) widest = std::max(widest, bytes);
    if (widest > 0) facts_.widest = widest;
  }

 private:
  void block(const Block& b) {
    for (const Stmt& s : b) {
      double longest = 0;
      of_places_ = std::holds_alternative<loops::Bind>(s.is);
      each_expression(s, [&](Expr e) { longest = std::max(longest, chain(e)); });
      if (auto l = std::get_if<loops::Let>(&s.is)) locals_[l->local] = {longest, of_lane(l->value)};
      if (auto d = std::get_if<loops::Declare>(&s.is)) locals_[d->local].of_lane = OfLane::each;
      facts_.chain = std::max(facts_.chain, longest);
      each_block(s, [&](const Block& inner) { block(inner); });
    }
  }
  double chain(Expr e) {
    if (e->op == Op::local) return locals_[e->local].chain;
    if (const double* known = chains_.find(e)) return *known;
    double longest = 0;
    for (int i = 0; i < e->argument_count(); ++i) longest = std::max(longest, chain(e->args[static_cast<size_t>(i)]));
    facts_.weight += weight(e);
    if (is_integer(e->dtype) && computes(e)) facts_.of_integers += weight(e);
    if (of_lane(e) == OfLane::pairs) facts_.of_pairs += weight(e);
    if (e->op != Op::constant && computes(e))
      by_size_[static_cast<int>(size_of(e->dtype))] += weight(e) * (of_places_ ? weight_of_places : 1);
    return *chains_.insert(e).first = longest + weight(e);
  }

  // What of the loop's steps a value depends on.
  enum class OfLane { none, pairs, each };
  OfLane of_lane(Expr e) {
    if (e->op == Op::local) return locals_[e->local].of_lane;
    if (const OfLane* known = of_lanes_.find(e)) return *known;
    OfLane most = OfLane::none;
    for (const Affine& a : e->place)
      if (loops::factor(a, lane_) != 0) most = OfLane::each;
    for (int i = 0; i < e->argument_count(); ++i) most = std::max(most, of_lane(e->args[static_cast<size_t>(i)]));
    const auto even = [this](const loops::Term& t) { return t.variable == lane_ ? t.factor == 1 : t.factor % 2 == 0; };
    if (const Affine* a = loops::halved_index(e);
        a && std::all_of(a->terms.begin(), a->terms.end(), even) && most == OfLane::each)
      most = OfLane::pairs;
    return *of_lanes_.insert(e).first = most;
  }

  struct Local {
    double chain = 0;
    OfLane of_lane = OfLane::none;
  };
  LoopFacts& facts_;
  const Variable lane_;
  bool of_places_ = false;  // whether it is looked at what tells where elements are
  loops::ExprMap<double> chains_;
  loops::ExprMap<OfLane> of_lanes_;
  std::unordered_map<LocalId, Local> locals_;
  std::map<int, double> by_size_;  // weight of operations, by the bytes of their results
};

class Cost {
 public:
  Cost(const Program& p, Variable lane, int width) : program_(p), lane_(lane), width_(width) {}
  double block(const Block& b) {
    double sum = 0;
    for (const Stmt& s : b) sum += statement(s);
    return sum;
  }
  double apart() const { return apart_; }

 private:
  double access(BufferId b, const Index& place, bool store) {
    const double cost = access_cost(b, place, store);
    apart_ += std::max(0.0, cost - 1);
    return cost;
  }
  double access_cost(BufferId b, const Index& place, bool store) const {
    if (width_ == 1) return 1;
    for (const Affine& a : place)
      if (by_lane(a)) return width_ * (store ? 1.6 : 1.2);
    int64_t by = step(program_, b, place, lane_);
    if (by == 0) return store ? 1 : 0.5;
    if (by == 1) return 1;
    if (!store && loops::lie_near(by, width_, program_.buffers[static_cast<size_t>(b)].dtype))
      return 2.0 * static_cast<double>(std::abs(by)) - 1;
    // lines this far apart share few sets of the cache, and are gone before the next step writes to them again
    const int64_t bytes = by * static_cast<int64_t>(size_of(program_.buffers[static_cast<size_t>(b)].dtype));
    const double crowded = store && bytes % 1024 == 0 ? 4 : 1;
    return (by == -1 ? 2 : width_) * (store ? 1.6 : 1.2) * crowded;
  }
  bool by_lane(const Affine& a) const {  // through a parameter
    return std::any_of(a.terms.begin(), a.terms.end(),
                       [this](const loops::Term& t) { return parameters_.count(t.variable) > 0; });
  }
  bool varies(Expr e) {
    if (const bool* known = varies_.find(e)) return *known;
    bool v = e->op == Op::local ? lanes_.count(e->local) > 0 : false;
    for (const Affine& a : e->place) v = v || loops::factor(a, lane_) != 0 || by_lane(a);
    for (int i = 0; i < e->argument_count(); ++i) v = varies(e->args[static_cast<size_t>(i)]) || v;
    return *varies_.insert(e).first = v;
  }
  double statement(const Stmt& s) {
    double sum = 0;
    if (auto f = std::get_if<loops::For>(&s.is))
      return 1 + static_cast<double>(f->end - f->begin) * (0.5 + block(f->body));
    if (auto c = std::get_if<loops::Contraction>(&s.is))
      return operations_of_call + multiplications(*c) / multiplications_at_once;
    varies_.clear();
    loops::ExprSet seen;
    each_expression(s, [&](Expr e) {
      each_node(e, seen, [&](Expr x) {
        if (x->op == Op::load)
          sum += access(x->buffer, x->place, false);
        else
          sum += weight(x) * (width_ == 1 || varies(x) ? 1 : 0.3);
      });
      if (auto l = std::get_if<loops::Let>(&s.is); l && varies(e)) lanes_.insert(l->local);
      if (auto b = std::get_if<loops::Bind>(&s.is); b && varies(e)) parameters_.insert(b->parameter);
      if (auto d = std::get_if<loops::Declare>(&s.is)) lanes_.insert(d->local);
    });
    if (auto st = std::get_if<loops::Store>(&s.is)) sum += access(st->buffer, st->place, true);
    if (std::holds_alternative<loops::Update>(s.is)) sum += 1;
    if (auto branch = std::get_if<loops::If>(&s.is)) sum += std::max(block(branch->yes), block(branch->no));
    return sum;
  }

  const Program& program_;
  Variable lane_;
  int width_;
  std::unordered_set<LocalId> lanes_;
  std::unordered_set<Variable> parameters_;
  loops::ExprMap<bool> varies_;
  double apart_ = 0;
};

}  // namespace

LoopFacts loop_facts(const loops::For& loop) {
  LoopFacts f;
  std::unordered_set<LocalId> made, updated;
  collect(loop.body, f, made, updated);
  Chains(f, loop);
  for (LocalId l : updated)
    if (!made.count(l)) f.updated.push_back(l);
  std::sort(f.updated.begin(), f.updated.end());
  return f;
}

bool independent(const Program& p, const loops::For& loop, const std::vector<BufferId>& own) {
  LoopFacts facts = loop_facts(loop);
  if (!facts.simple) return false;
  if (!facts.updated.empty()) {
    std::unordered_set<LocalId> read;
    std::unordered_map<LocalId, Op> ops;
    bool mixed = false;
    collect_reads(loop.body, read);
    collect_updates(loop.body, ops, mixed);
    if (mixed) return false;
    for (LocalId l : facts.updated)
      if (read.count(l) || ops[l] == Op::local) return false;
  }
  return steps_do_not_meet(p, loop, own);
}

bool steps_do_not_meet(const Program& p, const loops::For& loop, const std::vector<BufferId>& own) {
  loops::Footprint body(p, loop.body);
  for (BufferId b : own) body.forget(b);
  return steps_apart(p, loops::steps(loop, body));
}

double nest_cost(const Program& p, const loops::For& f) {
  const auto steps = static_cast<double>(f.end - f.begin);
  if (f.kind == loops::For::Kind::vector)
    return std::ceil(steps / f.width) * (0.5 + block_cost(p, f.body, f.variable, f.width));
  double inside = 0;
  for (const Stmt& s : f.body) {
    auto inner = std::get_if<loops::For>(&s.is);
    inside += inner ? nest_cost(p, *inner) : block_cost(p, {s}, -1, 1);
  }
  return steps * (0.5 + inside);
}

namespace {
void steps_of_loops(const loops::For& f, std::unordered_map<Variable, double>& steps) {
  steps[f.variable] = static_cast<double>(f.end - f.begin);
  for (const Stmt& s : f.body)
    if (auto inner = std::get_if<loops::For>(&s.is)) steps_of_loops(*inner, steps);
}
}  // namespace

double bytes_from_memory(const Program& p, const std::vector<const loops::For*>& loops, int copies, double cache) {
  std::unordered_map<Variable, double> inside;
  steps_of_loops(*loops.back(), inside);
  double sum = 0;
  for (const Stmt& s : loops.back()->body)
    each_access_inside(s, [&](BufferId b, const Index* place, AccessKind kind) {
      if (place == nullptr || kind != AccessKind::read) return;
      const Affine at = loops::linear(p, b, *place);
      double near = static_cast<double>(size_of(p.buffers[static_cast<size_t>(b)].dtype));  // since the loop began
      for (const auto& [variable, steps] : inside)
        if (loops::factor(at, variable) != 0) near *= steps;
      double bytes = near;
      for (size_t k = loops.size() - 1; k-- > 0;) {
        const auto steps = static_cast<double>(loops[k]->end - loops[k]->begin);
        if (loops::factor(at, loops[k]->variable) != 0)
          near *= steps, bytes *= steps;
        else if (near > cache)
          bytes *= k + 2 == loops.size() ? std::ceil(steps / copies) : steps;
      }
      if (near > cache) sum += bytes;
    });
  return sum;
}

double accesses_apart(const Program& p, const Block& block, Variable lane, int width) {
  Cost cost(p, lane, width);
  cost.block(block);
  return cost.apart();
}

double block_cost(const Program& p, const Block& b, Variable lane, int width) { return Cost(p, lane, width).block(b); }

}  // namespace anvil::compiler
