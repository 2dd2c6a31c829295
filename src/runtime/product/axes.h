// The axes of a contraction by what they are, and where their steps lie in memory:
//   c[i + 4 j] = sum over p of a[i + 4 p] b[p + 9 j]      rows i, columns j, depth p
#pragma once
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/pool.h"
#include "runtime/product/pack.h"
#include "runtime/product/product.h"

namespace anvil::product {

using Axes = std::vector<Axis>;

// Columns in other arrays than the first ones: those of C and B begin so many elements from theirs.
struct FurtherColumns {
  Axes axes;
  int64_t c = 0, b = 0;
};

// The offsets of all steps of some axes in one array, those of the first axis fastest.
class Tables {
 public:
  explicit Tables(int64_t size)
      : memory_(size_t(size) * sizeof(int64_t)), next_(reinterpret_cast<int64_t*>(memory_.data())) {}
  Places add(const Axes& axes, int64_t Axis::*step) {
    if (axes.size() < 2) return {nullptr, axes.empty() ? 1 : axes[0].extent, 0, axes.empty() ? 0 : axes[0].*step};
    return {next_, append(axes, step, 0)};
  }
  // Those of further columns come after them.
  Places add(const Axes& axes, int64_t Axis::*step, const std::vector<FurtherColumns>& further,
             int64_t FurtherColumns::*first) {
    if (further.empty()) return add(axes, step);
    Places all{next_, append(axes, step, 0)};
    for (const FurtherColumns& f : further) all.count += append(f.axes, step, f.*first);
    all.apart = true;
    return all;
  }

 private:
  int64_t append(const Axes& axes, int64_t Axis::*step, int64_t first) {
    int64_t *const at = next_, n = 1;
    *at = first;
    for (const Axis& x : axes) {
      for (int64_t i = n; i < n * x.extent; ++i) at[i] = at[i - n] + x.*step;
      n *= x.extent;
    }
    next_ += n;
    return n;
  }

  runtime::Block memory_;
  int64_t* next_;
};
inline int64_t count(const Axes& axes) {
  int64_t n = 1;
  for (const Axis& x : axes) n *= x.extent;
  return n;
}

// The axes by what they are, in the order of memory: of C, the depth of the larger operand. What continues another one
// in all three is one with it.
struct Roles {
  Axes rows, columns, depth, batch;
  std::vector<FurtherColumns> further;
  Roles(std::span<const Axis> axes, std::vector<FurtherColumns> more) : further(std::move(more)) {
    for (const Axis& x : axes) {
      if (x.extent == 1) continue;
      (x.c == 0 ? depth : (x.a == 0) == (x.b == 0) ? batch : x.b == 0 ? rows : columns).push_back(x);
    }
    for (FurtherColumns& f : further) {
      std::erase_if(f.axes, [](const Axis& x) { return x.extent == 1; });
      sort(f.axes, &Axis::c);
    }
    for (Axes* list : {&rows, &columns, &batch}) sort(*list, &Axis::c);
    sort(depth, count(rows) < all_columns() ? &Axis::b : &Axis::a);
  }
  int64_t all_columns() const {
    int64_t n = count(columns);
    for (const FurtherColumns& f : further) n += count(f.axes);
    return n;
  }
  // Whether the lanes of the kernel's tiles are along the columns of C.
  bool turned() const {
    const auto together = [](const Axes& lines, int64_t Axis::*operand) {
      return std::any_of(lines.begin(), lines.end(), [operand](const Axis& x) { return x.*operand == 1; });
    };
    if (!columns.empty() && columns[0].c == 1)
      return !lanes_along_others(all_columns(), count(rows), count(depth), together(rows, &Axis::a));
    return lanes_along_others(count(rows), all_columns(), count(depth), together(columns, &Axis::b));
  }

 private:
  static void sort(Axes& list, int64_t Axis::*step) {
    const auto before = [&](const Axis& x, const Axis& y) { return x.*step < y.*step; };
    for (auto x = list.begin(); x != list.end(); ++x)
      std::rotate(std::upper_bound(list.begin(), x, *x, before), x, x + 1);
    join(list);
  }
  static void join(Axes& list) {
    size_t last = 0;
    for (size_t k = 1; k < list.size(); ++k) {
      Axis& x = list[last];
      const Axis& y = list[k];
      const auto goes_on = [&](int64_t Axis::*step) { return y.*step == x.*step * x.extent; };
      if (goes_on(&Axis::c) && goes_on(&Axis::a) && goes_on(&Axis::b) && goes_on(&Axis::weights))
        x.extent *= y.extent;
      else
        list[++last] = y;
    }
    if (!list.empty()) list.resize(last + 1);
  }
};

// Where everything stands. The sides have changed places where that puts the rows of C together.
struct Offsets {
  explicit Offsets(std::span<const Axis> axes, std::vector<FurtherColumns> further = {})
      : Offsets(Roles(axes, std::move(further))) {}
  bool turned;
  Tables tables;
  Places rows, c_rows, columns, c_columns, row_depth, column_depth;  // in the operand that has them, and in C
  Places weights;                                                    // of the depth
  Places of_c, of_rows, of_columns, of_weights;                      // each of the batch

 private:
  explicit Offsets(const Roles& r)
      : turned(r.turned()),
        tables(2 * (count(r.rows) + r.all_columns()) + 3 * count(r.depth) + 4 * count(r.batch) + 11),
        rows(turned ? columns_in_b(r) : tables.add(r.rows, &Axis::a)),
        c_rows(turned ? columns_in_c(r) : tables.add(r.rows, &Axis::c)),
        columns(turned ? tables.add(r.rows, &Axis::a) : columns_in_b(r)),
        c_columns(turned ? tables.add(r.rows, &Axis::c) : columns_in_c(r)),
        row_depth(tables.add(r.depth, turned ? &Axis::b : &Axis::a)),
        column_depth(tables.add(r.depth, turned ? &Axis::a : &Axis::b)),
        weights(tables.add(r.depth, &Axis::weights)),
        of_c(tables.add(r.batch, &Axis::c)),
        of_rows(tables.add(r.batch, turned ? &Axis::b : &Axis::a)),
        of_columns(tables.add(r.batch, turned ? &Axis::a : &Axis::b)),
        of_weights(tables.add(r.batch, &Axis::weights)) {}
  Places columns_in_b(const Roles& r) { return tables.add(r.columns, &Axis::b, r.further, &FurtherColumns::b); }
  Places columns_in_c(const Roles& r) { return tables.add(r.columns, &Axis::c, r.further, &FurtherColumns::c); }
};

// Whether the first `count` places are at the same distance within each group of so many.
inline bool even_in_groups(const Places& at, int64_t count, int64_t group) {
  if (at.count < count) return false;
  for (int64_t i = 1; i < count; ++i)
    if (i % group != 0 && at[i] - at[i - 1] != at[1] - at[0]) return false;
  return true;
}

template <class S>
void zero(S* c, const Places& rows, const Places& columns) {
  for (int64_t j = 0; j < columns.count; ++j)
    for (int64_t i = 0; i < rows.count; ++i) c[rows[i] + columns[j]] = S(0);
}

// n elements that lie together, as C is to take them.
template <int64_t n, class T>
void put_in(T* to, const T* from, Into into) {
  if (into == Into::set) {
    std::memcpy(to, from, n * sizeof(T));
    return;
  }
  const T sign = into == Into::add ? T(1) : T(-1);
  for (int64_t r = 0; r < n; ++r) to[r] += sign * from[r];
}
// So many in each of some columns, which lie `ld` from each other in `from`.
template <int64_t n, class T>
void put_in(T* to, const Places& columns, const T* from, int64_t ld, Into into) {
  for (int64_t j = 0; j < columns.count; ++j) put_in<n>(to + columns[j], from + j * ld, into);
}
template <class T>
void put_in(int64_t n, T* to, const Places& columns, const T* from, int64_t ld, Into into) {
  for (; n >= 16; n -= 16, to += 16, from += 16) put_in<16>(to, columns, from, ld, into);
  for (; n >= 8; n -= 8, to += 8, from += 8) put_in<8>(to, columns, from, ld, into);
  for (; n >= 4; n -= 4, to += 4, from += 4) put_in<4>(to, columns, from, ld, into);
  for (; n > 0; --n, ++to, ++from) put_in<1>(to, columns, from, ld, into);
}

}  // namespace anvil::product
