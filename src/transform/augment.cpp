// Where a call stands in the graph of a derivative, the calls that also give its residuals take its place and
// make its results.
//
//   %y = sort(%x)      %i = iota()
//                      %y, %p = sort(%x, %i)      with %p, the places that the elements came from
#include "transform/augment.h"

#include <algorithm>

#include "primitives/vocabulary/var.h"
#include "transform/pullback.h"
#include "transform/rewrite.h"

namespace anvil::transform {

using primitives::primitive_of;
using primitives::Var;

namespace {

bool makes_value(const Graph& g, const ValuePtr& v) {
  return std::any_of(g.calls.begin(), g.calls.end(), [&](const Call& c) {
    return std::find(c.outputs.begin(), c.outputs.end(), v) != c.outputs.end();
  });
}

}  // namespace

Augmented augmented(const Call& call) {
  Graph part;
  ValueList made = primitive_of(call).augment(part, call);
  graph::Substitution own;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const TensorType& type = call.outputs[i]->type;
    if (!makes_value(part, made[i]) || own.count(made[i].get()) != 0 || made[i]->type != type)
      made[i] = primitives::convert(Var{&part, made[i]}, type.dtype, type.ambiguous).value;
    own[made[i].get()] = call.outputs[i];
  }
  substitute_in(own, part);
  substitute_all(own, made);
  graph::locate(part.calls, 0, call.location);
  made.erase(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(call.outputs.size()));
  return {std::move(part.calls), std::move(part.constants), std::move(made)};
}

// The residuals of a call. Where it stands in `to_`, the call that gives them takes its place; where it
// does not, it is made once more.
ValueList Pullback::augment(const Call& call) {
  const auto& p = primitive_of(call);
  if (!p.augment) return {};
  const auto place = places_.find(call.outputs[0].get());
  if (place == places_.end()) {
    ValueList made = p.augment(to_, call);
    made.erase(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(call.outputs.size()));
    return made;
  }
  Augmented a = augmented(call);
  append(to_.constants, a.constants);
  augmented_[place->second] = std::move(a.calls);
  return a.residuals;
}

void Pullback::put_augmented() {
  if (augmented_.empty()) return;
  std::vector<Call> calls;
  for (size_t i = 0; i < to_.calls.size(); ++i) {
    auto instead = augmented_.find(i);
    if (instead == augmented_.end())
      calls.push_back(std::move(to_.calls[i]));
    else
      std::move(instead->second.begin(), instead->second.end(), std::back_inserter(calls));
  }
  to_.calls = std::move(calls);
  augmented_.clear();
  places_.clear();
}

}  // namespace anvil::transform
