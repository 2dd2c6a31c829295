// Loops in segments, for reverse mode: of a segment only the first state is recorded, the steps in it
// are recorded one segment at a time, on the way back.
#pragma once
#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace anvil::transform {

// A `while` with the same results, as a loop over loops of up to `length` steps.
graph::Call in_segments(const graph::Call& loop, int64_t length);

// Two loops with the results of a `while`: of its first steps, `length` at most, and of all others, in segments
// of as many.
std::array<graph::Call, 2> split(const graph::Call& loop, int64_t length);

// The length that parameter `segment` of a loop asks for. Without one: 0, for no segments, unless
// the loop is known to run so often that records of so many bytes are more than `most_recorded` and
// segments take less, and then the length that takes least.
int64_t segment_length(const graph::Call& loop, int64_t record_bytes);
inline constexpr double most_recorded = 1e9;
// Of a loop whose number of steps is not known and whose parameter says nothing: how many steps have records of
// that size, after which the others are to be cut; 0 where these are more than anybody waits for.
int64_t recorded_steps(const graph::Call& loop, int64_t record_bytes);
inline constexpr int64_t most_waited_for = 1'000'000;
// What parameter `segment` says; -1 where there is none.
int64_t stated_length(const graph::Call& loop);

}  // namespace anvil::transform
