// Lines that are sorted together by networks, on every instruction set, against std::stable_sort: the same bits.
#include "runtime/sort/interleaved.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "runtime/run.h"
#include "runtime/sort/sort.h"
#include "support/instruction_sets.h"

namespace anvil::sorting {
namespace {

// NaN above all numbers and equal to every other one, -0 equal to 0.
template <class T>
bool below(T a, T b) {
  if (b != b) return a == a;
  return a < b;
}
// By sign and size, NaNs by their bits.
template <class T>
bool totally_below(T a, T b) {
  using U = Unsigned<T>;
  const auto rank = [](T x) {
    const U bits = std::bit_cast<U>(x), sign = U(U(1) << (8 * sizeof(T) - 1));
    if constexpr (std::is_floating_point_v<T>) return bits & sign ? U(~bits) : U(bits | sign);
    return std::is_signed_v<T> ? U(bits ^ sign) : bits;
  };
  return rank(a) < rank(b);
}

template <class T>
std::vector<T> numbers(int64_t count, uint64_t seed, bool with_special) {
  std::mt19937_64 random(seed);
  std::vector<T> x(static_cast<size_t>(count));
  for (T& v : x) {
    const uint64_t r = random();
    v = r % 3 == 0 ? static_cast<T>(static_cast<int64_t>(r / 3 % 7) - 3)
                   : std::bit_cast<T>(static_cast<Unsigned<T>>(r));
    if constexpr (std::is_floating_point_v<T>) {
      using L = std::numeric_limits<T>;
      const T special[] = {T(0),           T(-0.0),         L::infinity(),  -L::infinity(),
                           L::quiet_NaN(), -L::quiet_NaN(), L::denorm_min()};
      if (with_special ? r % 5 == 1 : v != v) v = with_special ? special[r / 5 % 7] : T(1);
      if (!with_special && v == T(0)) v = T(0.5);
    }
  }
  return x;
}

template <class T>
std::vector<Unsigned<T>> bits(const std::vector<T>& x) {
  std::vector<Unsigned<T>> b;
  for (T v : x) b.push_back(std::bit_cast<Unsigned<T>>(v));
  return b;
}

// The positions of each line's elements, in order, in the line's own places.
template <class T>
std::vector<int64_t> order(const std::vector<T>& x, const Lines& lines, bool descending, bool total) {
  std::vector<int64_t> all(x.size());
  for (int64_t l = 0; l < lines.count(); ++l) {
    const Line line = lines[l];
    std::vector<int64_t> places(static_cast<size_t>(line.n));
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(), [&](int64_t i, int64_t j) {
      T a = x[size_t(line.first + i * line.stride)], b = x[size_t(line.first + j * line.stride)];
      if (descending) std::swap(a, b);
      return total ? totally_below(a, b) : below(a, b);
    });
    for (int64_t i = 0; i < line.n; ++i) all[size_t(line.first + i * line.stride)] = places[size_t(i)];
  }
  return all;
}
template <class T>
std::vector<T> taken(const std::vector<T>& x, const std::vector<int64_t>& order, const Lines& lines) {
  std::vector<T> y(x.size());
  for (int64_t l = 0; l < lines.count(); ++l) {
    const Line line = lines[l];
    for (int64_t i = 0; i < line.n; ++i) {
      const auto at = size_t(line.first + i * line.stride);
      y[at] = x[size_t(line.first + order[at] * line.stride)];
    }
  }
  return y;
}

template <class T>
void expect_sorted(const Lines& lines, bool descending, bool with_special, elementary::Isa isa) {
  const auto size = static_cast<size_t>(lines.n * lines.count());
  const auto x = numbers<T>(lines.n * lines.count(), size, with_special);
  const auto expected = order(x, lines, descending, false);
  const auto what = testing::Message() << name(dtype_of<T>()) << " " << lines.n << " x " << lines.inner << " x "
                                       << lines.outer << (descending ? " descending" : "") << " set " << int(isa);

  std::vector<T> alone(size), key(size);
  sort_interleaved({alone.data(), x.data(), dtype_of<T>()}, lines, descending, isa);
  EXPECT_EQ(bits(alone), bits(taken(x, expected, lines))) << what;

  std::vector<int16_t> payload(size), moved(size);
  std::iota(payload.begin(), payload.end(), int16_t(0));
  const std::vector<Operand> pair = {{key.data(), x.data(), dtype_of<T>()}, {moved.data(), payload.data(), DType::i16}};
  sort_interleaved(std::span(pair), lines, descending, isa);
  EXPECT_EQ(bits(key), bits(taken(x, expected, lines))) << what;
  EXPECT_EQ(moved, taken(payload, expected, lines)) << what;
}

const Lines shapes[] = {{1, 5, 1},  {2, 1, 4},  {7, 4, 1},  {8, 16, 1},   {9, 1, 5},    {16, 3, 7},   {17, 32, 2},
                        {31, 6, 3}, {33, 1, 9}, {64, 8, 1}, {100, 20, 1}, {257, 1, 17}, {1000, 16, 1}};

TEST(SortInterleaved, TheSameBitsAsStableSorting) {
  for (const auto isa : test::instruction_sets())
    for (const Lines& lines : shapes)
      for (const bool descending : {false, true})
        for (const bool special : {false, true}) {
          expect_sorted<float>(lines, descending, special, isa);
          expect_sorted<double>(lines, descending, special, isa);
          expect_sorted<int32_t>(lines, descending, special, isa);
          expect_sorted<int64_t>(lines, descending, special, isa);
          expect_sorted<uint32_t>(lines, descending, special, isa);
          expect_sorted<uint64_t>(lines, descending, special, isa);
        }
}

template <class T>
void expect_largest(const Lines& lines, int64_t k, elementary::Isa isa) {
  const auto x = numbers<T>(lines.n * lines.count(), static_cast<uint64_t>(lines.n), true);
  const auto expected = order(x, lines, true, true);
  std::vector<T> values(static_cast<size_t>(k * lines.count()));
  std::vector<int32_t> indices(values.size());
  largest_interleaved({values.data(), x.data(), dtype_of<T>()}, indices.data(), k, lines, isa);
  for (int64_t l = 0; l < lines.count(); ++l)
    for (int64_t i = 0; i < k; ++i) {
      const Line from = lines[l], to = Lines{k, lines.inner, lines.outer}[l];
      const int64_t at = expected[size_t(from.first + i * from.stride)];
      ASSERT_EQ(indices[size_t(to.first + i * to.stride)], at) << lines.n << " " << k << " " << int(isa);
      ASSERT_EQ(std::bit_cast<Unsigned<T>>(values[size_t(to.first + i * to.stride)]),
                std::bit_cast<Unsigned<T>>(x[size_t(from.first + at * from.stride)]));
    }
}

TEST(SortInterleaved, TheLargestAndTheirPlaces) {
  for (const auto isa : test::instruction_sets())
    for (const Lines& lines : shapes)
      for (const int64_t k : {int64_t(1), int64_t(2), int64_t(7), most_largest})
        if (k <= lines.n) {
          expect_largest<float>(lines, k, isa);
          expect_largest<double>(lines, k, isa);
          expect_largest<int32_t>(lines, k, isa);
          expect_largest<uint64_t>(lines, k, isa);
        }
}

// What generated code calls takes this way for several lines of 4 or 8 bytes, and no other.
TEST(SortInterleaved, ForSeveralLinesThatFitTheCache) {
  EXPECT_TRUE(worth_interleaving(DType::f32, {1000, 1, 4}, false));
  EXPECT_TRUE(worth_interleaving(DType::f64, {10, 50, 1}, false));
  EXPECT_FALSE(worth_interleaving(DType::f64, {10, 1, 1}, false));
  EXPECT_FALSE(worth_interleaving(DType::f32, {10'000, 1, 4}, false));
  EXPECT_FALSE(worth_interleaving(DType::f32, {1'000'000, 8, 1}, false));
  EXPECT_FALSE(worth_interleaving(DType::f16, {10, 50, 1}, false));

  const Lines lines{50, 3, 3};
  const auto x = numbers<double>(450, 1, true);
  std::vector<double> y(450);
  void* buffers[] = {y.data(), const_cast<double*>(x.data())};
  const int64_t values[] = {1, 1, 0, lines.n, lines.inner, lines.outer, static_cast<int64_t>(DType::f64)};
  runtime::Run run;
  ASSERT_EQ(runtime::sort(&run, buffers, values), runtime::done);
  EXPECT_EQ(bits(y), bits(taken(x, order(x, lines, false, false), lines)));
}

}  // namespace
}  // namespace anvil::sorting
