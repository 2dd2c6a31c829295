// Sorting of lines, against std::stable_sort; interrupts.
#include "runtime/sort/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "base/dtype.h"
#include "runtime/run.h"
#include "support/interrupt_at.h"

namespace anvil::runtime {
namespace {

// n elements in a line, `inner` lines before and `outer` ones after the dimension; a payload of
// positions shows that equal elements keep their order.
template <class T>
void expect_sorted(int64_t n, int64_t inner, int64_t outer, bool descending, int different) {
  std::mt19937_64 random(static_cast<uint64_t>(n));
  std::vector<T> x(static_cast<size_t>(n * inner * outer)), y(x.size()), alone(x.size());
  for (T& v : x) v = static_cast<T>(static_cast<int64_t>(random() % static_cast<uint64_t>(different)) - different / 3);
  std::vector<int32_t> at(x.size()), moved(x.size());
  std::iota(at.begin(), at.end(), 0);
  void* pair[] = {y.data(), moved.data(), x.data(), at.data()};
  auto dtype = static_cast<int64_t>(dtype_of<T>());
  const int64_t numbers[] = {2, 1, descending, n, inner, outer, dtype, static_cast<int64_t>(DType::i32)};
  runtime::Run run;
  ASSERT_EQ(sort(&run, pair, numbers), done);
  void* one[] = {alone.data(), x.data()};
  const int64_t of_one[] = {1, 1, descending, n, inner, outer, dtype};
  ASSERT_EQ(sort(&run, one, of_one), done);
  EXPECT_EQ(alone, y);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      std::vector<int32_t> expected;
      for (int64_t k = 0; k < n; ++k) expected.push_back(static_cast<int32_t>(i + inner * (k + n * o)));
      std::stable_sort(expected.begin(), expected.end(), [&](int32_t a, int32_t b) {
        T l = x[static_cast<size_t>(a)], r = x[static_cast<size_t>(b)];
        return descending ? l > r : l < r;
      });
      for (int64_t k = 0; k < n; ++k) {
        auto place = static_cast<size_t>(i + inner * (k + n * o));
        ASSERT_EQ(moved[place], expected[static_cast<size_t>(k)]) << n << " " << inner << " " << outer;
        ASSERT_EQ(y[place], x[static_cast<size_t>(moved[place])]);
      }
    }
}

TEST(Sort, LinesOfAnyLengthAndStride) {
  for (int64_t n : {1, 2, 24, 25, 100, 191, 192, 3000})
    for (bool descending : {false, true})
      for (int different : {2, 200, 1 << 30}) {
        expect_sorted<double>(n, 1, 2, descending, different);
        expect_sorted<float>(n, 3, 1, descending, different);
        expect_sorted<int64_t>(n, 2, 2, descending, different);
        expect_sorted<int32_t>(n, 1, 1, descending, different);
        expect_sorted<uint16_t>(n, 1, 3, descending, different);
        expect_sorted<int8_t>(n, 5, 1, descending, different);
      }
}

TEST(Sort, CanBeInterrupted) {
  std::vector<double> x(100000);
  std::iota(x.rbegin(), x.rend(), 0.0);
  std::vector<double> y(x.size());
  const test::InterruptAt first(1);
  runtime::Run run;
  void* buffers[] = {y.data(), x.data()};
  const int64_t numbers[] = {1, 1, 0, 100000, 1, 1, static_cast<int64_t>(DType::f64)};
  EXPECT_EQ(sort(&run, buffers, numbers), failed);
  EXPECT_THROW(std::rethrow_exception(run.failure), Interrupted);
}

TEST(Sort, LongLinesAreAskedAbout) {
  const int64_t n = 2'000'000;
  std::vector<double> x(n), y(n);
  std::iota(x.rbegin(), x.rend(), 0.5);
  runtime::Run run;
  void* sorting[] = {y.data(), x.data()};
  const int64_t numbers[] = {1, 1, 0, n, 1, 1, static_cast<int64_t>(DType::f64)};
  const test::InterruptAt never(-1);
  EXPECT_EQ(sort(&run, sorting, numbers), done);
  EXPECT_GE(never.asked(), 35);
}

// Few of many are kept while the line goes by, many of many come from the sorted line.
TEST(TopK, OfLongLinesAgreesWithSorting) {
  const int64_t n = 600'000;
  std::vector<float> x(n);
  for (int64_t i = 0; i < n; ++i) x[size_t(i)] = static_cast<float>(i * 7919 % 100'003);  // each about six times
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return x[size_t(i)] > x[size_t(j)]; });
  for (const int64_t k : {int64_t(1), int64_t(1000), int64_t(131'072), int64_t(131'073), int64_t(400'000), n}) {
    std::vector<float> values(static_cast<size_t>(k));
    std::vector<int32_t> places(static_cast<size_t>(k));
    runtime::Run run;
    void* buffers[] = {values.data(), places.data(), x.data()};
    const int64_t numbers[] = {n, k, 1, static_cast<int64_t>(DType::f32)};
    ASSERT_EQ(top_k(&run, buffers, numbers), done);
    for (int64_t i = 0; i < k; ++i) {
      ASSERT_EQ(places[size_t(i)], order[size_t(i)]) << k << " " << i;
      ASSERT_EQ(values[size_t(i)], x[size_t(order[size_t(i)])]) << k << " " << i;
    }
  }
}

}  // namespace
}  // namespace anvil::runtime
