// Products that are weighted along the depth, as in X'WX, against their definition.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/drawn.h"
#include "runtime/product/dots.h"
#include "runtime/threads.h"
#include "support/instruction_sets.h"

namespace anvil::product {
namespace {

template <class T>
struct Weights : test::Drawn<T> {
  using typename test::Drawn<T>::Numbers;
  static constexpr double tolerance = std::is_same_v<T, double> ? 1e-10 : 5e-3;

  // Element by element, over all axes.
  static void expect_sums(const Numbers& c, const Numbers& a, const Numbers& b, const Numbers& w,
                          std::span<const Axis> axes) {
    std::vector<double> sums(c.size(), 0);
    std::vector<int64_t> at(axes.size(), 0);
    for (size_t k = 0; k < axes.size();) {
      int64_t in_c = 0, in_a = 0, in_b = 0, in_w = 0;
      for (size_t x = 0; x < axes.size(); ++x)
        in_c += at[x] * axes[x].c, in_a += at[x] * axes[x].a, in_b += at[x] * axes[x].b,
            in_w += at[x] * axes[x].weights;
      sums[size_t(in_c)] += double(a[size_t(in_a)]) * double(w[size_t(in_w)]) * double(b[size_t(in_b)]);
      for (k = 0; k < axes.size() && ++at[k] == axes[k].extent; ++k) at[k] = 0;
    }
    for (size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c[i], sums[i], tolerance) << i << " of " << c.size();
  }
  void expect(std::span<const Axis> axes, int64_t size_of_c, int64_t size_of_a, int64_t size_of_b, int64_t size_of_w) {
    const auto a = this->draw(size_of_a), b = this->draw(size_of_b), w = this->draw(size_of_w);
    for (const auto isa : test::instruction_sets()) {
      Numbers c(static_cast<size_t>(size_of_c), T(7));
      contract(dtype_of<T>(), c.data(), a.data(), b.data(), w.data(), axes, {}, isa);
      expect_sums(c, a, b, w, axes);
    }
  }
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Weights, Floats);

// A depth that lies together in both operands, and one that does not; C by columns and by rows; ends within a vector.
TYPED_TEST(Weights, OfOneMatrix) {
  for (const int64_t m : {3, 20})
    for (const int64_t n : {1, 7, 33})
      for (const int64_t k : {2, 65, 1203}) {
        const Axis along[] = {{m, 1, k, 0}, {n, m, 0, k}, {k, 0, 1, 1, 1}},
                   across[] = {{m, 1, 1, 0}, {n, m, 0, 1}, {k, 0, m, n, 1}},
                   by_rows[] = {{m, n, k, 0}, {n, 1, 0, k}, {k, 0, 1, 1, 1}};
        this->expect(along, m * n, m * k, n * k, k);
        this->expect(across, m * n, m * k, n * k, k);
        this->expect(by_rows, m * n, m * k, n * k, k);
      }
}

// One step of the depth has weights, the other has none; weights that lie apart; a batch has its own.
TYPED_TEST(Weights, OfSomeStepsAndOfABatch) {
  const int64_t m = 9, n = 6, k = 40, l = 11, batch = 3;
  const Axis of_one[] = {{m, 1, k * l, 0}, {n, m, 0, k * l}, {k, 0, 1, 1, 0}, {l, 0, k, k, 2}};
  this->expect(of_one, m * n, m * k * l, n * k * l, 2 * l);
  const Axis apart[] = {{m, 1, k, 0}, {n, m, 0, k}, {k, 0, 1, 1, 5}};
  this->expect(apart, m * n, m * k, n * k, 5 * k);
  const Axis batches[] = {{m, 1, k, 0}, {n, m, 0, k}, {k, 0, 1, 1, batch}, {batch, m * n, m * k, n * k, 1}};
  this->expect(batches, batch * m * n, batch * m * k, batch * n * k, batch * k);
}

// Lanes along the depth, several blocks and chunks of it; of one matrix with itself the result is symmetric.
TYPED_TEST(Weights, OfAMatrixWithItself) {
  const int64_t m = 20, k = 30'011;
  const Axis axes[] = {{m, 1, k, 0}, {m, m, 0, k}, {k, 0, 1, 1, 1}};
  const auto x = this->draw(m * k), w = this->draw(k);
  for (const auto isa : test::instruction_sets()) {
    const Offsets at(axes);
    ASSERT_TRUE(dots_are_faster(x.data(), x.data(), at, isa));
    typename TestFixture::Numbers one(size_t(m * m)), two(one.size());
    contract(dtype_of<TypeParam>(), one.data(), x.data(), x.data(), w.data(), axes, {}, isa);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < m; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += double(x[size_t(p + k * i)]) * double(w[size_t(p)]) * double(x[size_t(p + k * j)]);
        ASSERT_NEAR(one[size_t(i + m * j)], sum, 10 * this->tolerance);
        ASSERT_EQ(one[size_t(i + m * j)], one[size_t(j + m * i)]);
      }
    runtime::share_everything(true);
    for (const int threads : {1, 2, 3}) {
      runtime::set_threads(threads);
      contract(dtype_of<TypeParam>(), two.data(), x.data(), x.data(), w.data(), axes, {}, isa);
      EXPECT_EQ(one, two) << threads;
    }
    runtime::set_threads(0);
    runtime::share_everything(false);
  }
}

// Blocks of a packed operand: several of the depth and of the rows.
TYPED_TEST(Weights, OfPackedBlocks) {
  const int64_t m = 700, n = 40, k = 801;
  const Axis axes[] = {{m, 1, 1, 0}, {n, m, 0, k}, {k, 0, m, 1, 1}};
  this->expect(axes, m * n, m * k, n * k, k);
}

}  // namespace
}  // namespace anvil::product
