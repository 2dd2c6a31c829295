// What the schedule expects of generated code where the lanes of a vector do not lie side by side, or neighbours are equal.
#pragma once
#include <cstdlib>

#include "base/dtype.h"
#include "loops/expression.h"

namespace anvil::loops {

// Whether numbers so many elements apart are picked from the vectors between them, not loaded one by one.
inline bool lie_near(int64_t step, int64_t lanes, DType t) {
  step = std::abs(step);
  return 2 <= step && step <= 4 && 2 * step <= lanes && size_of(t) >= 4;
}

// The index of `index op 1`, null for other expressions.
inline const Affine* index_with_one(Op op, Expr e) {
  const bool found = e->op == op && e->args[0]->op == Op::index && e->args[1]->op == Op::constant &&
                     e->args[1]->constant.as<int64_t>() == 1;
  return found ? &e->args[0]->place[0] : nullptr;
}
// That of index >>> 1 where neighbours i and i + 1 may have it in common: if i and all terms that are added are even.
inline const Affine* halved_index(Expr e) {
  const Affine* a = index_with_one(Op::shift_right_logical, e);
  return a && a->constant % 2 == 0 ? a : nullptr;
}

}  // namespace anvil::loops
