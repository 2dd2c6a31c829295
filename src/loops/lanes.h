// What the schedule expects of generated code where the lanes of a vector do not lie side by side, or neighbours are equal.
#pragma once
#include <algorithm>
#include <cstdlib>

#include "base/dtype.h"
#include "loops/expression.h"

namespace anvil::loops {

// Whether numbers so many elements apart are picked from the vectors between them, not loaded one by one.
inline bool lie_near(int64_t step, int64_t lanes, DType t) {
  step = std::abs(step);
  return 2 <= step && step <= 4 && 2 * step <= lanes && size_of(t) >= 4;
}

// The index of index >>> 1: of neighbours i and i + 1 it is the same if i and all that is added to it are even.
inline const Affine* halved_index(Expr e) {
  const bool halved = e->op == Op::shift_right_logical && e->args[0]->op == Op::index &&
                      e->args[1]->op == Op::constant && e->args[1]->constant.as<int64_t>() == 1;
  return halved ? &e->args[0]->place[0] : nullptr;
}

}  // namespace anvil::loops
