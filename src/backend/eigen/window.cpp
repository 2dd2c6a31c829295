// Windows over a tensor, and reductions by a region.
#include "backend/eigen/kernels.h"

namespace anvil::eigen {

std::vector<NamedKernel> window_kernels() { return {}; }
std::vector<NamedRegionKernel> fold_kernels() { return {}; }

}  // namespace anvil::eigen
