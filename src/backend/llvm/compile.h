// Loop program to native code. The library that links LLVM is loaded at the first compile
// and not before; without it available() is false and says why.
#pragma once
#include <string>

#include "compiler/compiler.h"
#include "loops/program.h"
#include "runtime/executable.h"

namespace anvil::llvm_backend {

void set_library(const std::string& path);      // of the shared object with the code generator
bool available(std::string* reason = nullptr);  // loads it
std::string version();                          // of LLVM, "" when not available
compiler::Target target();                      // of this machine (honours ANVIL_ISA)

// Where machine code is kept from session to session.
struct ObjectCache {
  std::string folder;   // "" for nowhere
  std::string problem;  // what was wrong with it
};
// Equal programs share their code. Not for a cache: programs that refer to functions of this process.
runtime::Executable compile(const loops::Program&, Timings* = nullptr, ObjectCache* = nullptr);
enum class Text { llvm, assembly };
std::string text(const loops::Program&, Text);

}  // namespace anvil::llvm_backend
