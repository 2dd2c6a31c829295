#include "base/shape.h"

#include "base/error.h"

namespace anvil {

namespace {
constexpr int64_t most = int64_t(1) << 62;

int64_t checked(bool overflow, int64_t x, size_t dimension) {
  if (overflow || x > most || x < -most)
    throw Error("shape", "Dimension " + std::to_string(dimension + 1) + " would be too large.",
                {"x Sizes and paddings go up to 2^62."});
  return x;
}
}  // namespace

int64_t add_sizes(int64_t a, int64_t b, size_t dimension) {
  int64_t sum = 0;
  bool overflow = __builtin_add_overflow(a, b, &sum);
  return checked(overflow, sum, dimension);
}
int64_t multiply_sizes(int64_t a, int64_t b, size_t dimension) {
  int64_t product = 0;
  bool overflow = __builtin_mul_overflow(a, b, &product);
  return checked(overflow, product, dimension);
}

int64_t elements(const Shape& shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    if (size == 0) return 0;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(n, size, &n) || n > most)
      throw Error("shape", "A tensor of shape " + in_parentheses(shape) + " has too many elements.",
                  {"x There may be 2^62 of them."});
  return n;
}

std::vector<int64_t> strides(const Shape& shape) {
  std::vector<int64_t> s(shape.size());
  int64_t step = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    s[d] = step;
    // where there is no element the other sizes may be anything
    step = static_cast<int64_t>(static_cast<uint64_t>(step) * static_cast<uint64_t>(shape[d]));
  }
  return s;
}

Shape reversed(const Shape& s) { return Shape(s.rbegin(), s.rend()); }
std::vector<int64_t> reversal(size_t rank) {
  std::vector<int64_t> p(rank);
  for (size_t d = 0; d < rank; ++d) p[d] = static_cast<int64_t>(rank - 1 - d);
  return p;
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
