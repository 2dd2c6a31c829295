// Target, code generation and linking.
#include "backend/llvm/machine.h"

#include <dlfcn.h>

#include "base/interrupt.h"

namespace anvil::llvm_backend {
namespace {

// One mapping for all sections of an object, so that code reaches its constants and stubs.
class Pages final : public llvm::RuntimeDyld::MemoryManager {
 public:
  ~Pages() override {
    if (block_.base()) llvm::sys::Memory::releaseMappedMemory(block_);
  }
  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t code, SectionAlignment, uintptr_t constants, SectionAlignment, uintptr_t data,
                              SectionAlignment) override {
    const size_t page = llvm::sys::Process::getPageSizeEstimate();
    // every section may waste one alignment (at most 64 bytes) and RuntimeDyld rounds each size
    const auto pages = [page](uintptr_t bytes) { return (bytes + 4096 + page - 1) / page * page; };
    code_bytes_ = pages(code);
    const size_t bytes = code_bytes_ + pages(constants) + pages(data);
    std::error_code error;
    block_ = llvm::sys::Memory::allocateMappedMemory(bytes, nullptr,
                                                     llvm::sys::Memory::MF_READ | llvm::sys::Memory::MF_WRITE, error);
    if (error) throw Error("memory", "No memory for " + std::to_string(bytes) + " bytes of machine code.");
    code_ = static_cast<uint8_t*>(block_.base());
    data_ = code_ + code_bytes_;
  }
  uint8_t* allocateCodeSection(uintptr_t bytes, unsigned alignment, unsigned, llvm::StringRef) override {
    code_used_ += static_cast<int64_t>(bytes);
    return take(code_, bytes, alignment);
  }
  uint8_t* allocateDataSection(uintptr_t bytes, unsigned alignment, unsigned, llvm::StringRef, bool) override {
    return take(data_, bytes, alignment);
  }
  void registerEHFrames(uint8_t*, uint64_t, size_t) override {}  // generated code does not unwind
  void deregisterEHFrames() override {}
  bool finalizeMemory(std::string*) override {
    const llvm::sys::MemoryBlock code(block_.base(), code_bytes_);
    llvm::sys::Memory::InvalidateInstructionCache(block_.base(), code_bytes_);
    return bool(llvm::sys::Memory::protectMappedMemory(code, llvm::sys::Memory::MF_READ | llvm::sys::Memory::MF_EXEC));
  }

  int64_t code_bytes() const { return code_used_; }

 private:
  uint8_t* take(uint8_t*& from, uintptr_t bytes, unsigned alignment) const {
    const uintptr_t mask = (alignment ? alignment : 16) - 1;
    uint8_t* p = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(from) + mask) & ~mask);
    from = p + bytes;
    if (from > static_cast<uint8_t*>(block_.base()) + block_.allocatedSize())
      throw InternalError("sections exceed the space reserved for them");
    return p;
  }
  llvm::sys::MemoryBlock block_;
  size_t code_bytes_ = 0;
  int64_t code_used_ = 0;
  uint8_t* code_ = nullptr;
  uint8_t* data_ = nullptr;
};

// Symbols of the runtime, then of the process: LLVM may call the C library (fma, memset).
class Resolver final : public llvm::LegacyJITSymbolResolver {
 public:
  explicit Resolver(const Symbols& symbols) : symbols_(symbols) {}
  llvm::JITSymbol findSymbol(const std::string& name) override {
    const auto found = symbols_.find(name);
    void* address = found != symbols_.end() ? found->second : dlsym(RTLD_DEFAULT, name.c_str());
    if (!address) return nullptr;
    return llvm::JITSymbol(reinterpret_cast<uint64_t>(address), llvm::JITSymbolFlags::Exported);
  }
  llvm::JITSymbol findSymbolInLogicalDylib(const std::string&) override { return nullptr; }

 private:
  const Symbols& symbols_;
};

class LinkedCode final : public Code {
 public:
  Pages pages;
};

// Leaves out the scheduling of machine instructions: it gains nothing for our loops, which come
// ordered, and its time grows faster than a function does. Asks in between whether the user
// wants to stop. Exceptions must not pass through LLVM: the functions that are still to come lose
// their bodies, which takes no time, and who runs the passes looks.
class Gate final : public PassGate {
 public:
  explicit Gate(llvm::Module& module) : module_(module) {}
  bool stopped() const { return stopped_; }

 private:
  bool runs(llvm::StringRef pass, llvm::StringRef on) override {
    try {
      if (!stopped_) poll();
    } catch (const Interrupted&) {
      stopped_ = true;
    }
    if (stopped_) forget_after(on);
    return pass != "Machine Instruction Scheduler";
  }
  void forget_after(llvm::StringRef on) {
    bool after = false;
    for (llvm::Function& f : module_) {
      if (after && !f.isDeclaration()) f.deleteBody();
      after = after || on == "function (" + f.getName().str() + ")";
    }
  }

  llvm::Module& module_;
  bool stopped_ = false;
};

// A switch of LLVM's command line, the only way to some choices: set for the length of a block.
class Switch {
 public:
  Switch(llvm::StringRef name, bool value) {
    const auto& known = llvm::cl::getRegisteredOptions();
    const auto found = known.find(name);
    if (found == known.end()) return;
    option_ = static_cast<llvm::cl::opt<bool>*>(found->second);
    before_ = option_->getValue();
    option_->setValue(value);
  }
  ~Switch() {
    if (option_) option_->setValue(before_);
  }
  Switch(const Switch&) = delete;

 private:
  llvm::cl::opt<bool>* option_ = nullptr;
  bool before_ = false;
};

// Locals into registers, then what `add` adds to the passes.
template <class Add>
void run_passes(llvm::Module& module, Add&& add) {
  Gate gate(module);
  module.getContext().setOptPassGate(gate);
  llvm::legacy::PassManager passes;
  passes.add(llvm::createPromoteMemoryToRegisterPass());
  {
    // it gains nothing for loops that come with their addresses, and what it asks for takes a tenth of the time
    const Switch strength_reduction("disable-lsr", true);
    add(passes);
  }
  passes.run(module);
  if (gate.stopped()) throw Interrupted();
}

// The processor's features without those that `settings` rules out.
std::string features(const Settings& settings) {
  std::string text;
  for (const auto& feature : host_features()) {
    const std::string name = feature.getKey().str();
    bool on = feature.getValue();
    const bool wide = name.starts_with("avx512") || name.starts_with("avx10") || name == "evex512";
    const bool avx = name.starts_with("avx") || name.starts_with("fma") || name == "evex512" || name == "f16c" ||
                     name == "xop" || name == "vaes" || name == "vpclmulqdq";
    if (settings.vector_bytes < 64 && wide) on = false;
    if (settings.vector_bytes < 32 && avx) on = false;
    if (!settings.fma && name.starts_with("fma")) on = false;
    text += std::string(text.empty() ? "" : ",") + (on ? "+" : "-") + name;
  }
  return text;
}

}  // namespace

Machine::Machine(const Settings& settings, Symbols symbols)
    : settings_(settings), symbols_(std::move(symbols)), triple_(llvm::sys::getProcessTriple()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::string error;
  target_ = target_machine(triple_, llvm::sys::getHostCPUName().str(), features(settings), error);
  if (!target_) throw InternalError("LLVM has no target for " + triple_.str() + ": " + error);
  const auto has = [&](const char* feature) { return target_->getTargetFeatureString().contains(feature); };
  abilities_.halves = triple_.isAArch64() || has("+f16c");
  abilities_.scales = has("+avx512vl");
  abilities_.orders_zeros = has("+avx512vl") && has("+avx512dq");
  abilities_.orders_all = triple_.isAArch64();
}

std::unique_ptr<llvm::Module> Machine::module(llvm::LLVMContext& context, bool names) const {
  use_opaque_pointers(context);
  context.setDiscardValueNames(!names);
  auto module = std::make_unique<llvm::Module>("anvil", context);
  module->setDataLayout(target_->createDataLayout());
  set_triple(*module, triple_);
  return module;
}

void Machine::promote(llvm::Module& module) const {
  run_passes(module, [](llvm::legacy::PassManager&) {});
}

std::string Machine::key(const llvm::Module& module) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (llvm::StringRef part : {llvm::StringRef(LLVM_VERSION_STRING), target_->getTargetCPU(),
                               target_->getTargetFeatureString(), llvm::StringRef(settings_.build)})
    stream << part << '\n';
  llvm::WriteBitcodeToFile(module, stream);
  return digest(stream.str());
}

Bytes Machine::object(llvm::Module& module) {
  Bytes bytes;
  llvm::raw_svector_ostream stream(bytes);
  run_passes(module, [&](llvm::legacy::PassManager& passes) {
    llvm::MCContext* context = nullptr;
    if (target_->addPassesToEmitMC(passes, context, stream))
      throw InternalError("LLVM cannot write objects for " + triple_.str());
  });
  return bytes;
}

std::unique_ptr<Code> Machine::link(const Bytes& bytes, const char* entry) const {
  auto object = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(bytes.data(), bytes.size()), "anvil"));
  if (!object) throw InternalError("LLVM wrote a broken object: " + llvm::toString(object.takeError()));
  auto code = std::make_unique<LinkedCode>();
  Resolver resolver(symbols_);
  llvm::RuntimeDyld linker(code->pages, resolver);
  linker.loadObject(**object);
  if (!linker.hasError()) linker.finalizeWithMemoryManagerLocking();
  if (linker.hasError()) throw InternalError("linking failed: " + linker.getErrorString().str());
  const llvm::StringRef prefix = triple_.isOSBinFormatMachO() ? "_" : "";
  code->entry = reinterpret_cast<runtime::Entry>(linker.getSymbol((prefix + entry).str()).getAddress());
  if (!code->entry) throw InternalError("generated code has no entry");
  code->bytes = code->pages.code_bytes();
  return code;
}

std::string Machine::assembly(llvm::Module& module) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  run_passes(module, [&](llvm::legacy::PassManager& passes) {
    if (add_assembly_passes(*target_, passes, stream))
      throw InternalError("LLVM cannot write assembly for " + triple_.str());
  });
  return std::string(text.data(), text.size());
}

}  // namespace anvil::llvm_backend
