// How often a loop runs, where its text tells.
#pragma once
#include <optional>
#include <unordered_map>

#include "graph/graph.h"

namespace anvil::transform {

// The call of a graph that makes a value; null for what comes from elsewhere.
const graph::Call* maker(const graph::Graph&, const graph::ValuePtr&);

// A carried value that is start, start + step, start + 2 step, ..., numbers of the text.
struct Count {
  int64_t start, step;
};
std::optional<Count> count(const graph::Call& loop, size_t carried);

// Of a loop as long as a count has not come to a number of the text, with which it may be compared as a float that holds
// each of its values.
struct Counter {
  size_t carried;  // which of the carried values k is
  int64_t start, step;
  int64_t steps;  // how often the body runs
};
std::optional<Counter> counter(const graph::Call& loop);
inline std::optional<int64_t> trip_count(const graph::Call& loop) {
  const auto k = counter(loop);
  return k ? std::optional(k->steps) : std::nullopt;
}

// The same of loops that come in their order, those over what an earlier one has recorded included.
class TripCounts {
 public:
  std::optional<int64_t> of(const graph::Call& loop);

 private:
  std::unordered_map<const graph::Value*, int64_t> records_;  // on tapes
};

// What a value of a step is in the n steps of a loop: a carried count, or a sum or difference of one and a number, of any
// dtype of integers.
std::optional<Count> progress(const graph::Call& loop, const graph::ValuePtr& v, int64_t n);
// 1 where that is 0, ..., n - 1, -1 where it is n - 1, ..., 0, and else 0.
int direction_of(const graph::Call& loop, const graph::ValuePtr& v, int64_t n);
inline bool counts_all(const graph::Call& loop, const graph::ValuePtr& v, int64_t n) {
  return direction_of(loop, v, n) != 0;
}

// Whether a loop writes each element of a carried array once, a step of one dimension at a time, and reads
// none of them: what the array held before does not matter.
bool overwrites(const graph::Call& loop, size_t carried);

}  // namespace anvil::transform
