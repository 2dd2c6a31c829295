#include "primitives/vocabulary/simplification.h"

namespace anvil::primitives {

std::optional<Scalar> splat(const ValuePtr& v) {
  if (v->kind == graph::Value::Kind::literal) return v->literal.rounded_to(v->type.dtype);
  return std::nullopt;
}

bool Simplification::is(size_t k, Scalar number) const {
  const DType dtype = operand(k)->type.dtype;
  if (!is_numeric(dtype)) return false;
  const auto value = splat(operand(k));
  return value && *value == number.rounded_to(dtype);
}

const graph::Call* Simplification::inner(size_t k) const {
  const graph::Call* made = maker_(operand(k));
  return made != nullptr && made->primitive == call.primitive ? made : nullptr;
}
const graph::Call* Simplification::inner(size_t k, const char* primitive) const {
  const graph::Call* made = maker_(operand(k));
  return made != nullptr && made->primitive->name == primitive ? made : nullptr;
}

}  // namespace anvil::primitives
