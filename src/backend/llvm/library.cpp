// Loads the code generator: a shared object of its own, since it is the only part that
// needs LLVM, opened at the first compilation. Includes no LLVM.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "backend/llvm/compile.h"
#include "backend/llvm/entry.h"
#include "base/error.h"
#include "loops/walk.h"
#include "runtime/elementary/table.h"
#include "runtime/functions.h"
#include "runtime/run.h"

namespace anvil::llvm_backend {
namespace {

// What generated code may call, under the names that it uses.
std::vector<Symbol> symbols(std::vector<std::string>& names) {
  std::vector<Symbol> table;
  for (const elementary::Symbol& s : elementary::symbols(elementary::detected_isa()))
    table.push_back({s.name, s.address});
  names.reserve(runtime::functions().size());  // the table points into it
  for (const runtime::NamedFunction& f : runtime::functions()) {
    names.push_back(std::string("anvil_") + f.name);
    table.push_back({names.back().c_str(), reinterpret_cast<void*>(f.function)});
  }
  table.push_back({"anvil_poll", reinterpret_cast<void*>(runtime::poll)});
  table.push_back({"anvil_parallel", reinterpret_cast<void*>(runtime::parallel)});
  table.push_back({"anvil_power_i64", reinterpret_cast<void*>(runtime::power_i64)});
  table.push_back({"anvil_power_ui64", reinterpret_cast<void*>(runtime::power_ui64)});
  return table;
}

// Tells the builds of a file from one another.
std::string build_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const auto time = std::filesystem::last_write_time(path, error).time_since_epoch().count();
  return std::to_string(size) + " " + std::to_string(time);
}

Sink to_string(std::string& text) {
  return {&text, [](void* target, const char* data, size_t length) {
            static_cast<std::string*>(target)->append(data, length);
          }};
}

class Library {
 public:
  static Library& instance() {
    static Library& only = *new Library;  // executables outlive static objects
    return only;
  }
  void set_path(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (table_) return;  // what is loaded stays
    path_ = path;
    tried_ = false;
  }
  // Null, with the reason, when it cannot be loaded.
  const EntryTable* load(std::string* reason) {
    const std::lock_guard lock(mutex_);
    if (!tried_) {
      tried_ = true;
      try_load();
    }
    if (!table_ && reason) *reason = reason_;
    return table_;
  }
  const EntryTable& table() {
    std::string reason;
    if (const EntryTable* t = load(&reason)) return *t;
    throw Error("llvm", "Compiling needs LLVM, which is not available.", {"x " + reason});
  }

 private:
  void try_load() {
    const char* other = std::getenv("ANVIL_LLVM_LIBRARY");
    const std::string path = other && *other ? other : path_;
    reason_.clear();
    if (path.empty()) {
      reason_ = "anvil was built without LLVM.";
      return;
    }
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char* why = dlerror();
      reason_ = "Cannot load " + path + ": " + (why ? why : "unknown error") + ".";
      return;
    }
    const auto entry = reinterpret_cast<EntryFunction>(dlsym(library, entry_name));
    const EntryTable* table = entry ? entry() : nullptr;
    if (!table || table->revision != entry_revision) {
      reason_ = path + " does not belong to this version of anvil.";
      dlclose(library);
      return;
    }
    Settings settings;
    settings.build = build_of(path);
    const elementary::Isa isa = elementary::detected_isa();
    settings.vector_bytes = target().vector_bytes;
    settings.fma = isa != elementary::Isa::baseline;
    const char* verify = std::getenv("ANVIL_VERIFY");
    settings.verify = verify && std::string(verify) == "1";
    if (const char* size = std::getenv("ANVIL_FUNCTION_SIZE"))
      settings.largest_function = std::atof(size);                                                    // for tests
    if (const char* runs = std::getenv("ANVIL_EXPAND_FROM")) settings.expand_from = std::atof(runs);  // for tests
    std::vector<std::string> names;
    const std::vector<Symbol> known = symbols(names);
    if (table->start(settings, known.data(), known.size(), to_string(reason_)) == Status::done) table_ = table;
  }

  std::mutex mutex_;
  std::string path_, reason_;
  bool tried_ = false;
  const EntryTable* table_ = nullptr;
};

[[noreturn]] void fail(Status status, const std::string& what) {
  if (status == Status::interrupted) throw Interrupted();
  if (status == Status::out_of_memory) throw Error("memory", "Not enough memory to compile: " + what);
  throw InternalError("code generation: " + what);
}

// What code stores around caches, by whole lines.
void find_aligned(const loops::Program& p, const loops::Block& block,
                  std::vector<runtime::Executable::Aligned>& found) {
  for (const loops::Stmt& s : block) {
    loops::each_block(s, [&](const loops::Block& inner) { find_aligned(p, inner, found); });
    const auto store = std::get_if<loops::Store>(&s.is);
    if (!store || !store->around_caches) continue;
    const loops::Buffer& to = p.buffers[size_t(loops::root(p, store->buffer))];
    found.push_back({size_t(p.inputs + p.constants + to.position), size_t(elements(to.shape)) * size_of(to.dtype)});
  }
}

}  // namespace

void set_library(const std::string& path) { Library::instance().set_path(path); }

bool available(std::string* reason) { return Library::instance().load(reason) != nullptr; }

std::string version() { return available() ? Library::instance().table().version() : ""; }

compiler::Target target() {
  switch (elementary::detected_isa()) {
    case elementary::Isa::avx512: return {64, 32};
    case elementary::Isa::avx2: return {32, 16};
    case elementary::Isa::baseline: break;
  }
#if defined(__aarch64__)
  return {16, 32};
#else
  return {16, 16};
#endif
}

runtime::Executable compile(const loops::Program& program, Timings* timings, ObjectCache* cache) {
  const EntryTable& table = Library::instance().table();
  runtime::Executable executable;
  void* code = nullptr;
  std::string what, problem;
  CodeFacts facts;
  const Status status = table.compile(program, interrupt_check(), cache ? cache->folder.c_str() : "", &executable.entry,
                                      &code, &facts, to_string(problem), to_string(what));
  if (status != Status::done) fail(status, what);
  if (timings) {
    timings->push_back({"emit", facts.emit});
    timings->push_back({"find", facts.find});
    timings->push_back({"generate", facts.generate});
    timings->push_back({"link", facts.link});
  }
  if (cache) cache->problem = problem;
  executable.code_bytes = facts.bytes;
  executable.arena_bytes = program.arena_bytes;
  executable.buffers = static_cast<size_t>(program.inputs + program.constants + program.outputs);
  find_aligned(program, program.body, executable.aligned);
  executable.code = std::shared_ptr<void>(code, table.release);
  return executable;
}

std::string text(const loops::Program& program, Text kind) {
  std::string result, what;
  const Status status = Library::instance().table().text(program, interrupt_check(), kind == Text::assembly,
                                                         to_string(result), to_string(what));
  if (status != Status::done) fail(status, what);
  return result;
}

}  // namespace anvil::llvm_backend
