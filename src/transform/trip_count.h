// How often a loop runs, where its text tells.
#pragma once
#include <optional>
#include <unordered_map>

#include "graph/graph.h"

namespace anvil::transform {

// The call of a graph that makes a value; null for what comes from elsewhere.
const graph::Call* maker(const graph::Graph&, const graph::ValuePtr&);

// Of a loop as long as `k < end` or `k <= end` with k = k + step, all of them numbers of the text.
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

// Whether v takes all of 0, ..., n - 1 in the body of a loop whose k counts `start`, start + 1, ..., n times: k - start or
// n - 1 - (k - start), in any dtype.
bool counts_all(const graph::Graph& body, graph::ValuePtr v, const graph::ValuePtr& k, int64_t start, int64_t n);

// Whether a loop writes each element of a carried array once, a step of one dimension at a time, and reads
// none of them: what the array held before does not matter.
bool overwrites(const graph::Call& loop, size_t carried);

}  // namespace anvil::transform
