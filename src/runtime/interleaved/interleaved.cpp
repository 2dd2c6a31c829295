// Batches in groups of as many matrices as a register has numbers, and what is left over.
#include "runtime/interleaved/interleaved.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/interrupt.h"
#include "runtime/pool.h"

namespace anvil::interleaved {
namespace {

// `size` elements of each matrix of a batch.
template <class T>
struct Elements {
  T* data;
  int64_t size;
  using Copy = std::vector<std::remove_const_t<T>>;
  // The last `count` of `batch` matrices as a batch of `width`, in which the first is repeated.
  Copy last(int64_t count, int64_t batch, int64_t width) const {
    Copy copy(size_t(width * size));
    if constexpr (std::is_const_v<T>)
      for (int64_t e = 0; e < size; ++e)
        for (int64_t c = 0; c < width; ++c)
          copy[size_t(c + width * e)] = data[batch - count + (c < count ? c : 0) + batch * e];
    return copy;
  }
  void put(const Copy& copy, int64_t count, int64_t batch, int64_t width) const {
    if constexpr (!std::is_const_v<T>)
      for (int64_t e = 0; e < size; ++e) std::copy_n(copy.data() + width * e, count, data + batch - count + batch * e);
  }
};

// f(batch, pointers to a group's first matrix), for each group.
template <class F, class... T>
void in_groups(int64_t batch, int64_t width, F&& f, Elements<T>... x) {
  const int64_t rest = batch % width;
  for (int64_t first = 0; first < batch - rest; first += width) {
    f(batch, x.data + first...);
    worked(largest * largest);
  }
  if (rest == 0) return;
  std::apply(
      [&](const auto&... copy) {
        f(width, const_cast<T*>(copy.data())...);
        (x.put(copy, rest, batch, width), ...);
      },
      std::tuple(x.last(rest, batch, width)...));
}

}  // namespace

template <class T>
void lu(T* packed, int32_t* pivots, int32_t* permutation, const T* a, int64_t m, int64_t n, int64_t batch,
        elementary::Isa isa) {
  const Kernel<T> kernel = elementary::of_type<T>(kernels_of(isa));
  const runtime::Block scratch(scratch_bytes);
  in_groups(
      batch, kernel.width,
      [&](int64_t stride, T* l, int32_t* p, int32_t* q, const T* x) {
        kernel.lu(l, p, q, x, m, n, stride, scratch.data());
      },
      Elements<T>{packed, m * n}, Elements<int32_t>{pivots, std::min(m, n)}, Elements<int32_t>{permutation, m},
      Elements<const T>{a, m * n});
}

template <class T>
void cholesky(T* l, const T* a, int64_t n, bool lower, int64_t batch, elementary::Isa isa) {
  const Kernel<T> kernel = elementary::of_type<T>(kernels_of(isa));
  const runtime::Block scratch(scratch_bytes);
  in_groups(
      batch, kernel.width,
      [&](int64_t stride, T* to, const T* from) { kernel.cholesky(to, from, n, lower, stride, scratch.data()); },
      Elements<T>{l, n * n}, Elements<const T>{a, n * n});
}

template <class T>
void solve(const System& s, T* x, const T* a, const T* b, int64_t batch, elementary::Isa isa) {
  const Kernel<T> kernel = elementary::of_type<T>(kernels_of(isa));
  const runtime::Block scratch(scratch_bytes);
  in_groups(
      batch, kernel.width,
      [&](int64_t stride, T* to, const T* matrix, const T* right) {
        kernel.solve(s, to, matrix, right, stride, scratch.data());
      },
      Elements<T>{x, s.n * s.m}, Elements<const T>{a, s.n * s.n}, Elements<const T>{b, s.n * s.m});
}

#define ANVIL_INTERLEAVED(T)                                                                      \
  template void lu(T*, int32_t*, int32_t*, const T*, int64_t, int64_t, int64_t, elementary::Isa); \
  template void cholesky(T*, const T*, int64_t, bool, int64_t, elementary::Isa);                  \
  template void solve(const System&, T*, const T*, const T*, int64_t, elementary::Isa);
ANVIL_INTERLEAVED(float)
ANVIL_INTERLEAVED(double)
#undef ANVIL_INTERLEAVED

}  // namespace anvil::interleaved
