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
#include "primitives/families/control.h"
#include "transform/all_steps.h"
#include "transform/step_loop.h"

namespace anvil::transform {

constexpr int64_t enough_steps = 32;

bool join_step_calls(Graph& g) {
  return rewrite_loops(g, [](Graph& around, Call& loop, int64_t steps) {
    if (!is_plain(loop) || steps < enough_steps) return Rewritten::no;
    const bool early = move_early(around, loop, steps);
    if (move_late(around, loop, steps)) return Rewritten::with_what_follows;
    return early ? Rewritten::in_place : Rewritten::no;
  });
}

}  // namespace anvil::transform
