// A program that finds out while it runs which of its calls was the first to make a NaN:
//
//   %2 = log(%x)      %2 = log(%x)
//                     %3 = ne(%2, %2)   %4 = reduce_max(%3)        of each value that is read by a call
//                     %7 = check [error = "nan", message = "`log` produced NaN."] (!%4 | %6)
//
// Its checks are calls of the graph, with effects, so what compiles or evaluates it knows nothing of them.
#pragma once
#include "graph/graph.h"

namespace anvil::transform {

enum class Faults : uint8_t { nan, not_finite };  // NaN; NaN and Inf

// Puts a check behind each call that computes floats, those in branches and loops included: some element is at
// fault though none of the operands' is. Calls that move elements, or make them of nothing, are not looked at.
void check_values(graph::Graph&, Faults);

}  // namespace anvil::transform
