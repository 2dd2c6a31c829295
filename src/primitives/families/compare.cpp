// Comparisons, and what chooses by them: select and clamp.
#include <climits>

#include "primitives/families/families.h"
#include "primitives/vocabulary/elementwise.h"
#include "primitives/vocabulary/infer.h"
#include "primitives/vocabulary/simplification.h"

namespace anvil::primitives {
namespace {

template <class Formula>
void add_comparison(Registry& r, const char* name, const char* key, Formula f) {
  Primitive p = binary(name, key, "compare", any, f, flat);
  p.infer = infer_compare;
  p.hlo.special = true;
  r.add(std::move(p));
}

void check_scalar_or_shape(const char* argument, const TensorType& t, const char* other, const Shape& shape) {
  if (t.shape.empty() || t.shape == shape) return;
  throw Error("shape", std::string("`") + argument + "` must have the same shape as `" + other + "` or be a scalar.",
              {"x Got shapes " + in_parentheses(t.shape) + " and " + in_parentheses(shape) + "."});
}

Primitive select_primitive() {
  Primitive p = elementwise_form("select", "select", "select", Group::boolean);
  p.operands = {"pred", "true_value", "false_value"};
  p.view = true;
  p.linear = Operands::from(1);
  p.selects = true;
  p.simplify = [](Simplification& s) -> ValuePtr {
    if (auto condition = splat(s.operand(0))) return s.operand(condition->as<bool>() ? 1 : 2);
    return s.operand(1) == s.operand(2) ? s.operand(1) : nullptr;
  };
  p.domain = {{0, 1}, {}, {}};
  p.infer = [](const std::vector<TensorType>& x, const Params&) -> std::vector<TensorType> {
    check_same_type("true_value", x[1], "false_value", x[2]);
    check_scalar_or_shape("pred", x[0], "true_value", x[1].shape);
    return {{x[1].dtype, x[1].shape, x[1].ambiguous && x[2].ambiguous}};
  };
  p.reverse = [](ReverseStep& s) {
    Var condition = operand(s, 0), g = cotangent(s);
    if (s.required[1]) set(s, 1, only_where(condition, g));
    if (s.required[2]) set(s, 2, select(condition, zeros_like(g), g));
  };
  p.lower = [](Lowering& l, const graph::Call& c) {
    l.map(c.outputs[0], [&l, x = c.inputs](const Index& i) {
      return select(element(l, x[0], i), element(l, x[1], i), element(l, x[2], i)).node;
    });
  };
  p.elementwise = [](const std::vector<const Tensor*>& x, const Tensor& out, const Params&) {
    visit(out.type.dtype, [&]<class T>() {
      const bool* condition = x[0]->as<bool>();
      int64_t step_0 = step(*x[0], out), step_1 = step(*x[1], out), step_2 = step(*x[2], out);
      for (int64_t i = 0, n = elements(out.type.shape); i < n; ++i)
        out.as<T>()[i] = scalar::select(condition[i * step_0], x[1]->as<T>()[i * step_1], x[2]->as<T>()[i * step_2]);
    });
  };
  return p;
}

// The sum over all places for a bound that is a scalar.
Var for_bound(const Var& g, const Var& bound) {
  if (bound.shape() == g.shape()) return g;
  std::vector<int64_t> dims(g.shape().size());
  for (size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<int64_t>(d);
  return reduce_sum(g, dims);
}

// The result is min(m, high) with m = max(x, low): those of the three that it is share g equally,
// and with a NaN nobody gets any.
void reverse_clamp(ReverseStep& s) {
  Var x = operand(s, 1), g = cotangent(s);
  Var low = broadcast_to_like(operand(s, 0), x), high = broadcast_to_like(operand(s, 2), x), m = maximum(x, low);
  Var below_high = m <= high, by_high = m >= high, above_low = x >= low, below_low = x <= low;
  Var by_x = below_high & above_low, by_low = below_high & below_low;
  auto one_if = [&](const Var& condition) { return convert(condition, x.dtype()); };
  Var count = one_if(by_x);
  for (Var other : {by_low, by_high}) count = count + one_if(other);
  count = maximum(count, literal(x, 1));
  Var share = g / count;
  auto share_if = [&](const Var& condition) { return only_where(condition, share); };
  if (s.required[0]) set(s, 0, for_bound(share_if(by_low), operand(s, 0)));
  if (s.required[1]) set(s, 1, share_if(by_x));
  if (s.required[2]) set(s, 2, for_bound(share_if(by_high), operand(s, 2)));
}

Primitive clamp_primitive() {
  Primitive p = elementwise_form("clamp", "clamp", "clamp", Group::any);
  p.operands = {"min_val", "operand", "max_val"};
  p.domain = {{-10, 0}, {}, {0, 10}};
  set_formula<3>(p, any, [](auto low, auto x, auto high) { return minimum(maximum(x, low), high); });
  p.infer = [](const std::vector<TensorType>& x, const Params&) -> std::vector<TensorType> {
    for (size_t bound : {0, 2}) {
      const char* argument = bound == 0 ? "min_val" : "max_val";
      check_same_dtype("operand", x[1], argument, x[bound]);
      check_scalar_or_shape(argument, x[bound], "operand", x[1].shape);
    }
    return {x[1]};
  };
  p.selects = true;
  p.reverse = reverse_clamp;
  return p;
}

}  // namespace

// For the bits as a signed integer, b xor ((b >> w - 1) and 2^(w-1) - 1): the floats with a
// sign, whose magnitudes run the other way, have their lower bits flipped.
Var total_order_key(const Var& x) {
  if (!is_float(x.dtype())) return x;
  DType whole = signed_of_size(size_of(x.dtype()));
  Var bits = record("bitcast_convert", {x}, {{"dtype", whole}});
  Var sign = record("shift_right_arithmetic", {bits, literal(bits, CHAR_BIT * size_of(whole) - 1)});
  return record("xor", {bits, sign & literal(bits, highest(whole))});
}

void register_compare(Registry& r) {
  add_comparison(r, "equal", "eq", [](auto a, auto b) { return a == b; });
  add_comparison(r, "not_equal", "ne", [](auto a, auto b) { return a != b; });
  add_comparison(r, "greater", "gt", [](auto a, auto b) { return a > b; });
  add_comparison(r, "greater_equal", "ge", [](auto a, auto b) { return a >= b; });
  add_comparison(r, "less", "lt", [](auto a, auto b) { return a < b; });
  add_comparison(r, "less_equal", "le", [](auto a, auto b) { return a <= b; });
  r.add(select_primitive());
  r.add(clamp_primitive());
}

}  // namespace anvil::primitives
