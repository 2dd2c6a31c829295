// Products with lanes along the depth, against their definition.
#include "runtime/product/dots.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/drawn.h"
#include "runtime/threads.h"
#include "support/instruction_sets.h"
#include "support/interrupt_at.h"

namespace anvil::runtime {
namespace {

using elementary::Isa;
using product::Axis;
using product::Elements;
using product::Into;

template <class T>
struct Dots : test::Drawn<T> {
  using typename test::Drawn<T>::Numbers;
  static constexpr double tolerance = std::is_same_v<T, double> ? 1e-10 : 5e-3;

  // By this kernel, whatever is faster.
  static void add(T* c, const T* a, const T* b, std::span<const Axis> axes, Isa isa) {
    const product::Offsets at(axes);
    ASSERT_EQ(at.row_depth[1] - at.row_depth[0], 1);
    if (at.turned) std::swap(a, b);
    product::add_dots<T>(c, a, b, nullptr, at, {}, isa);
  }
  static double sum(const Numbers& a, int64_t from_a, const Numbers& b, int64_t from_b, int64_t k) {
    double s = 0;
    for (int64_t p = 0; p < k; ++p) s += double(a[size_t(from_a + p)]) * double(b[size_t(from_b + p)]);
    return s;
  }
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Dots, Floats);

// Tiles of every size and ends within a vector, a block and a chunk; lines lie apart from each other, those of B in
// no one distance. Nothing besides is written.
TYPED_TEST(Dots, EveryShape) {
  for (const Isa isa : test::instruction_sets())
    for (int64_t m = 1; m <= 9; ++m)
      for (int64_t n = 1; n <= 9; ++n)
        for (const int64_t k : {2, 7, 16, 37, 801}) {
          const int64_t line = k + 3, pair = 2 * line + 5;
          const auto a = this->draw(m * line), b = this->draw(n * pair);
          for (const bool pairs : {false, true}) {
            const int64_t columns = pairs ? 2 * n : n;
            typename TestFixture::Numbers c(size_t(m * columns + 1), TypeParam(7));
            const Axis one[] = {{m, 1, line, 0}, {n, m, 0, line}, {k, 0, 1, 1}};
            const Axis two[] = {{m, 1, line, 0}, {2, m, 0, line}, {n, 2 * m, 0, pair}, {k, 0, 1, 1}};
            this->add(c.data(), a.data(), b.data(), pairs ? std::span<const Axis>(two) : one, isa);
            ASSERT_EQ(c.back(), 7);
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < columns; ++j) {
                const int64_t from = pairs ? j % 2 * line + j / 2 * pair : j * line;
                ASSERT_NEAR(c[size_t(i + m * j)], this->sum(a, i * line, b, from, k), this->tolerance)
                    << m << " " << n << " " << k << " " << pairs;
              }
          }
        }
}

// Several tiles in both directions, blocks and chunks, a batch, and C by rows.
TYPED_TEST(Dots, BatchesOfSeveralChunks) {
  const int64_t m = 23, n = 14, k = 9001, batch = 2;
  const auto a = this->draw(batch * m * k), b = this->draw(batch * n * k);
  for (const Isa isa : test::instruction_sets())
    for (const bool by_rows : {false, true}) {
      typename TestFixture::Numbers c(size_t(batch * m * n));
      const int64_t row = by_rows ? n : 1, column = by_rows ? 1 : m;
      const Axis axes[] = {{m, row, k, 0}, {n, column, 0, k}, {k, 0, 1, 1}, {batch, m * n, m * k, n * k}};
      this->add(c.data(), a.data(), b.data(), axes, isa);
      for (int64_t q = 0; q < batch; ++q)
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j)
            ASSERT_NEAR(c[size_t(i * row + j * column + q * m * n)],
                        this->sum(a, (q * m + i) * k, b, (q * n + j) * k, k), this->tolerance)
                << i << " " << j;
    }
}

// A depth that lies together in runs, in one operand or both, with ends within a vector and a block; weights of its
// steps; rows that overlap, as windows do.
TYPED_TEST(Dots, DepthsInRuns) {
  const int64_t m = 11, n = 6;
  for (const Isa isa : test::instruction_sets())
    for (const int64_t run : {2, 16, 37, 801})
      for (const int64_t runs : {2, 3, 9})
        for (const bool weighted : {false, true}) {
          const int64_t gap = run + 5, k = run * runs, line = 3;
          const auto a = this->draw(m * line + gap * runs), b = this->draw(n * k), weights = this->draw(k);
          typename TestFixture::Numbers c(size_t(m * n));
          const Axis axes[] = {{m, 1, line, 0}, {n, m, 0, k}, {run, 0, 1, 1, 1}, {runs, 0, gap, run, run}};
          const product::Offsets at(axes);
          ASSERT_FALSE(at.turned);
          product::add_dots<TypeParam>(c.data(), a.data(), b.data(), weighted ? weights.data() : nullptr, at, {}, isa);
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              double sum = 0;
              for (int64_t p = 0; p < k; ++p)
                sum += double(a[size_t(i * line + p / run * gap + p % run)]) * double(b[size_t(j * k + p)]) *
                       (weighted ? double(weights[size_t(p)]) : 1);
              ASSERT_NEAR(c[size_t(i + m * j)], sum, this->tolerance) << run << " " << runs << " " << weighted;
            }
        }
}

// More lines of one side than a block has are cut into groups.
TYPED_TEST(Dots, ManyLinesOfOneSide) {
  const int64_t k = 801;
  for (const Isa isa : test::instruction_sets())
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{430, 3}, {3, 430}, {160, 40}})
      for (const bool by_rows : {false, true}) {
        const auto a = this->draw(m * k), b = this->draw(n * k), before = this->draw(m * n);
        auto c = before;
        const int64_t row = by_rows ? n : 1, column = by_rows ? 1 : m;
        const Axis axes[] = {{m, row, k, 0}, {n, column, 0, k}, {k, 0, 1, 1}};
        const product::Offsets at(axes);
        const TypeParam *x = a.data(), *y = b.data();
        if (at.turned) std::swap(x, y);
        product::add_dots<TypeParam>(c.data(), x, y, nullptr, at, {Into::subtract, Elements::all}, isa);
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            const auto e = size_t(i * row + j * column);
            ASSERT_NEAR(c[e], double(before[e]) - this->sum(a, i * k, b, j * k, k), this->tolerance) << i << " " << j;
          }
      }
}

// A matrix with itself makes half of C: the same bits as with a copy. Some of its columns with others are no such
// matrix.
TYPED_TEST(Dots, CrossProductsOfOneMatrix) {
  for (const Isa isa : test::instruction_sets())
    for (const int64_t n : {1, 2, 5, 7, 12, 33}) {
      const int64_t k = 4003;
      const auto x = this->draw((n + 1) * k), copy = x;
      const Axis axes[] = {{n, 1, k, 0}, {n, n, 0, k}, {k, 0, 1, 1}};
      typename TestFixture::Numbers one(size_t(n * n)), two(size_t(n * n));
      for (const int64_t other : {int64_t(0), k}) {
        this->add(one.data(), x.data(), x.data() + other, axes, isa);
        this->add(two.data(), x.data(), copy.data() + other, axes, isa);
        ASSERT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(TypeParam)), 0) << n;
        ASSERT_NEAR(one[size_t(n * n - 1)], this->sum(x, (n - 1) * k, x, (n - 1) * k + other, k), this->tolerance);
      }
    }
}

// Of a batch in one array some may be such products and others not.
TYPED_TEST(Dots, BatchesOfOneArray) {
  const int64_t n = 6, k = 101;
  const auto x = this->draw(3 * n * k);
  const Axis axes[] = {{n, 1, k, 0}, {n, n, 0, k}, {k, 0, 1, 1}, {2, n * n, n * k, 2 * n * k}};
  typename TestFixture::Numbers c(size_t(2 * n * n));
  this->add(c.data(), x.data(), x.data(), axes, elementary::detected_isa());
  for (int64_t q = 0; q < 2; ++q)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        ASSERT_NEAR(c[size_t(i + n * (j + n * q))], this->sum(x, (q * n + i) * k, x, (2 * q * n + j) * k, k),
                    this->tolerance)
            << q << " " << i << " " << j;
}

// The triangle that is asked for, also where both operands are one.
TYPED_TEST(Dots, AreAddedAndSubtracted) {
  const int64_t n = 19, k = 1003;
  const auto a = this->draw(n * k), b = this->draw(n * k), before = this->draw(n * n);
  const Axis axes[] = {{n, 1, k, 0}, {n, n, 0, k}, {k, 0, 1, 1}};
  const product::Offsets at(axes);
  for (const Isa isa : test::instruction_sets())
    for (const bool one_matrix : {false, true})
      for (const auto of : {Elements::all, Elements::lower, Elements::upper})
        for (const auto into : {Into::set, Into::add, Into::subtract}) {
          auto c = before;
          const auto& other = one_matrix ? a : b;
          product::add_dots<TypeParam>(c.data(), a.data(), other.data(), nullptr, at, {into, of}, isa);
          for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < n; ++j) {
              if (of == Elements::lower ? i < j : of == Elements::upper && i > j) continue;
              const double s = this->sum(a, i * k, other, j * k, k), was = before[size_t(i + n * j)];
              ASSERT_NEAR(c[size_t(i + n * j)],
                          into == Into::set   ? s
                          : into == Into::add ? was + s
                                              : was - s,
                          this->tolerance)
                  << i << " " << j;
            }
        }
}

// Infinities and what is no number stay in their rows, wherever in the depth they stand.
TYPED_TEST(Dots, WhatIsNotFinite) {
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  const int64_t m = 6, n = 7, k = 37;
  const Axis axes[] = {{m, 1, k, 0}, {n, m, 0, k}, {k, 0, 1, 1}};
  const typename TestFixture::Numbers b(size_t(n * k), TypeParam(1));
  for (const Isa isa : test::instruction_sets())
    for (int64_t p = 0; p < k; ++p) {
      typename TestFixture::Numbers a(size_t(m * k), TypeParam(1)), c(size_t(m * n));
      a[size_t(1 * k + p)] = infinity;
      a[size_t(4 * k + p)] = std::numeric_limits<TypeParam>::quiet_NaN();
      this->add(c.data(), a.data(), b.data(), axes, isa);
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) {
          const TypeParam x = c[size_t(i + m * j)];
          ASSERT_TRUE(i == 1 ? x == infinity : i == 4 ? std::isnan(x) : x == TypeParam(k)) << i << " " << p;
        }
    }
}

// Of an empty batch nothing is made, on any number of threads.
TYPED_TEST(Dots, EmptyBatches) {
  const int64_t n = 20, k = 5000;
  const auto x = this->draw(n * k);
  TypeParam c = 7;
  const Axis axes[] = {{n, 1, k, 0}, {n, n, 0, k}, {k, 0, 1, 1}, {0, n * n, n * k, n * k}};
  for (const int threads : {1, 2}) {
    set_threads(threads);
    product::contract<TypeParam>(&c, x.data(), x.data() + k, axes);
    set_threads(0);
    EXPECT_EQ(c, 7);
  }
}

TYPED_TEST(Dots, TheSameBitsForAnyNumberOfThreads) {
  const int64_t n = 12, k = 70001, batch = 3;
  const auto x = this->draw(batch * n * k), y = this->draw(batch * n * k);
  const Axis axes[] = {{n, 1, k, 0}, {n, n, 0, k}, {k, 0, 1, 1}, {batch, n * n, n * k, n * k}};
  const auto results = [&](int threads) {
    set_threads(threads);
    share_everything(true);
    typename TestFixture::Numbers c(size_t(4 * batch * n * n));
    this->add(c.data(), x.data(), y.data(), axes, elementary::detected_isa());
    this->add(c.data() + batch * n * n, x.data(), x.data(), axes, elementary::detected_isa());
    this->add(c.data() + 2 * batch * n * n, x.data(), y.data(), std::span(axes, 3), elementary::detected_isa());
    const Axis many[] = {{batch * n, 1, k, 0}, {n, batch * n, 0, k}, {k, 0, 1, 1}};
    this->add(c.data() + 3 * batch * n * n, x.data(), y.data(), many, elementary::detected_isa());
    share_everything(false);
    set_threads(0);
    return c;
  };
  const auto one = results(1);
  for (int threads : {2, 3}) {
    const auto c = results(threads);
    EXPECT_EQ(std::memcmp(c.data(), one.data(), c.size() * sizeof(TypeParam)), 0) << threads;
  }
}

// Few lines and a long depth that lies together in both; the product that is chosen can be interrupted.
TYPED_TEST(Dots, AreForFewLinesAndALongDepth) {
  const auto chosen = [](int64_t m, int64_t n, int64_t k, int64_t step = 1) {
    const Axis axes[] = {{m, 1, k * step, 0}, {n, m, 0, k}, {k, 0, step, 1}};
    const TypeParam a = 1, b = 1;
    return product::dots_are_faster<TypeParam>(&a, &b, product::Offsets(axes), elementary::detected_isa());
  };
  EXPECT_TRUE(chosen(20, 20, 50000));
  EXPECT_TRUE(chosen(1, 20, 1000));
  EXPECT_TRUE(chosen(30, 2, 1000));
  EXPECT_FALSE(chosen(20, 20, 50000, 2));
  EXPECT_FALSE(chosen(20, 20, 8));
  EXPECT_TRUE(chosen(300, 20, 5000));
  EXPECT_FALSE(chosen(200, 200, 5000));

  const auto chosen_in_runs = [](int64_t run, int64_t runs) {
    const Axis axes[] = {{100, 1, 7, 0}, {20, 100, 0, run * runs}, {run, 0, 1, 1}, {runs, 0, 2 * run, run}};
    const TypeParam a = 1, b = 1;
    return product::dots_are_faster<TypeParam>(&a, &b, product::Offsets(axes), elementary::detected_isa());
  };
  EXPECT_TRUE(chosen_in_runs(512, 20));
  EXPECT_FALSE(chosen_in_runs(4, 2560));

  const int64_t n = 20, k = 50000;
  const auto x = this->draw(n * k);
  typename TestFixture::Numbers c(size_t(n * n));
  const test::InterruptAt first(1);
  EXPECT_THROW(product::multiply<TypeParam>(c.data(), {x.data(), k, 1}, {x.data(), 1, k}, n, n, k), Interrupted);
}

}  // namespace
}  // namespace anvil::runtime
