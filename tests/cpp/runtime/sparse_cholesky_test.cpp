// Sparse factors against dense ones, made here by their formulas.
#include "runtime/sparse_cholesky.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"
#include "runtime/sparse_panels.h"

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

// Groups of columns: those of two groups meet or not. Every place of the factor is an element of A.
struct Groups {
  using Meets = std::function<bool(size_t above, size_t below)>;

  std::vector<int32_t> columns{0}, rows, place;
  std::vector<double> values;
  int64_t n = 0;
  Groups(const std::vector<int32_t>& sizes, uint32_t seed, const Meets& meets) {
    std::vector<size_t> group;
    for (size_t g = 0; g < sizes.size(); ++g) group.insert(group.end(), static_cast<size_t>(sizes[g]), g);
    n = static_cast<int64_t>(group.size());
    std::mt19937 random(seed);
    for (size_t j = 0; j < group.size(); ++j) {
      for (size_t i = j; i < group.size(); ++i) {
        if (group[i] != group[j] && !meets(group[j], group[i])) continue;
        rows.push_back(static_cast<int32_t>(i));
        values.push_back(i == j ? 30.0 + 2 * static_cast<double>(n) : double(random() % 7) - 3);
      }
      columns.push_back(static_cast<int32_t>(rows.size()));
    }
    for (size_t e = 0; e < rows.size(); ++e) place.push_back(static_cast<int32_t>(e));
  }
  SparsePattern pattern() const { return {columns, rows}; }
};

// Every group meets the one after the next and the last two: panels of many columns, of one, and rows that skip panels.
Groups every_second(const std::vector<int32_t>& sizes) {
  return {sizes, 7, [n = sizes.size()](size_t above, size_t below) { return below == above + 2 || below + 2 >= n; }};
}

void expect_panels_give_what_columns_give(const Groups& a) {
  const SparsePattern p = a.pattern();
  ASSERT_NO_THROW(check_pattern(p, a.place));
  ASSERT_TRUE(SparsePanels(p).pay());
  std::vector<double> l(a.rows.size()), z(l), x(static_cast<size_t>(a.n)), moved(l);
  const double* parts[] = {a.values.data()};
  sparse_factor(p, {parts, a.place}, l.data());
  sparse_inverse(p, l.data(), a.place, z.data());
  for (size_t j = 0; j < x.size(); ++j) {  // L L' = A by columns, and those of the inverse by solutions
    std::vector<double> made(x.size()), unit(x.size());
    for (size_t k = 0; k <= j; ++k) {
      const auto begin = a.rows.begin() + a.columns[k], end = a.rows.begin() + a.columns[k + 1];
      const auto at = std::find(begin, end, static_cast<int32_t>(j));
      if (at == end) continue;
      for (auto r = at; r != end; ++r)
        made[static_cast<size_t>(*r)] +=
            l[static_cast<size_t>(r - a.rows.begin())] * l[static_cast<size_t>(at - a.rows.begin())];
    }
    unit[j] = 1;
    sparse_solve(p, l.data(), unit.data());
    for (auto e = static_cast<size_t>(a.columns[j]); e < static_cast<size_t>(a.columns[j + 1]); ++e) {
      EXPECT_NEAR(made[static_cast<size_t>(a.rows[e])], a.values[e], 1e-11);
      EXPECT_NEAR(z[e], unit[static_cast<size_t>(a.rows[e])], 1e-14);
    }
  }
  // by the recurrences, which dual numbers take
  std::vector<double> direction(l.size());
  direction[l.size() / 2] = 1;
  const double* both[] = {a.values.data(), direction.data()};
  sparse_inverse_derivative(p, {both, a.place}, moved.data());
  const auto inverse_at = [&](double by) {
    std::vector<double> values = a.values, factor(l.size()), inverse(l.size());
    values[l.size() / 2] += by;
    const double* given[] = {values.data()};
    sparse_factor(p, {given, a.place}, factor.data());
    sparse_inverse(p, factor.data(), a.place, inverse.data());
    return inverse;
  };
  const std::vector<double> up = inverse_at(1e-2), down = inverse_at(-1e-2);
  for (size_t e = 0; e < l.size(); ++e) EXPECT_NEAR(moved[e], (up[e] - down[e]) / 2e-2, 1e-9);
}

TEST(SparseCholesky, PanelsGiveWhatColumnsGive) {
  for (const std::vector<int32_t>& sizes :
       {std::vector<int32_t>{1, 1, 9, 1, 20, 1}, {8}, {3, 70, 2, 2, 140}, {1, 1, 1, 1, 100}, {12, 1, 1, 30, 9, 2}})
    expect_panels_give_what_columns_give(every_second(sizes));
}

// The first two groups meet the third one, whose rows are then those of both: one more than the second group has there.
TEST(SparseCholesky, AColumnOfMoreRowsBeginsAPanel) {
  const auto meets = [](size_t above, size_t below) { return below == 2 || (below == 4 && above != 1); };
  expect_panels_give_what_columns_give({{20, 20, 9, 1, 1}, 7, meets});
}

TEST(SparseCholesky, PanelsAreNaNWhereNotPositiveDefinite) {
  const Groups a = every_second({1, 12, 3});
  for (const double bad : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    for (const size_t column : {size_t(0), size_t(5), size_t(15)}) {
      std::vector<double> values = a.values, l(a.rows.size());
      values[static_cast<size_t>(a.columns[column])] = bad;
      const double* parts[] = {values.data()};
      sparse_factor(a.pattern(), {parts, a.place}, l.data());
      EXPECT_TRUE(std::ranges::all_of(l, [](double x) { return std::isnan(x); }));
    }
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
