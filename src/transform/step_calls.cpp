// Calls on the few numbers of a step become calls on those of all steps, of what a loop reads step by step and of what
// it leaves behind:
//
//   while                                        %es = exponential (%xs)
//     %x = %xs[%i]                               while
//     %e = exponential (%x)                        %e = %es[%i]
//
//   while                                        while
//     %v = %f (%s)                                 %ss = %ss with %s at %i
//     %vs = %vs with %v at %i                    %vs = %f (%ss)
//
//   while                                        while
//     %v = %f (%s)                                 %ss = %ss with %s at %i
//     %l = %l + %v                               %l = %l0 + reduce_sum (%f (%ss))
//
// A step has one number for a register of eight, and a sum of a step waits for that of the step before. So a
// likelihood whose terms come from a recurrence runs the recurrence alone, and all its logarithms behind it.
#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "transform/all_steps.h"
#include "transform/simplify.h"
#include "transform/trip_count.h"

namespace anvil::transform {
namespace {

constexpr int64_t enough_steps = 32;

class StepCalls {
 public:
  void visit(Graph& g) {
    std::vector<Call> calls;
    calls.swap(g.calls);
    for (Call& call : calls) {
      poll();
      rewrite_subgraphs(call, [this](Graph& inner) { visit(inner); });
      if (!add(g, call)) g.calls.push_back(std::move(call));
    }
  }
  bool any() const { return any_; }
  const graph::Substitution& map() const { return map_; }

 private:
  // Whether the loop is in the graph, with what follows it.
  bool add(Graph& g, Call& call) {
    if (primitives::control_of(call) != primitives::Control::loop || primitives::records(call)) return false;
    const auto n = trip_count(call);
    if (!n || *n < enough_steps) return false;
    any_ |= move_early(g, call, *n);
    if (!move_late(g, call, *n, map_)) return false;
    return any_ = true;
  }

  graph::Substitution map_;
  bool any_ = false;
};

}  // namespace

bool join_step_calls(Graph& g) {
  const KeptValues kept(g);
  StepCalls calls;
  calls.visit(g);
  if (!calls.any()) return false;
  substitute_in(calls.map(), g);
  list_inner_constants(g);
  return true;
}

}  // namespace anvil::transform
