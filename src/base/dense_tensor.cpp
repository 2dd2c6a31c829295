#include "base/dense_tensor.h"

#include <algorithm>
#include <cstring>

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

void append_text(std::vector<int64_t>& numbers, std::string_view text) {
  numbers.push_back(static_cast<int64_t>(text.size()));
  for (size_t i = 0; i < text.size(); i += sizeof(int64_t)) {
    int64_t packed = 0;
    std::memcpy(&packed, text.data() + i, std::min(sizeof packed, text.size() - i));
    numbers.push_back(packed);
  }
}

std::string_view read_text(const int64_t*& numbers) {
  const auto bytes = static_cast<size_t>(*numbers++);
  const std::string_view text(reinterpret_cast<const char*>(numbers), bytes);
  numbers += (bytes + sizeof(int64_t) - 1) / sizeof(int64_t);
  return text;
}

}  // namespace anvil
