// When a computed tensor counts as the expected one. Integers and booleans must be equal;
// a NaN is any NaN, -0 is +0, an infinity only itself; other floats may differ by one of
// three measures.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "graph/tensor.h"

namespace anvil::conformance {

struct Tolerance {
  double absolute = 0, relative = 0;  // |a - e| <= absolute or <= relative * |e|
  uint64_t ulps = 0;                  // numbers of the type between a and e
  uint64_t at_least_ulps = 0;
};

// Nothing, or where and how they differ first. An element may also match the alternative.
std::optional<std::string> difference(const graph::Tensor& actual, const graph::Tensor& expected, const Tolerance&,
                                      const graph::Tensor* alternative = nullptr);

}  // namespace anvil::conformance
