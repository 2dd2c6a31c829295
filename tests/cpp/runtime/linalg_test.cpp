// Products, Cholesky factors and triangular systems, alone and in batches, against their
// definitions.
#include "runtime/linalg.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "runtime/drawn.h"
#include "runtime/functions.h"
#include "runtime/product/triangle.h"
#include "runtime/run.h"
#include "runtime/threads.h"
#include "support/instruction_sets.h"
#include "support/interrupt_at.h"

namespace anvil::runtime {
namespace {

template <class T>
struct Linalg : test::Drawn<T> {
  using typename test::Drawn<T>::Numbers;
  static constexpr bool f64 = std::is_same_v<T, double>;
  static constexpr double tolerance = f64 ? 1e-9 : 2e-3;
  runtime::Run run;

  // Positive definite matrices of a batch.
  Numbers definite(int64_t n, int64_t batch) {
    Numbers m = this->draw(n * n * batch), a(m.size());
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double sum = i == j ? 1 : 0;
          for (int64_t k = 0; k < n; ++k) sum += m[at(b, batch, n, i, k)] * m[at(b, batch, n, j, k)] / double(n);
          a[at(b, batch, n, i, j)] = T(sum);
        }
    return a;
  }
  static size_t at(int64_t b, int64_t batch, int64_t rows, int64_t i, int64_t j) {
    return size_t(b + batch * (i + rows * j));
  }
  int32_t call(const std::string& name, std::vector<void*> buffers, std::vector<int64_t> numbers) {
    for (const NamedFunction& f : functions())
      if (f.name == name || f.name == name + (f64 ? "_f64" : "_f32"))
        return f.function(&run, buffers.data(), numbers.data());
    return -1;
  }
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Linalg, Floats);

TYPED_TEST(Linalg, Products) {
  for (const auto& [m, n, k] : {std::tuple{1, 1, 1}, {5, 3, 4}, {33, 65, 40}, {70, 100, 257}, {7, 5, 3000}})
    for (int flags = 0; flags < 8; ++flags) {
      const bool ta = flags & 1, tb = flags & 2, adds = flags & 4;
      auto a = this->draw(m * k), b = this->draw(k * n), c = this->draw(m * n);
      const auto before = c;
      ASSERT_EQ(this->call("contract", {c.data(), a.data(), b.data()},
                           {int64_t(dtype_of<TypeParam>()),
                            0,
                            adds,
                            0,
                            0,
                            0,
                            3,
                            0,
                            0,
                            0,
                            m,
                            1,
                            ta ? k : 1,
                            0,
                            n,
                            m,
                            0,
                            tb ? 1 : k,
                            k,
                            0,
                            ta ? 1 : m,
                            tb ? n : 1}),
                0);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = adds ? double(before[size_t(i + j * m)]) : 0;
          for (int l = 0; l < k; ++l)
            sum += double(a[size_t(ta ? l + i * k : i + l * m)]) * double(b[size_t(tb ? j + l * n : l + j * k)]);
          ASSERT_NEAR(c[size_t(i + j * m)], sum, this->tolerance) << m << " " << n << " " << k << " " << flags;
        }
    }
}

// X L' = B and L L' = A within a square, in any layout and backwards, with every instruction set.
TYPED_TEST(Linalg, Triangles) {
  using product::Place;
  for (const auto isa : test::instruction_sets())
    for (const int64_t n : {1, 3, 12, 13, 50, 131})
      for (const bool by_rows : {false, true})
        for (const bool backwards : {false, true}) {
          const int64_t m = 19;
          auto a = this->definite(n, 1), x = this->draw(m * n);
          const auto b = x, original = a;
          const auto square = [&](std::vector<TypeParam>& v) {
            const Place<TypeParam> p = by_rows ? Place<TypeParam>{v.data(), n, 1} : Place<TypeParam>{v.data(), 1, n};
            return backwards ? Place<TypeParam>{&p.at(n - 1, n - 1), -p.row, -p.column} : p;
          };
          const auto factor = square(a);
          ASSERT_TRUE(product::factorise_square<TypeParam>(factor, n, isa));
          auto whole = original;
          for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j <= i; ++j) {
              double sum = 0;
              for (int64_t p = 0; p <= j; ++p) sum += double(factor.at(i, p)) * double(factor.at(j, p));
              ASSERT_NEAR(sum, square(whole).at(i, j), this->tolerance);
              if (i > j) {
                ASSERT_EQ(factor.at(j, i), square(whole).at(j, i)) << "above the diagonal";
              }
            }
          const Place<TypeParam> unknown = by_rows     ? Place<TypeParam>{x.data(), 1, m}
                                           : backwards ? Place<TypeParam>{x.data() + n - 1, n, -1}
                                                       : Place<TypeParam>{x.data(), n, 1};
          product::solve_rows<TypeParam>(factor.view(), n, false, unknown, m, isa);
          auto right = b;
          const Place<TypeParam> known = {right.data() + (unknown.data - x.data()), unknown.row, unknown.column};
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              double sum = 0;
              for (int64_t p = 0; p <= j; ++p) sum += double(unknown.at(i, p)) * double(factor.at(j, p));
              ASSERT_NEAR(sum, known.at(i, j), this->tolerance);
            }
        }
}

// Threads share tiles, matrices and right-hand sides, never a sum.
TYPED_TEST(Linalg, TheSameBitsForAnyNumberOfThreads) {
  using List = std::vector<TypeParam>;
  const int64_t n = 300, batch = 50, small = 6;
  const List a = this->definite(n, 1), b = this->draw(n * n), many = this->definite(small, batch),
             larger = this->definite(193, 1), largest = this->definite(257, 1);
  const auto results = [&](int threads) {
    set_threads(threads);
    share_everything(true);
    std::vector<List> list(5, List(size_t(n * n)));
    product::multiply<TypeParam>(list[0].data(), {a.data(), 1, n}, {b.data(), n, 1}, n, n, n);
    void* in = const_cast<TypeParam*>(a.data());
    EXPECT_EQ(this->call("cholesky", {list[1].data(), in}, {n, 1, 1}), 0);
    EXPECT_EQ(this->call("triangular_solve", {list[2].data(), list[1].data(), const_cast<TypeParam*>(b.data())},
                         {n, n, 1, 1, 1, 0, 0}),
              0);
    std::vector<int32_t> pivots(size_t(n), 0), rows(size_t(n), 0);
    EXPECT_EQ(this->call("lu", {list[3].data(), pivots.data(), rows.data(), in}, {n, n, 1}), 0);
    list[4].resize(many.size());
    for (const int64_t order : {193, 257}) {  // where threads cut right-hand sides, few may be left
      const List& dense = order == 193 ? larger : largest;
      List factor(dense.size());
      EXPECT_EQ(this->call("cholesky", {factor.data(), const_cast<TypeParam*>(dense.data())}, {order, 1, 1}), 0);
      for (const int64_t sides : {65, 129, 193})
        for (const int64_t transposed : {0, 1}) {
          List& x = list.emplace_back(size_t(order * sides));
          EXPECT_EQ(this->call("triangular_solve", {x.data(), factor.data(), const_cast<TypeParam*>(b.data())},
                               {order, sides, 1, 1, 1, 0, transposed}),
                    0);
        }
    }
    EXPECT_EQ(this->call("cholesky", {list[4].data(), const_cast<TypeParam*>(many.data())}, {small, 1, batch}), 0);
    share_everything(false);
    set_threads(0);
    return list;
  };
  const auto one = results(1);
  for (int threads : {2, 3})
    for (size_t k = 0; const List& x : results(threads)) {
      EXPECT_EQ(std::memcmp(x.data(), one[k].data(), x.size() * sizeof(TypeParam)), 0) << threads << ": " << k;
      ++k;
    }
}

TYPED_TEST(Linalg, FactorsAndSystemsCanBeInterrupted) {
  const int64_t n = 900, m = 100;
  auto a = this->definite(n, 1), x = this->draw(n * n);
  const auto asked_during = [&](auto function, const std::vector<int64_t>& numbers) {
    void* buffers[] = {x.data(), a.data(), a.data()};
    const test::InterruptAt never(-1);
    EXPECT_EQ(function(&this->run, buffers, numbers.data()), done);
    return never.asked();
  };
  const bool f32 = std::is_same_v<TypeParam, float>;
  EXPECT_GE(asked_during(f32 ? cholesky_f32 : cholesky_f64, {n, 1, 1}), 2);
  EXPECT_GE(asked_during(f32 ? triangular_solve_f32 : triangular_solve_f64, {n, m, 1, 1, 1, 0, 0}), 2);
}

TYPED_TEST(Linalg, CholeskyFactors) {
  for (const auto& [n, batch] : {std::pair{1, 1}, {3, 1}, {60, 1}, {8, 100}, {5, 37}, {40, 6}, {3, 3}})
    for (const bool lower : {true, false}) {
      auto a = this->definite(n, batch), l = this->draw(n * n * batch);
      ASSERT_EQ(this->call("cholesky", {l.data(), a.data()}, {n, lower, batch}), 0);
      for (int b = 0; b < batch; ++b)
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int k = 0; k < n; ++k)
              sum += lower ? double(l[this->at(b, batch, n, i, k)]) * double(l[this->at(b, batch, n, j, k)])
                           : double(l[this->at(b, batch, n, k, i)]) * double(l[this->at(b, batch, n, k, j)]);
            ASSERT_NEAR(sum, a[this->at(b, batch, n, i, j)], this->tolerance);
            if (lower ? i < j : i > j) {
              ASSERT_EQ(l[this->at(b, batch, n, i, j)], 0);
            }
          }
    }
}

TYPED_TEST(Linalg, MatricesThatAreNotPositiveDefinite) {
  for (const auto& [batch, n, pivot] : {std::tuple{1, 4, -1.0}, {1, 50, NAN}, {20, 4, NAN}, {20, 50, -1.0}}) {
    auto a = this->definite(n, batch), l = a;
    const int bad = batch / 2;
    a[this->at(bad, batch, n, 2, 2)] = static_cast<TypeParam>(pivot);
    ASSERT_EQ(this->call("cholesky", {l.data(), a.data()}, {n, 1, batch}), 0);
    for (int b = 0; b < batch; ++b)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) ASSERT_EQ(std::isnan(l[this->at(b, batch, n, i, j)]), b == bad) << i << " " << j;
  }
}

TYPED_TEST(Linalg, TriangularSystems) {
  for (const auto& [n, m, batch] : {std::tuple{1, 1, 1}, {4, 3, 1}, {60, 7, 1}, {8, 5, 50}, {40, 2, 5}, {6, 1, 3}})
    for (int flags = 0; flags < 16; ++flags) {
      const bool left = flags & 1, lower = flags & 2, unit = flags & 4, transposed = flags & 8;
      auto a = this->draw(n * n * batch), b = this->draw(n * m * batch), x = this->draw(n * m * batch);
      for (int q = 0; q < batch; ++q)  // well conditioned
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j)
            a[this->at(q, batch, n, i, j)] =
                TypeParam(i == j ? 2 + a[this->at(q, batch, n, i, j)] * 0.1 : a[this->at(q, batch, n, i, j)] / n);
      ASSERT_EQ(
          this->call("triangular_solve", {x.data(), a.data(), b.data()}, {n, m, batch, left, lower, unit, transposed}),
          0);
      const int rows = left ? n : m, columns = left ? m : n;
      const auto element = [&, n = n, batch = batch](int q, int i, int k) {  // of op(A)
        const int r = transposed ? k : i, c = transposed ? i : k;
        if (r == c && unit) return 1.0;
        return (lower ? r >= c : r <= c) ? double(a[this->at(q, batch, n, r, c)]) : 0.0;
      };
      for (int q = 0; q < batch; ++q)
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) {
            double sum = 0;
            for (int k = 0; k < n; ++k)
              sum += left ? element(q, i, k) * double(x[this->at(q, batch, rows, k, j)])
                          : double(x[this->at(q, batch, rows, i, k)]) * element(q, k, j);
            ASSERT_NEAR(sum, b[this->at(q, batch, rows, i, j)], this->tolerance)
                << n << " " << m << " " << batch << " flags " << flags;
          }
    }
}

// Several matrices at a time and one after the other give the same LU factors to the last bit, and
// can be interrupted.
TYPED_TEST(Linalg, LuFactorsOfABatchAreThoseOfEachMatrix) {
  for (const auto& [m, n, batch] : {std::tuple{1, 1, 4}, {6, 6, 37}, {5, 3, 16}, {3, 5, 9}, {32, 32, 5}, {40, 33, 4}}) {
    auto a = this->draw(m * n * batch), packed = a, one = this->draw(m * n), own = one;
    const int k = std::min(m, n);
    for (int e = 0; e < n; ++e) a[this->at(1, batch, m, 0, e)] = 0;  // a singular matrix
    std::vector<int32_t> pivots(size_t(k * batch)), order(size_t(m * batch)), p(pivots.size()), o(order.size());
    ASSERT_EQ(this->call("lu", {packed.data(), pivots.data(), order.data(), a.data()}, {m, n, batch}), 0);
    for (int b = 0; b < batch; ++b) {
      for (int e = 0; e < m * n; ++e) one[size_t(e)] = a[size_t(b + batch * e)];
      ASSERT_EQ(this->call("lu", {own.data(), p.data(), o.data(), one.data()}, {m, n, 1}), 0);
      for (int e = 0; e < m * n; ++e) ASSERT_EQ(own[size_t(e)], packed[size_t(b + batch * e)]) << m << " " << n;
      for (int i = 0; i < k; ++i) ASSERT_EQ(p[size_t(i)], pivots[size_t(b + batch * i)]);
      for (int i = 0; i < m; ++i) ASSERT_EQ(o[size_t(i)], order[size_t(b + batch * i)]);
    }
  }
}

// The definition of partial pivoting, column by column, in the order of the rows that was chosen.
TYPED_TEST(Linalg, LuFactorsOfAnyShape) {
  for (const auto& [m, n] :
       {std::pair{9, 9}, {33, 33}, {40, 33}, {100, 37}, {37, 100}, {8, 200}, {129, 300}, {300, 129}})
    for (const bool singular : {false, true}) {
      std::vector<TypeParam> a = this->draw(m * n), packed(a.size());
      if (singular)
        for (int i = 0; i < m; ++i) a[size_t(i + m * 5)] = a[size_t(i + m * 2)];
      const int k = std::min(m, n);
      std::vector<int32_t> pivots(size_t(k), -1), order(size_t(m), -1);
      ASSERT_EQ(this->call("lu", {packed.data(), pivots.data(), order.data(), a.data()}, {m, n, 1}), 0);
      std::vector<int32_t> rows(static_cast<size_t>(m));
      std::iota(rows.begin(), rows.end(), 0);
      for (int j = 0; j < k; ++j) std::swap(rows[size_t(j)], rows[size_t(pivots[size_t(j)])]);
      EXPECT_EQ(rows, order) << m << " " << n;
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          double sum = i <= j ? double(packed[size_t(i + m * j)]) : 0;
          for (int p = 0; p <= std::min(i - 1, j) && p < k; ++p)
            sum += double(packed[size_t(i + m * p)]) * double(packed[size_t(p + m * j)]);
          ASSERT_NEAR(sum, double(a[size_t(rows[size_t(i)] + m * j)]), this->tolerance) << m << " " << n << singular;
          if (i > j) {
            ASSERT_LE(std::fabs(packed[size_t(i + m * j)]), TypeParam(1)) << m << " " << n << singular;
          }
        }
    }
}

TYPED_TEST(Linalg, FactorisationsCanBeInterrupted) {
  const auto asked_during = [&](const std::string& name, std::vector<int64_t> numbers) {
    auto a = this->definite(numbers[0], 1), x = a, y = a, z = a;
    if (numbers[2] > 1) a.resize(a.size() * size_t(numbers[2]), TypeParam(1));
    for (auto* v : {&x, &y, &z}) v->resize(a.size());
    std::vector<void*> buffers = {x.data(), y.data(), a.data()};
    if (name == "lu" || name == "svd") buffers = {x.data(), y.data(), z.data(), a.data()};
    const test::InterruptAt never(-1);
    EXPECT_EQ(this->call(name, buffers, numbers), done);
    return never.asked();
  };
  set_threads(1);  // of several, the one that asks may be left little to do
  EXPECT_GE(asked_during("lu", {400, 400, 1}), 2);
  for (const char* name : {"qr", "eigh", "svd"}) EXPECT_GE(asked_during(name, {30, 30, 200}), 2) << name;
  for (const char* name : {"eigh", "svd"}) EXPECT_GE(asked_during(name, {500, 500, 1}), 3) << name << ", inside LAPACK";
  set_threads(0);
}

// What LAPACK goes on writing after it was given up is nobody's result.
TYPED_TEST(Linalg, WhatWasGivenUpWritesNowhere) {
  const int64_t n = 300;
  const auto a = this->definite(n, 1);
  auto values = a, vectors = a;
  const auto eigh = [&] {
    return this->call("eigh", {values.data(), vectors.data(), const_cast<TypeParam*>(a.data())}, {n, n, 1});
  };
  {
    const test::InterruptAt second(2);
    EXPECT_EQ(eigh(), failed);
    EXPECT_THROW(std::rethrow_exception(std::exchange(this->run.failure, nullptr)), Interrupted);
  }
  ASSERT_EQ(eigh(), done);
  const auto made = vectors;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(made, vectors);
  for (int64_t j = 0; j < n; j += 50)
    for (int64_t i = 0; i < n; i += 7) {
      double product = 0;
      for (int64_t k = 0; k < n; ++k) product += double(a[size_t(i + n * k)]) * double(vectors[size_t(k + n * j)]);
      const double expected = double(values[size_t(j)]) * double(vectors[size_t(i + n * j)]);
      EXPECT_NEAR(product, expected, (this->f64 ? 1e-10 : 1e-3) * double(n));
    }
}

// What a change of A makes of a sum of L's elements, by differences.
TYPED_TEST(Linalg, CholeskyBackwards) {
  if (!this->f64) return;
  for (const auto& [n, batch] :
       {std::pair<int64_t, int64_t>{1, 1}, {24, 1}, {25, 1}, {70, 2}, {260, 1}, {5, 11}, {32, 4}})
    for (int64_t lower = 0; lower < 2; ++lower) {
      const auto a = this->definite(n, batch), by = this->draw(n * n * batch), of = this->draw(n * n * batch);
      auto l = a, g = a;
      ASSERT_EQ(this->call("cholesky", {l.data(), const_cast<TypeParam*>(a.data())}, {n, lower, batch}), 0);
      ASSERT_EQ(
          this->call("cholesky_reverse", {g.data(), l.data(), const_cast<TypeParam*>(of.data())}, {n, lower, batch}),
          0);
      const auto moved = [&, n = n, batch = batch](double step) {
        auto there = a, factor = a;
        for (size_t e = 0; e < a.size(); ++e) there[e] = TypeParam(double(a[e]) + step * double(by[e]));
        this->call("cholesky", {factor.data(), there.data()}, {n, lower, batch});
        return factor;
      };
      const double h = 1e-6;
      const auto up = moved(h), down = moved(-h);
      for (int64_t b = 0; b < batch; ++b) {
        double expected = 0, found = 0, size = 0;
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j) {
            const size_t e = this->at(b, batch, n, i, j);
            const bool read = lower ? i >= j : i <= j;
            if (read) expected += double(of[e]) * (double(up[e]) - double(down[e])) / (2 * h);
            if (!read) {
              ASSERT_EQ(g[e], 0);
            }
            found += double(g[e]) * double(by[e]);
            size += std::fabs(double(g[e]) * double(by[e]));
          }
        ASSERT_NEAR(found, expected, 1e-6 * size + 1e-7) << n << " of " << batch << ", lower " << lower;
      }
    }
}

}  // namespace
}  // namespace anvil::runtime
