// Where statements come from: the calls of the graph whose results they compute, as the numbers that
// graph::Call::location holds. A statement that computes has them itself; those of a loop are those of
// what is inside of it. Lowering says them, and a pass that makes a statement of others unites theirs.
#pragma once
#include "loops/walk.h"

namespace anvil::loops {

void unite(Origins& to, const Origins& more);
Origins origins(const Stmt&);             // with everything inside
void add_origins(Stmt&, const Origins&);  // to each statement inside that computes
void set_origin(Stmt&, int location);     // of each such statement that has none; -1: unknown, nothing is set

}  // namespace anvil::loops
