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

// The offsets of all steps of some axes in one array, those of the first axis fastest.
class Tables {
 public:
  explicit Tables(int64_t size)
      : memory_(size_t(size) * sizeof(int64_t)), next_(reinterpret_cast<int64_t*>(memory_.data())) {}
  Places add(const Axes& axes, int64_t Axis::*step) {
    if (axes.size() < 2) return {nullptr, axes.empty() ? 1 : axes[0].extent, 0, axes.empty() ? 0 : axes[0].*step};
    int64_t *const at = next_, n = 1;
    *at = 0;
    for (const Axis& x : axes) {
      for (int64_t i = n; i < n * x.extent; ++i) at[i] = at[i - n] + x.*step;
      n *= x.extent;
    }
    next_ += n;
    return {at, n};
  }

 private:
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
  explicit Roles(std::span<const Axis> axes) {
    for (const Axis& x : axes) {
      if (x.extent == 1) continue;
      (x.c == 0 ? depth : (x.a == 0) == (x.b == 0) ? batch : x.b == 0 ? rows : columns).push_back(x);
    }
    for (Axes* list : {&rows, &columns, &depth, &batch}) {
      const auto step = list != &depth ? &Axis::c : count(rows) < count(columns) ? &Axis::b : &Axis::a;
      const auto before = [&](const Axis& x, const Axis& y) { return x.*step < y.*step; };
      for (auto x = list->begin(); x != list->end(); ++x)
        std::rotate(std::upper_bound(list->begin(), x, *x, before), x, x + 1);
      join(*list);
    }
  }
  // Whether the lanes of the kernel's tiles are along the columns of C.
  bool turned() const {
    const auto together = [](const Axes& lines, int64_t Axis::*operand) {
      return std::any_of(lines.begin(), lines.end(), [operand](const Axis& x) { return x.*operand == 1; });
    };
    if (!columns.empty() && columns[0].c == 1)
      return !lanes_along_others(count(columns), count(rows), count(depth), together(rows, &Axis::a));
    return lanes_along_others(count(rows), count(columns), count(depth), together(columns, &Axis::b));
  }

 private:
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
  explicit Offsets(std::span<const Axis> axes) : Offsets(Roles(axes)) {}
  bool turned;
  Tables tables;
  Places rows, c_rows, columns, c_columns, row_depth, column_depth;  // in the operand that has them, and in C
  Places weights;                                                    // of the depth
  Places of_c, of_rows, of_columns, of_weights;                      // each of the batch

 private:
  explicit Offsets(const Roles& r)
      : turned(r.turned()),
        tables(2 * (count(r.rows) + count(r.columns)) + 3 * count(r.depth) + 4 * count(r.batch) + 11),
        rows(tables.add(turned ? r.columns : r.rows, turned ? &Axis::b : &Axis::a)),
        c_rows(tables.add(turned ? r.columns : r.rows, &Axis::c)),
        columns(tables.add(turned ? r.rows : r.columns, turned ? &Axis::a : &Axis::b)),
        c_columns(tables.add(turned ? r.rows : r.columns, &Axis::c)),
        row_depth(tables.add(r.depth, turned ? &Axis::b : &Axis::a)),
        column_depth(tables.add(r.depth, turned ? &Axis::a : &Axis::b)),
        weights(tables.add(r.depth, &Axis::weights)),
        of_c(tables.add(r.batch, &Axis::c)),
        of_rows(tables.add(r.batch, turned ? &Axis::b : &Axis::a)),
        of_columns(tables.add(r.batch, turned ? &Axis::a : &Axis::b)),
        of_weights(tables.add(r.batch, &Axis::weights)) {}
};

// Whether the first `count` places are at the same distance within each group of so many.
inline bool even_in_groups(const Places& at, int64_t count, int64_t group) {
  if (at.count < count) return false;
  for (int64_t i = 1; i < count; ++i)
    if (i % group != 0 && at[i] - at[i - 1] != at[1] - at[0]) return false;
  return true;
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
