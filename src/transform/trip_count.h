// How often a loop runs, where its text tells.
#pragma once
#include <optional>

#include "graph/graph.h"

namespace anvil::transform {

// The call of a graph that makes a value; null for what comes from elsewhere.
const graph::Call* maker(const graph::Graph&, const graph::ValuePtr&);

// For a loop as long as `k < end` or `k <= end` with k = k + step, all of them numbers of the text.
std::optional<int64_t> trip_count(const graph::Call& loop);

}  // namespace anvil::transform
