// The calls of a graph in order, and what leaves it. A value that leaves in another shape is written there at once:
// what it is reshaped from is a view of the destination.
//
//   %1: f32[24] = ...                         for i in 0..24 { out1v[i] = ... }
//   %2: f32[4, 6] = reshape %1                (out1v: the memory of out1)
//   return %2
#include "base/interrupt.h"
#include "compiler/lower.h"
#include "compiler/traverse.h"
#include "loops/origins.h"

namespace anvil::compiler {

namespace {
constexpr int64_t worth_a_view = 16;  // elements
}

bool Lowerer::is_in(BufferId b, const ValuePtr& v) const {
  auto it = places_.find(v.get());
  return it != places_.end() && root(it->second) == root(b);
}

BufferId Lowerer::view(BufferId b, const Shape& shape) {
  loops::Buffer view = program_.buffers[static_cast<size_t>(root(b))];
  view.shape = shape;
  view.alias = root(b);
  view.name += "v" + std::to_string(program_.buffers.size());
  program_.buffers.push_back(std::move(view));
  owners_.push_back({});
  return static_cast<BufferId>(program_.buffers.size()) - 1;
}

void Lowerer::alias(const ValuePtr& result, const ValuePtr& operand) {
  bind(result, view(buffer_of(operand), result->type.shape));
}

void Lowerer::lower_call(const graph::Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  switch (p.control) {
    case primitives::Control::none:
    case primitives::Control::once: break;
    case primitives::Control::branch: return lower_if(c);
    case primitives::Control::loop: return lower_while(c);
    case primitives::Control::scan: return lower_tape_scan(c);
  }
  if (!p.lower) throw InternalError("primitive " + p.name + " has no loop rule");
  call_ = &c;
  rule_ = &p;
  if (p.axes == primitives::Axes::regrouped) {
    const auto target = regions_.back().targets.find(c.outputs[0].get());
    if (target != regions_.back().targets.end() && is_in(target->second, c.inputs[0])) {
      if (c.location >= 0) add_origin(root(target->second), c.location);
      return place(c.outputs[0], target->second);
    }
  }
  p.lower(*this, c);
}

// To what the call that was lowered last of those that store there has stored.
void Lowerer::add_origin(BufferId memory, int location) {
  const auto add = [&](const auto& self, Stmt& s) -> bool {
    bool stores = false;
    each_access(s, [&](BufferId b, const Index*, AccessKind kind) {
      stores = stores || (kind != AccessKind::read && root(b) == memory);
    });
    if (stores) loops::unite(s.origins, {location});
    each_block(s, [&](Block& inner) {
      for (Stmt& t : inner) stores = self(self, t) || stores;
    });
    return stores;
  };
  bool found = false;
  for (auto s = block_->rbegin(); s != block_->rend(); ++s) {
    const bool stores = add(add, *s);
    if (found && !stores) return;
    found = stores;
  }
}

void Lowerer::lower_calls(const Graph& g, const std::vector<BufferId>& targets) {
  std::unordered_set<const Value*> made;
  for (const graph::Call& c : g.calls)
    for (const auto& v : c.outputs) made.insert(v.get());
  for (size_t k = 0; k < targets.size(); ++k)
    if (targets[k] >= 0 && made.count(g.outputs[k].get()))
      regions_.back().targets.emplace(g.outputs[k].get(), targets[k]);
  // What leaves in another shape is written there as well, but for what may become numbers (unroll.cpp), which have
  // no views.
  auto& known = regions_.back().targets;
  for (auto c = g.calls.rbegin(); c != g.calls.rend(); ++c) {
    if (primitives::primitive_of(*c).axes != primitives::Axes::regrouped) continue;
    const Value *to = c->outputs[0].get(), *from = c->inputs[0].get();
    if (known.count(to) && !known.count(from) && made.count(from) && elements(from->type.shape) > worth_a_view)
      known.emplace(from, view(known.at(to), from->type.shape));
  }
  for (size_t n = 0; n < g.calls.size(); ++n) {
    poll();
    regions_.back().position = static_cast<int>(n);
    const size_t first = block_->size();
    lower_call(g.calls[n]);
    for (size_t k = first; k < block_->size(); ++k) loops::set_origin((*block_)[k], g.calls[n].location);
  }
}

void Lowerer::copy_outputs(const Graph& g, const std::vector<BufferId>& targets) {
  for (size_t k = 0; k < targets.size(); ++k) {
    const ValuePtr& v = g.outputs[k];
    auto it = places_.find(v.get());
    bool there = v->kind != Value::Kind::literal && it != places_.end() && it->second == targets[k];
    if (targets[k] < 0 || there) continue;
    const size_t first = block_->size();
    copy(targets[k], v);
    for (size_t n = first; n < block_->size(); ++n) loops::set_origin((*block_)[n], graph::location_of(v, g.calls));
  }
}

}  // namespace anvil::compiler
