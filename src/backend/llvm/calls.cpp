// Calls of elementary functions, in the widths that the runtime has, and of the runtime.
#include <algorithm>
#include <numeric>

#include "backend/llvm/emitter.h"
#include "backend/llvm/expand.h"
#include "base/error.h"
#include "runtime/product/product.h"

namespace anvil::llvm_backend {

namespace {

constexpr int most_expanded = 1500;  // instructions of expanded functions in one function of LLVM

int count(llvm::Value* x) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  return vector ? int(vector->getNumElements()) : 1;
}

}  // namespace

llvm::FunctionCallee Emitter::callee(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> arguments,
                                     bool pure) {
  llvm::FunctionCallee found = module_.getOrInsertFunction(name, llvm::FunctionType::get(result, arguments, false));
  auto* f = llvm::cast<llvm::Function>(found.getCallee());
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addFnAttr(llvm::Attribute::WillReturn);
  if (pure) f->setDoesNotAccessMemory();
  return found;
}

Emitter::Value Emitter::function(const std::string& name, DType t, llvm::ArrayRef<Value> arguments) {
  const std::string stem = "anvil_" + name + (t == DType::f64 ? "_f64" : "_f32");
  const auto symbol = [&](int n) { return n == 1 ? stem : stem + "x" + std::to_string(n); };
  const auto exists = [&](int n) { return machine_.symbols().count(symbol(n)) > 0; };
  if (!exists(1)) throw InternalError("no elementary function " + symbol(1));
  const int n = count(arguments[0]);
  const Settings& settings = machine_.settings();
  if (n > 1 && arguments.size() == 1 && settings.fma && runs_ >= settings.expand_from && expanded_ < most_expanded)
    if (Value y = expand(b_, name, arguments[0], machine_.abilities().scales, &expanded_)) return y;
  if (n == 1 || exists(n)) {
    llvm::SmallVector<llvm::Type*, 2> types;
    for (Value a : arguments) types.push_back(a->getType());
    return b_.CreateCall(callee(symbol(n), types[0], types, true), arguments);
  }
  // the lanes from `first` on, `width` of them; the last lane again where there are no more
  const auto part = [&](Value x, int first, int width) {
    llvm::SmallVector<int, 64> from;
    for (int l = 0; l < width; ++l) from.push_back(std::min(first + l, n - 1));
    return b_.CreateShuffleVector(x, from);
  };
  int width = 1;
  for (int w = 2; w <= 64; w *= 2)
    if (exists(w) && (w < n || width == 1)) width = w;
  llvm::SmallVector<Value, 16> results;
  for (int first = 0; first < n; first += width) {
    llvm::SmallVector<Value, 2> parts;
    for (Value a : arguments)
      parts.push_back(width == 1 ? b_.CreateExtractElement(a, uint64_t(first)) : part(a, first, width));
    results.push_back(function(name, t, parts));
  }
  if (width > n)
    return b_.CreateShuffleVector(results[0], [&] {
      llvm::SmallVector<int, 64> first(size_t(n), 0);
      std::iota(first.begin(), first.end(), 0);
      return first;
    }());
  return join(results);
}

// Vectors or numbers, one after the other.
Emitter::Value Emitter::join(llvm::SmallVector<Value, 16> parts) {
  if (count(parts[0]) == 1) {
    Value all = llvm::UndefValue::get(llvm::FixedVectorType::get(parts[0]->getType(), unsigned(parts.size())));
    for (size_t i = 0; i < parts.size(); ++i) all = b_.CreateInsertElement(all, parts[i], uint64_t(i));
    return all;
  }
  while (parts.size() > 1) {
    llvm::SmallVector<int, 64> both(size_t(2 * count(parts[0])), 0);
    std::iota(both.begin(), both.end(), 0);
    for (size_t i = 0; 2 * i < parts.size(); ++i)
      parts[i] = b_.CreateShuffleVector(parts[2 * i], parts[2 * i + 1], both);
    parts.resize(parts.size() / 2);
  }
  return parts[0];
}

// Powers of integers, number by number: by squaring, in the runtime, in 64 bits.
Emitter::Value Emitter::power(DType t, Value x, Value y) {
  if (is_bool(t)) return b_.CreateOr(x, b_.CreateNot(y));
  const bool with_sign = is_signed_integer(t);
  llvm::Type* wide = b_.getInt64Ty();
  const llvm::FunctionCallee f = callee(with_sign ? "anvil_power_i64" : "anvil_power_ui64", wide, {wide, wide}, true);
  const auto one = [&](Value a, Value e) {
    return b_.CreateTrunc(
        b_.CreateCall(f, {b_.CreateIntCast(a, wide, with_sign), b_.CreateIntCast(e, wide, with_sign)}), ops_.type(t));
  };
  if (count(x) == 1) return one(x, y);
  llvm::SmallVector<Value, 16> results;
  for (int l = 0; l < count(x); ++l)
    results.push_back(one(b_.CreateExtractElement(x, uint64_t(l)), b_.CreateExtractElement(y, uint64_t(l))));
  return join(results);
}

void Emitter::emit(const loops::Call& s) {
  llvm::SmallVector<Value, 16> numbers;
  for (Expr e : s.numbers) numbers.push_back(value(e, {}));
  call_runtime(s.function, s.buffers, numbers);
}

void Emitter::emit(const loops::Contraction& s) {
  llvm::SmallVector<Value, 16> numbers = {i64(int64_t(s.left()->dtype)), i64(s.weight() != nullptr), i64(s.adds)};
  std::vector<BufferId> buffers;
  // an index at the first step of every axis
  const auto at_first_step = [&](Affine a) {
    s.each_axis([&](const auto& axis) {
      std::erase_if(a.terms, [&](const loops::Term& t) { return t.variable == axis.variable; });
    });
    Info in;
    depends(in, a);
    return index_value(a, DType::i64, {}, in);
  };
  auto elements = product::Elements::all;
  Value shift = i64(0);
  if (s.wanted) {
    const bool lower = std::any_of(s.axes.begin(), s.axes.end(), [&](const auto& axis) {
      return axis.extent > 1 && s.is_row(axis.variable) && loops::factor(*s.wanted, axis.variable) > 0;
    });
    elements = lower ? product::Elements::lower : product::Elements::upper;
    shift = at_first_step(lower ? *s.wanted : *s.wanted * -1);
  }
  numbers.append({i64(int64_t(elements)), shift, i64(int64_t(s.beside.size()))});
  // how many axes, where some arrays begin, and each axis with its steps in them
  using Place = std::pair<BufferId, const loops::Index*>;
  const auto append = [&](const std::vector<Place>& arrays, const std::vector<loops::Contraction::Axis>& axes) {
    numbers.push_back(i64(int64_t(axes.size())));
    llvm::SmallVector<Affine, 4> offsets;
    for (const auto& [buffer, place] : arrays) {
      buffers.push_back(buffer);
      offsets.push_back(loops::linear(program_, buffer, *place));
      numbers.push_back(at_first_step(offsets.back()));
    }
    for (const auto& [variable, extent] : axes) {
      numbers.push_back(i64(extent));
      for (const Affine& a : offsets) numbers.push_back(i64(loops::factor(a, variable)));
    }
  };
  const auto load = [](Expr e) { return Place(e->buffer, &e->place); };
  std::vector<Place> first = {{s.buffer, &s.place}, load(s.left()), load(s.right())};
  if (const Expr w = s.weight()) first.push_back(load(w));
  append(first, s.axes);
  for (const auto& b : s.beside) append({{b.buffer, &b.place}, load(b.right())}, b.columns);
  call_runtime("contract", buffers, numbers);
}

void Emitter::call_runtime(const std::string& function, const std::vector<BufferId>& buffers,
                           llvm::ArrayRef<Value> numbers) {
  const std::string symbol = "anvil_" + function;
  if (!machine_.symbols().count(symbol)) throw InternalError("no runtime function " + function);
  if (!call_buffers_) {
    call_buffers_ = slot(llvm::ArrayType::get(ptr_, analysis_.most_call_buffers()), "call.buffers");
    call_numbers_ = slot(llvm::ArrayType::get(b_.getInt64Ty(), analysis_.most_call_numbers()), "call.numbers");
  }
  int level = 0;
  for (size_t i = 0; i < buffers.size(); ++i)
    b_.CreateStore(base(buffers[i], &level), advance(call_buffers_, i64(int64_t(8 * i))));
  stop_unless_zero(b_.CreateCall(callee(symbol, b_.getInt32Ty(), {ptr_, ptr_, ptr_}, false),
                                 {here_.run, call_buffers_, call_numbers(numbers)}));
  for (BufferId b : buffers) touch(b);
}

// Numbers that are known lie in the object, and the others are written into a copy: the stores of many constants, which
// LLVM tries to join, take long to compile.
Emitter::Value Emitter::call_numbers(llvm::ArrayRef<Value> numbers) {
  llvm::SmallVector<uint64_t, 32> known;
  bool complete = true;
  for (Value x : numbers) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(x);
    known.push_back(constant ? constant->getZExtValue() : 0);
    complete = complete && constant;
  }
  llvm::Constant* values = llvm::ConstantDataArray::get(context_, known);
  auto* table = new llvm::GlobalVariable(module_, values->getType(), true, llvm::GlobalValue::PrivateLinkage, values);
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  if (complete) return table;
  const llvm::Align align(8);
  b_.CreateMemCpy(call_numbers_, align, table, align, 8 * numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i)
    if (!llvm::isa<llvm::ConstantInt>(numbers[i]))
      b_.CreateStore(numbers[i], advance(call_numbers_, i64(int64_t(8 * i))));
  return call_numbers_;
}

// Asks the runtime whether the user wants to stop.
void Emitter::poll() {
  stop_unless_zero(b_.CreateCall(callee("anvil_poll", b_.getInt32Ty(), {ptr_}, false), {here_.run}));
}

// The same, once for so much work.
void Emitter::count_down(double work) {
  if (!budget_) {
    budget_ = slot(b_.getInt64Ty(), "budget");
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(entry_end_);
    b_.CreateStore(i64(work_between_polls), budget_);
  }
  llvm::BasicBlock* ask = llvm::BasicBlock::Create(context_, "ask", function_);
  llvm::BasicBlock* go_on = llvm::BasicBlock::Create(context_, "go.on", function_);
  Value left = b_.CreateSub(b_.CreateLoad(b_.getInt64Ty(), budget_),
                            i64(int64_t(std::clamp(work, 1.0, double(work_between_polls)))));
  b_.CreateStore(left, budget_);
  b_.CreateCondBr(b_.CreateICmpSLT(left, i64(0)), ask, go_on);
  b_.SetInsertPoint(ask);
  poll();
  b_.CreateStore(i64(work_between_polls), budget_);
  b_.CreateBr(go_on);
  b_.SetInsertPoint(go_on);
}

void Emitter::stop_unless_zero(Value status) {
  llvm::BasicBlock* go_on = llvm::BasicBlock::Create(context_, "go.on", function_);
  b_.CreateStore(status, status_);
  b_.CreateCondBr(b_.CreateICmpEQ(status, b_.getInt32(0)), go_on, stop_);
  b_.SetInsertPoint(go_on);
}

}  // namespace anvil::llvm_backend
