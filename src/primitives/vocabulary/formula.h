// What a scalar formula is written in: the same names and operators for numbers of every
// dtype (Number), where they compute, and for expressions of the loop language
// (Expression), where they grow a tree. A formula is a generic lambda, instantiated for
// both, so that evaluation and generated code cannot differ.
#pragma once
#include <climits>

#include "loops/expression.h"
#include "runtime/scalar.h"

namespace anvil::primitives {

template <class T>
struct Number {
  T value;
};
template <class T>
Number(T) -> Number<T>;

struct Expression {
  loops::ExprPool* pool;
  loops::Expr node;
  DType dtype() const { return node->dtype; }
};
// A node of `op`; or what stands for it with bools (or, and) and floats (pow, fmod).
Expression apply(loops::Op op, Expression x);
Expression apply(loops::Op op, Expression a, Expression b);

#define ANVIL_FORMULA_1(spelling, op)   \
  template <class T>                    \
  auto spelling(Number<T> x) {          \
    return Number{scalar::op(x.value)}; \
  }                                     \
  inline Expression spelling(Expression x) { return apply(loops::Op::op, x); }
#define ANVIL_FORMULA_2(spelling, op)            \
  template <class T>                             \
  auto spelling(Number<T> a, Number<T> b) {      \
    return Number{scalar::op(a.value, b.value)}; \
  }                                              \
  inline Expression spelling(Expression a, Expression b) { return apply(loops::Op::op, a, b); }
ANVIL_FORMULA_2(operator+, add)
ANVIL_FORMULA_2(operator-, sub)
ANVIL_FORMULA_2(operator*, mul)
ANVIL_FORMULA_2(operator/, divide)
ANVIL_FORMULA_2(operator&, bit_and)
ANVIL_FORMULA_2(operator|, bit_or)
ANVIL_FORMULA_2(operator^, bit_xor)
ANVIL_FORMULA_2(operator==, eq)
ANVIL_FORMULA_2(operator!=, ne)
ANVIL_FORMULA_2(operator<, lt)
ANVIL_FORMULA_2(operator<=, le)
ANVIL_FORMULA_2(operator>, gt)
ANVIL_FORMULA_2(operator>=, ge)
ANVIL_FORMULA_2(remainder, remainder)
ANVIL_FORMULA_2(pow, power)
ANVIL_FORMULA_2(minimum, minimum)
ANVIL_FORMULA_2(maximum, maximum)
ANVIL_FORMULA_2(shift_left, shift_left)
ANVIL_FORMULA_2(shift_right_logical, shift_right_logical)
ANVIL_FORMULA_2(shift_right_arithmetic, shift_right_arithmetic)
ANVIL_FORMULA_1(operator-, negate)
ANVIL_FORMULA_1(operator~, bit_not)
ANVIL_FORMULA_1(abs, abs)
ANVIL_FORMULA_1(sign, sign)
ANVIL_FORMULA_1(popcnt, popcnt)
ANVIL_FORMULA_1(sqrt, sqrt)
ANVIL_FORMULA_1(floor, floor)
ANVIL_FORMULA_1(ceil, ceil)
ANVIL_FORMULA_1(round_even, round_even)
ANVIL_FORMULA_1(round_away, round_away)
ANVIL_FORMULA_1(is_finite, is_finite)
#undef ANVIL_FORMULA_1
#undef ANVIL_FORMULA_2

template <class T>
Number<T> select(Number<bool> condition, Number<T> yes, Number<T> no) {
  return {scalar::select(condition.value, yes.value, no.value)};
}
inline Expression select(Expression condition, Expression yes, Expression no) {
  return {yes.pool, yes.pool->select(condition.node, yes.node, no.node)};
}

// ---- what formulas on bits ask of their argument's dtype ---------------------------------
template <class T>
Number<T> literal_like(Number<T>, int64_t x) {
  return {static_cast<T>(x)};
}
inline Expression literal_like(Expression like, int64_t x) {
  return {like.pool, like.pool->constant(Scalar(x), like.dtype())};
}
template <class T>
int width(Number<T>) {
  return CHAR_BIT * sizeof(T);
}
inline int width(Expression x) { return CHAR_BIT * static_cast<int>(size_of(x.dtype())); }
template <class T>
bool is_signed(Number<T>) {
  return std::is_signed_v<T>;
}
inline bool is_signed(Expression x) { return !is_unsigned_integer(x.dtype()); }

// The bits of a float as a signed integer, and back; `like` says which float.
template <class T>
requires is_small_float<T> Number<int16_t> bits_of(Number<T> x) { return {scalar::bitcast<int16_t>(x.value)}; }
inline Number<int32_t> bits_of(Number<float> x) { return {scalar::bitcast<int32_t>(x.value)}; }
inline Number<int64_t> bits_of(Number<double> x) { return {scalar::bitcast<int64_t>(x.value)}; }
inline Expression bits_of(Expression x) {
  return {x.pool, x.pool->bitcast(x.node, signed_of_size(size_of(x.dtype())))};
}
template <class T, class Bits>
Number<T> float_of(Number<Bits> bits, Number<T>) {
  return {scalar::bitcast<T>(bits.value)};
}
inline Expression float_of(Expression bits, Expression like) {
  return {bits.pool, bits.pool->bitcast(bits.node, like.dtype())};
}
template <class T>
int significand_bits(Number<T>) {
  return descriptor(dtype_of<T>()).mantissa_bits;
}
inline int significand_bits(Expression x) { return descriptor(x.dtype()).mantissa_bits; }

}  // namespace anvil::primitives
