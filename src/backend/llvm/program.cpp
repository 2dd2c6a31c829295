// A program as functions. A large one is cut between statements, those of the bodies of large
// `while`s and `if`s among them, since the time to generate code grows faster than a function does
// and nobody can stop LLVM inside of one; what several functions need lives in a frame that the
// entry provides.
#include "backend/llvm/emitter.h"
#include "base/error.h"

namespace anvil::llvm_backend {

Emitter::Emitter(const Program& program, const Machine& machine, llvm::Module& module, Comments* comments)
    : program_(program),
      machine_(machine),
      comments_(comments),
      module_(module),
      context_(module.getContext()),
      analysis_(program),
      b_(context_),
      ops_(b_, machine.abilities()),
      ptr_(pointer_type(context_)) {}

// The size of what a statement writes into the function around it, once its blocks are cut.
double Emitter::cut(const loops::Stmt& s) {
  const auto* w = std::get_if<loops::While>(&s.is);
  const auto* i = std::get_if<loops::If>(&s.is);
  if (!w && !i) return written_size(s);
  double size = analysis_.size(s);
  loops::each_block(s, [&](const loops::Block& b) {
    size -= analysis_.size(b);
    size += w && &b == &w->before ? written_size(b) : cut(b);  // the condition reads what `before` makes
  });
  return size;
}

double Emitter::written_size(const loops::Block& block) const {
  double sum = 0;
  for (const loops::Stmt& s : block) sum += written_size(s);
  return sum;
}

double Emitter::cut(const loops::Block& block) {
  constexpr double call_size = 4;
  const double largest = machine_.settings().largest_function;
  std::vector<double> sizes;
  double total = 0;
  for (const loops::Stmt& s : block) sizes.push_back(cut(s)), total += sizes.back();
  if (total <= largest) return total;
  std::vector<size_t>& cuts = cuts_[&block];
  double size = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (cuts.empty() || (size > 0 && size + sizes[i] > largest / 2)) {
      cuts.push_back(sections_.size());
      sections_.push_back({&block, i, i, nullptr});
      size = 0;
    }
    size += sizes[i];
    sections_.back().last = i + 1;
  }
  return call_size * double(cuts.size());
}

void Emitter::plan_functions() {
  cut(program_.body);
  // what each function, by its number, mentions; the entry's is -1
  std::vector<std::pair<const loops::Stmt*, int>> statements;
  std::map<LocalId, std::set<int>> users;
  const auto walk = [&](const auto& self, const loops::Block& block, int around) -> void {
    const auto cuts = cuts_.find(&block);
    for (size_t i = 0, part = 0; i < block.size(); ++i) {
      int function = around;
      if (cuts != cuts_.end()) {
        while (sections_[cuts->second[part]].last <= i) ++part;
        function = int(cuts->second[part]);
      }
      const loops::Stmt& s = block[i];
      statements.emplace_back(&s, function);
      if (std::holds_alternative<loops::While>(s.is) || std::holds_alternative<loops::If>(s.is)) {
        loops::each_block(s, [&](const loops::Block& b) { self(self, b, function); });
        loops::each_expression(s, [&](Expr e) {
          loops::each_node(e, [&](Expr x) {
            if (x->op == loops::Op::local) users[x->local].insert(function);
          });
        });
        continue;
      }
      const Facts facts = analysis_.facts_of(s);
      for (const auto* set : {&facts.made, &facts.updated, &facts.read})
        for (LocalId l : *set) users[l].insert(function);
    }
  };
  walk(walk, program_.body, -1);
  plan_registers(statements);
  if (sections_.empty()) return;

  for (const auto& [s, function] : statements) {
    const auto* let = std::get_if<loops::Let>(&s->is);
    const auto* declare = std::get_if<loops::Declare>(&s->is);
    if (let) frame_constants_.insert(let->local);
    if (let || declare) {
      const LocalId l = let ? let->local : declare->local;
      if (users[l].size() > 1) frame_locals_.emplace(l, frame_size_++);
    }
    if (const auto* bind = std::get_if<loops::Bind>(&s->is)) frame_parameters_.emplace(bind->parameter, frame_size_++);
  }
  for (BufferId b : analysis_.swapped())
    if (!registers_.count(b)) frame_pointers_.emplace(b, frame_size_++);
}

// Temporaries of one element that only one function reads and writes need no memory.
void Emitter::plan_registers(const std::vector<std::pair<const loops::Stmt*, int>>& statements) {
  constexpr int nobody = -2;
  std::vector<int> user(program_.buffers.size(), nobody);
  std::vector<bool> fits(program_.buffers.size(), true);
  const auto mention = [&](BufferId id, int function) {
    const auto b = size_t(analysis_.root(id));
    if (user[b] != nobody && user[b] != function) fits[b] = false;
    user[b] = function;
  };
  for (const auto& [s, function] : statements) {
    const auto access = [&, f = function](BufferId b, const loops::Index*, loops::AccessKind) { mention(b, f); };
    if (std::holds_alternative<loops::For>(s->is))
      loops::each_access_inside(*s, access);
    else
      loops::each_access(*s, access);
  }
  for (const auto& [f, _] : tasks_)
    for (const loops::Stmt& s : f->body)
      loops::each_access_inside(
          s, [&](BufferId b, const loops::Index*, loops::AccessKind) { fits[size_t(analysis_.root(b))] = false; });
  for (const auto& [_, nest] : nests_)
    for (BufferId b : nest.buffers) fits[size_t(b)] = false;
  for (size_t b = 0; b < fits.size(); ++b) {
    const loops::Buffer& buffer = program_.buffers[b];
    if (buffer.alias >= 0) fits[size_t(buffer.alias)] = fits[b] = false;
    if (buffer.kind != loops::Buffer::Kind::temporary || elements(buffer.shape) != 1 ||
        analysis_.called().count(int(b)))
      fits[b] = false;
  }
  for (bool again = true; again;) {
    again = false;
    for (const auto& [x, y] : analysis_.swaps())
      if (fits[size_t(x)] != fits[size_t(y)]) fits[size_t(x)] = fits[size_t(y)] = false, again = true;
  }
  for (size_t b = 0; b < fits.size(); ++b)
    if (fits[b]) registers_.insert(int(b));
}

// The arguments are pointers, but for "step", a number.
void Emitter::begin_function(const std::string& name, const std::vector<std::string>& arguments, bool external) {
  llvm::SmallVector<llvm::Type*, 8> types;
  for (const std::string& a : arguments)
    types.push_back(a == "step" ? static_cast<llvm::Type*>(b_.getInt64Ty()) : ptr_);
  function_ = llvm::Function::Create(llvm::FunctionType::get(b_.getInt32Ty(), types, false),
                                     external ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage, name,
                                     module_);
  here_ = {};
  in_nest_ = false;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    function_->getArg(i)->setName(arguments[i]);
    for (const auto& [known, value] :
         {std::pair{"buffers", &here_.buffers}, std::pair{"arena", &here_.arena}, std::pair{"run", &here_.run},
          std::pair{"frame", &here_.frame}, std::pair{"own", &here_.own}, std::pair{"locals", &here_.locals}})
      if (arguments[i] == known) *value = function_->getArg(i);
  }
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  // vectors that are saved around calls should not straddle cache lines
  function_->addFnAttr(llvm::Attribute::getWithStackAlignment(b_.getContext(), llvm::Align(64)));
  function_->addFnAttr("prefer-vector-width", std::to_string(8 * machine_.settings().vector_bytes));
  bases_.clear(), variables_.clear(), locals_.clear(), buffer_changed_.clear(), infos_.clear();
  scopes_.clear(), axes_.clear(), flushes_.clear();
  vector_axis_ = -1, barrier_ = 0, time_ = 1;
  goes_around_ = false;
  long_block_ = false, consumer_ = -1, expanded_ = 0, runs_ = 1;
  recent_.clear();
  budget_ = call_buffers_ = call_numbers_ = nest_locals_ = nullptr;

  llvm::BasicBlock* entry = llvm::BasicBlock::Create(context_, "entry", function_);
  llvm::BasicBlock* start = llvm::BasicBlock::Create(context_, "start", function_);
  stop_ = llvm::BasicBlock::Create(context_, "stop", function_);
  b_.SetInsertPoint(entry);
  entry_end_ = b_.CreateBr(start);
  status_ = slot(b_.getInt32Ty(), "status");
  b_.SetInsertPoint(start);
  push_scope(nullptr, nullptr, false);
}

void Emitter::end_function() {
  const auto wait = [&] {
#if defined(__x86_64__) || defined(__i386__)
    if (goes_around_) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
#endif
  };
  wait();
  b_.CreateRet(b_.getInt32(0));
  b_.SetInsertPoint(stop_);
  wait();
  b_.CreateRet(b_.CreateLoad(b_.getInt32Ty(), status_));
  pop_scope();
}

void Emitter::run(const char* entry) {
  const std::vector<std::string> arguments = {"buffers", "arena", "run"};
  const std::vector<std::string> with_frame = {"buffers", "arena", "run", "frame"};
  plan_tasks();
  plan_nests();
  plan_functions();
  write_tasks();
  write_nests();
  if (sections_.empty()) {
    begin_function(entry, arguments, true);
    block(program_.body);
    end_function();
    return;
  }
  for (Section& part : sections_) {  // those inside of others come first
    begin_function("part" + std::to_string(&part - sections_.data() + 1), with_frame);
    for (size_t i = part.first; i < part.last; ++i) emit((*part.block)[i]);
    end_function();
    part.function = function_;
  }
  begin_function("program", with_frame);
  block(program_.body);
  end_function();
  llvm::Function* program = function_;
  begin_function(entry, arguments, true);
  Value frame = slot(llvm::ArrayType::get(b_.getInt64Ty(), uint64_t(std::max(1, frame_size_))), "frame");
  for (const auto& [b, place] : frame_pointers_) b_.CreateStore(initial(b), advance(frame, i64(8 * place)));
  stop_unless_zero(b_.CreateCall(program, {here_.buffers, here_.arena, here_.run, frame}));
  end_function();
}

// The parts of a block that is cut, one after the other; what they change is known here too.
void Emitter::call_sections(const std::vector<size_t>& parts) {
  for (size_t k : parts) {
    const Section& part = sections_[k];
    stop_unless_zero(b_.CreateCall(part.function, {here_.buffers, here_.arena, here_.run, here_.frame}));
    for (size_t i = part.first; i < part.last; ++i) {
      const Facts facts = analysis_.facts_of((*part.block)[i]);
      for (BufferId b : facts.changed) touch(b);
      for (LocalId l : facts.updated)
        if (const auto known = locals_.find(l); known != locals_.end()) known->second.changed = ++time_;
    }
  }
}

Emitter::Value Emitter::slot(llvm::Type* type, const llvm::Twine& name) {
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(entry_end_);
  return b_.CreateAlloca(type, nullptr, name);
}

Emitter::Value Emitter::initial(BufferId b) {
  const loops::Buffer& buffer = program_.buffers[size_t(b)];
  if (buffer.kind == loops::Buffer::Kind::temporary) {
    if (buffer.offset < 0 && elements(buffer.shape) > 0)
      throw InternalError("buffer " + buffer.name + " has no place in the arena");
    return advance(buffer.own ? here_.own : here_.arena, i64(buffer.offset), buffer.name);
  }
  const int before = buffer.kind == loops::Buffer::Kind::input      ? 0
                     : buffer.kind == loops::Buffer::Kind::constant ? program_.inputs
                                                                    : program_.inputs + program_.constants;
  return b_.CreateLoad(ptr_, advance(here_.buffers, i64(8 * (before + buffer.position))), buffer.name);
}

Emitter::Value Emitter::frame_slot(const std::map<int, int>& places, int id) {
  const auto found = places.find(id);
  if (found == places.end() || !here_.frame) return nullptr;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(entry_end_);
  return advance(here_.frame, i64(8 * found->second));
}

// A local of this function, or one that an earlier function left in the frame.
Emitter::LocalState& Emitter::local_state(LocalId id) {
  const auto known = locals_.find(id);
  if (known != locals_.end()) return known->second;
  Value place = frame_slot(frame_locals_, id);
  if (!place) throw InternalError("local " + program_.locals[size_t(id)].name + " is used before it is made");
  LocalState l;
  l.constant = frame_constants_.count(id) > 0;
  if (l.constant) {
    const At at(*this, 0);  // not at the start: it would occupy a register until its first use
    place = b_.CreateLoad(ops_.type(program_.locals[size_t(id)].dtype), place);
  }
  l.values.push_back(place);
  return locals_[id] = l;
}

Emitter::Value Emitter::local_value(LocalId l) {
  const LocalState& state = local_state(l);
  return state.constant ? state.values[0] : b_.CreateLoad(ops_.type(program_.locals[size_t(l)].dtype), state.values[0]);
}

Emitter::VariableState& Emitter::variable_state(Variable id) {
  const auto known = variables_.find(id);
  if (known != variables_.end()) return known->second;
  const loops::VariableInfo& variable = program_.variables[size_t(id)];
  Value place = frame_slot(frame_parameters_, id);
  if (!place) throw InternalError("parameter " + variable.name + " is used before it is bound");
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(entry_end_);
  VariableState v;
  v.low = variable.low, v.high = variable.high;
  v.values.push_back(b_.CreateLoad(b_.getInt64Ty(), place));
  return variables_[id] = v;
}

}  // namespace anvil::llvm_backend
