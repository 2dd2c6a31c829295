// Tensors as functions see them that programs call by name, dense and column-major; and what they are as numbers,
// which stand in generated code.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace anvil {

struct DenseTensor {
  DType dtype;
  bool ambiguous;
  std::span<const int64_t> shape;
  void* data;
};
// How many there are, then of each its dtype, whether that is ambiguous, its rank and its sizes.
std::vector<int64_t> described(std::span<const DenseTensor>);
// And back, with the data that stand side by side in `data`. Both go on behind what was read.
std::vector<DenseTensor> read_described(void* const*& data, const int64_t*& numbers);
// Text among such numbers: how many bytes, and these, eight in a number.
void append_text(std::vector<int64_t>& numbers, std::string_view);
std::string_view read_text(const int64_t*& numbers);

}  // namespace anvil
