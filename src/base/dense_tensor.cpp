#include "base/dense_tensor.h"

namespace anvil {

std::vector<int64_t> described(std::span<const DenseTensor> tensors) {
  std::vector<int64_t> numbers = {static_cast<int64_t>(tensors.size())};
  for (const DenseTensor& t : tensors) {
    numbers.insert(numbers.end(), {static_cast<int64_t>(t.dtype), t.ambiguous, static_cast<int64_t>(t.shape.size())});
    numbers.insert(numbers.end(), t.shape.begin(), t.shape.end());
  }
  return numbers;
}

std::vector<DenseTensor> read_described(void* const*& data, const int64_t*& numbers) {
  std::vector<DenseTensor> tensors(static_cast<size_t>(*numbers++));
  for (DenseTensor& t : tensors) {
    const auto rank = static_cast<size_t>(numbers[2]);
    t = {static_cast<DType>(numbers[0]), numbers[1] != 0, {numbers + 3, rank}, *data++};
    numbers += 3 + rank;
  }
  return tensors;
}

}  // namespace anvil
