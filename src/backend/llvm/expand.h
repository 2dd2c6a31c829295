// Elementary functions written out in vector loops instead of called: a call keeps no vector in a register, and its
// instructions wait for each other where those of a loop's other expressions could run:
//   exp(x)  ->  k = fma(x, 1/ln2, shifter) - shifter, r = fma(k, -ln2, x), ...
// The formulas are those of runtime/elementary, so that the bits are those of the calls.
#pragma once
#include <string>

#include "backend/llvm/llvm.h"

namespace anvil::llvm_backend {

// Of a vector of floats or doubles; null where the function is not one of the short ones. `scales`: the processor
// multiplies by powers of two (AVX-512). Adds to `written` how many instructions that takes.
llvm::Value* expand(llvm::IRBuilder<>&, const std::string& function, llvm::Value* x, bool scales, int* written);

}  // namespace anvil::llvm_backend
