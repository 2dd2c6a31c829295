// What the families of structured primitives share when they fill in a Primitive.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "base/dense_tensor.h"
#include "primitives/vocabulary/infer.h"
#include "primitives/vocabulary/lowering.h"
#include "primitives/vocabulary/simplification.h"
#include "primitives/vocabulary/var.h"

namespace anvil::primitives {

using Kind = ParamSpec::Kind;
using Attribute = HloAttribute::Kind;
using Types = std::vector<TensorType>;

inline Primitive make_primitive(const char* family, const char* name, std::vector<std::string> operands,
                                std::vector<ParamSpec> parameters) {
  Primitive p;
  p.name = p.key = name;
  p.family = family;
  p.operands = std::move(operands);
  p.parameters = std::move(parameters);
  return p;
}

// What only reads elements of its operands: in all of them, but for positions, it is linear.
inline Primitive make_view(const char* family, const char* name, std::vector<std::string> operands,
                           std::vector<ParamSpec> parameters, Axes axes) {
  Primitive p = make_primitive(family, name, std::move(operands), std::move(parameters));
  p.acts = Acts::moves;
  p.axes = axes;
  p.view = true;
  p.linear = Operands::all();
  return p;
}

// What values are, for a function of the runtime that reads it.
inline Ints described(const std::vector<ValuePtr>& values) {
  std::vector<DenseTensor> list;
  for (const ValuePtr& v : values) list.push_back({v->type.dtype, v->type.ambiguous, v->type.shape, nullptr});
  return anvil::described(list);
}

inline bool is_literal(const ValuePtr& v) { return v->kind == graph::Value::Kind::literal; }

// A copy of the operand, for the cases in which a primitive does nothing.
inline void lower_identity(Lowering& l, const ValuePtr& result, const ValuePtr& x) {
  l.map(result, [&l, x](const Index& i) { return l.load(x, i); });
}

// A position as an i64, however it is stored; what has no room there is outside of every tensor.
inline Expr position(Lowering& l, Expr index) {
  loops::ExprPool& e = l.exprs();
  if (index->dtype == DType::ui64)
    index = e.binary(loops::Op::minimum, index, e.constant(std::numeric_limits<int64_t>::max(), DType::ui64));
  return e.convert(index, DType::i64);
}

// What takes an index of a part to its place: start + i * stride.
inline std::function<Index(const Index&)> strided(Ints start, Ints stride) {
  return [start = std::move(start), stride = std::move(stride)](Index i) {
    for (size_t d = 0; d < i.size(); ++d) i[d] = i[d] * stride[d] + start[d];
    return i;
  };
}

}  // namespace anvil::primitives
