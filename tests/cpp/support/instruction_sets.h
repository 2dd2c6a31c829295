// The instruction sets that this machine has.
#pragma once
#include <vector>

#include "runtime/elementary/table.h"

namespace anvil::test {

inline std::vector<elementary::Isa> instruction_sets() {
  std::vector<elementary::Isa> list;
  for (const auto isa : {elementary::Isa::baseline, elementary::Isa::avx2, elementary::Isa::avx512})
    if (isa <= elementary::detected_isa()) list.push_back(isa);
  return list;
}

}  // namespace anvil::test
