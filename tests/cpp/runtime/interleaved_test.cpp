// Many small matrices at once, with every instruction set that this processor has, against one
// matrix at a time: LU factors to the last bit; Cholesky factors and systems to rounding, and to the
// last bit between the sets.
#include "runtime/interleaved/interleaved.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/drawn.h"
#include "runtime/factorise.h"
#include "support/instruction_sets.h"

namespace anvil::interleaved {
namespace {

template <class T>
struct Interleaved : test::Drawn<T> {
  using typename test::Drawn<T>::Numbers;
  static Numbers one(const Numbers& all, int64_t b, int64_t batch) {
    Numbers x;
    for (size_t i = size_t(b); i < all.size(); i += size_t(batch)) x.push_back(all[i]);
    return x;
  }
};
template <class T>
void expect_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    if (std::isnan(a[i]))
      EXPECT_TRUE(std::isnan(b[i]));
    else
      EXPECT_EQ(std::memcmp(&a[i], &b[i], sizeof(T)), 0) << a[i] << " " << b[i];
}
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Interleaved, Floats);

TYPED_TEST(Interleaved, LuIsThatOfOneMatrixToTheLastBit) {
  using T = TypeParam;
  for (const auto& [m, n, batch] : {std::tuple{6, 6, 100}, {1, 1, 5}, {3, 7, 17}, {8, 2, 32}, {32, 32, 21}}) {
    auto a = this->draw(m * n * batch);
    a[0] = std::numeric_limits<T>::infinity(), a[1] = std::numeric_limits<T>::quiet_NaN();
    for (int64_t e = 0; e < m * n; ++e) a[size_t(2 + batch * e)] = T(e % 2);  // ties, and singular
    for (const auto isa : test::instruction_sets()) {
      const int64_t k = std::min(m, n);
      std::vector<T> packed(a.size());
      std::vector<int32_t> pivots(size_t(k * batch)), order(size_t(m * batch));
      lu(packed.data(), pivots.data(), order.data(), a.data(), m, n, batch, isa);
      for (int64_t b = 0; b < batch; ++b) {
        const auto x = this->one(a, b, batch);
        std::vector<T> want(x.size());
        std::vector<int32_t> rows(static_cast<size_t>(k)), places(static_cast<size_t>(m));
        runtime::lu(want.data(), rows.data(), places.data(), x.data(), m, n);
        expect_same_bits(want, this->one(packed, b, batch));
        for (int64_t i = 0; i < k; ++i) EXPECT_EQ(rows[size_t(i)], pivots[size_t(b + batch * i)]);
        for (int64_t i = 0; i < m; ++i) EXPECT_EQ(places[size_t(i)], order[size_t(b + batch * i)]);
      }
    }
  }
}

TYPED_TEST(Interleaved, CholeskyFactorsAndSystemsOfEverySetAreTheSame) {
  using T = TypeParam;
  for (const int64_t n : {1, 5, 32})
    for (int flags = 0; flags < 16; ++flags) {
      const int64_t batch = 19, m = 3;
      const System s{n, m, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0};
      auto a = this->draw(n * n * batch);
      const auto b = this->draw(n * m * batch);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t c = 0; c < batch; ++c) a[size_t(c + batch * (i + n * i))] = T(c == 3 ? -1 : 4 * n);
      std::vector<T> factor, solution;
      for (const auto isa : test::instruction_sets()) {
        std::vector<T> l(a.size()), x(b.size());
        cholesky(l.data(), a.data(), n, s.lower, batch, isa);
        solve(s, x.data(), a.data(), b.data(), batch, isa);
        EXPECT_TRUE(std::isnan(l[3]));
        EXPECT_NEAR(l[0], 2 * std::sqrt(double(n)), 1e-6 * double(n));
        if (factor.empty()) factor = l, solution = x;
        expect_same_bits(factor, l);
        expect_same_bits(solution, x);
      }
    }
}

}  // namespace
}  // namespace anvil::interleaved
