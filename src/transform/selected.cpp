#include "transform/selected.h"

#include <algorithm>

namespace anvil::transform {

using primitives::Var;

bool Selected::contain(const ValueList& derivatives) const {
  bool any = false;
  for (const ValuePtr& v : derivatives) {
    if (v && !contains(v)) return false;
    any = any || v;
  }
  return any;
}

void Selected::insert(const ValuePtr& derivative, Weights weights, const ValueList& from, Graph& to) {
  constexpr int deepest = 64;  // more of them in a row are recorded unasked, so that nothing ends the stack
  if (!derivative || derivative->kind == Value::Kind::literal || contains(derivative)) return;
  if (std::find(from.begin(), from.end(), derivative) != from.end()) return;  // all of it came through
  int depth = 0;
  for (const ValuePtr& v : from)
    if (const auto found = entries_.find(v); found != entries_.end()) depth = std::max(depth, found->second->depth);
  entries_[derivative] = std::make_shared<Entry>(Entry{std::move(weights), depth + 1, {}});
  if ((depth + 1) % deepest == 0) untaken(derivative, to);
}

void Selected::insert(const ValuePtr& derivative, const ValuePtr& like) {
  const std::shared_ptr<Entry> entry = entries_.at(like);
  if (derivative && derivative->kind != Value::Kind::literal) entries_.try_emplace(derivative, entry);
}

Var Selected::untaken(const ValuePtr& derivative, Graph& to) {
  const std::shared_ptr<Entry> entry = entries_.at(derivative);
  const auto record = [&](Graph& g) { return ValueList{(Var{&g, entry->weights(g)} == 0.0).value}; };
  return {&to, entry->untaken(to, record)[0]};
}

ValuePtr Selected::taken(const ValuePtr& derivative, Graph& to) {
  const TensorType type{derivative->type.dtype, derivative->type.shape};
  return contains(derivative) ? convert(!untaken(derivative, to), type.dtype).value : graph::make_literal(1, type);
}

ValuePtr Selected::kept(const ValuePtr& made, const ValuePtr& derivative, Graph& to) {
  const Var found{&to, made};
  return select(untaken(derivative, to), zeros_like(found), found).value;
}

}  // namespace anvil::transform
