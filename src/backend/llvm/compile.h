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
runtime::Executable compile(const loops::Program&, Timings* = nullptr);
enum class Text { llvm, assembly };
std::string text(const loops::Program&, Text);

}  // namespace anvil::llvm_backend
