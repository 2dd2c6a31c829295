// Running sums along memory as vectors: all sums from a vector's first lane on, to which the sum so far is added.
//
//   for i in 0..1000 reduction {           for i in 0..1000 vector 16 x 4 reduction {
//     a1 += x1[i]                            a1 += x1[i] running
//     out1[i] = a1                           out1[i] = a1
//   }                                      }
//
// The same for products, minima and maxima. What reads the sum comes after it in the same step.
#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using Locals = std::unordered_set<LocalId>;

// But for what an update accumulates into.
void add_reads(Stmt& s, Locals& read) {
  const auto reads = [&](Expr e) {
    each_node(e, [&](Expr x) {
      if (x->op == Op::local) read.insert(x->local);
    });
  };
  auto u = std::get_if<loops::Update>(&s.is);
  if (u && u->op == Op::local && loops::accumulates(*u) == Op::add)
    reads(u->value->args[0]), reads(u->value->args[1]);
  else
    each_expression(s, reads);
}

}  // namespace

std::vector<loops::Update*> running_sums(const Program& p, loops::For& f) {
  Locals read, before, made, updated;
  for (Stmt& s : f.body) add_reads(s, read);
  std::vector<loops::Update*> result;
  for (Stmt& s : f.body) {
    if (std::holds_alternative<loops::For>(s.is)) return {};
    add_reads(s, before);
    if (auto d = std::get_if<loops::Declare>(&s.is)) made.insert(d->local);
    auto u = std::get_if<loops::Update>(&s.is);
    if (u == nullptr || made.count(u->local) > 0) continue;
    if (loops::accumulates(*u) == Op::local || !updated.insert(u->local).second) return {};
    if (read.count(u->local) == 0) continue;
    if (is_small(u->value->dtype) || before.count(u->local) > 0) return {};
    result.push_back(u);
  }
  return steps_do_not_meet(p, f) ? result : std::vector<loops::Update*>{};
}

void run_along(Program& p, loops::Update& u) {
  u.running = true;
  if (u.op != Op::local) return;
  u.op = Op::add;
  u.value = p.exprs.binary(Op::mul, u.value->args[0], u.value->args[1]);
}

}  // namespace anvil::compiler
