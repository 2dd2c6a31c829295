// Lowering of scatters: a copy of the input, where somebody else still needs it, and loops
// over the updates. Each looks whether its place is inside and changes what is there.
//
//   x1 at x2 plus x3:                      for i in 0..100 { out1[i] = x1[i] }
//                                          for i in 0..5000 {
//                                            if x2[i] in 0..100 {
//                                              $p = x2[i]
//                                              out1[$p] = out1[$p] + x3[i]
//                                            }
//                                          }
//
// A window with a place of its own lies inside as a whole, or is taken element by element.
#include <algorithm>

#include "compiler/lower.h"
#include "compiler/traverse.h"
#include "primitives/vocabulary/infer.h"

namespace anvil::compiler {

// One nest over updates.
struct Lowerer::Walk {
  const Updates& updates;
  std::vector<BufferId> to;
  Shape shape;                          // of the results
  Index u, offset;                      // of one update
  Exprs start;                          // of its window, null where that is 0
  std::vector<int64_t> moved;           // dimensions of the results with a start
  std::vector<int64_t> around, inside;  // dimensions of u with loops around those of the steps, and inside them
};

namespace {

// Whether 0 <= x < n, by one comparison of unsigned numbers.
Expr within(loops::ExprPool& e, Expr x, int64_t n) {
  return e.binary(Op::lt, e.convert(x, DType::ui64), e.constant(n, DType::ui64));
}
Expr all(loops::ExprPool& e, const std::vector<Expr>& conditions) {
  Expr both = nullptr;
  for (Expr c : conditions) both = both ? e.binary(Op::bit_and, both, c) : c;
  return both;
}

}  // namespace

// Where a result is made: over its base when only this call reads that, else in a copy.
BufferId Lowerer::start_as(const ValuePtr& result, const ValuePtr& base, bool in_place) {
  if (in_place) {
    place(result, buffer_of(base));
    return buffer_of(base);
  }
  BufferId to = result_buffer(result);
  copy(to, base);
  return to;
}

// No other operand of the current call lies in the same memory.
bool Lowerer::only_operand(const ValuePtr& v) const {
  BufferId own = root(places_.at(v.get()));
  int reads = 0;
  auto count = [&](const ValuePtr& x) {
    auto it = places_.find(x.get());
    reads += it != places_.end() && root(it->second) == own;
  };
  for (const ValuePtr& x : call_->inputs) count(x);
  for (const auto& inner : subgraphs(*call_))
    for (const ValuePtr& x : captures(*inner)) count(x);
  return reads == 1;
}

void Lowerer::finish_in_place(const ValuePtr& result, BufferId b) {
  auto target = regions_.back().targets.find(result.get());
  bool state = target != regions_.back().targets.end() &&
               program_.buffers[static_cast<size_t>(target->second)].kind == loops::Buffer::Kind::temporary;
  if (!state) bind(result, b);  // the next state of a loop may stay where the state is
}

// The elements at a place become what the update makes of them; `body` may hold the
// parameters that the place needs.
Block Lowerer::change(const Walk& w, const Index& place, Block body) {
  Exprs old, fresh;
  for (BufferId b : w.to) old.push_back(exprs().load(b, program_.buffers[static_cast<size_t>(b)].dtype, place));
  evaluate([&] { return (fresh = w.updates.element(w.u, old))[0]; }, body);
  if (w.to.size() > 1)  // all are known before the first is stored
    for (Expr& e : fresh) {
      auto l = static_cast<loops::LocalId>(program_.locals.size());
      program_.locals.push_back({"n" + std::to_string(l + 1), e->dtype});
      body.push_back({loops::Let{l, e}});
      e = exprs().local(l, e->dtype);
    }
  for (size_t k = 0; k < w.to.size(); ++k)
    if (fresh[k] != old[k]) body.push_back(stored(w.to[k], place, fresh[k]));
  return body;
}

Affine Lowerer::bound_parameter(Expr value, int64_t low, int64_t high, Block& body) {
  const Variable v = make_parameter(program_, low, high);
  body.push_back({loops::Bind{v, value}});
  return loops::variable(v);
}

// Loops over these dimensions of an update, the first innermost.
Block Lowerer::update_loops(const Walk& w, const std::vector<int64_t>& dims, Block body) {
  for (int64_t axis : dims) {
    auto d = static_cast<size_t>(axis);
    if (w.updates.extents[d] == 1) continue;
    loops::For loop;
    loop.variable = dimension(d);
    loop.end = w.updates.extents[d];
    loop.body = std::exchange(body, {});
    body.push_back({std::move(loop)});
  }
  return body;
}

// The window at a step that lies inside as a whole.
Block Lowerer::whole_window(const Walk& w) {
  Block body;
  Index place = w.offset;
  for (int64_t axis : w.moved) {
    auto d = static_cast<size_t>(axis);
    int64_t room = w.shape[d] - w.updates.sizes[d];
    if (room > 0) place[d] = place[d] + bound_parameter(w.start[d], 0, room, body);
  }
  Block loops = update_loops(w, w.inside, change(w, place, {}));
  body.insert(body.end(), std::make_move_iterator(loops.begin()), std::make_move_iterator(loops.end()));
  return body;
}

// The window at a step that may lie inside in part.
Block Lowerer::partial_window(const Walk& w) {
  loops::ExprPool& e = exprs();
  Block body, yes;
  Index place = w.offset;
  Exprs inside;
  for (int64_t axis : w.moved) {
    auto d = static_cast<size_t>(axis);
    Expr near = e.binary(Op::minimum, e.binary(Op::maximum, w.start[d], number(-w.updates.sizes[d])),
                         number(w.shape[d]));  // elsewhere nothing is inside either
    Affine at = bound_parameter(near, -w.updates.sizes[d], w.shape[d], body) + w.offset[d];
    inside.push_back(within(e, e.index(at), w.shape[d]));
    place[d] = bound_parameter(e.index(at), 0, w.shape[d] - 1, yes);
  }
  Block element = {{loops::If{all(e, inside), change(w, place, std::move(yes)), {}}}};
  Block loops = update_loops(w, w.inside, std::move(element));
  body.insert(body.end(), std::make_move_iterator(loops.begin()), std::make_move_iterator(loops.end()));
  return body;
}

void Lowerer::store_updates(const Walk& w) {
  loops::ExprPool& e = exprs();
  Exprs inside;
  bool single = true;
  for (int64_t axis : w.moved) {
    auto d = static_cast<size_t>(axis);
    inside.push_back(within(e, w.start[d], w.shape[d] - w.updates.sizes[d] + 1));
    single = single && w.updates.sizes[d] == 1;
  }
  Block body = whole_window(w);
  if (!inside.empty()) {
    loops::If branch{all(e, inside), std::move(body), {}};
    if (!single) branch.no = partial_window(w);
    body.clear();
    body.push_back({std::move(branch)});
  }
  std::vector<int64_t> steps = primitives::other_axes(w.updates.extents.size(), w.updates.window);
  if (!w.updates.any_order) std::reverse(steps.begin(), steps.end());  // else in the order of memory
  emit(update_loops(w, w.around, update_loops(w, steps, std::move(body))));
}

void Lowerer::update(const std::vector<ValuePtr>& results, const std::vector<ValuePtr>& bases, const Updates& updates) {
  Walk w{updates, {}, results[0]->type.shape, index(updates.extents, &Lowerer::dimension), {}, {}, {}, {}, {}};
  std::vector<bool> in_place;
  for (const ValuePtr& base : bases) in_place.push_back(dead_after_this_call(base) && only_operand(base));
  for (size_t k = 0; k < results.size(); ++k) w.to.push_back(start_as(results[k], bases[k], in_place[k]));
  if (elements(updates.extents) > 0 && elements(w.shape) > 0) {
    w.offset = updates.offset(w.u);
    w.start = updates.start(w.u);
    bool single = true;
    for (size_t d = 0; d < w.shape.size(); ++d) {
      if (w.start[d] == nullptr) continue;
      w.moved.push_back(static_cast<int64_t>(d));
      single = single && updates.sizes[d] == 1;
    }
    // windows of different steps that never meet may lie around the steps, as memory has them
    for (int64_t axis : updates.window) {
      auto moves = [&](size_t d) { return loops::factor(w.offset[d], dimension(static_cast<size_t>(axis))) != 0; };
      size_t d = 0;
      while (d < w.shape.size() && !moves(d)) ++d;
      bool outside = single && !w.moved.empty() && static_cast<int64_t>(d) > w.moved[0];
      (outside ? w.around : w.inside).push_back(axis);
    }
    store_updates(w);
  }
  for (size_t k = 0; k < results.size(); ++k)
    if (in_place[k]) finish_in_place(results[k], w.to[k]);
}

}  // namespace anvil::compiler
