#include "base/printing.h"

namespace anvil {
namespace {
thread_local Printer printer = nullptr;
}

void set_printer(Printer p) { printer = p; }

void print(std::string_view format, std::span<const DenseTensor> tensors) {
  if (printer != nullptr) printer(format, tensors);
}

}  // namespace anvil
