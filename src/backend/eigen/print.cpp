// Printing.
#include "backend/eigen/kernels.h"
#include "base/printing.h"

namespace anvil::eigen {
namespace {

Tensors print_tensors(const Call& call, const Tensors& in) {
  std::vector<PrintedTensor> tensors;
  for (size_t i = 0; i < in.size(); ++i) {
    const graph::TensorType& type = call.inputs[i]->type;
    tensors.push_back({type.dtype, type.ambiguous, type.shape, in[i].data.get()});
  }
  print(call.params.string("format"), tensors);
  return {in[0]};
}

}  // namespace

std::vector<NamedKernel> print_kernels() { return {{"print", print_tensors}}; }

}  // namespace anvil::eigen
