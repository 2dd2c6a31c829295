// Says where the code generator is: the environment variable ANVIL_LLVM_LIBRARY, else the
// one that was built beside the tests. Nothing is loaded before the first compilation.
#pragma once

namespace anvil::test {

void load_llvm();

}  // namespace anvil::test
