// What each instruction set hands to table.cpp: its symbols, in the order of Function and
// per function in a fixed order of types (f32, f64, then vectors, the widest last), and
// loops over arrays. The address given to a loop is that of its widest vector function.
#pragma once
#include "runtime/elementary/instruction_sets.h"

namespace anvil::elementary {

// Arguments that the function does not have are null.
template <class T>
using Loop = void (*)(void* function, const Arguments<T>& x, T* out, int64_t n);

struct Kernels {
  std::span<const Symbol> symbols;
  int types;  // symbols a function
  Loop<float> loop_f32;
  Loop<double> loop_f64;
};

ANVIL_KERNELS_OF_SETS(Kernels)

}  // namespace anvil::elementary
