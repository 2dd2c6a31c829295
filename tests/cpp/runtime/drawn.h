// Tests of kernels on normal numbers, the same in every run.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace anvil::test {

template <class T>
struct Drawn : testing::Test {
  using Numbers = std::vector<T>;
  std::mt19937 random{5};

  Numbers draw(int64_t count) {
    std::normal_distribution<T> normal;
    Numbers x(static_cast<size_t>(count));
    for (T& v : x) v = normal(random);
    return x;
  }
};

}  // namespace anvil::test
