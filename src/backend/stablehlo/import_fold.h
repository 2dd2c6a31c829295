// What reduce and reduce_window have in common: tensors, initial values, and a region.
#pragma once
#include "backend/stablehlo/import.h"
#include "primitives/families/fold.h"
#include "primitives/vocabulary/infer.h"

namespace anvil::stablehlo {

struct FoldOperands {
  Vars operands, initial;
  GraphPtr body;
  std::vector<TensorType> types() const {
    std::vector<TensorType> list;
    for (const Vars* side : {&operands, &initial})
      for (const Var& v : *side) list.push_back(v.type());
    return list;
  }
};
// A region may compute in a wider type of the same kind than its operands have.
bool widens(DType from, DType to);
// Widens tensors x[k] and x[second + k] to the type of argument k of a region that combines the two, where
// that is wider; gives the types of the arguments for them.
std::vector<TensorType> widen(const Region&, Vars& x, size_t second);
FoldOperands fold_operands(Importer&, const Operation&, const Vars& operands);

}  // namespace anvil::stablehlo
