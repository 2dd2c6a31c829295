// The table of functions of the loadable code generator.
#include <mutex>
#include <new>
#include <unordered_map>

#include "backend/llvm/emitter.h"
#include "base/error.h"
#include "base/timing.h"

namespace anvil::llvm_backend {
namespace {

constexpr const char* entry_symbol = "anvil_program";

std::mutex mutex;  // LLVM's target machine serves one compilation at a time
Settings settings;
Symbols symbols;
std::unique_ptr<Machine> machine;                           // made when it is needed: again after LLVM gave up
std::unordered_map<std::string, std::weak_ptr<Code>> made;  // by the keys of their modules

void append(const Sink& sink, const std::string& text) { sink.append(sink.target, text.data(), text.size()); }

// LLVM's own last words become an exception, not the end of the process. It passes through LLVM,
// whose objects are then in no state that can be relied on: the machine is given up.
struct Fatal : InternalError {
  using InternalError::InternalError;
};
void fatal(void*, const char* reason, bool) { throw Fatal(std::string("LLVM: ") + reason); }

template <class F>
Status guarded(Sink error, F&& f) {
  try {
    const std::lock_guard lock(mutex);
    const llvm::ScopedFatalErrorHandler handler(fatal);
    f();
    return Status::done;
  } catch (const std::bad_alloc&) {
    append(error, "out of memory");
    return Status::out_of_memory;
  } catch (const Interrupted&) {
    return Status::interrupted;
  } catch (const Fatal& e) {
    machine.release();  // not deleted: LLVM stopped in the middle of its use
    append(error, e.what());
  } catch (const Error& e) {
    append(error, e.what());
    return e.kind == "memory" ? Status::out_of_memory : Status::failed;
  } catch (const std::exception& e) {
    append(error, e.what());
  } catch (...) {
    append(error, "unknown failure");
  }
  return Status::failed;
}

// The numbers of the calls that nests come from, as comments: "; calls 3 7".
class Annotations final : public llvm::AssemblyAnnotationWriter {
 public:
  Emitter::Comments comments;

 private:
  void write(const llvm::Value* v, llvm::formatted_raw_ostream& to) const {
    const auto found = comments.find(v);
    if (found == comments.end() || found->second.empty()) return;
    to << "; calls";
    for (int location : found->second) to << ' ' << location;
    to << '\n';
  }
  void emitBasicBlockStartAnnot(const llvm::BasicBlock* b, llvm::formatted_raw_ostream& to) override { write(b, to); }
  void emitInstructionAnnot(const llvm::Instruction* i, llvm::formatted_raw_ostream& to) override { write(i, to); }
};

std::unique_ptr<llvm::Module> emit(const loops::Program& program, llvm::LLVMContext& context,
                                   Emitter::Comments* comments = nullptr) {
  if (!machine) machine = std::make_unique<Machine>(settings, symbols);
  std::unique_ptr<llvm::Module> module = machine->module(context, comments != nullptr);
  Emitter(program, *machine, *module, comments).run(entry_symbol);
  if (machine->settings().verify) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (llvm::verifyModule(*module, &stream)) throw InternalError("malformed LLVM module: " + stream.str());
  }
  return module;
}

const char* version() { return LLVM_VERSION_STRING; }

Status start(const Settings& wanted, const Symbol* table, size_t count, Sink error) {
  return guarded(error, [&] {
    settings = wanted;
    for (size_t i = 0; i < count; ++i) symbols.emplace(table[i].name, table[i].address);
    machine = std::make_unique<Machine>(settings, symbols);
  });
}

std::shared_ptr<Code> code_of(llvm::Module& module, ObjectFolder& folder, Stopwatch& watch, CodeFacts& facts) {
  const std::string key = machine->key(module);
  std::weak_ptr<Code>& known = made[key];
  std::shared_ptr<Code> code = known.lock();
  std::optional<Bytes> object = code ? std::nullopt : folder.find(key);
  facts.find = watch.lap();
  if (code) return code;
  if (!object) {
    object = machine->object(module);
    folder.keep(key, *object);
    facts.generate = watch.lap();
  }
  code = machine->link(*object, entry_symbol);
  facts.link = watch.lap();
  known = code;
  return code;
}

Status compile(const loops::Program& program, InterruptCheck check, const char* path, runtime::Entry* entry,
               void** code, CodeFacts* facts, Sink problem, Sink error) {
  return guarded(error, [&] {
    set_interrupt_check(check);
    std::erase_if(made, [](const auto& one) { return one.second.expired(); });
    Stopwatch watch;
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = emit(program, context);
    facts->emit = watch.lap();
    ObjectFolder folder(path);
    std::shared_ptr<Code> linked = code_of(*module, folder, watch, *facts);
    append(problem, folder.problem());
    facts->bytes = linked->bytes;
    *entry = linked->entry;
    *code = new std::shared_ptr<Code>(std::move(linked));
  });
}

void release(void* code) { delete static_cast<std::shared_ptr<Code>*>(code); }

Status text(const loops::Program& program, InterruptCheck check, bool assembly, Sink sink, Sink error) {
  return guarded(error, [&] {
    set_interrupt_check(check);
    llvm::LLVMContext context;
    Annotations annotations;
    std::unique_ptr<llvm::Module> module = emit(program, context, &annotations.comments);
    if (assembly) return append(sink, machine->assembly(*module));
    machine->promote(*module);
    std::string result;
    llvm::raw_string_ostream stream(result);
    for (const llvm::Function& f : *module) {
      poll();
      f.print(stream, &annotations);
    }
    append(sink, stream.str());
  });
}

}  // namespace
}  // namespace anvil::llvm_backend

extern "C" __attribute__((visibility("default"))) const anvil::llvm_backend::EntryTable* anvil_llvm_entry() {
  using namespace anvil::llvm_backend;
  static const EntryTable table{entry_revision, version, start, compile, release, text};
  return &table;
}
