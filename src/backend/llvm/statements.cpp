// Statements other than loops over a range.
#include <utility>

#include "backend/llvm/emitter.h"
#include "base/interrupt.h"
#include "loops/origins.h"

namespace anvil::llvm_backend {

using loops::Block;
using loops::Op;

void Emitter::push_scope(const void* statement, llvm::Instruction* door, bool may_not_run) {
  Scope scope;
  scope.statement = statement;
  scope.door = door;
  scope.outer_barrier = barrier_;
  scopes_.push_back(std::move(scope));
  if (may_not_run) barrier_ = int(scopes_.size()) - 1;
}

void Emitter::pop_scope() {
  barrier_ = scopes_.back().outer_barrier;
  scopes_.pop_back();
}

void Emitter::touch(BufferId b) { buffer_changed_[analysis_.root(b)] = ++time_; }

void Emitter::block(const Block& statements) {
  if (const auto cuts = cuts_.find(&statements); cuts != cuts_.end()) return call_sections(cuts->second);
  constexpr double long_block = 500;
  const bool outer = std::exchange(long_block_, analysis_.straight_size(statements) > long_block);
  for (const loops::Stmt& s : statements) emit(s);
  long_block_ = outer;
}

void Emitter::emit(const loops::Stmt& s) {
  anvil::poll();
  infos_.clear();
  if (comments_ && loops::is_nest(s)) return commented(s);
  std::visit([this](const auto& x) { emit(x); }, s.is);
}

// A loop begins with its first block, a call is the last one of the block in front.
void Emitter::commented(const loops::Stmt& s) {
  Comments* all = std::exchange(comments_, nullptr);
  const size_t blocks = function_->size();
  const llvm::BasicBlock* front = b_.GetInsertBlock();
  emit(s);
  const llvm::Value* begin = nullptr;
  const auto* f = std::get_if<loops::For>(&s.is);
  const bool by_call = f ? nests_.count(f) > 0 : !std::holds_alternative<loops::While>(s.is);
  if (by_call) {
    for (const llvm::Instruction& i : *front)
      if (llvm::isa<llvm::CallInst>(i)) begin = &i;
  } else if (function_->size() > blocks) {
    begin = &*std::next(function_->begin(), std::ptrdiff_t(blocks));
  }
  if (begin) (*all)[begin] = loops::origins(s);
  comments_ = all;
}

// Lanes of this copy that an earlier step has handled.
int Emitter::done_lanes(const Coordinate& c) const {
  return vector_axis_ >= 0 && c[size_t(vector_axis_)] == 0 ? axes_[size_t(vector_axis_)].done : 0;
}

Emitter::Value Emitter::not_done(int done) {
  llvm::SmallVector<llvm::Constant*, 64> lane;
  for (int l = 0; l < lanes(); ++l) lane.push_back(b_.getInt1(l >= done));
  return llvm::ConstantVector::get(lane);
}

void Emitter::emit(const loops::Store& s) {
  Info in = info(s.value);
  for (const Affine& a : s.place) depends(in, a);
  const auto result = [&](const Coordinate& c) { return spread(s.value, c, lanes(in)); };
  // Steps of several loops share loads, which a store between them would end.
  const bool first_all = vector_axis_ >= 0 && in.axes >> vector_axis_ == 1 && in.axes != AxisMask(1) << vector_axis_ &&
                         !loops::calls_function(s.value);
  llvm::SmallVector<Value, 1> results;
  if (first_all) results = per_coordinate(in.axes, result);
  each_coordinate(in.axes, [&](const Coordinate& c) {
    const bool keep = in.lanes && axes_[size_t(vector_axis_)].keep;
    store(s.buffer, s.value->dtype, s.place, c, first_all ? results[size_t(project(in.axes, c))] : result(c),
          keep ? done_lanes(c) : 0, s.around_caches);
  });
  touch(s.buffer);
}

void Emitter::emit(const loops::Let& s) {
  LocalState l;
  static_cast<Info&>(l) = info(s.value);
  const int outer = std::exchange(consumer_, home(l.level));
  l.values = per_coordinate(l.axes, [&](const Coordinate& c) { return value(s.value, c); });
  consumer_ = outer;
  l.level = home(l.level);
  if (Value shared = frame_slot(frame_locals_, s.local)) b_.CreateStore(l.values[0], shared);
  l.changed = std::max(l.changed, ++time_);
  locals_[s.local] = std::move(l);
}

// A slot for each coordinate of the loops around.
void Emitter::emit(const loops::Declare& s) {
  LocalState l;
  l.constant = false;
  l.level = int(scopes_.size()) - 1;
  l.axes = (AxisMask(1) << axes_.size()) - 1;
  l.lanes = vector_axis_ >= 0;
  Value shared = frame_slot(frame_locals_, s.local);
  const DType t = s.value->dtype;
  l.values = per_coordinate(l.axes, [&](const Coordinate& c) {
    Value place = shared ? shared : slot(ops_.type(t, l.lanes ? lanes() : 1), program_.locals[size_t(s.local)].name);
    b_.CreateStore(spread(s.value, c, lanes(l)), place);
    return place;
  });
  l.changed = ++time_;
  locals_[s.local] = std::move(l);
}

void Emitter::emit(const loops::Update& s) {
  for (const Running& r : running_)
    if (r.update == &s) return run_along(r);
  const LocalState l = local_state(s.local);
  const DType t = s.value->dtype;
  const bool fused = s.op == Op::local && l.partial;  // x = fma(a, b, x)
  each_coordinate(l.axes, [&](const Coordinate& c) {
    Value place = l.values[size_t(project(l.axes, c))];
    const auto operand = [&](Expr e) { return spread(e, c, lanes(l)); };
    llvm::Type* type = ops_.type(t, l.lanes ? lanes() : 1);
    Value result;
    if (fused) {
      Value x = operand(s.value->args[0]), y = operand(s.value->args[1]);
      result = ops_.fma(t, x, y, b_.CreateLoad(type, place));
    } else {
      result = operand(s.value);
      if (s.op != Op::local) result = ops_.binary(s.op, t, b_.CreateLoad(type, place), result);
    }
    const int done = l.folded ? done_lanes(c) : 0;
    if (done > 0) result = b_.CreateSelect(not_done(done), result, b_.CreateLoad(type, place));
    b_.CreateStore(result, place);
  });
  local_state(s.local).changed = ++time_;
}

void Emitter::emit(const loops::Bind& s) {
  VariableState v;
  static_cast<Info&>(v) = info(s.value);
  const int outer = std::exchange(consumer_, home(v.level));
  v.values = per_coordinate(v.axes, [&](const Coordinate& c) { return value(s.value, c); });
  consumer_ = outer;
  v.level = home(v.level);
  v.low = program_.variables[size_t(s.parameter)].low;
  v.high = program_.variables[size_t(s.parameter)].high;
  v.changed = std::max(v.changed, ++time_);
  if (Value shared = frame_slot(frame_parameters_, s.parameter)) b_.CreateStore(v.values[0], shared);
  variables_[s.parameter] = std::move(v);
}

void Emitter::emit(const loops::If& s) {
  Value condition = value(s.condition, {});
  llvm::BasicBlock* yes = llvm::BasicBlock::Create(context_, "yes", function_);
  llvm::BasicBlock* no = s.no.empty() ? nullptr : llvm::BasicBlock::Create(context_, "no", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "after", function_);
  llvm::Instruction* door = b_.CreateCondBr(condition, yes, no ? no : after);
  for (const auto& [branch, start] : {std::pair{&s.yes, yes}, std::pair{&s.no, no}}) {
    if (!start) continue;
    b_.SetInsertPoint(start);
    push_scope(&s, door, true);
    block(*branch);
    pop_scope();
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
}

void Emitter::emit(const loops::While& s) {
  llvm::BasicBlock* test = llvm::BasicBlock::Create(context_, "test", function_);
  llvm::BasicBlock* body = llvm::BasicBlock::Create(context_, "do", function_);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(context_, "done", function_);
  llvm::Instruction* door = b_.CreateBr(test);
  b_.SetInsertPoint(test);
  push_scope(&s, door, false);
  block(s.before);
  infos_.clear();
  b_.CreateCondBr(value(s.condition, {}), body, done);
  b_.SetInsertPoint(body);
  block(s.body);
  count_down(facts(scopes_.back()).work);
  b_.CreateBr(test);
  pop_scope();
  b_.SetInsertPoint(done);
}

// Exchanges the places of two buffers; two numbers in registers exchange their values.
void Emitter::emit(const loops::Swap& s) {
  Value first = place(s.first), second = place(s.second);
  llvm::Type* type = registers_.count(s.first) ? ops_.memory_type(program_.buffers[size_t(s.first)].dtype) : ptr_;
  Value x = b_.CreateLoad(type, first), y = b_.CreateLoad(type, second);
  b_.CreateStore(y, first);
  b_.CreateStore(x, second);
  touch(s.first);
  touch(s.second);
}

void Emitter::emit(const loops::Prefetch& s) {
  constexpr int to_read = 0, into_all_caches = 3, of_data = 1;
  const Affine offset = loops::linear(program_, s.buffer, s.place);
  Info in;
  depends(in, offset);
  each_coordinate(in.axes, [&](const Coordinate& c) {
    Value first = pointer(s.buffer, offset, c, 0);
    for (int64_t at = 0; at < s.bytes; at += loops::cache_line)
      b_.CreateIntrinsic(
          llvm::Intrinsic::prefetch, {ptr_},
          {advance(first, i64(at)), b_.getInt32(to_read), b_.getInt32(into_all_caches), b_.getInt32(of_data)});
  });
}

}  // namespace anvil::llvm_backend
