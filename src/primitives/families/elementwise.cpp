// Arithmetic, rounding, logic and the elementary functions. Derivatives are cotangents:
// x or a, b are the operands, y is the result, g its cotangent.
#include <limits>

#include "primitives/families/families.h"
#include "primitives/vocabulary/elementwise.h"
#include "primitives/vocabulary/simplification.h"

namespace anvil::primitives {
namespace {

using elementary::Function;
constexpr Domain positive = {0.1, 10}, inside_one = {-0.95, 0.95}, shifts = {0, 10};

// In these rules at most one operand of an operator or function is itself recorded: C++
// leaves the order of operands open, and a graph shall print the same everywhere.

// sqrt(1 + x^2), also where x^2 overflows; there it is |x| to the last bit.
Var hypot_one(const Var& x) {
  Var size = abs(x);
  Var large = size > 1e9;
  Var small = select(large, zeros_like(x), x);  // no infinity may enter the root, nor its derivative
  return select(large, size, sqrt(1.0 + small * small));
}
// a / (a^2 + b^2) and b / (a^2 + b^2): with r the smaller of the two by the larger one, l, they
// are r / l / (1 + r^2) and 1 / l / (1 + r^2), and no square overflows or vanishes.
struct OverSumOfSquares {
  Var of_a, of_b;
  OverSumOfSquares(const Var& a, const Var& b) {
    Var size_a = abs(a), size_b = abs(b), a_is_larger = size_a > size_b;
    Var larger = select(a_is_larger, a, b), smaller = select(a_is_larger, b, a);
    Var ratio = smaller / larger, share = 1.0 / (1.0 + ratio * ratio);
    Var of_larger = share / larger, of_smaller = ratio * share / larger;  // 1 / larger alone may be infinite
    of_a = select(a_is_larger, of_larger, of_smaller);
    of_b = select(a_is_larger, of_smaller, of_larger);
  }
};
Var one_minus_square(const Var& x) {  // without cancellation next to 1
  Var left = 1.0 - x, right = 1.0 + x;
  return left * right;
}
// 1 - tanh(x)^2, without the cancellation: 1 - tanh(x) is 2 logistic(-2x).
Var one_minus_tanh_square(const Var& x) {
  Var twice = x * 2.0, rises = record("logistic", {twice}), falls = record("logistic", {-twice});
  return 4.0 * rises * falls;
}
// sqrt(x^2 - 1): two roots neither cancel next to 1 nor overflow, and are NaN below -1
Var root_of_square_minus_one(const Var& x) {
  Var left = sqrt(x - 1.0), right = sqrt(x + 1.0);
  return left * right;
}

// g where a is the greater one, half of it where both are equal. With a NaN nobody gets any.
Var share_of_greater(const Var& a, const Var& b, const Var& g) {
  Var wins = a > b, ties = a == b;
  return select(wins, g, select(ties, g * 0.5, zeros_like(g)));
}

// |x| is the greater one of x and -x.
Var share_of_size(const Var& x, const Var& g) {
  Var above = x > 0.0, below = x < 0.0;
  return select(above, g, select(below, -g, zeros_like(g)));
}

// The derivative of a^b by a is b a^(b-1), which is 0 for a = b = 0: there the exponent -1
// would make it NaN. Where 1 / a overflows a^(b-1) may, too, and b a^b / a is what it should
// be. Where b is known, so are the outer conditions, and nothing is left of them for b >= 1.
double least_normal(DType t) { return std::ldexp(1.0, 2 - (1 << (descriptor(t).exponent_bits - 1))); }
Var power_by_base(const Var& a, const Var& b, const Var& y, const Var& g) {
  const double least = least_normal(a.dtype());
  Var factor = g * b, lower = b - 1.0, base_is_zero = a == 0.0, exponent_is_zero = b == 0.0;
  Var direct = factor * pow(a, select(exponent_is_zero, select(base_is_zero, b, lower), lower));
  Var size = abs(a), above_zero = size > 0.0, tiny = above_zero & (size < least), scaled = factor * y;
  Var quotient = scaled / select(tiny, a, literal(a, 1)), overflows = b < 1.0;
  return select(overflows, select(tiny, quotient, direct), direct);
}
// The derivative by b is y log(a), which tends to 0 with y, and with a for b >= 0.
Var power_by_exponent(const Var& a, const Var& b, const Var& y, const Var& g) {
  Var factor = g * y, base_is_zero = a == 0.0, not_negative = b >= 0.0, vanishes = y == 0.0;
  return factor * log(select((base_is_zero & not_negative) | vanishes, literal(a, 1), a));
}

// The upper half of the product of two integers, from four products of half words: with
// a = a1 2^h + a0 and b = b1 2^h + b0, a1 b1 and what a1 b0 + a0 b1 + a0 b0 / 2^h carries into
// it; none of the sums overflows. A negative factor of w bits stands for itself plus 2^w.
struct HighProduct {
  template <class X>
  X operator()(X a, X b) const {
    X h = literal_like(a, width(a) / 2), low = literal_like(a, (int64_t{1} << width(a) / 2) - 1);
    X a0 = a & low, a1 = shift_right_logical(a, h), b0 = b & low, b1 = shift_right_logical(b, h);
    X middle = a1 * b0 + shift_right_logical(a0 * b0, h), other = a0 * b1 + (middle & low);
    X high = a1 * b1 + shift_right_logical(middle, h) + shift_right_logical(other, h);
    if (!is_signed(a)) return high;
    X sign = literal_like(a, width(a) - 1);
    return high - (shift_right_arithmetic(a, sign) & b) - (shift_right_arithmetic(b, sign) & a);
  }
};

// After the highest bit is copied to all lower ones, those that are left are zeros.
struct LeadingZeros {
  template <class X>
  X operator()(X x) const {
    for (int n = 1; n < width(x); n *= 2) x = x | shift_right_logical(x, literal_like(x, n));
    return popcnt(~x);
  }
};

// The neighbours of a float are one apart as integers; 0 has the least subnormals beside it.
struct NextAfter {
  template <class X>
  X operator()(X x, X y) const {
    auto bits = bits_of(x), one = literal_like(bits, 1), sign = shift_left(one, literal_like(bits, width(x) - 1));
    X zero = literal_like(x, 0), least = float_of((bits_of(y) & sign) | one, x);
    X next = float_of(bits + select((y > x) == (x > zero), one, -one), x);
    next = select(x == y, y, select(x == zero, least, next));
    return select(x != x, x, select(y != y, y, next));
  }
};

// As a float of fewer bits would hold it: rounded to even, what is too large for it infinite,
// what is below its normal numbers 0. The magnitude is worked on as an integer.
struct ReducePrecision {
  int64_t exponent_bits, mantissa_bits;
  template <class X>
  X operator()(X x) const {
    auto bits = bits_of(x);
    auto integer = [&](int64_t n) { return literal_like(bits, n); };
    const int64_t mantissa = significand_bits(x), exponent = width(x) - 1 - mantissa;
    auto sign = shift_left(integer(1), integer(width(x) - 1)), size = bits & ~sign;
    if (int64_t dropped = mantissa - mantissa_bits; dropped > 0) {
      const int64_t unit = int64_t{1} << dropped;
      auto last = shift_right_logical(size, integer(dropped)) & integer(1);
      size = (size + last + integer(unit / 2 - 1)) & integer(-unit);
    }
    if (exponent_bits < exponent) {
      const int64_t bias = (int64_t{1} << (exponent - 1)) - 1, range = (int64_t{1} << (exponent_bits - 1)) - 1;
      auto from_exponent = [&](int64_t e) { return integer(e << mantissa); };
      size = select(size > from_exponent(bias + range + 1) - integer(1), from_exponent(2 * bias + 1), size);
      size = select(size < from_exponent(bias - range + 1), integer(0), size);
    }
    return select(x == x, float_of(size | (bits & sign), x), x);
  }
};

// What undoes itself.
ValuePtr undone(Simplification& s) {
  const graph::Call* inner = s.inner();
  return inner ? inner->inputs[0] : nullptr;
}
ValuePtr simplify_power(Simplification& s) {
  if (!s.is(1, 2) || s.operand(0)->type.ambiguous != s.type().ambiguous) return nullptr;
  s.call.primitive = &registry().at("mul");
  s.call.inputs[1] = s.call.inputs[0];
  return nullptr;
}
Primitive simplified(Primitive p, ValuePtr (*rule)(Simplification&)) {
  p.simplify = rule;
  return p;
}
// x where the operand with this number, counted from 0, is `number`.
Primitive with_identities(Primitive p, std::vector<std::pair<size_t, Scalar>> identities) {
  p.identities = std::move(identities);
  return p;
}
Primitive selecting(Primitive p) {
  p.selects = true;
  return p;
}
Primitive linear_in(Operands operands, Primitive p) {
  p.linear = operands;
  return p;
}

Primitive reduce_precision() {
  Primitive p = unary_form("reduce_precision", "reduce_precision", Group::floating, {});
  p.parameters = {{"exponent_bits", ParamSpec::Kind::integer}, {"mantissa_bits", ParamSpec::Kind::integer}};
  for (const ParamSpec& s : p.parameters) p.hlo.attributes.push_back({s.name, s.name, HloAttribute::Kind::i32});
  p.infer = [](const std::vector<TensorType>& x, const Params& params) {
    auto at_least = [&](const char* name, int64_t least) {
      if (params.integer(name) >= least) return;
      throw Error("argument", std::string("`") + name + "` must be at least " + std::to_string(least) + ".",
                  {"x Got " + std::to_string(params.integer(name)) + "."});
    };
    at_least("exponent_bits", 1);
    at_least("mantissa_bits", 0);
    return infer_unary(x, params);
  };
  set_formula_of_parameters<1, Group::floating, true>(p, floating, [](const Params& params) {
    return ReducePrecision{params.integer("exponent_bits"), params.integer("mantissa_bits")};
  });
  // the rounding is left out of the derivative but for its own precision
  p.reverse = [](ReverseStep& s) {
    if (s.required[0]) set(s, 0, record("reduce_precision", {cotangent(s)}, s.call.params));
  };
  return p;
}

// One statement a primitive, laid out by hand.
// clang-format off
void register_arithmetic(Registry& r) {
  r.add(with_identities(linear_in(Operands::all(), binary("add", "add", "add", any,
               [](auto a, auto b) { return a + b; },
               [](const Var&, const Var&, const Var&, const Var& g) { return g; },
               [](const Var&, const Var&, const Var&, const Var& g) { return g; })), {{0, -0.0}, {1, -0.0}}));
  Primitive mul = binary("mul", "mul", "multiply", any, [](auto a, auto b) { return a * b; },
               [](const Var&, const Var& b, const Var&, const Var& g) { return g * b; },
               [](const Var& a, const Var&, const Var&, const Var& g) { return g * a; });
  mul.bilinear = true;
  r.add(with_identities(std::move(mul), {{0, 1}, {1, 1}}));
  r.add(with_identities(linear_in(Operands::all(), binary("sub", "sub", "subtract", numeric,
               [](auto a, auto b) { return a - b; },
               [](const Var&, const Var&, const Var&, const Var& g) { return g; },
               [](const Var&, const Var&, const Var&, const Var& g) { return -g; })), {{1, 0.0}}));
  r.add(with_identities(linear_in(Operands::only(0), binary("divide", "div", "divide", numeric,
               [](auto a, auto b) { return a / b; },
               [](const Var&, const Var& b, const Var&, const Var& g) { return g / b; },
               [](const Var&, const Var& b, const Var& y, const Var& g) { return -(g * y) / b; }, {}, {0.5, 10})), {{1, 1}}));
  r.add(with_identities(simplified(binary("power", "pow", "power", numeric,
               [](auto a, auto b) { return pow(a, b); },
               [](const Var& a, const Var& b, const Var& y, const Var& g) { return power_by_base(a, b, y, g); },
               [](const Var& a, const Var& b, const Var& y, const Var& g) { return power_by_exponent(a, b, y, g); }, {0.1, 5}, {-3, 3}),
               simplify_power), {{1, 1}}));
  // a - y is a whole multiple of b; rounding only repairs the division
  r.add(binary("remainder", "remainder", "remainder", numeric, [](auto a, auto b) { return remainder(a, b); },
               [](const Var&, const Var&, const Var&, const Var& g) { return g; },
               [](const Var& a, const Var& b, const Var& y, const Var& g) { return -(g * round((a - y) / b)); }, {}, {0.5, 10}));
  r.add(selecting(binary("maximum", "max", "maximum", any, [](auto a, auto b) { return maximum(a, b); },
               [](const Var& a, const Var& b, const Var&, const Var& g) { return share_of_greater(a, b, g); },
               [](const Var& a, const Var& b, const Var&, const Var& g) { return share_of_greater(b, a, g); })));
  r.add(selecting(binary("minimum", "min", "minimum", any, [](auto a, auto b) { return minimum(a, b); },
               [](const Var& a, const Var& b, const Var&, const Var& g) { return share_of_greater(b, a, g); },
               [](const Var& a, const Var& b, const Var&, const Var& g) { return share_of_greater(a, b, g); })));
  r.add(simplified(linear_in(Operands::all(), unary("negate", "negate", numeric,
               [](auto x) { return -x; }, [](const Var&, const Var&, const Var& g) { return -g; })), undone));
  r.add(unary("abs", "abs", signed_or_float, [](auto x) { return abs(x); },
              [](const Var& x, const Var&, const Var& g) { return share_of_size(x, g); }));
  r.add(unary("sign", "sign", signed_or_float, [](auto x) { return sign(x); }, flat));
}

void register_rounding(Registry& r) {
  r.add(unary("floor", "floor", floating, [](auto x) { return floor(x); }, flat));
  r.add(unary("ceil", "ceil", floating, [](auto x) { return ceil(x); }, flat));

  Primitive round = unary("round", "round_nearest_even", floating, [](auto x) { return round_even(x); }, flat);
  Primitive away = unary("round", "round_nearest_afz", floating, [](auto x) { return round_away(x); }, flat);
  round.parameters = {{"method", ParamSpec::Kind::string}};
  round.hlo.special = true;
  round.infer = [](const std::vector<TensorType>& x, const Params& params) {
    const std::string& method = params.string("method");
    if (method != "nearest_even" && method != "afz")
      throw Error("argument", "`method` must be one of \"nearest_even\" or \"afz\".", {"x Got \"" + method + "\"."});
    return infer_unary(x, params);
  };
  round.lower = [even = round.lower, away = away.lower](Lowering& l, const graph::Call& c) {
    (c.params.string("method") == "afz" ? away : even)(l, c);
  };
  round.elementwise = [even = round.elementwise, away = away.elementwise](const std::vector<const Tensor*>& x,
                                                                          const Tensor& out, const Params& params) {
    (params.string("method") == "afz" ? away : even)(x, out, params);
  };
  r.add(std::move(round));
  Primitive next_after = binary_form("next_after", "next_after", "chlo.next_after", Group::floating, {}, {});
  set_formula<2, Group::floating, true>(next_after, floating, NextAfter());
  set_derivatives(next_after, [](const Var&, const Var&, const Var&, const Var& g) { return g; }, flat);
  r.add(std::move(next_after));
  r.add(reduce_precision());
}

void register_bits(Registry& r) {
  r.add(simplified(unary("not", "not", integer_or_bool, [](auto x) { return ~x; }, flat), undone));
  r.add(unary("popcnt", "popcnt", integer, [](auto x) { return popcnt(x); }, flat));
  r.add(unary("count_leading_zeros", "count_leading_zeros", integer, LeadingZeros(), flat));
  r.add(binary("mulhi", "mulhi", "chlo.mulhi", integer, HighProduct(), flat));
  r.add(binary("and", "and", "and", integer_or_bool, [](auto a, auto b) { return a & b; }, flat));
  r.add(binary("or", "or", "or", integer_or_bool, [](auto a, auto b) { return a | b; }, flat));
  r.add(binary("xor", "xor", "xor", integer_or_bool, [](auto a, auto b) { return a ^ b; }, flat));
  auto shift = [&r](const char* name, auto formula) {
    r.add(binary(name, name, name, integer_or_bool, formula, flat, {}, shifts));
  };
  shift("shift_left", [](auto x, auto n) { return shift_left(x, n); });
  shift("shift_right_logical", [](auto x, auto n) { return shift_right_logical(x, n); });
  shift("shift_right_arithmetic", [](auto x, auto n) { return shift_right_arithmetic(x, n); });
}

void register_functions(Registry& r) {
  r.add(unary("sqrt", "sqrt", floating, [](auto x) { return sqrt(x); },
              [](const Var&, const Var& y, const Var& g) { return g * 0.5 / y; }, positive));
  r.add(function("rsqrt", "rsqrt", Function::rsqrt,
                 [](const Var&, const Var& y, const Var& g) { return g * (-0.5 * y * y * y); }, positive));
  r.add(function("cbrt", "cbrt", Function::cbrt, [](const Var&, const Var& y, const Var& g) { return g / (3.0 * (y * y)); }, positive));

  r.add(function("exp", "exponential", Function::exp, [](const Var&, const Var& y, const Var& g) { return g * y; }, {-10, 10}));
  r.add(function("expm1", "exponential_minus_one", Function::expm1,
                 [](const Var& x, const Var&, const Var& g) { return g * exp(x); }, {-5, 5}));
  r.add(function("log", "log", Function::log, [](const Var& x, const Var&, const Var& g) { return g / x; }, positive));
  r.add(function("log1p", "log_plus_one", Function::log1p,
                 [](const Var& x, const Var&, const Var& g) { return g / (1.0 + x); }, {-0.9, 10}));
  // 1 - y cancels where y is next to 1
  r.add(function("logistic", "logistic", Function::logistic,
                 [](const Var& x, const Var& y, const Var& g) { return g * (y * record("logistic", {-x})); }, {-10, 10}));

  r.add(function("sine", "sine", Function::sin, [](const Var& x, const Var&, const Var& g) { return g * cos(x); }, {-10, 10}));
  r.add(function("cosine", "cosine", Function::cos, [](const Var& x, const Var&, const Var& g) { return -(g * sin(x)); }, {-10, 10}));
  r.add(function("tan", "tan", Function::tan, [](const Var&, const Var& y, const Var& g) { return g * (1.0 + y * y); }, {-1.4, 1.4}));
  r.add(function("asin", "chlo.asin", Function::asin,
                 [](const Var& x, const Var&, const Var& g) { return g / sqrt(one_minus_square(x)); }, inside_one));
  r.add(function("acos", "chlo.acos", Function::acos,
                 [](const Var& x, const Var&, const Var& g) { return -(g / sqrt(one_minus_square(x))); }, inside_one));
  r.add(function("atan", "chlo.atan", Function::atan, [](const Var& x, const Var&, const Var& g) { return g / (1.0 + x * x); }, {-10, 10}));
  r.add(function("atan2", "atan2", Function::atan2,
                 [](const Var& a, const Var& b, const Var&, const Var& g) { return g * OverSumOfSquares(a, b).of_b; },
                 [](const Var& a, const Var& b, const Var&, const Var& g) { return -(g * OverSumOfSquares(a, b).of_a); }, {0.5, 10}, {-10, 10}));

  r.add(function("sinh", "chlo.sinh", Function::sinh, [](const Var& x, const Var&, const Var& g) { return g * cosh(x); }, {-5, 5}));
  r.add(function("cosh", "chlo.cosh", Function::cosh, [](const Var& x, const Var&, const Var& g) { return g * sinh(x); }, {-5, 5}));
  r.add(function("tanh", "tanh", Function::tanh, [](const Var& x, const Var&, const Var& g) { return g * one_minus_tanh_square(x); }, {-5, 5}));
  r.add(function("asinh", "chlo.asinh", Function::asinh,
                 [](const Var& x, const Var&, const Var& g) { return g / hypot_one(x); }, {-10, 10}));
  r.add(function("acosh", "chlo.acosh", Function::acosh,
                 [](const Var& x, const Var&, const Var& g) { return g / root_of_square_minus_one(x); }, {1.1, 10}));
  r.add(function("atanh", "chlo.atanh", Function::atanh,
                 [](const Var& x, const Var&, const Var& g) { return g / one_minus_square(x); }, inside_one));
}
// clang-format on

}  // namespace

void register_elementwise(Registry& r) {
  register_arithmetic(r);
  register_rounding(r);
  register_bits(r);
  register_functions(r);
  register_conversions(r);
}

}  // namespace anvil::primitives
