// Slices with starts known only at run time, gather and scatter.
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

// The start indices of a slice: the operands from position `first` on.
Vars starts(Importer& in, const Vars& x, size_t first) {
  Vars list;
  for (size_t i = first; i < x.size(); ++i) list.push_back(in.one_based(x[i]));
  return list;
}

Values dynamic_slice(Importer& in, const Operation& op, const Vars& x) {
  if (x.empty()) refuse(op.at, "`stablehlo.dynamic_slice` needs an operand");
  return {primitives::dynamic_slice(x[0], starts(in, x, 1), ints(op, need(op, {"slice_sizes", "sizes"}))).value};
}

Values dynamic_update_slice(Importer& in, const Operation& op, const Vars& x) {
  if (x.size() < 2) refuse(op.at, "`stablehlo.dynamic_update_slice` needs an operand and an update");
  return {primitives::dynamic_update_slice(x[0], x[1], starts(in, x, 2)).value};
}

}  // namespace

void add_index_rules(Rules& rules) {
  rules.emplace("stablehlo.dynamic_slice", dynamic_slice);
  rules.emplace("stablehlo.dynamic_update_slice", dynamic_update_slice);
}

}  // namespace anvil::stablehlo
