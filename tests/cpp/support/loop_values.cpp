#include "support/loop_values.h"

#include <stdexcept>

#include "runtime/elementary/table.h"
#include "runtime/scalar.h"

namespace anvil::test {
namespace {

using loops::Op;

[[noreturn]] void unknown(Op op) {
  throw std::logic_error(std::string("interpreter: no operation ") + loops::name(op));
}

#define ANVIL_CASE(op, ...)                                                              \
  case Op::op:                                                                           \
    if constexpr (requires { scalar::op(__VA_ARGS__); }) return scalar::op(__VA_ARGS__); \
    break;
// clang-format off
template <class T>
Scalar unary(Op op, T a) {
  if constexpr (!std::is_same_v<T, bool>)
    if (op == Op::negate) return scalar::negate(a);
  switch (op) {
    ANVIL_CASE(bit_not, a) ANVIL_CASE(abs, a) ANVIL_CASE(sign, a) ANVIL_CASE(popcnt, a) ANVIL_CASE(sqrt, a)
    ANVIL_CASE(floor, a) ANVIL_CASE(ceil, a) ANVIL_CASE(trunc, a) ANVIL_CASE(round_even, a)
    ANVIL_CASE(round_away, a) ANVIL_CASE(is_finite, a)
    default: break;
  }
  unknown(op);
}
template <class T>
Scalar binary(Op op, T a, T b) {
  switch (op) {
    ANVIL_CASE(add, a, b) ANVIL_CASE(mul, a, b) ANVIL_CASE(minimum, a, b) ANVIL_CASE(maximum, a, b)
    ANVIL_CASE(bit_and, a, b) ANVIL_CASE(bit_or, a, b) ANVIL_CASE(bit_xor, a, b) ANVIL_CASE(shift_left, a, b)
    ANVIL_CASE(shift_right_logical, a, b) ANVIL_CASE(shift_right_arithmetic, a, b) ANVIL_CASE(eq, a, b)
    ANVIL_CASE(ne, a, b) ANVIL_CASE(lt, a, b) ANVIL_CASE(le, a, b) ANVIL_CASE(gt, a, b) ANVIL_CASE(ge, a, b)
    default: break;
  }
  if constexpr (!std::is_same_v<T, bool>) switch (op) {
    ANVIL_CASE(sub, a, b) ANVIL_CASE(divide, a, b) ANVIL_CASE(remainder, a, b) ANVIL_CASE(power, a, b)
    default: break;
  }
  unknown(op);
}
// clang-format on
#undef ANVIL_CASE

template <class T>
Scalar function(const char* name, const Scalar* x, int count) {
  auto f = elementary::find(name);
  if (!f) throw std::logic_error(std::string("interpreter: unknown function ") + name);
  auto argument = [&](int k) { return k < count ? x[k].as<T>() : T(); };
  return elementary::call(*f, argument(0), argument(1), argument(2));
}

}  // namespace

Scalar combine(Op op, DType t, Scalar a, Scalar b) {
  return visit_computed(t, [&]<class T>() { return binary<T>(op, a.as<T>(), b.as<T>()); });
}

Scalar compute(const loops::Node& e, const Scalar* x) {
  const int count = e.argument_count();
  const DType from = e.args[0]->dtype;
  switch (e.op) {
    case Op::convert:
      return visit(from, [&]<class From>() {
        return visit(e.dtype, [&]<class To>() { return Scalar(scalar::convert<To>(x[0].as<From>())); });
      });
    case Op::bitcast:
      return visit(from, [&]<class From>() {
        return visit(e.dtype, [&]<class To>() {
          if constexpr (sizeof(From) == sizeof(To)) return Scalar(scalar::bitcast<To>(x[0].as<From>()));
          return Scalar();
        });
      });
    case Op::select: return x[0].as<bool>() ? x[1] : x[2];
    case Op::function: return visit_float(e.dtype, [&]<class T>() { return function<T>(e.name, x, count); });
    case Op::fma:
      return visit_float(e.dtype,
                         [&]<class T>() { return Scalar(scalar::fma(x[0].as<T>(), x[1].as<T>(), x[2].as<T>())); });
    default: break;
  }
  if (count == 2) return combine(e.op, from, x[0], x[1]);
  return visit_computed(from, [&]<class T>() { return unary<T>(e.op, x[0].as<T>()); });
}

}  // namespace anvil::test
