// Sorting.
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

}  // namespace

void add_sort_rules(Rules& rules) { (void)rules; }

}  // namespace anvil::stablehlo
