// Calls that keep more than their results, for rules that read residuals.
#pragma once
#include "transform/activity.h"

namespace anvil::transform {

// What takes the place of a call with an `augment`: calls that make its results, the same values, and
// residuals besides.
struct Augmented {
  std::vector<Call> calls;
  ValueList constants, residuals;
};
Augmented augmented(const Call&);

}  // namespace anvil::transform
