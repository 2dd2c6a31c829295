// A program as functions. A large one is cut between top-level statements, since the time
// to generate code grows faster than a function does; what several functions need lives in
// a frame that the entry provides.
#include "backend/llvm/emitter.h"
#include "base/error.h"

namespace anvil::llvm_backend {

namespace {

constexpr double part_of_large = 1000;  // instructions, roughly

}  // namespace

Emitter::Emitter(const Program& program, const Machine& machine, llvm::Module& module)
    : program_(program),
      machine_(machine),
      module_(module),
      context_(module.getContext()),
      analysis_(program),
      b_(context_),
      ops_(b_),
      ptr_(pointer_type(context_)) {}

void Emitter::plan_functions() {
  std::vector<double> sizes;
  double total = 0;
  for (const loops::Stmt& s : program_.body) sizes.push_back(written_size(s)), total += sizes.back();
  double size = 0;
  functions_.emplace_back(0, 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (total > largest_function && size > 0 && size + sizes[i] > part_of_large) {
      functions_.emplace_back(i, i);
      size = 0;
    }
    size += sizes[i];
    functions_.back().second = i + 1;
  }
  std::vector<Facts> statements;
  std::vector<int> function_of;
  for (size_t f = 0; f < functions_.size(); ++f)
    for (size_t i = functions_[f].first; i < functions_[f].second; ++i) {
      statements.push_back(analysis_.facts_of(program_.body[i]));
      function_of.push_back(int(f));
    }
  plan_registers(statements, function_of);
  if (functions_.size() == 1) return;

  // what a top-level statement makes and another function mentions
  std::map<LocalId, std::set<int>> users;
  for (size_t i = 0; i < statements.size(); ++i)
    for (const auto* set : {&statements[i].made, &statements[i].updated, &statements[i].read})
      for (LocalId l : *set) users[l].insert(function_of[i]);
  for (const loops::Stmt& s : program_.body) {
    const auto* let = std::get_if<loops::Let>(&s.is);
    const auto* declare = std::get_if<loops::Declare>(&s.is);
    if (let) frame_constants_.insert(let->local);
    if (let || declare) {
      const LocalId l = let ? let->local : declare->local;
      if (users[l].size() > 1) frame_locals_.emplace(l, frame_size_++);
    }
    if (const auto* bind = std::get_if<loops::Bind>(&s.is)) frame_parameters_.emplace(bind->parameter, frame_size_++);
  }
  for (BufferId b : analysis_.swapped())
    if (!registers_.count(b)) frame_pointers_.emplace(b, frame_size_++);
}

// Temporaries of one element that only one function reads and writes need no memory.
void Emitter::plan_registers(const std::vector<Facts>& statements, const std::vector<int>& function_of) {
  std::vector<int> user(program_.buffers.size(), -1);
  std::vector<bool> fits(program_.buffers.size(), true);
  const auto mention = [&](BufferId id, int function) {
    const auto b = size_t(analysis_.root(id));
    if (user[b] >= 0 && user[b] != function) fits[b] = false;
    user[b] = function;
  };
  for (size_t i = 0; i < statements.size(); ++i) {
    for (const Access& a : statements[i].loads) mention(a.buffer, function_of[i]);
    for (BufferId b : statements[i].changed) mention(b, function_of[i]);
  }
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

void Emitter::begin_function(const std::string& name, bool with_frame, size_t pointers) {
  with_frame_ = with_frame, in_nest_ = pointers > 0;
  std::vector<llvm::Type*> arguments((with_frame ? 4 : 3) + pointers, ptr_);
  const bool internal = with_frame || pointers > 0;
  function_ = llvm::Function::Create(llvm::FunctionType::get(b_.getInt32Ty(), arguments, false),
                                     internal ? llvm::Function::InternalLinkage : llvm::Function::ExternalLinkage, name,
                                     module_);
  const char* names[] = {"buffers", "arena", "run", "frame"};
  for (unsigned i = 0; i < (with_frame ? 4 : 3); ++i) function_->getArg(i)->setName(names[i]);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  // vectors that are saved around calls should not straddle cache lines
  function_->addFnAttr(llvm::Attribute::getWithStackAlignment(b_.getContext(), llvm::Align(64)));
  function_->addFnAttr("prefer-vector-width", std::to_string(8 * machine_.settings().vector_bytes));
  bases_.clear(), variables_.clear(), locals_.clear(), buffer_changed_.clear(), infos_.clear();
  scopes_.clear(), axes_.clear(), flushes_.clear();
  vector_axis_ = -1, barrier_ = 0, time_ = 1;
  long_block_ = false, consumer_ = -1;
  recent_.clear();
  budget_ = call_buffers_ = call_numbers_ = nullptr;

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
  b_.CreateRet(b_.getInt32(0));
  b_.SetInsertPoint(stop_);
  b_.CreateRet(b_.CreateLoad(b_.getInt32Ty(), status_));
  pop_scope();
}

void Emitter::run(const char* entry) {
  plan_nests();
  plan_functions();
  write_nests();
  if (functions_.size() == 1) {
    begin_function(entry, false);
    block(program_.body);
    end_function();
    return;
  }
  std::vector<llvm::Function*> parts;
  for (const auto& [first, last] : functions_) {
    begin_function("part" + std::to_string(parts.size() + 1), true);
    for (size_t i = first; i < last; ++i) emit(program_.body[i]);
    end_function();
    parts.push_back(function_);
  }
  begin_function(entry, false);
  Value frame = slot(llvm::ArrayType::get(b_.getInt64Ty(), uint64_t(frame_size_)), "frame");
  for (const auto& [b, place] : frame_pointers_) b_.CreateStore(initial(b), advance(frame, i64(8 * place)));
  for (llvm::Function* part : parts)
    stop_unless_zero(b_.CreateCall(part, {function_->getArg(0), function_->getArg(1), function_->getArg(2), frame}));
  end_function();
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
    return advance(function_->getArg(1), i64(buffer.offset), buffer.name);
  }
  const int before = buffer.kind == loops::Buffer::Kind::input      ? 0
                     : buffer.kind == loops::Buffer::Kind::constant ? program_.inputs
                                                                    : program_.inputs + program_.constants;
  return b_.CreateLoad(ptr_, advance(function_->getArg(0), i64(8 * (before + buffer.position))), buffer.name);
}

Emitter::Value Emitter::frame_slot(const std::map<int, int>& places, int id) {
  const auto found = places.find(id);
  if (found == places.end() || !with_frame_) return nullptr;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(entry_end_);
  return advance(function_->getArg(3), i64(8 * found->second));
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
