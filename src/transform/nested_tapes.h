// Loops that record the tapes of loops in their bodies. Where a step runs another loop, the smallest that the way
// back can go on from may be what that loop records: then a field of the record is a tape.
#pragma once
#include <optional>

#include "graph/graph.h"
#include "transform/rewrite.h"

namespace anvil::transform {

inline constexpr int64_t handle_bytes = 320;  // of a tape without records, its first chunk with it

// How many bytes a tape takes, as far as that can be told before the graph runs; null where the graph does not make it
// or where it shall not outlive its step.
std::optional<int64_t> expected_bytes(const Graph&, const ValuePtr& tape);

// The graph as transformations read it, where a tape is read beside the loop that records it and no record or branch
// gives one: the same graph where that is so already. Loops whose tapes others record run again where these are read.
GraphPtr without_nested_tapes(const Graph&);

}  // namespace anvil::transform
