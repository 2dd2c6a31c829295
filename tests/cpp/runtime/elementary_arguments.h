// Arguments for tests of the elementary functions: special values, any bits, and an interesting range.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "runtime/elementary/table.h"

namespace anvil::elementary {

template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

inline std::vector<Function> all_functions() {
  std::vector<Function> list;
  for (int i = 0; i < int(Function::count); ++i) list.push_back(Function(i));
  return list;
}

template <class T>
const std::vector<T>& special_values() {
  using L = std::numeric_limits<T>;
  static const std::vector<T> values = [] {
    std::vector<T> v = {0,
                        1,
                        2,
                        T(0.5),
                        T(0.75),
                        T(1.5),
                        3,
                        7,
                        33,
                        T(0.1),
                        L::min(),
                        L::denorm_min(),
                        L::min() / 2,
                        L::max(),
                        inf<T>,
                        L::epsilon(),
                        T(0x1p15),
                        T(0x1p26),
                        T(1e22),
                        T(1e30),
                        T(3.14159265358979),
                        T(1.5707963267948966),
                        T(0.34657359),
                        T(0.69314718),
                        T(88.7228391),
                        T(103.97),
                        T(709.782712893384),
                        T(745.1332191),
                        T(708.396418532264),
                        T(36.7368),
                        T(17.33),
                        T(9.2),
                        T(26.5),
                        T(5.92)};
    for (T x : std::vector<T>(v)) v.push_back(std::nextafter(x, T(0))), v.push_back(std::nextafter(x, inf<T>));
    for (T x : std::vector<T>(v)) v.push_back(-x);
    v.push_back(not_a_number<T>);
    return v;
  }();
  return values;
}

// Special values, any bits, moderate exponents, and the interesting range.
template <class T>
std::vector<T> arguments(size_t n, double low, double high, int seed) {
  std::vector<T> x = special_values<T>();
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(low, high), exponent(-30, 30);
  while (x.size() < n) {
    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> bits = random();
    T any;
    std::memcpy(&any, &bits, sizeof any);
    x.push_back(any);
    x.push_back(T(std::exp2(exponent(random)) * (bits & 1 ? 1 : -1)));
    x.push_back(T(uniform(random)));
    x.push_back(T(uniform(random)));
  }
  x.resize(n);
  return x;
}
}  // namespace anvil::elementary
