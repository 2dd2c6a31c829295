// What the schedule is chosen by: the cost of a loop's body when one loop is a vector, and
// which loops may be one.
#pragma once
#include "compiler/compiler.h"
#include "compiler/traverse.h"

namespace anvil::compiler {

inline int64_t extent(const loops::For& f) { return f.end - f.begin; }
inline int64_t steps_at_once(const loops::For& f) { return int64_t(f.width) * f.copies; }

// A loop with all that is inside.
struct LoopFacts {
  bool simple = true;            // nothing but loops, stores and locals
  int widest = 0;                // bytes of the widest number that is computed with
  bool function = false;         // calls an elementary function
  double ops = 0;                // nodes and stores of the body, each counted once
  std::vector<LocalId> updated;  // locals from outside that it updates
};
LoopFacts loop_facts(const loops::For&);

// Whether iterations do not depend on each other, but for updates of outer locals whose
// order is free. Of some buffers each iteration has its own.
bool independent(const Program&, const loops::For&, const std::vector<BufferId>& own = {});

// The cost of one run of a scheduled loop, in operations.
double nest_cost(const Program&, const loops::For&);

// Two loops of which one is all that the other holds change places.
void exchange_loops(loops::For&, loops::For&);

constexpr double function_weight = 14;  // of an elementary function, in additions

// The cost of one run of a block. In a vector loop over `lane` with `width` lanes, what
// depends on the lane is counted once for all lanes where memory is contiguous.
double block_cost(const Program&, const Block&, Variable lane, int width);

}  // namespace anvil::compiler
