// Several small matrices at a time: the same element of neighbouring matrices of a batch, which
// batch-first storage puts side by side, is one vector.
#pragma once
#include <algorithm>
#include <cstdint>
#include <Eigen/Core>

#include "base/interrupt.h"

namespace anvil::runtime {

constexpr int64_t small = 32,
                  several = 4;  // matrices up to `small`, at least `several` of them: side by side

// Element e of matrices b, b + 1, ... of a batch, as many as a cache line holds.
template <class T>
using Lanes = Eigen::Array<T, 64 / sizeof(T), 1>;
template <class T>
constexpr int64_t width = 64 / sizeof(T);

template <class T>
Lanes<T> load(const T* p, int64_t count) {
  if (count == width<T>) return Eigen::Map<const Lanes<T>>(p);
  Lanes<T> x = Lanes<T>::Constant(p[0]);
  std::copy(p, p + count, x.data());
  return x;
}
template <class T>
void store(T* p, const Lanes<T>& x, int64_t count) {
  if (count == width<T>)
    Eigen::Map<Lanes<T>>{p} = x;
  else
    std::copy(x.data(), x.data() + count, p);
}

// f(first, count) for each group of matrices.
template <class T, class F>
void in_groups(int64_t batch, F&& f) {
  for (int64_t first = 0; first < batch; first += width<T>) {
    f(first, std::min(width<T>, batch - first));
    worked(small * small);
  }
}

}  // namespace anvil::runtime
