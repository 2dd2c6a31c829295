// The parts of the elementwise factories that depend on no formula.
#include "primitives/vocabulary/elementwise.h"

#include <algorithm>
#include <cstring>

namespace anvil::primitives {

void check_same_type(const char* a_name, const TensorType& a, const char* b_name, const TensorType& b) {
  if (same_type(a, b)) return;
  throw Error(a.dtype == b.dtype ? "shape" : "dtype",
              std::string("`") + a_name + "` and `" + b_name + "` must have the same tensor type.",
              {"x Got " + hlo_text(a) + " and " + hlo_text(b) + "."});
}

std::vector<TensorType> infer_unary(const std::vector<TensorType>& x, const Params&) { return {x[0]}; }
std::vector<TensorType> infer_binary(const std::vector<TensorType>& x, const Params&) {
  check_same_type("lhs", x[0], "rhs", x[1]);
  return {{x[0].dtype, x[0].shape, x[0].ambiguous && x[1].ambiguous}};
}
std::vector<TensorType> infer_compare(const std::vector<TensorType>& x, const Params&) {
  check_same_type("lhs", x[0], "rhs", x[1]);
  return {{DType::boolean, x[0].shape, false}};
}

Primitive elementwise_form(const char* name, const char* key, const char* op, Group group) {
  Primitive p;
  p.name = name;
  p.key = key;
  p.family = "elementwise";
  p.group = group;
  p.acts = Acts::per_element;
  p.axes = Axes::kept;
  p.hlo.op = std::strchr(op, '.') ? op : std::string("stablehlo.") + op;
  return p;
}
Primitive unary_form(const char* name, const char* op, Group group, Domain domain) {
  Primitive p = elementwise_form(name, name, op, group);
  p.operands = {"operand"};
  p.infer = infer_unary;
  p.domain = {domain};
  return p;
}
Primitive binary_form(const char* name, const char* key, const char* op, Group group, Domain left, Domain right) {
  Primitive p = elementwise_form(name, key, op, group);
  p.operands = {"lhs", "rhs"};
  p.infer = infer_binary;
  p.domain = {left, right};
  return p;
}

Elements rounding(Elements f) {
  return [f = std::move(f)](const std::vector<const Tensor*>& operands, const Tensor& out, const Params& params) {
    auto small = [](const Tensor* t) { return is_small(t->type.dtype); };
    if (!small(&out) && std::none_of(operands.begin(), operands.end(), small)) return f(operands, out, params);
    std::vector<Tensor> wide;
    for (const Tensor* t : operands) wide.push_back(graph::converted(*t, compute_type(t->type.dtype)));
    std::vector<const Tensor*> pointers;
    for (const Tensor& t : wide) pointers.push_back(&t);
    TensorType type = out.type;
    type.dtype = compute_type(type.dtype);
    const Tensor result = small(&out) ? graph::allocate(type) : out;
    f(pointers, result, params);
    if (small(&out)) graph::convert_to(out, result);
  };
}

void set_function(Primitive& p, elementary::Function f) {
  p.elementwise = [f](const std::vector<const Tensor*>& x, const Tensor& out, const Params&) {
    visit_float(out.type.dtype, [&]<class T>() {
      elementary::Arguments<T> arguments = {};
      for (size_t k = 0; k < x.size(); ++k) arguments[k] = x[k]->as<T>();
      elementary::apply(f, arguments, out.as<T>(), elements(out.type.shape));
    });
  };
  p.elementwise = rounding(std::move(p.elementwise));
  p.lower = [f](Lowering& l, const graph::Call& c) {
    l.map(c.outputs[0], [&l, f, inputs = c.inputs](const Index& i) {
      std::array<Expr, 3> x = {};
      for (size_t k = 0; k < inputs.size(); ++k) x[k] = l.load(inputs[k], i);
      return l.exprs().function(elementary::name(f), x[0], x[1], x[2]);
    });
  };
}

// ---- expressions -------------------------------------------------------------------------

Expression apply(loops::Op op, Expression x) { return {x.pool, x.pool->unary(op, x.node)}; }

static Expression apply_bool(loops::Op op, Expression a, Expression b) {
  using loops::Op;
  switch (op) {
    case Op::add:
    case Op::maximum: op = Op::bit_or; break;
    case Op::mul:
    case Op::minimum: op = Op::bit_and; break;
    case Op::shift_left:
    case Op::shift_right_logical: return a & ~b;
    case Op::shift_right_arithmetic: return a;
    default: break;
  }
  return {a.pool, a.pool->binary(op, a.node, b.node)};
}

// As scalar::power: an exponent that is known needs no test.
static Expression float_power(Expression a, Expression b) {
  auto number = [&](double x) { return Expression{b.pool, b.pool->constant(x, b.dtype())}; };
  Expression general = {a.pool, a.pool->function("pow", a.node, b.node)};
  if (b.node->op != loops::Op::constant) return select(b == number(2), a * a, select(b == number(1), a, general));
  auto exponent = b.node->constant.as<double>();
  return exponent == 2 ? a * a : exponent == 1 ? a : general;
}

// Small floats, which only formulas on bits get, are compared as what they are.
Expression apply(loops::Op op, Expression a, Expression b) {
  const DType t = compute_type(a.dtype());
  if (t != a.dtype()) a.node = a.pool->convert(a.node, t), b.node = b.pool->convert(b.node, t);
  if (is_bool(a.dtype())) return apply_bool(op, a, b);
  if (is_float(a.dtype()) && op == loops::Op::power) return float_power(a, b);
  if (is_float(a.dtype()) && op == loops::Op::remainder) return {a.pool, a.pool->function("fmod", a.node, b.node)};
  return {a.pool, a.pool->binary(op, a.node, b.node)};
}

}  // namespace anvil::primitives
