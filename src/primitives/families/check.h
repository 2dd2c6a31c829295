// Checks that programs make while they run, for the passes that put them in.
#pragma once
#include "primitives/vocabulary/var.h"

namespace anvil::primitives {

// Where `holds` is false, the run ends with an Error (base/check.h) about this call of the user's.
void check(const Var& holds, const std::string& error, const std::string& message, int location);

}  // namespace anvil::primitives
