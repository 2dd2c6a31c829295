// Sorting.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {}  // namespace

void add_sort_writers(WriteRules& rules) { (void)rules; }

}  // namespace anvil::stablehlo
