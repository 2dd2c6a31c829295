// Sorting.
#include "backend/eigen/kernels.h"

namespace anvil::eigen {

std::vector<NamedKernel> sort_kernels() { return {}; }

}  // namespace anvil::eigen
