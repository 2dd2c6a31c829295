// Loops over ranges: blocked steps, the last step, pieces, and reductions.
//
// Steps of width * copies rarely divide the range. Where a step may be repeated the last
// one starts earlier, `end - step`, and does some elements again; otherwise (sums, memory
// changed in place) one more step at the end leaves out the lanes that are done.
#include <algorithm>
#include <utility>

#include "backend/llvm/emitter.h"
#include "base/error.h"

namespace anvil::llvm_backend {

using loops::For;
using loops::Op;

namespace {

constexpr int64_t longest_sum = 512;  // additions in a row to one accumulator
constexpr int64_t block_of_sum = 256;

int64_t steps_of(const For& f, const Plan& p) { return (f.end - f.begin + p.step() - 1) / p.step(); }

}  // namespace

void Emitter::emit(const For& f) {
  if (f.kind == For::Kind::parallel) return call_tasks(f);
  if (const auto shared = nests_.find(&f); shared != nests_.end() && !in_nest_) return call_nest(f, shared->second);
  const Plan& plan = analysis_.plan(&f);
  const int64_t n = f.end - f.begin, step = plan.step(), rest = n % step;
  if (n <= 0) return;
  const Facts& known = analysis_.facts(&f);
  const bool accumulates =
      std::any_of(known.updated.begin(), known.updated.end(), [&](LocalId l) { return !known.made.count(l); });
  std::vector<Reduction> reductions = begin_reductions(f);
  const std::vector<Running> running = plan.width > 1 ? begin_running(f) : std::vector<Running>{};
  const llvm::ArrayRef<Running> outer_running = std::exchange(running_, running);
  Axis axis;
  axis.width = plan.width;
  axis.radix = axis.copies = plan.copies;
  if (rest == 0 || !(accumulates || plan.in_place)) {
    steps(f, axis, f.begin, f.end - step);
  } else {
    steps(f, axis, f.begin, f.end - rest - step);
    axis.copies = int((rest + plan.width - 1) / plan.width);
    axis.done = int(axis.copies * plan.width - rest);
    axis.keep = plan.in_place;
    const int64_t start = f.end - int64_t(axis.copies) * plan.width;
    steps(f, axis, start, start);
  }
  running_ = outer_running;
  for (const Running& r : running) end_running(r);
  for (Reduction& r : reductions) end_reduction(r);
}

// The steps that start at first, first + step, ..., the last of them at `last`.
void Emitter::steps(const For& f, Axis axis, int64_t first, int64_t last) {
  const Plan& plan = analysis_.plan(&f);
  const int64_t step = plan.step(), count = (last - first + step - 1) / step + 1;
  VariableState v;
  v.low = f.begin;
  v.high = f.end - 1;
  const int outer_vector = vector_axis_;
  const double outer_runs = std::exchange(runs_, plan.runs);
  if (plan.blocked) {
    v.axis = int(axes_.size());
    v.axes = AxisMask(1) << v.axis;
    v.lanes = axis.width > 1;
    if (v.lanes) vector_axis_ = v.axis;
    axes_.push_back(axis);
  }
  v.changed = ++time_;
  v.even = first % 2 == 0 && step % 2 == 0 && last % 2 == 0;
  if (count == 1) {
    v.start = i64(first);
    variables_[f.variable] = v;
    push_scope(&f, nullptr, false);
    block(f.body);
    pop_scope();
  } else {
    v.level = int(scopes_.size());
    push_scope(&f, nullptr, false);
    pieces(f, v, i64(first), i64(first + count * step), last, levels(f, count));
    pop_scope();
  }
  if (plan.blocked) axes_.pop_back();
  vector_axis_ = outer_vector, runs_ = outer_runs;
}

// How often blocked sums are added up and the user is asked.
std::vector<Emitter::Level> Emitter::levels(const For& f, int64_t count) const {
  std::vector<Level> result;
  const Plan& plan = analysis_.plan(&f);
  const auto sums = flushes_.find(&f);
  const int64_t sum_steps = sums == flushes_.end() ? 1 : sums->second.first;
  if (plan.body_work <= work_between_polls && plan.body_work * double(count) > work_between_polls) {
    const auto steps = std::max<int64_t>(1, int64_t(work_between_polls / std::max(1.0, plan.body_work)));
    result.push_back({(steps + sum_steps - 1) / sum_steps * sum_steps, {}, true});
  }
  if (sums != flushes_.end()) result.push_back({sum_steps, sums->second.second, false});
  return result;
}

// for v in from..to by step, in pieces of levels[0].steps steps, those in pieces of ...
void Emitter::pieces(const For& f, VariableState v, Value from, Value to, int64_t last, llvm::ArrayRef<Level> levels) {
  const int64_t step = analysis_.plan(&f).step();
  const std::string& name = program_.variables[size_t(f.variable)].name;
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* body = llvm::BasicBlock::Create(context_, name + (levels.empty() ? ".loop" : ".pieces"), function_);
  llvm::Instruction* door = b_.CreateBr(body);
  if (!scopes_.back().door) scopes_.back().door = door;
  b_.SetInsertPoint(body);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2, name);
  i->addIncoming(from, before);
  Value next = nullptr;
  if (levels.empty()) {
    v.start = i;
    if ((last - f.begin) % step != 0) v.start = b_.CreateSelect(b_.CreateICmpSLT(i, i64(last)), i, i64(last), name);
    variables_[f.variable] = v;
    block(f.body);
    next = b_.CreateAdd(i, i64(step));
  } else {
    next = b_.CreateAdd(i, i64(step * levels[0].steps));
    next = b_.CreateSelect(b_.CreateICmpSLT(next, to), next, to);
    pieces(f, v, i, next, last, levels.drop_front());
    for (Reduction* r : levels[0].flush) flush(*r);
    if (levels[0].poll) poll();
  }
  llvm::BasicBlock* done = llvm::BasicBlock::Create(context_, name + ".done", function_);
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, to), body, done);
  b_.SetInsertPoint(done);
}

// The blocked loops between a loop and one of its updates.
std::vector<const For*> Emitter::blocked_loops(const UpdatePath& u) const {
  std::vector<const For*> list;
  std::copy_if(u.loops.begin(), u.loops.end(), std::back_inserter(list),
               [this](const For* l) { return analysis_.plan(l).blocked; });
  return list;
}

// Gives every outer local that the loop only accumulates into one register (or several)
// for each copy and lane of the blocked loops on the way to its updates.
std::vector<Emitter::Reduction> Emitter::begin_reductions(const For& f) {
  std::map<LocalId, std::vector<UpdatePath>> paths;
  for (UpdatePath& u : analysis_.updates(f)) paths[u.update->local].push_back(std::move(u));
  std::vector<Reduction> result;
  result.reserve(paths.size());  // flushes_ points into it
  for (const auto& [id, updates] : paths) {
    if (local_state(id).partial) continue;
    const std::vector<const For*> axes = blocked_loops(updates[0]);
    const Op op = loops::accumulates(*updates[0].update);
    bool uniform = true;
    int64_t all = 0;
    std::map<const For*, int64_t> in_step;  // additions of one step of a loop
    for (const UpdatePath& u : updates) {
      int64_t count = 1;
      for (const For* l : u.loops) count *= steps_of(*l, analysis_.plan(l));
      all += count;
      ++in_step[u.loops.back()];
      uniform &= blocked_loops(u) == axes && loops::accumulates(*u.update) == op;
    }
    const bool long_sum = op == Op::add && is_float(program_.locals[size_t(id)].dtype) && all > longest_sum;
    if (!uniform || (axes.empty() && !long_sum)) continue;
    result.push_back(begin_reduction(id, op, axes, long_sum));
    if (long_sum)
      for (const UpdatePath& u : updates) plan_flush(u, in_step[u.loops.back()], &result.back());
  }
  return result;
}

Emitter::Reduction Emitter::begin_reduction(LocalId id, Op op, const std::vector<const For*>& axes, bool long_sum) {
  Reduction r{id, op, local_state(id), {}, 1, nullptr};
  LocalState inside = r.outside;
  inside.partial = true;
  inside.level = int(scopes_.size()) - 1;
  int width = r.outside.lanes ? lanes() : 1;
  for (size_t k = 0; k < axes.size(); ++k) {
    const Plan& p = analysis_.plan(axes[k]);
    inside.axes |= AxisMask(1) << (axes_.size() + k);  // the place that the loop will take
    r.copies *= p.copies;
    width = std::max(width, p.width);
  }
  inside.lanes = width > 1;
  inside.folded = inside.lanes && !r.outside.lanes;
  const DType t = program_.locals[size_t(id)].dtype;
  r.type = ops_.type(t, width);
  llvm::Constant* nothing = ops_.constant(loops::identity(op, t), t, width);
  const auto slots = [&](const char* suffix) {
    llvm::SmallVector<Value, 1> made;
    for (size_t k = 0; k < r.outside.values.size() * size_t(r.copies); ++k) {
      made.push_back(slot(r.type, program_.locals[size_t(id)].name + suffix));
      b_.CreateStore(nothing, made.back());
    }
    return made;
  };
  inside.values = slots(".part");
  if (long_sum) r.totals = slots(".sum");
  inside.changed = ++time_;
  locals_[id] = inside;
  return r;
}

// Finds the loop on the way whose steps make a sum long, and cuts it into blocks.
void Emitter::plan_flush(const UpdatePath& u, int64_t in_step, Reduction* r) {
  int64_t count = in_step;
  for (size_t k = u.loops.size(); k-- > 0;) {
    const int64_t inner = steps_of(*u.loops[k], analysis_.plan(u.loops[k]));
    if (count * inner <= longest_sum) {
      count *= inner;
      continue;
    }
    auto& [steps, list] = flushes_[u.loops[k]];
    const int64_t wish = std::max<int64_t>(1, block_of_sum / count);
    steps = list.empty() ? wish : std::min(steps, wish);
    if (std::find(list.begin(), list.end(), r) == list.end()) list.push_back(r);
    return;
  }
}

// Adds the sum of a block to the total and starts the next block.
void Emitter::flush(Reduction& r) {
  const DType t = program_.locals[size_t(r.local)].dtype;
  LocalState& inside = locals_[r.local];
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(r.type);
  llvm::Constant* nothing = ops_.constant(loops::identity(r.op, t), t, vector ? int(vector->getNumElements()) : 1);
  for (size_t k = 0; k < r.totals.size(); ++k) {
    b_.CreateStore(ops_.binary(r.op, t, b_.CreateLoad(r.type, inside.values[k]), b_.CreateLoad(r.type, r.totals[k])),
                   r.totals[k]);
    b_.CreateStore(nothing, inside.values[k]);
  }
  inside.changed = ++time_;
}

// Folds copies and lanes pairwise, and the result into the local.
void Emitter::end_reduction(Reduction& r) {
  if (!r.totals.empty()) flush(r);
  const DType t = program_.locals[size_t(r.local)].dtype;
  const LocalState inside = locals_[r.local];
  const auto& from = r.totals.empty() ? inside.values : r.totals;
  for (size_t o = 0; o < r.outside.values.size(); ++o) {
    if (!r.outside.values[o]) continue;
    llvm::SmallVector<Value, 16> parts;
    for (int k = 0; k < r.copies; ++k) parts.push_back(b_.CreateLoad(r.type, from[o * size_t(r.copies) + size_t(k)]));
    while (parts.size() > 1) {
      const size_t half = (parts.size() + 1) / 2;
      for (size_t k = 0; k + half < parts.size(); ++k) parts[k] = ops_.binary(r.op, t, parts[k], parts[k + half]);
      parts.resize(half);
    }
    Value sum = inside.lanes && !r.outside.lanes ? ops_.fold(r.op, t, parts[0]) : parts[0];
    Value place = r.outside.values[o];
    b_.CreateStore(ops_.binary(r.op, t, sum, b_.CreateLoad(sum->getType(), place)), place);
  }
  for (auto f = flushes_.begin(); f != flushes_.end();) {
    auto& list = f->second.second;
    list.erase(std::remove(list.begin(), list.end(), &r), list.end());
    f = list.empty() ? flushes_.erase(f) : std::next(f);
  }
  r.outside.changed = ++time_;
  locals_[r.local] = r.outside;
}

}  // namespace anvil::llvm_backend
