// Programs without tapes, for languages in which every value has a fixed size. The records
// of a loop that counts to a known number lie in tensors with one more dimension; those of
// another loop are computed again when they are read, by running it up to that record, which
// takes time quadratic in the number of its iterations.
#pragma once
#include "graph/graph.h"

namespace anvil::transform {

// The graph with loops in the place of while_record and tape_scan; the same graph when it
// has neither.
graph::GraphPtr without_tapes(const graph::Graph&);

// The graph with such tensors for loops of its own whose records fit, and for those that record a length only;
// null when there is none. Inner graphs stay, and the values that do not go keep their identity.
graph::GraphPtr fitting_tapes_as_tensors(const graph::Graph&);
// The same of the graph and of each of those in it.
void fit_tapes(graph::Graph&);

}  // namespace anvil::transform
