// Running sums along memory as vectors: all sums from a vector's first lane on, to which the sum so far is added.
//
//   for i in 0..1000 reduction {           for i in 0..1000 vector 16 x 4 reduction {
//     a1 += x1[i]                            a1 += x1[i] running
//     out1[i] = a1                           out1[i] = a1
//   }                                      }
//
// The same for minima, maxima, and products of integers. What reads the sum comes after it in the same step.
#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using Locals = std::unordered_set<LocalId>;

// a1 = fma(x, y, a1) as an update by the product, others as they are.
loops::Update as_accumulation(Program& p, const loops::Update& u) {
  if (u.op != Op::local || loops::accumulates(u) != Op::add) return u;
  return {u.local, Op::add, p.exprs.binary(Op::mul, u.value->args[0], u.value->args[1])};
}
// A product of some lanes may be zero or infinite where that of all so far is not.
bool may_run_along(const loops::Update& u) {
  const DType t = u.value->dtype;
  return u.op != Op::local && !is_small(t) && !(u.op == Op::mul && is_float(t));
}
void add_locals(Expr e, Locals& read) {
  each_node(e, [&](Expr x) {
    if (x->op == Op::local) read.insert(x->local);
  });
}

}  // namespace

std::vector<loops::Update*> running_sums(Program& p, loops::For& f) {
  std::vector<std::pair<loops::Update*, loops::Update>> updates;
  Locals read, made;
  bool possible = true;
  for (Stmt& s : f.body) {
    if (std::holds_alternative<loops::For>(s.is)) return {};
    if (auto d = std::get_if<loops::Declare>(&s.is)) made.insert(d->local);
    if (auto u = std::get_if<loops::Update>(&s.is); u && made.count(u->local) == 0) {
      const loops::Update changed = as_accumulation(p, *u);
      add_locals(changed.value, read);
      possible = possible && changed.op != Op::local && read.count(u->local) == 0;
      for (const auto& [other, _] : updates) possible = possible && other->local != u->local;
      updates.emplace_back(u, changed);
    } else {
      each_expression(s, [&](Expr e) { add_locals(e, read); });
    }
  }
  if (!possible) return {};
  std::vector<loops::Update*> result;
  for (const auto& [u, changed] : updates) {
    if (read.count(u->local) == 0) continue;
    if (!may_run_along(changed)) return {};
    result.push_back(u);
  }
  return !result.empty() && steps_do_not_meet(p, f) ? result : std::vector<loops::Update*>{};
}

void run_along(Program& p, loops::Update& u) {
  u = as_accumulation(p, u);
  u.running = true;
}

}  // namespace anvil::compiler
