// Products in any layout and with every instruction set, against their definition.
#include "runtime/product/product.h"

#include <gtest/gtest.h>

#include <array>
#include <tuple>
#include <vector>

#include "base/interrupt.h"
#include "runtime/drawn.h"
#include "runtime/threads.h"
#include "support/instruction_sets.h"
#include "support/interrupt_at.h"

namespace anvil::runtime {
namespace {

template <class T>
struct LinalgProducts : test::Drawn<T> {
  static constexpr double tolerance = std::is_same_v<T, double> ? 1e-9 : 2e-3;
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(LinalgProducts, Floats);

// Axes in any layout, with every instruction set of this processor: several of each kind and in any order,
// batches, windows that overlap, a depth that lies together in either operand, in none, or in short or longer runs,
// operands whose lines lie together, all or some, a long way from one step of the depth to the next, results whose rows
// do not lie together or do in runs of any length, an axis that is in no operand, a few lines that lie together in the
// result with many that do in their operand, a depth of windows that is several blocks, columns along their depth at
// even and uneven distances, at such that are uneven between groups of them only, and at such that share places in a
// cache.
TYPED_TEST(LinalgProducts, Contractions) {
  using product::Axis;
  std::vector<std::vector<Axis>> all = {
      {{40, 1, 50, 0}, {13, 40, 0, 50}, {50, 0, 1, 1}},
      {{13, 40, 0, 50}, {50, 0, 40, 1}, {40, 1, 1, 0}},
      {{50, 0, 40, 13}, {40, 1, 1, 0}, {13, 40, 0, 1}},
      {{7, 1, 7 * 5, 0}, {5, 7, 1, 0}, {3, 35, 0, 1}, {9, 105, 0, 3 * 40}, {40, 0, 5, 3}},
      {{6, 35 * 9, 40 * 35, 40}, {35, 1, 1, 0}, {9, 35, 0, 240}, {40, 0, 35, 1}},
      {{35, 6, 1, 0}, {9, 210, 0, 240}, {40, 0, 35, 1}, {6, 1, 1400, 40}},
      {{20, 64, 64, 0}, {64, 1, 0, 1}, {3, 0, 64, 64 * 64}, {64, 0, 1, 64}},
      {{20, 64, 80, 0}, {64, 1, 0, 1}, {3, 0, 70, 64 * 64}, {64, 0, 1, 64}},
      {{18, 1, 1, 0}, {20, 18, 2, 0}, {24, 360, 0, 120}, {4, 0, 1, 30}, {30, 0, 90, 1}},
      {{4, 1000, 0, 0}, {10, 1, 1, 0}, {12, 10, 0, 1}, {33, 0, 10, 12}},
      {{30, 2, 1, 0}, {30, 60, 0, 1}, {450, 0, 30, 30}},
      {{200, 1, 1, 0}, {90, 200, 0, 1}, {40, 0, 2000, 3000}},
      {{25, 1, 1, 0}, {9, 25, 40, 0}, {7, 225, 0, 1}, {13, 1575, 0, 9}, {40, 0, 2000, 3000}},
      {{70, 1, 60, 0}, {30, 70, 0, 61}, {3, 0, 1, 1}, {5, 0, 11, 12}},
      {{70, 1, 90, 0}, {30, 70, 0, 91}, {6, 0, 1, 1}, {2, 0, 7, 8}, {5, 0, 17, 18}},
      {{5, 1, 1, 0}, {70, 5, 0, 1}, {420, 0, 5, 70}},
      {{10, 1, 1, 0}, {4500, 10, 0, 1}, {470, 0, 10, 4500}},
      {{70, 8, 1, 0}, {8, 1, 0, 420}, {420, 0, 70, 1}},
      {{80, 1, 1, 0}, {60, 80, 0, 450}, {3, 0, 1, 1}, {3, 0, 90, 3}, {50, 0, 270, 9}},
      {{30, 1, 1, 0}, {5, 30, 0, 64}, {4, 150, 0, 1000}, {50, 0, 30, 1}},
      {{30, 1, 1, 0}, {24, 30, 0, 64}, {50, 0, 30, 1}, {9, 0, 1500, 1600}},
      {{100, 1, 1, 0}, {24, 100, 0, 1024}, {1024, 0, 100, 1}},
      {{40, 1, 1, 0}, {28, 40, 0, 70}, {3, 40 * 28, 0, 70 * 31}, {70, 0, 40, 1}},
      {{20, 1, 1, 0}, {26, 20, 0, 70}, {3, 20 * 26, 0, 70 * 27 + 3}, {70, 0, 20, 1}},
      {{20, 1, 1, 0}, {4, 20, 0, 70}, {9, 80, 0, 1000}, {70, 0, 20, 1}, {2, 0, 1400, 500}},
      {{7, 1, 0, 1}, {11, 7, 3, 0}, {3, 77, 1, 0}, {4, 231, 33 * 90, 7 * 90}, {90, 0, 33, 7}}};
  for (const int64_t length : {2, 5, 8, 12, 23})
    all.push_back({{length, 1, 1, 0},
                   {20, length, 0, 1},
                   {11, 20 * length, 40 * length, 0},
                   {40, 0, length, 20},
                   {12, 0, 40 * length, 800}});
  for (size_t k = 0; k < all.size(); ++k) {
    std::array<int64_t, 3> size = {1, 1, 1};
    for (const Axis& x : all[k])
      size[0] += (x.extent - 1) * x.c, size[1] += (x.extent - 1) * x.a, size[2] += (x.extent - 1) * x.b;
    const auto a = this->draw(size[1]), b = this->draw(size[2]);
    std::vector<double> expected(static_cast<size_t>(size[0]), 0);
    const auto add = [&](const auto& self, size_t axis, int64_t c, int64_t x, int64_t y) -> void {
      if (axis == all[k].size()) {
        expected[size_t(c)] += double(a[size_t(x)]) * double(b[size_t(y)]);
        return;
      }
      const Axis& on = all[k][axis];
      for (int64_t i = 0; i < on.extent; ++i) self(self, axis + 1, c + i * on.c, x + i * on.a, y + i * on.b);
    };
    add(add, 0, 0, 0, 0);
    for (const auto isa : {elementary::Isa::baseline, elementary::Isa::avx2, elementary::Isa::avx512}) {
      if (isa > elementary::detected_isa()) continue;
      std::vector<TypeParam> c(expected.size(), TypeParam(0));
      product::contract<TypeParam>(c.data(), a.data(), b.data(), all[k], isa);
      for (size_t i = 0; i < c.size(); ++i)
        ASSERT_NEAR(c[i], expected[i], this->tolerance) << "contraction " << k << " element " << i;
    }
  }
}

// What an axis does in a contraction.
bool is_column(const product::Axis& x) { return x.c != 0 && x.a == 0 && x.b != 0; }
int64_t reach(const std::vector<product::Axis>& axes, int64_t product::Axis::*step) {
  int64_t size = 1;
  for (const auto& x : axes) size += (x.extent - 1) * x.*step;
  return size;
}

// Products of one A with several B at once, and by themselves: of few columns and many, before and behind each other in
// memory, with other steps in C and B than the first one's, for a batch, in turns where the columns lie together, and
// beside the product of a matrix with itself, whichever side that one has further lines of.
TYPED_TEST(LinalgProducts, BesideEachOther) {
  using product::Axis;
  const std::vector<std::vector<Axis>> all = {
      {{40, 1, 50, 0}, {13, 40, 0, 50}, {50, 0, 1, 1}},
      {{13, 40, 0, 50}, {50, 0, 40, 1}, {40, 1, 1, 0}},
      {{5, 13, 50, 0}, {13, 1, 0, 50}, {50, 0, 1, 1}},
      {{13, 1, 0, 1}, {5, 13, 1, 0}, {2, 65, 250, 0}, {50, 0, 5, 13}},
      {{6, 35 * 9, 40 * 35, 40}, {35, 1, 1, 0}, {9, 35, 0, 240}, {40, 0, 35, 1}},
      {{30, 1, 1, 0}, {5, 30, 0, 64}, {4, 150, 0, 1000}, {50, 0, 30, 1}},
      {{300, 1, 1, 0}, {40, 300, 0, 600}, {600, 0, 300, 1}},
      {{20, 1, 2000, 0}, {3, 20, 0, 2000}, {2000, 0, 1, 1}}};
  for (size_t k = 0; k < all.size(); ++k)
    for (const std::vector<int64_t>& columns :
         std::vector<std::vector<int64_t>>{{1}, {4}, {29}, {7, 1}, {1, 12, 3}, {300, 17}})
      for (const bool other_steps : {false, true})
        for (const auto isa : test::instruction_sets()) {
          const auto a = this->draw(reach(all[k], &Axis::a)), b = this->draw(reach(all[k], &Axis::b));
          const int64_t size = reach(all[k], &Axis::c);
          std::vector<product::Beside> beside;
          std::vector<std::vector<TypeParam>> results(columns.size() + 1), others(columns.size());
          std::vector<std::vector<TypeParam>> expected(columns.size() + 1);
          std::vector<Axis> shared;
          for (const Axis& x : all[k])
            if (!is_column(x)) shared.push_back(x);
          results[0].resize(size_t(size)), expected[0].resize(size_t(size));
          product::contract<TypeParam>(expected[0].data(), a.data(), b.data(), all[k], isa);
          for (size_t i = 0; i < columns.size(); ++i) {
            Axis own = {columns[i], size, 0, reach(shared, &Axis::b)};
            for (const Axis& x : all[k])
              if (is_column(x) && !other_steps && x.c >= x.b) own = {columns[i], x.c + size, 0, x.b};
            std::vector<Axis> axes = shared;
            axes.push_back(own);
            others[i] = this->draw(reach(axes, &Axis::b));
            results[i + 1].resize(size_t(reach(axes, &Axis::c))), expected[i + 1].resize(results[i + 1].size());
            product::contract<TypeParam>(expected[i + 1].data(), a.data(), others[i].data(), axes, isa);
            beside.push_back({results[i + 1].data(), others[i].data(), {own}});
          }
          product::contract(dtype_of<TypeParam>(), results[0].data(), a.data(), b.data(), nullptr, all[k], {}, isa,
                            beside);
          for (size_t i = 0; i < results.size(); ++i)
            for (size_t e = 0; e < results[i].size(); ++e)
              ASSERT_NEAR(results[i][e], expected[i][e], this->tolerance)
                  << "contraction " << k << " result " << i << " element " << e;
        }
}
TYPED_TEST(LinalgProducts, BesideAProductOfAMatrixWithItself) {
  using product::Axis;
  for (const auto isa : test::instruction_sets())
    for (const int64_t m : {1, 3, 8, 21})
      for (const int64_t n : {1, 2, 9, 40})
        for (const int64_t k : {70, 3000})
          for (const bool by_rows : {false, true}) {
            const auto x = this->draw(m * k), y = this->draw(n * k);
            // columns of the second product follow those of the first, or rows do
            const Axis rows = {m, by_rows ? m : 1, k, 0}, depth = {k, 0, 1, 1};
            const Axis first[] = {rows, {m, by_rows ? 1 : m, 0, k}, depth};
            const Axis own = {n, by_rows ? 1 : m, 0, k};
            const Axis second[] = {rows, own, depth};
            std::vector<TypeParam> xx(size_t(m * m)), xy(size_t(m * std::max(m, n))), both(xx), other(xy);
            if (by_rows && n > m) continue;  // rows of both results are as far from each other
            product::contract<TypeParam>(xx.data(), x.data(), x.data(), first, isa);
            product::contract<TypeParam>(xy.data(), x.data(), y.data(), second, isa);
            const product::Beside beside[] = {{other.data(), y.data(), {own}}};
            product::contract(dtype_of<TypeParam>(), both.data(), x.data(), x.data(), nullptr, first, {}, isa, beside);
            for (size_t i = 0; i < xx.size(); ++i) ASSERT_NEAR(both[i], xx[i], this->tolerance);
            for (size_t i = 0; i < xy.size(); ++i) ASSERT_NEAR(other[i], xy[i], this->tolerance) << m << " " << n;
          }
}

// Tiles at the edges are half as high and narrower; nothing besides is written, in whatever way operands lie.
TYPED_TEST(LinalgProducts, EdgesOfEverySize) {
  for (const auto isa : test::instruction_sets())
    for (const int64_t m : {1, 7, 8, 9, 16, 17, 31, 40, 150})
      for (const int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 26, 28, 29, 40})
        for (int flags = 0; flags < 4; ++flags) {
          const int64_t k = 37;
          const bool ta = flags & 1, tb = flags & 2;
          const auto a = this->draw(m * k), b = this->draw(k * n);
          std::vector<TypeParam> c(size_t(m * n + 1), TypeParam(7));
          product::multiply<TypeParam>(c.data(), {a.data(), ta ? k : 1, ta ? 1 : m}, {b.data(), tb ? n : 1, tb ? 1 : k},
                                       m, n, k, isa);
          ASSERT_EQ(c.back(), 7);
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              double sum = 0;
              for (int64_t p = 0; p < k; ++p)
                sum += double(a[size_t(ta ? p + i * k : i + p * m)]) * double(b[size_t(tb ? j + p * n : p + j * k)]);
              ASSERT_NEAR(c[size_t(i + j * m)], sum, this->tolerance) << m << " " << n << " " << flags;
            }
        }
}

// The triangle of C that is asked for, whether it is stored by columns or by rows, also where the depth is several
// blocks; what was there is kept.
TYPED_TEST(LinalgProducts, ProductsAreSubtracted) {
  for (const auto isa : test::instruction_sets())
    for (const bool by_rows : {false, true})
      for (const auto of : {product::Elements::all, product::Elements::lower, product::Elements::upper})
        for (const int64_t k : {5, 500}) {
          const int64_t m = 70, n = 61;
          const auto a = this->draw(m * k), b = this->draw(k * n), before = this->draw(m * n);
          auto c = before;
          const int64_t row = by_rows ? n : 1, column = by_rows ? 1 : m;
          product::subtract<TypeParam>(c.data(), row, column, {a.data(), 1, m}, {b.data(), 1, k}, m, n, k, of, isa);
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              if (of == product::Elements::lower ? i < j : of == product::Elements::upper && i > j) continue;
              double sum = before[size_t(i * row + j * column)];
              for (int64_t p = 0; p < k; ++p) sum -= double(a[size_t(i + p * m)]) * double(b[size_t(p + j * k)]);
              ASSERT_NEAR(c[size_t(i * row + j * column)], sum, this->tolerance) << i << " " << j;
            }
        }
}

// Of each of a batch the part of C that is asked for, and not the whole of it: with the depth together in both operands
// or across, C by columns or by rows, in tiles or by sums of whole vectors, a diagonal within C or beyond it.
TYPED_TEST(LinalgProducts, PartsOfContractions) {
  using product::Axis;
  const auto expect_part = [&](const std::vector<Axis>& axes, const product::Update& update, elementary::Isa isa,
                               int64_t& left_out) {
    const auto& [rows, columns, depth, batch] = std::tie(axes[0], axes[1], axes[2], axes[3]);
    const int64_t m = rows.extent, n = columns.extent, k = depth.extent;
    const auto a = this->draw(batch.extent * m * k), b = this->draw(batch.extent * n * k);
    std::vector<TypeParam> c(size_t(batch.extent * m * n), TypeParam(7));
    product::contract(dtype_of<TypeParam>(), c.data(), a.data(), b.data(), nullptr, axes, update, isa);
    for (int64_t e = 0; e < batch.extent; ++e)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          const auto got = c[size_t(e * batch.c + i * rows.c + j * columns.c)];
          double sum = 0;
          for (int64_t p = 0; p < k; ++p)
            sum += double(a[size_t(e * batch.a + i * rows.a + p * depth.a)]) *
                   double(b[size_t(e * batch.b + j * columns.b + p * depth.b)]);
          if (got == 0 && !update.changes(i, j))
            ++left_out;
          else
            ASSERT_NEAR(got, sum, this->tolerance) << i << " " << j << " shift " << update.shift;
        }
  };
  const int64_t m = 90, n = 83, k = 21;
  const std::vector<std::vector<Axis>> all = {{{m, 1, 1, 0}, {n, m, 0, 1}, {k, 0, m, n}, {2, m * n, m * k, n * k}},
                                              {{m, n, k, 0}, {n, 1, 0, k}, {k, 0, 1, 1}, {2, m * n, m * k, n * k}},
                                              {{m, 1, k, 0}, {n, m, 0, 1}, {k, 0, 1, n}, {2, m * n, m * k, n * k}},
                                              {{8, 1, 300, 0}, {6, 8, 0, 300}, {300, 0, 1, 1}, {2, 48, 2400, 1800}}};
  for (const auto isa : test::instruction_sets())
    for (const int threads : {1, 3})
      for (const auto& axes : all)
        for (const auto of : {product::Elements::lower, product::Elements::upper})
          for (const int64_t shift : {-200, -30, -1, 0, 2, 40, 300}) {
            set_threads(threads);
            int64_t left_out = 0;
            expect_part(axes, {product::Into::set, of, shift}, isa, left_out);
            if (shift == 0 && axes[0].extent == m) {
              EXPECT_GT(left_out, 0);
            }
          }
  set_threads(0);
}

// Of whole numbers all sums are exact, so that only the last rounding is left; C is made in several parts, and on one
// thread several blocks of sums go to one part in each direction.
template <class S>
void expect_small_products() {
  using product::Axis;
  const int64_t m = 530, n = 790, k = 400;
  std::vector<S> a(size_t(m * k)), b(size_t(k * n)), c(size_t(m * n));
  for (size_t i = 0; i < a.size(); ++i) a[i] = S(double(int(i * 7 % 11) - 5));
  for (size_t i = 0; i < b.size(); ++i) b[i] = S(double(int(i * 5 % 13) - 6));
  const Axis as_stored[] = {{m, 1, 1, 0}, {n, m, 0, k}, {k, 0, m, 1}};
  const Axis turned[] = {{m, n, k, 0}, {n, 1, 0, 1}, {k, 0, 1, n}};  // A, B and C transposed
  for (const auto isa : {elementary::Isa::baseline, elementary::Isa::avx2, elementary::Isa::avx512}) {
    if (isa > elementary::detected_isa()) continue;
    for (const auto& axes : {as_stored, turned}) {
      product::contract(c.data(), a.data(), b.data(), std::span(axes, 3), isa);
      for (int64_t i = 0; i < m; i += 13)
        for (int64_t j = 0; j < n; j += 7) {
          float sum = 0;
          for (int64_t p = 0; p < k; ++p)
            sum += float(a[size_t(i * axes[0].a + p * axes[2].a)]) * float(b[size_t(j * axes[1].b + p * axes[2].b)]);
          ASSERT_EQ(float(c[size_t(i * axes[0].c + j * axes[1].c)]), float(S(sum))) << i << " " << j;
        }
    }
  }
}
TEST(SmallProducts, AddUpInFloatsAndRoundOnce) {
  for (const int threads : {1, 0}) {
    set_threads(threads);
    expect_small_products<Float16>();
    expect_small_products<BFloat16>();
  }
}

// Every instruction set of this processor; blocks in all three directions have edges.
TYPED_TEST(LinalgProducts, ProductsOfEveryInstructionSet) {
  const int64_t m = 1000, n = 27, k = 801;
  const auto a = this->draw(m * k), b = this->draw(k * n);
  for (const auto isa : {elementary::Isa::baseline, elementary::Isa::avx2, elementary::Isa::avx512}) {
    if (isa > elementary::detected_isa()) continue;
    auto c = this->draw(m * n);
    product::multiply<TypeParam>(c.data(), {a.data(), 1, m}, {b.data(), 1, k}, m, n, k, isa);
    for (int64_t i = 0; i < m; i += 7)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) sum += double(a[size_t(i + l * m)]) * double(b[size_t(l + j * k)]);
        ASSERT_NEAR(c[size_t(i + j * m)], sum, this->tolerance) << i << " " << j;
      }
    const test::InterruptAt first(1);
    EXPECT_THROW(product::multiply<TypeParam>(c.data(), {a.data(), 1, m}, {b.data(), 1, k}, m, n, k, isa), Interrupted);
  }
}

}  // namespace
}  // namespace anvil::runtime
