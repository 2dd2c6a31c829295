// Gather and scatter.
#include "backend/eigen/kernels.h"

namespace anvil::eigen {

std::vector<NamedKernel> gather_kernels() { return {}; }
std::vector<NamedRegionKernel> scatter_kernels() { return {}; }

}  // namespace anvil::eigen
