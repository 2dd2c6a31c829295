// Equal nests as one function, see nest.h.
#include "backend/llvm/emitter.h"
#include "backend/llvm/nest.h"

namespace anvil::llvm_backend {

namespace {

constexpr double smallest_nest = 12;  // instructions, roughly: a call costs a few
constexpr size_t most_buffers = 24;
// What functions for equal nests must save, in instructions: in a large program, and in others; and how many times as much
// in others where locals go through memory.
constexpr double least_saved = 24, least_saved_of_small = 100, with_locals = 5;

}  // namespace

// The nests that stand in no other loop but a while.
void Emitter::find_nests(const loops::Block& block, std::vector<const loops::For*>& found) {
  for (const loops::Stmt& s : block) {
    if (const auto* f = std::get_if<loops::For>(&s.is)) {
      const bool tasks = f->kind == loops::For::Kind::parallel || analysis_.facts(f).control;
      if (!tasks && analysis_.size(s) >= smallest_nest) found.push_back(f);
    } else if (const auto* w = std::get_if<loops::While>(&s.is)) {
      find_nests(w->before, found), find_nests(w->body, found);
    } else if (const auto* i = std::get_if<loops::If>(&s.is)) {
      find_nests(i->yes, found), find_nests(i->no, found);
    }
  }
}

void Emitter::plan_nests() {
  const double least =
      analysis_.size(program_.body) > machine_.settings().largest_function ? least_saved : least_saved_of_small;
  std::vector<const loops::For*> found;
  find_nests(program_.body, found);
  for (auto& nests : equal_nests(program_, analysis_, found)) {
    const loops::For* model = nests[0].loop;
    const double needed = nests[0].locals.empty() || least == least_saved ? least : with_locals * least;
    if (nests[0].buffers.size() > most_buffers || analysis_.size(*model) * double(nests.size() - 1) < needed) continue;
    most_nest_locals_ = std::max(most_nest_locals_, nests[0].locals.size());
    for (auto& [f, buffers, locals] : nests) nests_[f] = {model, std::move(buffers), std::move(locals)};
  }
}

double Emitter::written_size(const loops::Stmt& s) const {
  const auto* f = std::get_if<loops::For>(&s.is);
  const auto shared = f ? nests_.find(f) : nests_.end();
  if (shared != nests_.end())
    return 4 + 2 * double(shared->second.buffers.size()) + 4 * double(shared->second.locals.size());
  const auto tasks = f ? tasks_.find(f) : tasks_.end();
  return tasks != tasks_.end() ? 8 + 2 * double(tasks->second.values()) : analysis_.size(s);
}

void Emitter::write_nests() {
  std::vector<const loops::For*> models;  // in the order of the program's nests
  for (const auto& [f, nest] : nests_)
    if (f == nest.model) models.push_back(f);
  for (const loops::For* f : models) {
    const std::vector<BufferId>& buffers = nests_.at(f).buffers;
    const std::vector<LocalId>& locals = nests_.at(f).locals;
    std::vector<std::string> arguments = {"buffers", "arena", "run"};
    for (BufferId b : buffers) arguments.push_back(program_.buffers[size_t(b)].name);
    if (!locals.empty()) arguments.push_back("locals");
    begin_function("nest" + std::to_string(nest_functions_.size() + 1), arguments);
    in_nest_ = true;
    for (size_t i = 0; i < buffers.size(); ++i) bases_[buffers[i]] = function_->getArg(unsigned(3 + i));
    if (!locals.empty()) take_locals(*f, locals);
    infos_.clear();
    emit(*f);
    for (size_t i = 0; i < locals.size(); ++i)
      if (!local_state(locals[i]).constant)
        b_.CreateStore(local_value(locals[i]), advance(here_.locals, i64(8 * int64_t(i))));
    end_function();
    nest_functions_[f] = function_;
  }
}

// The values of locals that were made outside; those that the nest changes get memory of their own, and their last value
// goes back.
void Emitter::take_locals(const loops::For& f, const std::vector<LocalId>& locals) {
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(entry_end_);
  for (size_t i = 0; i < locals.size(); ++i) {
    LocalState& state = locals_[locals[i]];
    llvm::Type* type = ops_.type(program_.locals[size_t(locals[i])].dtype);
    const Value x = b_.CreateLoad(type, advance(here_.locals, i64(8 * int64_t(i))));
    state.constant = analysis_.facts(&f).updated.count(locals[i]) == 0;
    state.values.push_back(state.constant ? x : slot(type, program_.locals[size_t(locals[i])].name));
    if (!state.constant) b_.CreateStore(x, state.values[0]);
  }
}

void Emitter::call_nest(const loops::For& f, const SharedNest& nest) {
  std::vector<Value> arguments = {here_.buffers, here_.arena, here_.run};
  for (BufferId b : nest.buffers) {
    int level = 0;
    arguments.push_back(base(b, &level));
  }
  if (!nest.locals.empty()) {
    if (!nest_locals_) nest_locals_ = slot(llvm::ArrayType::get(b_.getInt64Ty(), most_nest_locals_), "locals");
    for (size_t i = 0; i < nest.locals.size(); ++i)
      b_.CreateStore(local_value(nest.locals[i]), advance(nest_locals_, i64(8 * int64_t(i))));
    arguments.push_back(nest_locals_);
  }
  stop_unless_zero(b_.CreateCall(nest_functions_.at(nest.model), arguments));
  for (BufferId b : analysis_.facts(&f).changed) touch(b);
  for (size_t i = 0; i < nest.locals.size(); ++i) {
    const LocalId l = nest.locals[i];
    if (analysis_.facts(&f).updated.count(l) == 0) continue;
    llvm::Type* type = ops_.type(program_.locals[size_t(l)].dtype);
    b_.CreateStore(b_.CreateLoad(type, advance(nest_locals_, i64(8 * int64_t(i)))), local_state(l).values[0]);
    local_state(l).changed = ++time_;
  }
}

}  // namespace anvil::llvm_backend
