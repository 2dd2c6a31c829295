// What the rules of LAPACK's routines share.
#pragma once
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {

// LAPACK sees matrices column by column, whatever order the batch has; refuses others.
void check_lapack_layouts(const Operation&, const Vars& operands);

}  // namespace anvil::stablehlo
