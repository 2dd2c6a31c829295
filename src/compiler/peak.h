// Programs whose time says what the machine can do: as many multiplications and additions as one core makes, on
// numbers that stay in registers, and as much memory as it moves. What is compiled for users runs beside these.
//
//   for i in 0..96 vector 8 x 12 {         for i in 0..n vector 8 x 4 {
//     a1 = 0                                 out1[i] = x1[i] + 1
//     for p in 0..n { a1 += x1[0] * x1[1] }  }
//     out1[i] = a1
//   }
#pragma once
#include "compiler/compiler.h"

namespace anvil::compiler {

// One input, two numbers; one output.
loops::Program multiply_add_peak(DType, const Target&, int64_t steps);
double operations_of_peak(DType, const Target&, int64_t steps);
// One input and one output of n elements of f32.
loops::Program memory_peak(const Target&, int64_t n);

}  // namespace anvil::compiler
