// Loops in segments, for reverse mode: of a segment only the first state is recorded, the steps in it
// are recorded one segment at a time, on the way back.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace anvil::transform {

// A `while` with the same results, as a loop over loops of up to `length` steps.
graph::Call in_segments(const graph::Call& loop, int64_t length);

// Two loops with the results of a `while`: of its first steps, `length` at most, and of all others, in segments
// of as many or in one.
enum class Rest : uint8_t { in_segments, in_one };
std::array<graph::Call, 2> split(const graph::Call& loop, int64_t length, Rest = Rest::in_segments);

// The length that parameter `segment` of a loop asks for. Without one: 0, for no segments, unless
// the loop is known to run so often that records of so many bytes are more than `most_recorded` and
// segments take less, and then the length that takes least.
int64_t segment_length(const graph::Call& loop, int64_t record_bytes);
inline constexpr double most_recorded = 1e9;
// Of a loop whose number of steps is not known and whose parameter says nothing: how many steps have records of
// that size, after which the others are to be cut; 0 where these are more than anybody waits for.
int64_t recorded_steps(const graph::Call& loop, int64_t record_bytes);
inline constexpr int64_t most_waited_for = 1'000'000;
// What parameter `segment` says; -1 where there is none, 0 where the loop is not to be cut.
int64_t stated_length(const graph::Call& loop);
// How many steps of a loop in a loop the other one is to expect that keeps their records; none where they end with
// the loop, as those of a segment do.
std::optional<int64_t> kept_records(const graph::Call& loop);
// Of a loop in a loop, whose number of steps is not known: how many have records that take as much as its state,
// where these are more than are expected, else 0. After so many the state is recorded in the place of more records.
int64_t steps_like_state(const graph::Call& loop, int64_t record_bytes);

}  // namespace anvil::transform
