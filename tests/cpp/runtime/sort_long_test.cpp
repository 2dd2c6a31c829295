// Long lines against std::stable_sort, the same bits: elements that differ in few bits, in high or in low ones only,
// that are much alike, in order already; NaNs and zeros of both signs; a second key.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "base/dtype.h"
#include "base/small_float.h"
#include "runtime/run.h"
#include "runtime/sort/sort.h"

namespace anvil::runtime {
namespace {

template <class T>
bool sorts_before(T a, T b, bool descending) {
  if (descending) std::swap(a, b);
  if (b != b) return a == a;
  return a < b;
}

// Sorted alone, and with their positions after those of `second`, which may be empty.
template <class T>
void expect_in_order(const std::vector<T>& x, const char* what, int64_t inner = 1,
                     const std::vector<int16_t>& second = {}) {
  using U = Unsigned<T>;
  const auto size = x.size();
  const int64_t n = static_cast<int64_t>(size) / inner, dtype = static_cast<int64_t>(dtype_of<T>());
  std::vector<int32_t> positions(size);
  std::iota(positions.begin(), positions.end(), 0);
  for (const bool descending : {false, true}) {
    SCOPED_TRACE(testing::Message() << what << " " << size << (descending ? " descending" : ""));
    std::vector<int32_t> want(size), moved(size);
    for (int64_t l = 0; l < inner; ++l) {
      std::vector<int32_t> line;
      for (int64_t i = 0; i < n; ++i) line.push_back(static_cast<int32_t>(l + i * inner));
      std::stable_sort(line.begin(), line.end(), [&](int32_t a, int32_t b) {
        const T left = x[size_t(a)], right = x[size_t(b)];
        if (sorts_before(left, right, descending)) return true;
        if (second.empty() || sorts_before(right, left, descending)) return false;
        return sorts_before(second[size_t(a)], second[size_t(b)], descending);
      });
      for (int64_t i = 0; i < n; ++i) want[size_t(l + i * inner)] = line[size_t(i)];
    }
    Run run;
    std::vector<T> together(size), alone(size);
    std::vector<int16_t> second_sorted(size);
    void* three[] = {together.data(),
                     second_sorted.data(),
                     moved.data(),
                     const_cast<T*>(x.data()),
                     const_cast<int16_t*>(second.data()),
                     positions.data()};
    const int64_t of_three[] = {
        3, 2, descending, n, inner, 1, dtype, static_cast<int64_t>(DType::i16), static_cast<int64_t>(DType::i32)};
    void* two[] = {together.data(), moved.data(), const_cast<T*>(x.data()), positions.data()};
    const int64_t of_two[] = {2, 1, descending, n, inner, 1, dtype, static_cast<int64_t>(DType::i32)};
    ASSERT_EQ(second.empty() ? sort(&run, two, of_two) : sort(&run, three, of_three), done);
    ASSERT_EQ(moved, want);
    void* one[] = {alone.data(), const_cast<T*>(x.data())};
    const int64_t of_one[] = {1, 1, descending, n, inner, 1, dtype};
    ASSERT_EQ(sort(&run, one, of_one), done);
    for (size_t i = 0; i < size; ++i) {
      const U bits = std::bit_cast<U>(x[size_t(want[i])]);
      ASSERT_EQ(std::bit_cast<U>(together[i]), bits) << i;
      if (second.empty()) {
        ASSERT_EQ(std::bit_cast<U>(alone[i]), bits) << i;
      }
    }
  }
}

template <class T>
struct SortLong : testing::Test {
  std::mt19937_64 random{7};

  std::vector<T> draw(int64_t n, const std::function<T()>& element) {
    std::vector<T> x(static_cast<size_t>(n));
    for (T& v : x) v = element();
    return x;
  }
  // Any bits, but no special values.
  T any(Unsigned<T> mask, Unsigned<T> base) {
    using U = Unsigned<T>;
    const T v = std::bit_cast<T>(U((U(random()) & mask) | base));
    return v != v ? T(1) : v;
  }
};
using Elements = testing::Types<float, double, int32_t, int64_t, uint64_t, uint8_t, int16_t>;
TYPED_TEST_SUITE(SortLong, Elements);

// Across the lengths from which on there are digits, large ones, and small ones again; ties are short and long.
TYPED_TEST(SortLong, WhateverTheBitsInWhichElementsDiffer) {
  using T = TypeParam;
  using U = Unsigned<T>;
  constexpr int width = 8 * sizeof(T);
  const U all = std::numeric_limits<U>::max();
  for (const int64_t n : {30, 95, 96, 250, 3999, 4000, 20'000}) {
    expect_in_order<T>(this->draw(n, [&] { return this->any(all, 0); }), "all bits");
    for (const int low : {0, width / 4, width / 2, 3 * width / 4})
      for (const int count : {1, 5, width / 4}) {
        const U mask = U(U((U(1) << count) - 1) << low), base = U(all / 3 & ~mask);
        expect_in_order<T>(this->draw(n, [&] { return this->any(mask, base); }), "some bits");
        const U sign = U(U(1) << (width - 1));
        expect_in_order<T>(this->draw(n, [&] { return this->any(U(mask | sign), U(base & ~sign)); }), "and signs");
        const U high = U(U(3) << (width - 3));
        expect_in_order<T>(this->draw(n, [&] { return this->any(U(mask | high), U(base & ~high)); }), "and high ones");
      }
  }
}

TYPED_TEST(SortLong, LargerThanWhatLargeDigitsAreFor) {
  using T = TypeParam;
  using U = Unsigned<T>;
  const int64_t n = (int64_t(1) << 20) / int64_t(sizeof(T)) + 1;
  if (sizeof(T) < 4) return;
  expect_in_order<T>(this->draw(n, [&] { return this->any(std::numeric_limits<U>::max(), 0); }), "all bits");
  expect_in_order<T>(this->draw(n, [&] { return T(this->random() % 1000); }), "few different ones");
}

TYPED_TEST(SortLong, LinesInOrderAndNearlySo) {
  using T = TypeParam;
  for (const int64_t n : {100, 5000}) {
    auto x = this->draw(n, [&] { return T(this->random() % 120); });
    std::stable_sort(x.begin(), x.end());
    expect_in_order<T>(x, "in order");
    std::swap(x[0], x.back());
    expect_in_order<T>(x, "but the ends");
    x[0] = x[1], x.back() = T(0);
    expect_in_order<T>(x, "but the last");
    std::reverse(x.begin(), x.end());
    expect_in_order<T>(x, "the other way round");
  }
}

TYPED_TEST(SortLong, NansAndZerosOfBothSigns) {
  using T = TypeParam;
  if constexpr (std::is_floating_point_v<T>) {
    using U = Unsigned<T>;
    using L = std::numeric_limits<T>;
    const T payload = std::bit_cast<T>(U(std::bit_cast<U>(L::quiet_NaN()) | 5));
    const std::vector<std::vector<T>> kinds = {
        {T(-0.0)},
        {T(0), T(-0.0)},
        {L::quiet_NaN()},
        {-L::quiet_NaN()},
        {L::quiet_NaN(), payload},
        {L::quiet_NaN(), -payload, T(0), T(-0.0), L::infinity(), -L::infinity()}};
    for (const int64_t n : {1, 2, 20, 60, 300, 5000})
      for (const auto& kind : kinds)
        for (const int numbers : {0, 1, 5}) {
          const auto special = [&] { return kind[this->random() % kind.size()]; };
          const auto element = [&] {
            return this->random() % 6 < uint64_t(numbers) ? T(this->random()) / T(1e10) - T(8e8) : special();
          };
          expect_in_order<T>(this->draw(n, element), "special");
          expect_in_order<T>(this->draw(3 * n, element), "strided", 3);
        }
  }
}

TYPED_TEST(SortLong, TwoKeysAndStrides) {
  using T = TypeParam;
  for (const int64_t n : {50, 3000, 9000}) {
    const auto x = this->draw(n, [&] { return T(this->random() % 50); });
    std::vector<int16_t> second(static_cast<size_t>(n));
    for (auto& v : second) v = int16_t(this->random() % 30);
    expect_in_order<T>(x, "two keys", 1, second);
    expect_in_order<T>(x, "two strided keys", 2, second);
    expect_in_order<T>(x, "strided", 2);
  }
}

}  // namespace
}  // namespace anvil::runtime
