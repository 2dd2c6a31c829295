// The vocabulary of the formulas (runtime/elementary/lanes.h) for values of generated code.
#include "backend/llvm/expand.h"

#include <optional>
#include <utility>

#define ANVIL_ELEMENTARY_ISA expanded
#include "runtime/elementary/error_function.h"
#include "runtime/elementary/exponential.h"
#include "runtime/elementary/hyperbolic.h"
#include "runtime/elementary/logarithm.h"
#include "runtime/elementary/power.h"

namespace anvil::elementary::expanded {
namespace {

// Where the formula that is being expanded goes.
struct Place {
  llvm::IRBuilder<>& builder;
  llvm::Type* floats;  // vectors
  llvm::Type* integers;
  bool scales;
  int written = 0;
};
thread_local Place* place = nullptr;

llvm::IRBuilder<>& b() {
  ++place->written;
  return place->builder;
}

struct Mask {
  llvm::Value* v;
  friend Mask operator&(Mask x, Mask y) { return {b().CreateAnd(x.v, y.v)}; }
};

template <class I>
struct Bits {
  llvm::Value* v;
  explicit Bits(llvm::Value* x) : v(x) {}
  explicit Bits(I i) : v(llvm::ConstantInt::get(place->integers, i)) {}
  template <class C>
  requires std::is_integral_v<C>
  explicit Bits(C c) : Bits(I(c)) {}
  friend Bits operator+(Bits x, Bits y) { return Bits(b().CreateAdd(x.v, y.v)); }
  friend Bits operator-(Bits x, Bits y) { return Bits(b().CreateSub(x.v, y.v)); }
  friend Bits operator&(Bits x, Bits y) { return Bits(b().CreateAnd(x.v, y.v)); }
  friend Bits operator|(Bits x, Bits y) { return Bits(b().CreateOr(x.v, y.v)); }
  friend Bits operator^(Bits x, Bits y) { return Bits(b().CreateXor(x.v, y.v)); }
  friend Bits operator<<(Bits x, int n) { return Bits(b().CreateShl(x.v, Bits(I(n)).v)); }
  friend Bits operator>>(Bits x, int n) { return Bits(b().CreateLShr(x.v, Bits(I(n)).v)); }
};

template <class T>
struct Number {
  llvm::Value* v = nullptr;
  Number() = default;
  explicit Number(llvm::Value* x) : v(x) {}
  template <class C>
  requires std::is_arithmetic_v<C>
  explicit Number(C c) : v(llvm::ConstantFP::get(place->floats, llvm::APFloat(T(c)))) {}
  friend Number operator+(Number x, Number y) { return Number(b().CreateFAdd(x.v, y.v)); }
  friend Number operator-(Number x, Number y) { return Number(b().CreateFSub(x.v, y.v)); }
  friend Number operator*(Number x, Number y) { return Number(b().CreateFMul(x.v, y.v)); }
  friend Number operator/(Number x, Number y) { return Number(b().CreateFDiv(x.v, y.v)); }
  friend Number operator-(Number x) { return Number(b().CreateFNeg(x.v)); }
  friend Mask operator<(Number x, Number y) { return {b().CreateFCmpOLT(x.v, y.v)}; }
  friend Mask operator<=(Number x, Number y) { return {b().CreateFCmpOLE(x.v, y.v)}; }
  friend Mask operator==(Number x, Number y) { return {b().CreateFCmpOEQ(x.v, y.v)}; }
  friend Mask operator!=(Number x, Number y) { return {b().CreateFCmpUNE(x.v, y.v)}; }
};

}  // namespace

template <>
struct lane<Number<float>> {
  using number = float;
  using bits = Bits<uint32_t>;
  using mask = Mask;
};
template <>
struct lane<Number<double>> {
  using number = double;
  using bits = Bits<uint64_t>;
  using mask = Mask;
};

namespace {

template <class T, class... More>
Number<T> intrinsic(llvm::Intrinsic::ID id, Number<T> x, More... more) {
  return Number<T>(b().CreateIntrinsic(id, {x.v->getType()}, {x.v, more.v...}));
}
template <class T>
Number<T> fma(Number<T> x, Number<T> y, Number<T> z) {
  return intrinsic(llvm::Intrinsic::fma, x, y, z);
}
template <class T>
Number<T> sqrt(Number<T> x) {
  return intrinsic(llvm::Intrinsic::sqrt, x);
}
template <class T>
Number<T> trunc(Number<T> x) {
  return intrinsic(llvm::Intrinsic::trunc, x);
}
template <class T>
Number<T> abs(Number<T> x) {
  return intrinsic(llvm::Intrinsic::fabs, x);
}
template <class T>
bits<Number<T>> as_bits(Number<T> x) {
  return bits<Number<T>>(place->builder.CreateBitCast(x.v, place->integers));
}
Number<float> as_number(Bits<uint32_t> x) { return Number<float>(place->builder.CreateBitCast(x.v, place->floats)); }
Number<double> as_number(Bits<uint64_t> x) { return Number<double>(place->builder.CreateBitCast(x.v, place->floats)); }
template <class T>
T select(Mask m, T x, T y) {
  return T(b().CreateSelect(m.v, x.v, y.v));
}

// x 2^k by one instruction for 16, 32 or 64 bytes; null for vectors of other sizes.
llvm::Value* scaled(llvm::Value* x, llvm::Value* k) {
  namespace id = llvm::Intrinsic;
  const auto* type = llvm::cast<llvm::FixedVectorType>(x->getType());
  const unsigned lanes = type->getNumElements();
  const bool single = type->getElementType()->isFloatTy();
  const unsigned bytes = lanes * (single ? 4 : 8);
  llvm::IRBuilder<>& builder = place->builder;
  if (bytes > 64) {
    llvm::SmallVector<int, 64> first, second, all;
    for (unsigned l = 0; l < lanes; ++l) (l < lanes / 2 ? first : second).push_back(int(l)), all.push_back(int(l));
    const auto part = [&](const auto& of) {
      return scaled(builder.CreateShuffleVector(x, of), builder.CreateShuffleVector(k, of));
    };
    llvm::Value *low = part(first), *high = part(second);
    return low && high ? builder.CreateShuffleVector(low, high, all) : nullptr;
  }
  const auto of_type = [single](id::ID f32, id::ID f64) { return single ? f32 : f64; };
  id::ID scalef = id::not_intrinsic;
  if (bytes == 64) scalef = of_type(id::x86_avx512_mask_scalef_ps_512, id::x86_avx512_mask_scalef_pd_512);
  if (bytes == 32) scalef = of_type(id::x86_avx512_mask_scalef_ps_256, id::x86_avx512_mask_scalef_pd_256);
  if (bytes == 16) scalef = of_type(id::x86_avx512_mask_scalef_ps_128, id::x86_avx512_mask_scalef_pd_128);
  if (scalef == id::not_intrinsic) return nullptr;
  constexpr int rounding_as_usual = 4;
  llvm::SmallVector<llvm::Value*, 5> arguments = {
      x, k, x, llvm::Constant::getAllOnesValue(builder.getIntNTy(std::max(8U, lanes)))};
  if (bytes == 64) arguments.push_back(builder.getInt32(rounding_as_usual));
  return b().CreateIntrinsic(scalef, {}, arguments);
}
template <class T>
Number<T> scale(Number<T> x, Rounded<Number<T>> k) {
  if (llvm::Value* y = place->scales ? scaled(x.v, k.value.v) : nullptr) return Number<T>(y);
  return scale_in_two(x, k);
}

// The formulas that are short.
#define ANVIL_FORMULA(function) \
  if (name == #function) return function(x);
template <class V>
std::optional<V> call(const std::string& name, V x) {
  ANVIL_FORMULA(exp)
  ANVIL_FORMULA(expm1)
  ANVIL_FORMULA(log)
  ANVIL_FORMULA(log1p)
  ANVIL_FORMULA(tanh)
  ANVIL_FORMULA(logistic)
  ANVIL_FORMULA(erf)
  ANVIL_FORMULA(rsqrt)
  return std::nullopt;
}
#undef ANVIL_FORMULA

}  // namespace
}  // namespace anvil::elementary::expanded
#undef ANVIL_ELEMENTARY_ISA

namespace anvil::llvm_backend {

llvm::Value* expand(llvm::IRBuilder<>& builder, const std::string& function, llvm::Value* x, bool scales,
                    int* written) {
  using namespace elementary::expanded;
  llvm::Type* type = x->getType();
  Place here{builder, type, llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(type)), scales};
  Place* outer = std::exchange(place, &here);
  llvm::Value* y = type->getScalarType()->isFloatTy() ? call(function, Number<float>(x)).value_or(Number<float>()).v
                                                      : call(function, Number<double>(x)).value_or(Number<double>()).v;
  place = outer;
  *written += here.written;
  return y;
}

}  // namespace anvil::llvm_backend
