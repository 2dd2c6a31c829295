// Scalar operations as LLVM instructions.
#include "backend/llvm/operations.h"

#include <numeric>

#include "base/error.h"

namespace anvil::llvm_backend {

using llvm::CmpInst;
using llvm::ConstantFP;
using llvm::ConstantInt;
using loops::Op;

namespace {

bool is_signed(DType t) { return is_signed_integer(t); }

}  // namespace

llvm::Type* Operations::type(DType t, int lanes) const {
  llvm::Type* element = is_bool(t)        ? b.getInt1Ty()
                        : t == DType::f32 ? b.getFloatTy()
                        : t == DType::f64 ? b.getDoubleTy()
                                          : static_cast<llvm::Type*>(b.getIntNTy(unsigned(8 * size_of(t))));
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, unsigned(lanes));
}

llvm::Type* Operations::memory_type(DType t, int lanes) const { return type(is_bool(t) ? DType::i8 : t, lanes); }

llvm::Constant* Operations::constant(Scalar x, DType t, int lanes) const {
  llvm::Constant* c = nullptr;
  // floats by their bits: the payload of a NaN may be R's NA
  if (t == DType::f32)
    c = ConstantFP::get(b.getContext(), llvm::APFloat(x.as<float>()));
  else if (t == DType::f64)
    c = ConstantFP::get(b.getContext(), llvm::APFloat(x.as<double>()));
  else if (is_bool(t))
    c = b.getInt1(x.as<bool>());
  else
    c = visit(t, [&]<class T>() -> llvm::Constant* {
      if constexpr (is_small_float<T>)
        return ConstantInt::get(type(t), std::bit_cast<uint16_t>(x.as<T>()));
      else
        return ConstantInt::get(type(t), static_cast<uint64_t>(x.as<T>()), is_signed(t));
    });
  return lanes == 1 ? c : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(unsigned(lanes)), c);
}

llvm::Type* Operations::like(llvm::Type* element, Value shape) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape->getType());
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

Operations::Value Operations::intrinsic(llvm::Intrinsic::ID id, Value x) {
  return b.CreateIntrinsic(id, {x->getType()}, {x});
}

Operations::Value Operations::unary(Op op, DType t, Value x) {
  const bool real = is_float(t);
  switch (op) {
    case Op::negate: return real ? b.CreateFNeg(x) : is_bool(t) ? x : b.CreateNeg(x);
    case Op::bit_not: return b.CreateNot(x);
    case Op::abs:
      if (real) return intrinsic(llvm::Intrinsic::fabs, x);
      return is_signed(t) ? b.CreateSelect(b.CreateICmpSLT(x, zero(x)), b.CreateNeg(x), x) : x;
    case Op::sign: {
      const auto number = [&](int n) {
        return real ? ConstantFP::get(x->getType(), n) : ConstantInt::get(x->getType(), uint64_t(int64_t(n)), true);
      };
      if (is_bool(t)) return x;
      if (real) {  // zeros and NaN stay what they are
        Value negative = b.CreateSelect(b.CreateFCmpOLT(x, zero(x)), number(-1), x);
        return b.CreateSelect(b.CreateFCmpOGT(x, zero(x)), number(1), negative);
      }
      Value positive = b.CreateSelect(b.CreateICmpNE(x, zero(x)), number(1), number(0));
      return is_signed(t) ? b.CreateSelect(b.CreateICmpSLT(x, zero(x)), number(-1), positive) : positive;
    }
    case Op::popcnt: return is_bool(t) ? x : intrinsic(llvm::Intrinsic::ctpop, x);
    case Op::sqrt: return intrinsic(llvm::Intrinsic::sqrt, x);
    case Op::floor: return real ? intrinsic(llvm::Intrinsic::floor, x) : x;
    case Op::ceil: return real ? intrinsic(llvm::Intrinsic::ceil, x) : x;
    case Op::trunc: return real ? intrinsic(llvm::Intrinsic::trunc, x) : x;
    case Op::round_even: return real ? intrinsic(llvm::Intrinsic::roundeven, x) : x;
    case Op::round_away: return real ? intrinsic(llvm::Intrinsic::round, x) : x;
    case Op::is_finite:
      if (!real) return llvm::Constant::getAllOnesValue(like(b.getInt1Ty(), x));
      return b.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, x), ConstantFP::getInfinity(x->getType()));
    default: throw InternalError(std::string("not a unary operation: ") + loops::name(op));
  }
}

Operations::Value Operations::binary(Op op, DType t, Value x, Value y) {
  const bool real = is_float(t), boolean = is_bool(t);
  switch (op) {
    case Op::add: return real ? b.CreateFAdd(x, y) : boolean ? b.CreateOr(x, y) : b.CreateAdd(x, y);
    case Op::sub: return real ? b.CreateFSub(x, y) : boolean ? b.CreateXor(x, y) : b.CreateSub(x, y);
    case Op::mul: return real ? b.CreateFMul(x, y) : boolean ? b.CreateAnd(x, y) : b.CreateMul(x, y);
    case Op::divide: return real ? b.CreateFDiv(x, y) : integer_division(op, t, x, y);
    case Op::remainder: return integer_division(op, t, x, y);
    case Op::minimum:
    case Op::maximum: return extremum(op, t, x, y);
    case Op::bit_and: return b.CreateAnd(x, y);
    case Op::bit_or: return b.CreateOr(x, y);
    case Op::bit_xor: return b.CreateXor(x, y);
    case Op::shift_left:
    case Op::shift_right_logical:
    case Op::shift_right_arithmetic: return shift(op, t, x, y);
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge: return compare(op, t, x, y);
    default: throw InternalError(std::string("not a binary operation: ") + loops::name(op));
  }
}

// x / 0 = -1, x % 0 = x, smallest / -1 = smallest: the divisors 0 and -1 never reach the
// processor, which would trap.
Operations::Value Operations::integer_division(Op op, DType t, Value x, Value y) {
  const bool divide = op == Op::divide;
  if (is_bool(t)) return divide ? b.CreateOr(x, b.CreateNot(y)) : b.CreateAnd(x, b.CreateNot(y));
  Value one = ConstantInt::get(y->getType(), 1), minus_one = llvm::Constant::getAllOnesValue(y->getType());
  const auto quotient = [&](Value d) {
    if (is_signed(t)) return divide ? b.CreateSDiv(x, d) : b.CreateSRem(x, d);
    return divide ? b.CreateUDiv(x, d) : b.CreateURem(x, d);
  };
  if (const auto* c = llvm::dyn_cast<llvm::Constant>(y)) {
    const llvm::Constant* same = c->getType()->isVectorTy() ? c->getSplatValue() : c;
    const auto* number = same ? llvm::dyn_cast<ConstantInt>(same) : nullptr;
    if (number && !number->isZero() && !(is_signed(t) && number->isMinusOne())) return quotient(y);
  }
  Value by_zero = b.CreateICmpEQ(y, zero(y));
  if (is_signed(t)) {
    Value by_minus_one = b.CreateICmpEQ(y, minus_one);
    Value safe = quotient(b.CreateSelect(b.CreateOr(by_zero, by_minus_one), one, y));
    if (divide) return b.CreateSelect(by_zero, minus_one, b.CreateSelect(by_minus_one, b.CreateNeg(x), safe));
    return b.CreateSelect(by_zero, x, safe);
  }
  Value safe = quotient(b.CreateSelect(by_zero, one, y));
  return b.CreateSelect(by_zero, divide ? minus_one : x, safe);
}

// A count of the width or more (unsigned) moves every bit out.
Operations::Value Operations::shift(Op op, DType t, Value x, Value count) {
  const auto bits = uint64_t(is_bool(t) ? 1 : 8 * size_of(t));
  Value width = ConstantInt::get(count->getType(), bits), last = ConstantInt::get(count->getType(), bits - 1);
  Value small = b.CreateICmpULT(count, width);
  if (is_bool(t)) small = b.CreateNot(count);
  if (op == Op::shift_right_arithmetic && !is_bool(t)) return b.CreateAShr(x, b.CreateSelect(small, count, last));
  if (is_bool(t)) return op == Op::shift_right_arithmetic ? x : b.CreateAnd(x, small);
  return b.CreateSelect(small, op == Op::shift_left ? b.CreateShl(x, count) : b.CreateLShr(x, count), zero(x));
}

Operations::Value Operations::compare(Op op, DType t, Value x, Value y) {
  const int i = int(op) - int(Op::eq);  // eq ne lt le gt ge
  static constexpr CmpInst::Predicate real[] = {CmpInst::FCMP_OEQ, CmpInst::FCMP_UNE, CmpInst::FCMP_OLT,
                                                CmpInst::FCMP_OLE, CmpInst::FCMP_OGT, CmpInst::FCMP_OGE};
  static constexpr CmpInst::Predicate with_sign[] = {CmpInst::ICMP_EQ,  CmpInst::ICMP_NE,  CmpInst::ICMP_SLT,
                                                     CmpInst::ICMP_SLE, CmpInst::ICMP_SGT, CmpInst::ICMP_SGE};
  static constexpr CmpInst::Predicate natural[] = {CmpInst::ICMP_EQ,  CmpInst::ICMP_NE,  CmpInst::ICMP_ULT,
                                                   CmpInst::ICMP_ULE, CmpInst::ICMP_UGT, CmpInst::ICMP_UGE};
  if (is_float(t)) return b.CreateFCmp(real[i], x, y);
  return b.CreateICmp(is_signed(t) ? with_sign[i] : natural[i], x, y);
}

// A number that is known, in every lane; null when it is none.
static const ConstantFP* known_number(llvm::Value* v) {
  auto* c = llvm::dyn_cast<llvm::Constant>(v);
  if (c && c->getType()->isVectorTy()) c = c->getSplatValue();
  return c ? llvm::dyn_cast<ConstantFP>(c) : nullptr;
}

// "x < y ? x : y" is one instruction and gives y when either is NaN or both are zeros.
Operations::Value Operations::chosen(Op op, DType t, Value x, Value y) {
  return b.CreateSelect(compare(op == Op::minimum ? Op::lt : Op::gt, t, x, y), x, y);
}

// Of zeros, the one wins whose sign the bits of both give (see runtime/scalar.h). No test is needed beside a known number
// in the right place: first, so that ties go to the other one, but second when it is the zero that wins.
Operations::Value Operations::extremum(Op op, DType t, Value x, Value y) {
  const bool smaller = op == Op::minimum;
  if (is_bool(t)) return smaller ? b.CreateAnd(x, y) : b.CreateOr(x, y);
  if (!is_float(t)) return chosen(op, t, x, y);
  if (has_.orders_all)
    return b.CreateBinaryIntrinsic(smaller ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, x, y);
  const ConstantFP* known = known_number(y);
  if (!known && (known = known_number(x))) std::swap(x, y);
  if (known && !known->isNaN()) {
    const bool wins = known->isZero() && known->isNegative() == smaller;
    return wins ? b.CreateSelect(b.CreateFCmpUNO(x, x), x, chosen(op, t, x, y)) : chosen(op, t, y, x);
  }
  if (Value ordered = extremum_with_zeros(op, x, y))
    return b.CreateSelect(b.CreateFCmpUNO(x, y), b.CreateFAdd(x, y), ordered);
  llvm::Type* bits = like(b.getIntNTy(unsigned(8 * size_of(t))), x);
  Value u = b.CreateBitCast(x, bits), v = b.CreateBitCast(y, bits);
  Value zero = b.CreateBitCast(smaller ? b.CreateOr(u, v) : b.CreateAnd(u, v), x->getType());
  Value number = b.CreateSelect(b.CreateFCmpOEQ(x, y), zero, chosen(op, t, x, y));
  return b.CreateSelect(b.CreateFCmpUNO(x, x), x, number);
}

// Null where there is no such instruction.
Operations::Value Operations::extremum_with_zeros(Op op, Value x, Value y) {
  namespace id = llvm::Intrinsic;
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (!type || !has_.orders_zeros) return nullptr;
  const unsigned lanes = type->getNumElements();
  const bool single = type->getElementType()->isFloatTy();
  const unsigned bytes = lanes * (single ? 4 : 8);
  id::ID range = id::not_intrinsic;
  if (bytes == 64) range = single ? id::x86_avx512_mask_range_ps_512 : id::x86_avx512_mask_range_pd_512;
  if (bytes == 32) range = single ? id::x86_avx512_mask_range_ps_256 : id::x86_avx512_mask_range_pd_256;
  if (bytes == 16) range = single ? id::x86_avx512_mask_range_ps_128 : id::x86_avx512_mask_range_pd_128;
  if (range == id::not_intrinsic) return nullptr;
  constexpr unsigned least = 0, largest = 1, with_its_sign = 1 << 2, rounding_as_usual = 4;
  llvm::SmallVector<Value, 6> arguments = {x, y, b.getInt32(with_its_sign | (op == Op::minimum ? least : largest)), x,
                                           llvm::Constant::getAllOnesValue(b.getIntNTy(std::max(8U, lanes)))};
  if (bytes == 64) arguments.push_back(b.getInt32(rounding_as_usual));
  return b.CreateIntrinsic(range, {}, arguments);
}

Operations::Value Operations::fma(DType t, Value x, Value y, Value z) {
  if (!is_float(t)) return binary(Op::add, t, binary(Op::mul, t, x, y), z);
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
}

Operations::Value Operations::convert(Value x, DType from, DType to) {
  if (from == to) return x;
  if (is_small(from)) return convert(widened(x, from), compute_type(from), to);
  if (is_small(to)) {
    if (compute_type(to) == from) return rounded(x, to);
    if (is_bool(from)) return rounded(convert(x, from, compute_type(to)), to);
    return rounded(odd(convert(x, from, DType::f64)), to);
  }
  llvm::Type* target = like(type(to), x);
  if (is_bool(to)) return is_float(from) ? b.CreateFCmpUNE(x, zero(x)) : b.CreateICmpNE(x, zero(x));
  if (is_float(to)) {
    if (is_bool(from)) return b.CreateSelect(x, ConstantFP::get(target, 1), ConstantFP::get(target, 0));
    if (is_float(from)) return to == DType::f64 ? b.CreateFPExt(x, target) : b.CreateFPTrunc(x, target);
    return is_signed(from) ? b.CreateSIToFP(x, target) : b.CreateUIToFP(x, target);
  }
  if (!is_float(from)) return is_signed(from) ? b.CreateSExtOrTrunc(x, target) : b.CreateZExtOrTrunc(x, target);
  // saturating; outside the range the instruction's result is not looked at. 2^bits is a
  // number of every float type, the largest integer is not.
  const int bits = int(8 * size_of(to)) - (is_signed(to) ? 1 : 0);
  Value beyond = ConstantFP::get(x->getType(), std::ldexp(1.0, bits));
  Value low = is_signed(to) ? ConstantFP::get(x->getType(), -std::ldexp(1.0, bits)) : zero(x);
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  const auto limit = [&](Scalar s) { return constant(s, to, vector ? int(vector->getNumElements()) : 1); };
  Value inside = is_signed(to) ? b.CreateFPToSI(x, target) : b.CreateFPToUI(x, target);
  Value below_top = b.CreateSelect(b.CreateFCmpOGE(x, beyond), limit(highest(to)), inside);
  if (!is_signed(to)) return b.CreateSelect(b.CreateFCmpOGT(x, low), below_top, limit(Scalar(0)));
  Value number = b.CreateSelect(b.CreateFCmpOLE(x, low), limit(lowest(to)), below_top);
  return b.CreateSelect(b.CreateFCmpUNO(x, x), limit(Scalar(0)), number);
}

// The formulas of base/small_float.h.
Operations::Value Operations::widened(Value x, DType from) {
  const auto [e, m] = std::pair(descriptor(from).exponent_bits, descriptor(from).mantissa_bits);
  llvm::Type *word = like(b.getInt32Ty(), x), *real = like(b.getFloatTy(), x);
  if (e == 5 && has_.halves) return b.CreateFPExt(b.CreateBitCast(x, like(b.getHalfTy(), x)), real);
  const auto bits = [&](uint32_t n) { return ConstantInt::get(word, n); };
  Value all = b.CreateZExt(x, word);
  const int shift = 23 - m;
  if (e == 8) return b.CreateBitCast(b.CreateShl(all, bits(uint32_t(shift))), real);
  const uint32_t bias = (128 - (1U << (e - 1))) << 23, infinity = ((1U << e) - 1) << 23, unit = 1U << 23;
  Value sign = b.CreateShl(b.CreateAnd(all, bits(0x8000)), bits(16));
  Value size = b.CreateShl(b.CreateAnd(all, bits(0x7fff)), bits(uint32_t(shift)));
  Value normal = b.CreateAdd(size, bits(bias)), least = b.CreateBitCast(bits(bias + unit), real);
  Value subnormal = b.CreateFSub(b.CreateBitCast(b.CreateAdd(size, bits(bias + unit)), real), least);
  Value special = b.CreateAdd(size, bits(0x7f800000U - infinity));
  Value number = b.CreateSelect(b.CreateICmpULT(size, bits(unit)), b.CreateBitCast(subnormal, word), normal);
  number = b.CreateSelect(b.CreateICmpUGE(size, bits(infinity)), special, number);
  return b.CreateBitCast(b.CreateOr(number, sign), real);
}

Operations::Value Operations::rounded(Value x, DType to) {
  const auto [e, m] = std::pair(descriptor(to).exponent_bits, descriptor(to).mantissa_bits);
  llvm::Type *word = like(b.getInt32Ty(), x), *stored = like(b.getInt16Ty(), x);
  if (e == 5 && has_.halves) return b.CreateBitCast(b.CreateFPTrunc(x, like(b.getHalfTy(), x)), stored);
  const auto bits = [&](uint32_t n) { return ConstantInt::get(word, n); };
  const auto shift = uint32_t(23 - m);
  const uint32_t bias = (128 - (1U << (e - 1))) << 23, infinity = ((1U << e) - 1) << 23, unit = 1U << 23;
  Value all = b.CreateBitCast(x, word), size = b.CreateAnd(all, bits(0x7fffffff));
  Value odd_bit = b.CreateAnd(b.CreateLShr(size, bits(shift)), bits(1));
  Value even = b.CreateAdd(b.CreateAdd(size, bits((1U << (shift - 1)) - 1)), odd_bit);
  Value number = b.CreateSub(even, bits(bias));
  if (e < 8) {  // of a float's exponents not all are there
    Value too_large = b.CreateICmpUGE(even, bits(infinity + bias));
    number = b.CreateSelect(too_large, bits(infinity), number);
    const uint32_t ulp = bias + (shift + 1) * unit;
    Value sum = b.CreateFAdd(b.CreateBitCast(size, x->getType()), b.CreateBitCast(bits(ulp), x->getType()));
    Value subnormal = b.CreateShl(b.CreateSub(b.CreateBitCast(sum, word), bits(ulp)), bits(shift));
    number = b.CreateSelect(b.CreateICmpULT(size, bits(bias + unit)), subnormal, number);
  }
  Value nan = b.CreateOr(b.CreateAnd(size, bits(0x007fffff)), bits(infinity | 0x00400000U));
  number = b.CreateSelect(b.CreateFCmpUNO(x, x), nan, number);
  Value sign = b.CreateLShr(b.CreateAnd(all, bits(0x80000000U)), bits(16));
  return b.CreateTrunc(b.CreateOr(b.CreateLShr(number, bits(shift)), sign), stored);
}

Operations::Value Operations::odd(Value x) {
  llvm::Type *word = like(b.getInt32Ty(), x), *real = like(b.getFloatTy(), x);
  Value near = b.CreateFPTrunc(x, real), back = b.CreateFPExt(near, x->getType()), bits = b.CreateBitCast(near, word);
  Value one = ConstantInt::get(word, 1);
  Value exact = b.CreateFCmpUEQ(back, x), is_odd = b.CreateICmpNE(b.CreateAnd(bits, one), zero(bits));
  Value too_large = b.CreateFCmpOGT(intrinsic(llvm::Intrinsic::fabs, back), intrinsic(llvm::Intrinsic::fabs, x));
  Value moved = b.CreateSelect(too_large, b.CreateSub(bits, one), b.CreateAdd(bits, one));
  return b.CreateBitCast(b.CreateSelect(b.CreateOr(exact, is_odd), bits, moved), real);
}

Operations::Value Operations::bitcast(Value x, DType from, DType to) {
  if (is_bool(from) == is_bool(to)) return b.CreateBitCast(x, like(type(to), x));
  return is_bool(to) ? b.CreateICmpNE(x, zero(x)) : b.CreateZExt(x, like(type(to), x));
}

Operations::Value Operations::splat(Value x, int lanes) {
  return lanes == 1 ? x : b.CreateVectorSplat(unsigned(lanes), x);
}

Operations::Value Operations::fold(Op op, DType t, Value vector) {
  const bool extremum = (op == Op::minimum || op == Op::maximum) && is_float(t) && !has_.orders_all;
  if (extremum) return fold_extremum(op, t, vector);
  return fold_pairs(vector, [&](Value x, Value y) { return binary(op, t, x, y); });
}
template <class F>
Operations::Value Operations::fold_pairs(Value vector, const F& pair) {
  while (const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType())) {
    const int half = int(type->getNumElements()) / 2;
    if (half == 0) return b.CreateExtractElement(vector, uint64_t(0));
    llvm::SmallVector<int, 32> first(size_t(half), 0), second(size_t(half), 0);
    std::iota(first.begin(), first.end(), 0);
    std::iota(second.begin(), second.end(), half);
    if (half == 1)
      return pair(b.CreateExtractElement(vector, uint64_t(0)), b.CreateExtractElement(vector, uint64_t(1)));
    vector = pair(b.CreateShuffleVector(vector, first), b.CreateShuffleVector(vector, second));
  }
  return vector;
}
// NaN, and the zero that wins, are looked for in all lanes at once.
Operations::Value Operations::fold_extremum(Op op, DType t, Value vector) {
  if (!vector->getType()->isVectorTy()) return vector;
  Value number = fold_pairs(vector, [&](Value x, Value y) { return chosen(op, t, x, y); });
  llvm::Type *type = number->getType(), *bits = b.getIntNTy(unsigned(8 * size_of(t)));
  const bool smaller = op == Op::minimum;
  Value wins = ConstantFP::get(type, smaller ? -0.0 : 0.0), other = ConstantFP::get(type, smaller ? 0.0 : -0.0);
  const auto lanes = int(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
  Value winning =
      b.CreateICmpEQ(b.CreateBitCast(vector, like(bits, vector)), splat(b.CreateBitCast(wins, bits), lanes));
  Value zero = b.CreateSelect(b.CreateOrReduce(winning), wins, other);
  number = b.CreateSelect(b.CreateFCmpOEQ(number, wins), zero, number);
  return b.CreateSelect(b.CreateOrReduce(b.CreateFCmpUNO(vector, vector)), ConstantFP::getNaN(type), number);
}

// The right half of 2, 4, 8, ... lanes takes what the left one ends with (J. Sklansky, Conditional-sum addition logic,
// 1960). No lane is less than the one before where nothing negative is added, rounding or not: both are the same
// monotonous function of sums that differ by one step.
Operations::Value Operations::scan(Op op, DType t, Value vector) {
  const int lanes = int(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
  for (int half = 1; half < lanes; half *= 2) {
    llvm::SmallVector<int, 64> left;
    llvm::SmallVector<llvm::Constant*, 64> right;
    for (int l = 0; l < lanes; ++l) {
      left.push_back(l / (2 * half) * 2 * half + half - 1);
      right.push_back(b.getInt1(l % (2 * half) >= half));
    }
    Value more = binary(op, t, b.CreateShuffleVector(vector, left), vector);
    vector = b.CreateSelect(llvm::ConstantVector::get(right), more, vector);
  }
  return vector;
}

Operations::Value Operations::last(Value vector) {
  const auto lanes = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  return b.CreateShuffleVector(vector, llvm::SmallVector<int, 64>(lanes, int(lanes) - 1));
}

}  // namespace anvil::llvm_backend
