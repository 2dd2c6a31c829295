// What a program checks while it runs: that flags hold. The first that does not ends the run with an Error.
#pragma once
#include <string_view>

#include "base/dense_tensor.h"

namespace anvil {

// kind: of the Error. message: its text, and in further lines the details; each %s in it stands for the element
// of the next tensor in the place of the flag. location: that of the Error.
struct Check {
  std::string_view kind, message;
  int location;
};
// The flags, and tensors of their shape.
void check_flags(const Check&, std::span<const DenseTensor>);

}  // namespace anvil
