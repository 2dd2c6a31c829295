// Calls of functions of somebody else's.
#include "primitives/families/custom_call.h"

#include "backend/eigen/kernels.h"

namespace anvil::eigen {
namespace {

Tensors custom_call(const Call& call, const Tensors& operands) {
  const auto buffers = [](const Tensors& tensors) {
    std::vector<runtime::CustomBuffer> list;
    for (const Tensor& t : tensors) list.push_back({t.data.get(), t.type.dtype, t.type.shape});
    return list;
  };
  Tensors results;
  for (size_t i = 0; i < call.outputs.size(); ++i) results.push_back(make_result(call, i));
  runtime::call(primitives::function_of(call), buffers(operands), buffers(results));
  return results;
}

}  // namespace

std::vector<NamedKernel> custom_kernels() { return {{"custom_call", custom_call}}; }

}  // namespace anvil::eigen
