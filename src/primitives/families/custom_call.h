// custom_call [name, types, function, rules] (operands...): results of these types, made by a function of somebody
// else's. No primitive of the registry: as other calls with rules of their own, calls own it, one for each function. So
// equal calls of one function are merged, unless it has an effect. It has no derivative; a call with one is a composite
// (composite.h) whose definition holds this one. A batch is called example by example.
#pragma once
#include "primitives/vocabulary/primitive.h"
#include "runtime/custom.h"

namespace anvil::primitives {

struct CustomCall {
  std::shared_ptr<const runtime::CustomFunction> function;
  std::shared_ptr<const Primitive> primitive;
};
CustomCall make_custom_call(runtime::CustomFunction, bool effect);
std::vector<ValuePtr> record(graph::Graph&, const CustomCall&, std::vector<ValuePtr> operands,
                             const std::vector<TensorType>& results);

// The function of such a call.
const runtime::CustomFunction& function_of(const graph::Call&);
// What generated code refers to by its address: everything that the calls of a graph own.
std::vector<graph::Owned> owned_by(const graph::Graph&);

}  // namespace anvil::primitives
