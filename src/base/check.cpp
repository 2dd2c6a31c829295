#include "base/check.h"

#include <algorithm>

#include "base/error.h"
#include "base/scalar.h"
#include "base/shape.h"

namespace anvil {
namespace {

std::string element_text(const DenseTensor& t, int64_t at) {
  return visit(t.dtype, [&]<class T>() { return Scalar(static_cast<const T*>(t.data)[at]).text(t.dtype); });
}

}  // namespace

void check_flags(const Check& c, std::span<const DenseTensor> tensors) {
  const DenseTensor& holds = tensors.front();
  const bool* first = static_cast<const bool*>(holds.data);
  const bool* end = first + elements(Shape(holds.shape.begin(), holds.shape.end()));
  const int64_t at = std::find(first, end, false) - first;
  if (first + at == end) return;
  std::vector<std::string> lines(1);
  auto value = tensors.begin() + 1;
  for (size_t i = 0; i < c.message.size(); ++i) {
    if (c.message[i] == '\n') {
      lines.emplace_back();
    } else if (c.message.substr(i, 2) == "%s" && value != tensors.end()) {
      lines.back() += element_text(*value++, at);
      ++i;
    } else {
      lines.back() += c.message[i];
    }
  }
  Error e(std::string(c.kind), lines.front(), {lines.begin() + 1, lines.end()});
  e.location = c.location;
  throw e;
}

}  // namespace anvil
