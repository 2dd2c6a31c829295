// What the region of a sort compares. Most comparators compare keys: a function of the left
// elements with the same function of the right ones, and where these are equal the next
// keys. Those are sorts of our own; any other strict weak order is sorted by a network.
#pragma once
#include <optional>

#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {

struct SortKey {
  ValuePtr left;  // of the region: made of the left elements
  bool descending;
  // The left element that `left` orders as our sort does (NaN above all, -0 equal to 0), or -1.
  int64_t operand;
};
// The keys of a comparator, whose inputs are (left, right) of each operand; none when it
// compares anything else.
std::vector<SortKey> sort_keys(const Graph& comparator);

// The operands along `dim` in the order of the comparator, stable, with O(n (log n)^2)
// comparisons: sort_network.cpp.
Vars sort_by_network(Importer&, const Graph& comparator, const Vars& operands, int64_t dim);

}  // namespace anvil::stablehlo
