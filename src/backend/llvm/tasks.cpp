// Parallel loops: the body becomes a function of the number of the step, which the runtime calls on several
// threads. What it uses of the function around it is handed over in an array:
//
//   for k in 0..50 parallel {            context = {buffers, arena, a1}
//     for i in 0..100 {             ->   anvil_parallel(run, task1, context, 50, ...)
//       out1[100*k + i] = a1             task1(context, run, step, own): for i in 0..100 { ... }
//
// Equal bodies (nest.h) are one function, which finds all their buffers there.
#include "backend/llvm/emitter.h"
#include "backend/llvm/nest.h"

namespace anvil::llvm_backend {

using loops::For;
using loops::Op;

void Emitter::plan_tasks() {
  Ranges around;
  find_tasks(program_.body, around);
  for (auto& tasks : equal_nests(program_, analysis_, parallel_))
    if (tasks.size() > 1)
      for (auto& [f, buffers, locals] : tasks) {
        TaskInput& input = tasks_.at(f);
        input.model = tasks[0].loop, input.pointers = std::move(buffers), input.locals = std::move(locals);
      }
}

void Emitter::find_tasks(const loops::Block& block, Ranges& around) {
  for (const loops::Stmt& s : block) {
    const auto* f = std::get_if<For>(&s.is);
    if (f && f->kind == For::Kind::parallel) {
      parallel_.push_back(f);
      tasks_.emplace(f, task_input(*f, around));
      continue;
    }
    if (f) around[f->variable] = {f->begin, f->end - 1};
    loops::each_block(s, [&](const loops::Block& inner) { find_tasks(inner, around); });
    if (f) around.erase(f->variable);
  }
}

Emitter::TaskInput Emitter::task_input(const For& f, const Ranges& around) const {
  TaskInput input;
  const Facts& known = analysis_.facts(&f);
  for (LocalId l : known.read)
    if (!known.made.count(l)) input.locals.push_back(l);
  std::set<Variable> used, made = {f.variable};
  std::set<BufferId> buffers;
  const auto index = [&](const Affine& a) {
    for (const loops::Term& t : a.terms) used.insert(t.variable);
  };
  const auto walk = [&](const auto& self, const loops::Block& block) -> void {
    for (const loops::Stmt& s : block) {
      if (const auto* inner = std::get_if<For>(&s.is)) made.insert(inner->variable);
      if (const auto* bind = std::get_if<loops::Bind>(&s.is)) made.insert(bind->parameter);
      if (const auto* c = std::get_if<loops::Contraction>(&s.is))
        c->each_axis([&](const auto& axis) { made.insert(axis.variable); });
      loops::each_access(s, [&](BufferId b, const loops::Index* place, loops::AccessKind) {
        buffers.insert(analysis_.root(b));
        for (const Affine& a : *place) index(a);
      });
      loops::each_expression(s, [&](Expr e) {
        loops::each_node(e, [&](Expr x) {
          if (x->op == Op::index) index(x->place[0]);
        });
      });
      loops::each_block(s, [&](const loops::Block& inner) { self(self, inner); });
    }
  };
  walk(walk, f.body);
  for (BufferId b : buffers)
    if (analysis_.swapped().count(b)) input.pointers.push_back(b);
  for (Variable v : used) {
    if (made.count(v)) continue;
    const loops::VariableInfo& info = program_.variables[size_t(v)];
    const auto loop = around.find(v);
    input.variables.emplace_back(v, loop == around.end() ? std::pair{info.low, info.high} : loop->second);
  }
  return input;
}

void Emitter::write_tasks() {
  for (size_t n = 0; n < parallel_.size(); ++n) {
    const For* f = parallel_[n];
    TaskInput& input = tasks_.at(f);
    if (input.model && input.model != f) {
      input.function = tasks_.at(input.model).function;
      continue;
    }
    begin_function("task" + std::to_string(n + 1), {"context", "run", "step", "own"});
    in_nest_ = true;
    {
      const llvm::IRBuilder<>::InsertPointGuard guard(b_);
      b_.SetInsertPoint(entry_end_);
      int64_t next = 0;
      const auto take = [&](llvm::Type* type) {
        return b_.CreateLoad(type, advance(function_->getArg(0), i64(8 * next++)));
      };
      here_.buffers = take(ptr_);
      here_.arena = take(ptr_);
      for (BufferId b : input.pointers) bases_[b] = take(ptr_);
      for (LocalId l : input.locals) locals_[l].values.push_back(take(ops_.type(program_.locals[size_t(l)].dtype)));
      for (const auto& [v, range] : input.variables) {
        VariableState& state = variables_[v];
        state.low = range.first, state.high = range.second;
        state.values.push_back(take(b_.getInt64Ty()));
      }
    }
    VariableState& step = variables_[f->variable];
    step.low = f->begin, step.high = f->end - 1;
    step.values.push_back(function_->getArg(2));
    block(f->body);
    end_function();
    input.function = function_;
  }
}

void Emitter::call_tasks(const For& f) {
  constexpr double nanoseconds_of_operation = 0.4;
  const TaskInput& input = tasks_.at(&f);
  Value context = slot(llvm::ArrayType::get(b_.getInt64Ty(), input.values()), "context");
  int64_t next = 0;
  const auto give = [&](Value x) { b_.CreateStore(x, advance(context, i64(8 * next++))); };
  give(here_.buffers);
  give(here_.arena);
  for (BufferId b : input.pointers) {
    int level = 0;
    give(base(b, &level));
  }
  for (LocalId l : input.locals) give(local_value(l));
  for (const auto& [v, _] : input.variables) {
    const VariableState& state = variable_state(v);
    give(state.values.empty() ? state.start : state.values[0]);
  }
  int64_t own = 0;
  for (BufferId b : f.own) {
    const loops::Buffer& buffer = program_.buffers[size_t(b)];
    own = std::max(own, buffer.offset + elements(buffer.shape) * int64_t(size_of(buffer.dtype)));
  }
  const double work = analysis_.plan(&f).body_work * double(f.end - f.begin);
  llvm::Type* number = b_.getInt64Ty();
  const llvm::FunctionCallee parallel =
      callee("anvil_parallel", b_.getInt32Ty(), {ptr_, ptr_, ptr_, number, number, number}, false);
  stop_unless_zero(b_.CreateCall(parallel, {here_.run, input.function, context, i64(f.end), i64(own),
                                            i64(int64_t(std::min(1e18, work * nanoseconds_of_operation)))}));
  for (BufferId b : analysis_.facts(&f).changed) touch(b);
}

}  // namespace anvil::llvm_backend
