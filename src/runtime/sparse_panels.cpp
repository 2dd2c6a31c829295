#include "runtime/sparse_panels.h"

#include <algorithm>
#include <functional>

#include "base/interrupt.h"
#include "runtime/linalg.h"
#include "runtime/pool.h"
#include "runtime/product/product.h"

namespace anvil::runtime {
namespace {

// Memory of the pool, uninitialised: what is above the diagonal of a square is never read.
class Numbers {
 public:
  explicit Numbers(size_t n) : block_(n * sizeof(double)) {}
  double* data() const { return reinterpret_cast<double*>(block_.data()); }

 private:
  Block block_;
};

constexpr int64_t most_columns = 128;  // of a panel: what it makes of those before and behind it are products
constexpr int64_t few = 1 << 9;        // multiplications, for which packing does not pay

// C = A B, where A has m rows and B n columns; c is dense.
void multiply(double* c, product::View<double> a, product::View<double> b, int64_t m, int64_t n, int64_t k) {
  if (m * n * k > few) return product::multiply<double>(c, a, b, m, n, k);
  std::fill(c, c + m * n, 0.0);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t d = 0; d < k; ++d)
      for (int64_t i = 0; i < m; ++i)
        c[i + m * j] += a.data[i * a.row + d * a.column] * b.data[d * b.row + j * b.column];
}

}  // namespace

SparsePanels::SparsePanels(const SparsePattern& p) : pattern_(p) {
  const auto n = static_cast<size_t>(p.size());
  const auto length = [&](size_t j) { return p.columns[j + 1] - p.columns[j]; };
  of_.resize(n);
  for (size_t j = 0; j < n; ++j) {
    const auto second = static_cast<size_t>(j == 0 ? 0 : p.columns[j - 1] + 1);
    const bool goes_on = j > 0 && length(j - 1) == length(j) + 1 && p.rows[second] == static_cast<int32_t>(j) &&
                         static_cast<int64_t>(j) - starts_.back() < most_columns;
    if (!goes_on) starts_.push_back(static_cast<int32_t>(j));
    of_[j] = static_cast<int32_t>(starts_.size() - 1);
  }
  starts_.push_back(static_cast<int32_t>(n));
  size_t at = 0;
  for (size_t k = 0; k < count(); ++k) {
    at_.push_back(at);
    const int64_t columns = starts_[k + 1] - starts_[k];
    widest_ = std::max(widest_, columns);
    at += static_cast<size_t>(columns * length(static_cast<size_t>(starts_[k])));
  }
  at_.push_back(at);
}

SparsePanels::Panel SparsePanels::panel(size_t k) const {
  const auto first = static_cast<size_t>(starts_[k]);
  return {starts_[k], starts_[k + 1] - starts_[k], pattern_.rows.data() + pattern_.columns[first],
          pattern_.columns[first + 1] - pattern_.columns[first], at_[k]};
}

// f(place of a column in the packed triangle, in its panel, how many elements).
template <class F>
void SparsePanels::each_column(F&& f) const {
  for (size_t k = 0; k < count(); ++k) {
    const Panel p = panel(k);
    for (int64_t c = 0; c < p.columns; ++c)
      f(static_cast<size_t>(pattern_.columns[static_cast<size_t>(p.first + c)]),
        p.at + static_cast<size_t>(c * p.height + c), p.height - c);
  }
}

// What the columns of a panel make of those of another one, which its rows at..stop - 1 are; `place` says where that
// one has each row.
void SparsePanels::subtract(const Panel& from, int64_t at, int64_t stop, const Panel& to,
                            const std::vector<int32_t>& place, double* dense, std::vector<double>& product) const {
  const int64_t m = from.height - at, n = stop - at;
  const double* const l = dense + from.at + at;
  product.resize(std::max(product.size(), static_cast<size_t>(m * n)));
  multiply(product.data(), {l, 1, from.height}, {l, from.height, 1}, m, n, from.columns);
  for (int64_t c = 0; c < n; ++c) {
    double* const column = dense + to.at + (from.rows[at + c] - to.first) * to.height;
    for (int64_t i = c; i < m; ++i)
      column[place[static_cast<size_t>(from.rows[at + i])]] -= product[static_cast<size_t>(i + m * c)];
  }
}

// Panel by panel, those before that reach it subtracted from it ("left-looking"). `list` links the panels whose next row,
// at `next`, is in the one that is being made.
bool SparsePanels::factorise(double* x) const {
  constexpr int32_t none = -1;
  const Numbers memory(at_.back());
  double* const dense = memory.data();
  std::vector<double> product;
  each_column([&](size_t packed, size_t at, int64_t n) { std::copy_n(x + packed, n, dense + at); });
  std::vector<int32_t> list(count(), none), following(count(), none), place(of_.size());
  std::vector<int64_t> next(count());
  const auto enlist = [&](int32_t k, const Panel& p) {
    const int64_t at = next[static_cast<size_t>(k)];
    if (at == p.height) return;
    int32_t& first = list[static_cast<size_t>(of_[static_cast<size_t>(p.rows[at])])];
    following[static_cast<size_t>(k)] = first;
    first = k;
  };
  for (size_t j = 0; j < count(); ++j) {
    const Panel to = panel(j);
    for (int64_t i = 0; i < to.height; ++i) place[static_cast<size_t>(to.rows[i])] = static_cast<int32_t>(i);
    for (int32_t k = list[j]; k != none;) {
      const Panel from = panel(static_cast<size_t>(k));
      int64_t& at = next[static_cast<size_t>(k)];
      int64_t stop = at;
      while (stop < from.height && from.rows[stop] < to.first + to.columns) ++stop;
      subtract(from, at, stop, to, place, dense, product);
      at = stop;
      const int32_t after = following[static_cast<size_t>(k)];
      enlist(k, from);
      k = after;
      worked(from.columns);
    }
    if (!factorise_panel(dense + to.at, to.height, to.columns, to.height)) return false;
    for (int64_t c = 0; c < to.columns; ++c)
      if (!(dense[to.at + static_cast<size_t>(c * to.height + c)] > 0)) return false;  // NaN
    next[j] = to.columns;
    enlist(static_cast<int32_t>(j), to);
  }
  each_column([&](size_t packed, size_t at, int64_t n) { std::copy_n(dense + at, n, x + packed); });
  return true;
}

// The recurrence of Takahashi for a panel [L; B] of the factor, where W is the inverse at the rows below it: with Y = B L^-1
// the inverse has -W Y there and (L L')^-1 + Y' W Y in the square.
void SparsePanels::invert_panel(const Panel& p, const double* l, double* z, std::vector<int32_t>& place) const {
  const int64_t n = p.columns, m = p.below();
  std::vector<double> square(static_cast<size_t>(n * n)), own(square), y(static_cast<size_t>(m * n));
  for (int64_t c = 0; c < n; ++c) {
    std::copy_n(l + p.at + c * p.height, n, square.data() + c * n);
    std::copy_n(l + p.at + c * p.height + n, m, y.data() + c * m);
    own[static_cast<size_t>(c * n + c)] = 1;
  }
  solve_factored(square.data(), n, own.data(), n);
  if (m > 0) {
    solve_lower_rows(square.data(), n, y.data(), m);
    const Numbers whole(static_cast<size_t>(m * m));
    double* const w = whole.data();
    std::vector<double> below(y.size());
    const int32_t* const rows = p.rows + n;
    for (int64_t c = 0; c < m;) {  // the rows that are columns of one panel
      const Panel from = panel(static_cast<size_t>(of_[static_cast<size_t>(rows[c])]));
      for (int64_t i = 0; i < from.height; ++i) place[static_cast<size_t>(from.rows[i])] = static_cast<int32_t>(i);
      for (; c < m && rows[c] < from.first + from.columns; ++c) {
        const double* const column = z + from.at + (rows[c] - from.first) * from.height;
        for (int64_t i = c; i < m; ++i) w[i + m * c] = w[c + m * i] = column[place[static_cast<size_t>(rows[i])]];
      }
    }
    multiply(below.data(), {w, 1, m}, {y.data(), 1, m}, m, n, m);
    multiply(square.data(), {y.data(), m, 1}, {below.data(), 1, m}, n, n, m);
    for (size_t e = 0; e < own.size(); ++e) own[e] += square[e];
    for (int64_t c = 0; c < n; ++c)
      std::transform(below.data() + c * m, below.data() + (c + 1) * m, z + p.at + c * p.height + n, std::negate<>());
  }
  for (int64_t c = 0; c < n; ++c) std::copy_n(own.data() + c * n, n, z + p.at + c * p.height);
  worked(m * m + n * n);
}

void SparsePanels::invert(const double* factor, double* z) const {
  const Numbers l(at_.back()), inverse(at_.back());
  std::vector<int32_t> place(of_.size());
  each_column([&](size_t packed, size_t at, int64_t n) { std::copy_n(factor + packed, n, l.data() + at); });
  for (size_t k = count(); k-- > 0;) invert_panel(panel(k), l.data(), inverse.data(), place);
  each_column([&](size_t packed, size_t at, int64_t n) { std::copy_n(inverse.data() + at, n, z + packed); });
}

}  // namespace anvil::runtime
