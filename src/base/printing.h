// What programs print while they run goes to the printer of the thread that runs them; without one,
// nothing is printed. R's is set when the package is loaded.
#pragma once
#include <string_view>

#include "base/dense_tensor.h"

namespace anvil {

// A tensor by itself where `format` is empty, otherwise the text with all of them in it. May throw.
using Printer = void (*)(std::string_view format, std::span<const DenseTensor>);
void set_printer(Printer);
void print(std::string_view format, std::span<const DenseTensor>);

}  // namespace anvil
