// The formulas of the scalar operations in LLVM's instructions, the same for numbers and
// for vectors of them. Promises what loops/expression.h says of each operation: integers
// wrap, divisions and shifts never trap, conversions saturate, NaN survives.
#pragma once
#include "backend/llvm/llvm.h"
#include "backend/llvm/machine.h"
#include "base/scalar.h"
#include "loops/expression.h"

namespace anvil::llvm_backend {

class Operations {
 public:
  using Value = llvm::Value*;
  Operations(llvm::IRBuilder<>& builder, const Abilities& has) : b(builder), has_(has) {}

  llvm::Type* type(DType, int lanes = 1) const;         // in registers: bool is i1, small floats are their bits
  llvm::Type* memory_type(DType, int lanes = 1) const;  // in memory: bool is a byte
  llvm::Constant* constant(Scalar, DType, int lanes = 1) const;

  // `t` is the dtype of the operands. Not here, since they are calls: function, power,
  // and remainder of floats.
  Value unary(loops::Op, DType t, Value);
  Value binary(loops::Op, DType t, Value, Value);
  Value fma(DType, Value, Value, Value);
  Value convert(Value, DType from, DType to);
  Value bitcast(Value, DType from, DType to);

  Value splat(Value, int lanes);
  Value fold(loops::Op, DType, Value vector);  // of all lanes, pairwise
  Value scan(loops::Op, DType, Value vector);  // of each lane and all before it
  Value last(Value vector);                    // the last lane in all lanes

 private:
  Value integer_division(loops::Op, DType, Value, Value);
  Value shift(loops::Op, DType, Value, Value);
  Value compare(loops::Op, DType, Value, Value);
  Value extremum(loops::Op, DType, Value, Value);
  Value chosen(loops::Op, DType, Value, Value);
  Value extremum_with_zeros(loops::Op, Value, Value);
  template <class F>
  Value fold_pairs(Value vector, const F& pair);
  Value fold_extremum(loops::Op, DType, Value vector);
  Value intrinsic(llvm::Intrinsic::ID, Value);
  Value widened(Value, DType from);  // a small float to a float
  Value rounded(Value, DType to);    // a float to a small one
  Value odd(Value);                  // a double to a float, to be rounded again
  Value zero(Value like) const { return llvm::Constant::getNullValue(like->getType()); }
  static llvm::Type* like(llvm::Type* element, Value shape);

  llvm::IRBuilder<>& b;
  Abilities has_;
};

}  // namespace anvil::llvm_backend
