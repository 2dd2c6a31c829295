// Loops of interpreted programs, as the code generator cuts them, and what they accumulate.
#include "loops/walk.h"
#include "support/interpret_loops.h"
#include "support/loop_values.h"

namespace anvil::test {

using loops::For;

void LoopInterpreter::statement(const For& f) {
  VariableState& v = variables_[static_cast<size_t>(f.variable)];
  if (f.kind == For::Kind::parallel) {
    tasks(f);
  } else if (auto plan = plans_.find(&f); plan != plans_.end()) {
    blocked(f, plan->second);
  } else {
    for (int64_t k = f.begin; k < f.end; ++k) {
      v.visible = true;
      v.values.assign(1, k);
      block(f.body);
    }
  }
  v.visible = false;
}

// Tasks come in any order, and with memory of their own: the last one comes first here.
void LoopInterpreter::tasks(const For& f) {
  require_one_step("parallel loop");
  for (int64_t k = f.end; k-- > f.begin;) {
    variables_[static_cast<size_t>(f.variable)] = {true, {k}};
    const size_t before = memories_.size();
    place_own(f.own);
    block(f.body);
    memories_.resize(before);
  }
  for (loops::BufferId b : f.own) places_[static_cast<size_t>(b)] = {};
}

// Steps of width * copies; see the head of backend/llvm/loops.cpp.
void LoopInterpreter::blocked(const For& f, const LoopPlan& plan) {
  const int64_t step = plan.step(), rest = (f.end - f.begin) % step;
  if (rest == 0 || !(plan.accumulates || plan.in_place)) {
    for (int64_t first = f.begin; first < f.end; first += step)
      side_by_side(f, std::min(first, f.end - step), {step, 0, false});
  } else {
    for (int64_t first = f.begin; first < f.end - rest; first += step) side_by_side(f, first, {step, 0, false});
    const int64_t points = (rest + plan.width - 1) / plan.width * plan.width;
    side_by_side(f, f.end - points, {points, points - rest, plan.in_place});
  }
}

void LoopInterpreter::side_by_side(const For& f, int64_t start, Axis axis) {
  if (start < f.begin) fail("a step in front of the loop");
  axes_.push_back(axis);
  counts_.push_back(counts_.back() * static_cast<size_t>(axis.points));
  std::vector<int64_t> values;
  for (size_t p = 0; p < points(); ++p) values.push_back(start + static_cast<int64_t>(p) % axis.points);
  variables_[static_cast<size_t>(f.variable)] = {true, std::move(values)};
  block(f.body);
  for (loops::LocalId id : running_) {
    Local& l = locals_[static_cast<size_t>(id)];
    l.values = std::move(l.so_far);
  }
  running_.clear();
  axes_.pop_back();
  counts_.pop_back();
  join_sums();
}

// Whether a point is a step that was done before, of one of the axes from the given one on.
bool LoopInterpreter::done(size_t point, size_t from) const {
  for (size_t a = axes_.size(); a-- > from; point /= static_cast<size_t>(axes_[a].points))
    if (static_cast<int64_t>(point) % axes_[a].points < axes_[a].done) return true;
  return false;
}
bool LoopInterpreter::keeps(size_t point) const {
  for (size_t a = axes_.size(); a-- > 0; point /= static_cast<size_t>(axes_[a].points))
    if (axes_[a].keep && static_cast<int64_t>(point) % axes_[a].points < axes_[a].done) return true;
  return false;
}

// ---- updates ------------------------------------------------------------------------------

void LoopInterpreter::statement(const loops::Update& s) {
  if (!locals_[static_cast<size_t>(s.local)].made)
    fail("update of " + program_.locals[static_cast<size_t>(s.local)].name + " before it is made");
  const Op op = loops::accumulates(s);
  if (op == Op::local)
    assign(s);
  else if (s.running && locals_[static_cast<size_t>(s.local)].depth < axes_.size())
    run_along(s);
  else
    accumulate(s, op);
}

void LoopInterpreter::assign(const loops::Update& s) {
  std::vector<Traced> values;
  for (size_t p = 0; p < points(); ++p) values.push_back(evaluate(s.value, p));
  Local& l = locals_[static_cast<size_t>(s.local)];
  if (l.depth != axes_.size()) fail("steps side by side assign one local");
  steps += static_cast<int64_t>(values.size());
  l.values = std::move(values);
}

Traced LoopInterpreter::operand(const loops::Update& s, size_t point) {
  if (s.op != Op::local) return evaluate(s.value, point);
  loops::Node product;
  product.op = Op::mul;
  product.dtype = s.value->dtype;
  product.args = {s.value->args[0], s.value->args[1], nullptr};
  const Traced a = evaluate(product.args[0], point), b = evaluate(product.args[1], point);
  const Scalar numbers[] = {a.number, b.number};
  const Term terms[] = {a.term, b.term};
  const Scalar number = compute(product, numbers);
  return {number, make_.apply(product, terms, number)};
}

LoopInterpreter::Sums& LoopInterpreter::sums_of(loops::LocalId id, Op op) {
  Local& l = locals_[static_cast<size_t>(id)];
  if (l.sums.empty()) l.op = op, summing_.push_back(id);
  if (l.op != op) fail("sums of different operations in flight");
  l.sums.resize(axes_.size() - l.depth);
  Sums& s = l.sums.back();
  if (s.values.empty()) s = {std::vector<Traced>(points(), {{}, Terms::nothing(op)}), std::vector<bool>(points())};
  return s;
}

// What changes nothing is no part of a sum.
void LoopInterpreter::leave_out_identity(Traced& sum, Op op, DType t) {
  if (sum.term == make_.constant(loops::identity(op, t), t)) sum.term = Terms::nothing(op);
}

// A local made by the same steps is changed at once. One from outside of a blocked loop gets a sum
// for each step side by side, which joins when those are done.
void LoopInterpreter::accumulate(const loops::Update& s, Op op) {
  const DType t = program_.locals[static_cast<size_t>(s.local)].dtype;
  std::vector<Traced> operands;
  for (size_t p = 0; p < points(); ++p) operands.push_back(operand(s, p));
  Local& l = locals_[static_cast<size_t>(s.local)];
  const bool own = l.depth == axes_.size();
  Sums* sums = own ? nullptr : &sums_of(s.local, op);
  for (size_t p = 0; p < points(); ++p) {
    if (done(p, l.depth)) continue;  // those axes have a sum of their own
    ++steps;
    Traced& to = own ? l.values[p] : sums->values[p];
    const bool begun = own || sums->begun[p];
    leave_out_identity(to, op, t);
    leave_out_identity(operands[p], op, t);
    to.number = begun ? combine(op, t, to.number, operands[p].number) : operands[p].number;
    to.term = make_.accumulate(op, to.term, operands[p].term);
    if (!own) sums->begun[p] = true;
  }
}

// Of the steps side by side each sees what it and those before it in the innermost loop make.
void LoopInterpreter::run_along(const loops::Update& s) {
  const DType t = program_.locals[static_cast<size_t>(s.local)].dtype;
  Local& l = locals_[static_cast<size_t>(s.local)];
  if (l.depth + 1 != axes_.size()) fail("a local runs along several loops");
  const auto steps_of_each = static_cast<size_t>(axes_.back().points);
  l.so_far.clear();
  for (size_t q = 0; q < points() / steps_of_each; ++q) l.so_far.push_back(l.values[l.values.size() == 1 ? 0 : q]);
  std::vector<Traced> seen;
  for (size_t p = 0; p < points(); ++p) {
    Traced x = operand(s, p), &to = l.so_far[p / steps_of_each];
    if (!done(p, l.depth)) {
      ++steps;
      leave_out_identity(to, s.op, t);
      leave_out_identity(x, s.op, t);
      to = {combine(s.op, t, to.number, x.number), make_.accumulate(s.op, to.term, x.term)};
    }
    seen.push_back(to);
  }
  l.values = std::move(seen);
  running_.push_back(s.local);
}

// What the steps of a loop have added up goes to the sums of the loop around it, or to the local.
void LoopInterpreter::join_sums() {
  for (size_t k = summing_.size(); k-- > 0;) {
    const loops::LocalId id = summing_[k];
    Local& l = locals_[static_cast<size_t>(id)];
    if (l.depth + l.sums.size() != axes_.size() + 1) continue;
    const DType t = program_.locals[static_cast<size_t>(id)].dtype;
    const Sums from = std::move(l.sums.back());
    l.sums.pop_back();
    const bool last = l.sums.empty();
    Sums* to = last ? nullptr : &sums_of(id, l.op);
    for (size_t p = 0; p < from.values.size(); ++p) {
      if (!from.begun[p]) continue;
      const size_t q = p / (from.values.size() / points());
      Traced& x = last ? l.values[q] : to->values[q];
      const bool begun = last || to->begun[q];
      x.number = begun ? combine(l.op, t, x.number, from.values[p].number) : from.values[p].number;
      leave_out_identity(x, l.op, t);
      x.term = make_.join(l.op, x.term, from.values[p].term);
      if (!last) to->begun[q] = true;
    }
    if (last) summing_.erase(summing_.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

}  // namespace anvil::test
