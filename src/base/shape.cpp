#include "base/shape.h"

#include "base/error.h"

namespace anvil {

int64_t elements(const Shape& shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    if (size == 0) return 0;
  for (int64_t size : shape) {
    if (size > (int64_t(1) << 62) / n)
      throw Error("shape", "A tensor of shape " + in_parentheses(shape) + " has too many elements.");
    n *= size;
  }
  return n;
}

std::vector<int64_t> strides(const Shape& shape) {
  std::vector<int64_t> s(shape.size());
  int64_t step = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    s[d] = step;
    step *= shape[d];
  }
  return s;
}

std::string join(const Shape& shape, const char* separator) {
  std::string text;
  for (size_t d = 0; d < shape.size(); ++d) text += (d ? separator : "") + std::to_string(shape[d]);
  return text;
}
std::string in_parentheses(const Shape& shape) { return "(" + join(shape, ",") + ")"; }

bool next_index(std::vector<int64_t>& index, const Shape& shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

}  // namespace anvil
