// What of a computation has to be kept so that another one can go on from there.
#pragma once
#include <algorithm>

#include "transform/rewrite.h"

namespace anvil::transform {

using ValueList = std::vector<ValuePtr>;

inline bool contains(const ValueList& list, const ValuePtr& v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}
Values addresses(const ValueList&);
ValueList reads(const Call&);              // in inner graphs too
Values made_by(const std::vector<Call>&);  // in inner graphs too
// Grows by the results of the calls that read a value of the set, in inner graphs too.
void add_dependent(const std::vector<Call>&, Values& set);

// The values of `body` from which, with what does not depend on `sources`, all can be computed that
// depends on `later` or leaves the body: those of least size, and of several choices the one nearest to
// the sources or to where they are used. What is `recorded` already costs next to nothing. A sum of many products that
// has to be made again costs as well: more than to record it, be it made of `counters` alone, which are there for
// nothing.
enum class Nearest : uint8_t { to_sources, to_use };
ValueList cheapest(const Graph& body, const ValueList& sources, const Values& later, Nearest, const Values& recorded,
                   const ValueList& counters = {});

}  // namespace anvil::transform
