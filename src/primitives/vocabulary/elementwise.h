// The factories of elementwise primitives. A line of a family file gives the name, the
// StableHLO operator, the dtypes, the scalar formula, the derivative and the intervals to
// test on; the factory makes from it type inference, evaluation of whole arrays, the loop
// rule and the reverse rule.
#pragma once
#include <array>
#include <tuple>
#include <utility>

#include "primitives/vocabulary/formula.h"
#include "primitives/vocabulary/lowering.h"
#include "primitives/vocabulary/var.h"

namespace anvil::primitives {

template <Group G>
using GroupTag = std::integral_constant<Group, G>;
inline constexpr GroupTag<Group::any> any;
inline constexpr GroupTag<Group::numeric> numeric;
inline constexpr GroupTag<Group::floating> floating;
inline constexpr GroupTag<Group::integer> integer;
inline constexpr GroupTag<Group::signed_or_float> signed_or_float;
inline constexpr GroupTag<Group::integer_or_bool> integer_or_bool;

// The derivative of a function that is constant between its jumps.
struct Flat {};
inline constexpr Flat flat;

// ---- type inference -------------------------------------------------------------------
std::vector<TensorType> infer_unary(const std::vector<TensorType>&, const Params&);    // the operand's type
std::vector<TensorType> infer_binary(const std::vector<TensorType>&, const Params&);   // equal types
std::vector<TensorType> infer_compare(const std::vector<TensorType>&, const Params&);  // equal types, gives bool
void check_same_type(const char* a_name, const TensorType& a, const char* b_name, const TensorType& b);

// ---- a formula in its two uses ----------------------------------------------------------
// The element of an operand; a scalar is spread over all places.
inline Expression element(Lowering& l, const ValuePtr& v, const Index& i) {
  return {&l.exprs(), l.load(v, v->type.shape.empty() ? Index{} : i)};
}
inline int64_t step(const Tensor& operand, const Tensor& out) { return operand.type.shape == out.type.shape ? 1 : 0; }

template <class T, size_t N, class Formula>
void evaluate(const Formula& f, const std::vector<const Tensor*>& operands, const Tensor& out) {
  std::array<const T*, N> x;
  std::array<int64_t, N> steps;
  for (size_t k = 0; k < N; ++k) x[k] = operands[k]->as<T>(), steps[k] = step(*operands[k], out);
  auto at = [&]<size_t... K>(int64_t i, std::index_sequence<K...>) {
    return f(Number<T>{x[K][i * steps[K]]}...).value;
  };
  using Result = decltype(at(0, std::make_index_sequence<N>()));
  Result* y = out.as<Result>();
  for (int64_t i = 0, n = elements(out.type.shape); i < n; ++i) y[i] = at(i, std::make_index_sequence<N>());
}

using Elements = decltype(Primitive::elementwise);
Elements rounding(Elements);  // computes small floats with their compute type, and rounds once

// Sets `elementwise` and `lower` from a formula of N arguments of one dtype, which make(params)
// gives for the parameters of a call. It gets small floats only when it asks how they are stored.
template <size_t N, Group G, bool as_stored = false, class Make>
void set_formula_of_parameters(Primitive& p, GroupTag<G>, Make make) {
  p.as_stored = as_stored;
  p.elementwise = [make](const std::vector<const Tensor*>& operands, const Tensor& out, const Params& params) {
    visit(operands[0]->type.dtype, [&]<class T>() {
      if constexpr (contains(G, dtype_of<T>()) && (as_stored || !is_small_float<T>))
        evaluate<T, N>(make(params), operands, out);
    });
  };
  if constexpr (!as_stored) p.elementwise = rounding(std::move(p.elementwise));
  p.lower = [make](Lowering& l, const graph::Call& c) {
    l.map(c.outputs[0], [&l, f = make(c.params), inputs = c.inputs](const Index& i) {
      auto at = [&]<size_t... K>(std::index_sequence<K...>) { return f(element(l, inputs[K], i)...); };
      return at(std::make_index_sequence<N>()).node;
    });
  };
}
// The operation on numbers that a formula is, when it is just one of its arguments as they come.
template <size_t N, Group G, class Formula>
std::optional<loops::Op> operation_of(const Formula& f) {
  loops::ExprPool pool;
  const DType dtype = contains(G, DType::f64) ? DType::f64 : contains(G, DType::i32) ? DType::i32 : DType::boolean;
  std::array<Expression, N> x;
  for (size_t k = 0; k < N; ++k) x[k] = {&pool, pool.local(static_cast<int>(k), dtype)};
  const Expr made = [&]<size_t... K>(std::index_sequence<K...>) { return f(x[K]...).node; }
  (std::make_index_sequence<N>());
  if (made->op == loops::Op::function || made->argument_count() != static_cast<int>(N)) return std::nullopt;
  for (size_t k = 0; k < N; ++k)
    if (made->args[k] != x[k].node) return std::nullopt;
  return made->op;
}
template <size_t N, Group G, bool as_stored = false, class Formula>
void set_formula(Primitive& p, GroupTag<G> group, Formula f) {
  set_formula_of_parameters<N, G, as_stored>(p, group, [f](const Params&) { return f; });
  p.op = operation_of<N, G>(f);
}
// The same for an elementary function of the runtime.
void set_function(Primitive&, elementary::Function);

// ---- reverse rules ----------------------------------------------------------------------
// d(x, y, g) is the operand's cotangent, from operand x, result y = f(x) and cotangent g.
template <class Derivative>
void set_derivative(Primitive& p, Derivative d) {
  if constexpr (std::is_same_v<Derivative, Flat>)
    p.zero_derivative = true;
  else
    p.reverse = [d](ReverseStep& s) {
      if (s.required[0]) set(s, 0, d(operand(s, 0), result(s), cotangent(s)));
    };
}
// Likewise da(a, b, y, g) and db(a, b, y, g); one of them may be flat.
template <class Left, class Right>
void set_derivatives(Primitive& p, Left da, Right db) {
  p.reverse = [=](ReverseStep& s) {
    if constexpr (!std::is_same_v<Left, Flat>)
      if (s.required[0]) set(s, 0, da(operand(s, 0), operand(s, 1), result(s), cotangent(s)));
    if constexpr (!std::is_same_v<Right, Flat>)
      if (s.required[1]) set(s, 1, db(operand(s, 0), operand(s, 1), result(s), cotangent(s)));
  };
}

// ---- the factories ------------------------------------------------------------------------
// `op` is a StableHLO operator; "chlo.erf" is one of the other dialect.
Primitive elementwise_form(const char* name, const char* key, const char* op, Group);
Primitive unary_form(const char* name, const char* op, Group, Domain);
Primitive binary_form(const char* name, const char* key, const char* op, Group, Domain left, Domain right);

template <Group G, class Formula, class Derivative>
Primitive unary(const char* name, const char* op, GroupTag<G> group, Formula f, Derivative d, Domain domain = {}) {
  Primitive p = unary_form(name, op, G, domain);
  set_formula<1>(p, group, f);
  set_derivative(p, d);
  return p;
}
template <class Derivative>
Primitive function(const char* name, const char* op, elementary::Function f, Derivative d, Domain domain) {
  Primitive p = unary_form(name, op, Group::floating, domain);
  set_function(p, f);
  set_derivative(p, d);
  return p;
}
template <Group G, class Formula, class Left, class Right>
Primitive binary(const char* name, const char* key, const char* op, GroupTag<G> group, Formula f, Left da, Right db,
                 Domain left = {}, Domain right = {}) {
  Primitive p = binary_form(name, key, op, G, left, right);
  set_formula<2>(p, group, f);
  set_derivatives(p, da, db);
  return p;
}
template <Group G, class Formula>
Primitive binary(const char* name, const char* key, const char* op, GroupTag<G> group, Formula f, Flat,
                 Domain left = {}, Domain right = {}) {
  Primitive p = binary_form(name, key, op, G, left, right);
  set_formula<2>(p, group, f);
  p.zero_derivative = true;
  return p;
}
template <class Left, class Right>
Primitive function(const char* name, const char* op, elementary::Function f, Left da, Right db, Domain left,
                   Domain right) {
  Primitive p = binary_form(name, name, op, Group::floating, left, right);
  set_function(p, f);
  set_derivatives(p, da, db);
  return p;
}

}  // namespace anvil::primitives
