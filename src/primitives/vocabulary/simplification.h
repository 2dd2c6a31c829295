// What a simplification rule is asked with: one call, and who made its operands. Rules are exact
// for every float: -0, infinities and NaN included.
#pragma once
#include <functional>
#include <optional>

#include "primitives/vocabulary/primitive.h"

namespace anvil::primitives {

// The one number that all elements are, when that is known.
std::optional<Scalar> splat(const ValuePtr&);

class Simplification {
 public:
  Simplification(graph::Call& of, const Maker& maker) : call(of), maker_(maker) {}
  graph::Call& call;
  const ValuePtr& operand(size_t k) const { return call.inputs[k]; }
  const TensorType& type() const { return call.outputs[0]->type; }
  // Whether all elements of operand k are this number; 0 and -0 differ for floats.
  bool is(size_t k, Scalar number) const;
  // The call that made operand k, if it is known and one of this call's primitive, or of the primitive of that name.
  const graph::Call* inner(size_t k = 0) const;
  const graph::Call* inner(size_t k, const char* primitive) const;

 private:
  const Maker& maker_;
};

}  // namespace anvil::primitives
