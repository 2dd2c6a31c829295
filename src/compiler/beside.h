// Which contractions can be one.
#pragma once
#include "compiler/traverse.h"

namespace anvil::compiler {

constexpr size_t furthest_beside = 8;  // statements from one to the other

// Whether two contractions are products of one operand that may stand beside each other (beside.cpp), as far as
// their axes go.
bool share_operand(Program&, const loops::Contraction&, const loops::Contraction&);

}  // namespace anvil::compiler
