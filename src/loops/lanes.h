// What the schedule expects of generated code where the lanes of a vector do not lie side by side.
#pragma once
#include <cstdlib>

#include "base/dtype.h"

namespace anvil::loops {

// Whether numbers so many elements apart are picked from the vectors between them, not loaded one by one.
inline bool lie_near(int64_t step, int64_t lanes, DType t) {
  step = std::abs(step);
  return 2 <= step && step <= 4 && 2 * step <= lanes && size_of(t) >= 4;
}

}  // namespace anvil::loops
