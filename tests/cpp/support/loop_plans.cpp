#include "support/loop_plans.h"

#include <algorithm>

#include "backend/llvm/analysis.h"

namespace anvil::test {
namespace {

using loops::For;

template <class F>
void each_loop(const loops::Block& block, F&& f) {
  for (const loops::Stmt& s : block) {
    if (auto loop = std::get_if<For>(&s.is)) f(*loop), each_loop(loop->body, f);
    if (auto loop = std::get_if<loops::While>(&s.is)) each_loop(loop->before, f), each_loop(loop->body, f);
    if (auto branch = std::get_if<loops::If>(&s.is)) each_loop(branch->yes, f), each_loop(branch->no, f);
  }
}

}  // namespace

LoopPlans plan_loops(const loops::Program& p) {
  LoopPlans plans;
  bool any = false;
  each_loop(p.body, [&](const For& f) { any = any || f.kind != For::Kind::serial; });
  if (!any) return plans;
  const llvm_backend::Analysis analysis(p);
  each_loop(p.body, [&](const For& f) {
    const llvm_backend::Plan& plan = analysis.plan(&f);
    if (!plan.blocked) return;
    const llvm_backend::Facts& facts = analysis.facts(&f);
    bool accumulates = std::any_of(facts.updated.begin(), facts.updated.end(),
                                   [&](loops::LocalId l) { return facts.made.count(l) == 0; });
    plans[&f] = {plan.width, plan.copies, plan.blocked, plan.in_place, accumulates};
  });
  return plans;
}

}  // namespace anvil::test
