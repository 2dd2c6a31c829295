// Calls of functions that are given whole tensors: of what prints and checks them, and of somebody else's.
#include "backend/eigen/kernels.h"
#include "base/check.h"
#include "base/printing.h"
#include "primitives/families/custom_call.h"

namespace anvil::eigen {
namespace {

std::vector<DenseTensor> dense(const std::vector<graph::ValuePtr>& values, const Tensors& tensors) {
  std::vector<DenseTensor> list;
  for (size_t i = 0; i < values.size(); ++i) {
    const graph::TensorType& type = values[i]->type;
    list.push_back({type.dtype, type.ambiguous, type.shape, tensors[i].data.get()});
  }
  return list;
}

Tensors print_tensors(const Call& call, const Tensors& in) {
  print(call.params.string("format"), dense(call.inputs, in));
  return {in[0]};
}

Tensors check_tensors(const Call& call, const Tensors& in) {
  check_flags({call.params.string("error"), call.params.string("message"), call.location}, dense(call.inputs, in));
  return {in[0]};
}

Tensors custom_call(const Call& call, const Tensors& in) {
  const Tensors out = make_results(call);
  runtime::call(primitives::function_of(call), dense(call.inputs, in), dense(call.outputs, out));
  return out;
}

}  // namespace

std::vector<NamedKernel> function_kernels() {
  return {{"print", print_tensors}, {"check", check_tensors}, {"custom_call", custom_call}};
}

}  // namespace anvil::eigen
