// The numbers that the operations of a loop program make of numbers, one at a time.
#pragma once
#include "loops/expression.h"

namespace anvil::test {

// The value of an operation (no load, index or local) for values of its operands.
Scalar compute(const loops::Node&, const Scalar* operands);
Scalar combine(loops::Op, DType, Scalar, Scalar);  // of two operands of one dtype

}  // namespace anvil::test
