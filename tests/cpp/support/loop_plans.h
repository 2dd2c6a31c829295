// How the code generator cuts the loops of a program: what it decides before it writes anything,
// asked of its own analysis.
#pragma once
#include <memory>
#include <unordered_map>

#include "loops/program.h"

namespace anvil::test {

struct LoopPlan {
  int width = 1, copies = 1;
  bool blocked = false;      // lanes and copies run side by side
  bool in_place = false;     // no step may be done twice
  bool accumulates = false;  // updates locals from outside
  int64_t step() const { return int64_t(width) * copies; }
};
using LoopPlans = std::unordered_map<const loops::For*, LoopPlan>;
LoopPlans plan_loops(const loops::Program&);  // of all loops that are not serial

}  // namespace anvil::test
