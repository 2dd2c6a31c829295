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

// Whether an expression is (i + a) >>> 1, which is the same for two neighbours i and i + 1 if i and a are even. `even` says
// which terms are; that of i is one of them.
template <class Even>
bool halves_index(Expr e, const Even& even) {
  if (e->op != Op::shift_right_logical || e->args[0]->op != Op::index || e->args[1]->op != Op::constant ||
      e->args[1]->constant.template as<int64_t>() != 1)
    return false;
  const Affine& a = e->args[0]->place[0];
  return a.constant % 2 == 0 && std::all_of(a.terms.begin(), a.terms.end(), even);
}

}  // namespace anvil::loops
