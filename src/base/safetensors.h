// The header of data in the safetensors format: JSON that says which tensors there are, of which
// dtypes and shapes, and where their bytes lie. It comes from elsewhere, so nothing of it is
// believed: the bytes of the tensors fit their types, follow each other without holes, and fill the
// data. Rules of the format: https://github.com/huggingface/safetensors#format
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace anvil {

struct SafeTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;                 // of data in row-major order
  int64_t begin = 0, end = 0;  // of its bytes, counted from behind the header
};

struct SafeHeader {
  std::vector<SafeTensor> tensors;  // as the header lists them
  std::vector<std::pair<std::string, std::string>> metadata;
};

// `bytes`: how many follow the header, if that is known. Error("safetensors") says what is wrong.
SafeHeader read_safetensors(std::string_view header, std::optional<int64_t> bytes);

std::string safetensors_name(DType);  // "F32"

}  // namespace anvil
