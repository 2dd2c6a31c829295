// Sparse factors against dense ones, made here by their formulas.
#include "runtime/sparse_cholesky.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace anvil::runtime {
namespace {

// An arrow: the diagonal and the last row, so that nothing is filled in.
struct Arrow {
  std::vector<int32_t> columns{0}, rows, place;
  std::vector<double> values;
  explicit Arrow(int32_t n) {
    for (int32_t j = 0; j < n; ++j) {
      rows.push_back(j);
      values.push_back(j == n - 1 ? 10 : 1 + j);
      if (j < n - 1) rows.push_back(n - 1), values.push_back(0.5);
      columns.push_back(static_cast<int32_t>(rows.size()));
    }
    for (size_t e = 0; e < rows.size(); ++e) place.push_back(static_cast<int32_t>(e));
  }
  SparsePattern pattern() const { return {columns, rows}; }
};

double log_determinant(const Arrow& a, const std::vector<double>& values) {
  const double* parts[] = {values.data()};
  std::vector<double> l(a.rows.size());
  sparse_factor(a.pattern(), {parts, a.place}, l.data());
  double sum = 0;
  for (size_t j = 0; j + 1 < a.columns.size(); ++j) sum += 2 * std::log(l[static_cast<size_t>(a.columns[j])]);
  return sum;
}

TEST(SparseCholesky, DeterminantsAndSolutions) {
  const Arrow a(4);  // det = 1 * 2 * 3 * (10 - 0.25 * (1 + 1 / 2 + 1 / 3))
  EXPECT_NEAR(log_determinant(a, a.values), std::log(6 * (10 - 0.25 * 11 / 6)), 1e-14);
  std::vector<double> l(a.rows.size()), x = {1, 0, 2, -1};
  const double* parts[] = {a.values.data()};
  sparse_factor(a.pattern(), {parts, a.place}, l.data());
  sparse_solve(a.pattern(), l.data(), x.data());
  EXPECT_NEAR(x[0] + 0.5 * x[3], 1, 1e-14);
  EXPECT_NEAR(2 * x[1] + 0.5 * x[3], 0, 1e-14);
  EXPECT_NEAR(0.5 * (x[0] + x[1] + x[2]) + 10 * x[3], -1, 1e-14);
}

TEST(SparseCholesky, InverseIsTheDerivativeOfTheDeterminant) {
  const Arrow a(5);
  const auto count = [&](size_t e) { return std::ranges::count(a.columns, static_cast<int32_t>(e)) != 0 ? 1 : 2; };
  const auto inverse = [&](const std::vector<double>& values) {
    std::vector<double> l(a.rows.size()), z(a.rows.size());
    const double* parts[] = {values.data()};
    sparse_factor(a.pattern(), {parts, a.place}, l.data());
    sparse_inverse(a.pattern(), l.data(), a.place, z.data());
    return z;
  };
  const auto moved = [&](size_t e, double by) {
    std::vector<double> values = a.values;
    values[e] += by;
    return values;
  };
  const std::vector<double> z = inverse(a.values);
  for (size_t e = 0; e < a.rows.size(); ++e) {
    const double slope = (log_determinant(a, moved(e, 1e-5)) - log_determinant(a, moved(e, -1e-5))) / 2e-5;
    EXPECT_NEAR(count(e) * z[e], slope, 1e-8);
    std::vector<double> direction(a.rows.size()), dz(a.rows.size());
    direction[e] = 1;
    const double* parts[] = {a.values.data(), direction.data()};
    sparse_inverse_derivative(a.pattern(), {parts, a.place}, dz.data());
    const std::vector<double> up = inverse(moved(e, 1e-5)), down = inverse(moved(e, -1e-5));
    for (size_t k = 0; k < dz.size(); ++k) EXPECT_NEAR(dz[k], (up[k] - down[k]) / 2e-5, 1e-8);
  }
}

TEST(SparseCholesky, NaNWhereNotPositiveDefinite) {
  Arrow a(3);
  a.values.back() = 0.01;
  EXPECT_TRUE(std::isnan(log_determinant(a, a.values)));
}

TEST(SparseCholesky, RefusesWhatIsNoPattern) {
  const auto refused = [](std::vector<int32_t> columns, std::vector<int32_t> rows, std::vector<int32_t> place) {
    EXPECT_THROW(check_pattern({columns, rows}, place), Error);
  };
  EXPECT_NO_THROW(check_pattern({std::vector<int32_t>{0}, {}}, {}));
  refused({}, {}, {});
  refused({0, 1}, {1}, {});
  refused({0, 2, 3}, {0, 2, 1}, {});
  refused({0, 3, 2}, {0, 1}, {});
  refused({-1, 1}, {0}, {});
  refused({0, 1}, {0}, {1});
  refused({0, 1}, {0}, {-1});
  refused({0, 0}, {}, {});
}

TEST(SparseCholesky, TooManyDirections) {
  const Arrow a(2);
  const double* parts[] = {a.values.data(), a.values.data(), a.values.data(), a.values.data(), a.values.data()};
  std::vector<double> z(a.rows.size());
  EXPECT_THROW(sparse_inverse_derivative(a.pattern(), {parts, a.place}, z.data()), Error);
}

}  // namespace
}  // namespace anvil::runtime
