// The only source that the build gives the path of the code generator: all others compile
// to the same objects in every folder, which a compiler cache knows.
#include "support/load_llvm.h"

#include <cstdlib>

#include "backend/llvm/compile.h"

namespace anvil::test {

void load_llvm() {
  const char* path = std::getenv("ANVIL_LLVM_LIBRARY");
#ifdef ANVIL_LLVM_LIBRARY
  if (path == nullptr) path = ANVIL_LLVM_LIBRARY;
#endif
  if (path != nullptr) llvm_backend::set_library(path);
}

}  // namespace anvil::test
