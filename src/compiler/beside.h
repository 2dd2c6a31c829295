// Which contractions can be one.
#pragma once
#include "compiler/traverse.h"

namespace anvil::compiler {

constexpr size_t furthest_beside = 8;  // statements from one to the other

// Whether a contraction of a block and another statement of it would become one (beside.cpp), if that were this
// contraction.
bool become_one(const Program&, const Block&, size_t contraction, size_t other, const Stmt& as_contraction);

}  // namespace anvil::compiler
