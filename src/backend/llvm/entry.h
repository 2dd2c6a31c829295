// What the loader (library.cpp, part of anvil.so) and the loadable code generator
// (anvil_llvm.so) say to each other: one table of functions, found by the name
// `anvil_llvm_entry`. Both are built from the same sources by the same compiler, so
// programs cross by reference; exceptions and memory do not cross.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/interrupt.h"
#include "loops/program.h"
#include "runtime/executable.h"

namespace anvil::llvm_backend {

constexpr int entry_revision = 6;

struct Symbol {  // something of anvil.so that generated code may call
  const char* name;
  void* address;
};
struct Settings {
  int vector_bytes = 16;  // registers wider than this are not used
  bool fma = true;
  bool verify = false;             // run LLVM's verifier
  double largest_function = 2000;  // instructions, roughly: a larger program is cut
  double expand_from = 4096;       // runs of a loop's body that make up for the time to compile elementary functions
  std::string build;               // of the package: objects of another one are not used
};
enum class Status : int { done, failed, out_of_memory, interrupted };

// What compiling took, in seconds, and gave.
struct CodeFacts {
  double emit = 0, find = 0;      // LLVM IR from loops; looking for what was made of the same
  double generate = 0, link = 0;  // machine code from LLVM IR; its place in memory
  int64_t bytes = 0;              // of machine code
};

// Receives text: `append` is called any number of times.
struct Sink {
  void* target;
  void (*append)(void* target, const char* text, size_t length);
};

struct EntryTable {
  int revision;
  const char* (*version)();  // of LLVM
  // Once, ahead of the rest.
  Status (*start)(const Settings&, const Symbol* symbols, size_t count, Sink error);
  // `code` owns the machine code, which equal programs share, and is given back to `release`. The check is asked now and
  // then. `folder`: where objects are kept, "" for nowhere; what is wrong with it is said to `problem`.
  Status (*compile)(const loops::Program&, InterruptCheck, const char* folder, runtime::Entry* entry, void** code,
                    CodeFacts*, Sink problem, Sink error);
  void (*release)(void* code);
  // In LLVM IR, the calls that nests come from stand as comments: "; calls 3 7", their locations.
  Status (*text)(const loops::Program&, InterruptCheck, bool assembly, Sink text, Sink error);
};

using EntryFunction = const EntryTable* (*)();
inline constexpr const char* entry_name = "anvil_llvm_entry";

}  // namespace anvil::llvm_backend
