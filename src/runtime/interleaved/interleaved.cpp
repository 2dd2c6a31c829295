// Batches in groups of as many matrices as a register has numbers, and what is left over.
#include "runtime/interleaved/interleaved.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/interrupt.h"
#include "runtime/pool.h"
#include "runtime/threads.h"

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

// f(scratch, batch, pointers to a group's first matrix), for each group; each takes n^3 steps or so.
template <class F, class... T>
void in_groups(int64_t batch, int64_t width, int64_t n, F&& f, Elements<T>... x) {
  const int64_t rest = batch % width;
  runtime::share_ranges(batch / width, 2 * double(n * n * n), [&](int64_t first, int64_t end) {
    const runtime::Block scratch(scratch_bytes);
    for (int64_t g = first; g < end; ++g) {
      f(scratch.data(), batch, x.data + g * width...);
      worked(largest * largest);
    }
  });
  if (rest == 0) return;
  const runtime::Block scratch(scratch_bytes);
  std::apply(
      [&](const auto&... copy) {
        f(scratch.data(), width, const_cast<T*>(copy.data())...);
        (x.put(copy, rest, batch, width), ...);
      },
      std::tuple(x.last(rest, batch, width)...));
}

}  // namespace

template <class T>
void lu(T* packed, int32_t* pivots, int32_t* permutation, const T* a, int64_t m, int64_t n, int64_t batch,
        elementary::Isa isa) {
  const Kernel<T> kernel = elementary::of_type<T>(kernels_of(isa));
  in_groups(
      batch, kernel.width, std::max(m, n),
      [&](char* scratch, int64_t stride, T* l, int32_t* p, int32_t* q, const T* x) {
        kernel.lu(l, p, q, x, m, n, stride, scratch);
      },
      Elements<T>{packed, m * n}, Elements<int32_t>{pivots, std::min(m, n)}, Elements<int32_t>{permutation, m},
      Elements<const T>{a, m * n});
}

template <class T>
void cholesky(T* l, const T* a, int64_t n, bool lower, int64_t batch, elementary::Isa isa) {
  const Kernel<T> kernel = elementary::of_type<T>(kernels_of(isa));
  in_groups(
      batch, kernel.width, n,
      [&](char* scratch, int64_t stride, T* to, const T* from) {
        kernel.cholesky(to, from, n, lower, stride, scratch);
      },
      Elements<T>{l, n * n}, Elements<const T>{a, n * n});
}

template <class T>
void cholesky_reverse(T* out, const T* l, const T* cotangent, int64_t n, bool lower, int64_t batch,
                      elementary::Isa isa) {
  const Kernel<T> kernel = elementary::of_type<T>(kernels_of(isa));
  in_groups(
      batch, kernel.width, n,
      [&](char* scratch, int64_t stride, T* to, const T* factor, const T* from) {
        kernel.cholesky_reverse(to, factor, from, n, lower, stride, scratch);
      },
      Elements<T>{out, n * n}, Elements<const T>{l, n * n}, Elements<const T>{cotangent, n * n});
}

template <class T>
void solve(const System& s, T* x, const T* a, const T* b, int64_t batch, elementary::Isa isa) {
  const Kernel<T> kernel = elementary::of_type<T>(kernels_of(isa));
  in_groups(
      batch, kernel.width, std::max(s.n, s.m),
      [&](char* scratch, int64_t stride, T* to, const T* matrix, const T* right) {
        kernel.solve(s, to, matrix, right, stride, scratch);
      },
      Elements<T>{x, s.n * s.m}, Elements<const T>{a, s.n * s.n}, Elements<const T>{b, s.n * s.m});
}

#define ANVIL_INTERLEAVED(T)                                                                       \
  template void lu(T*, int32_t*, int32_t*, const T*, int64_t, int64_t, int64_t, elementary::Isa);  \
  template void cholesky(T*, const T*, int64_t, bool, int64_t, elementary::Isa);                   \
  template void cholesky_reverse(T*, const T*, const T*, int64_t, bool, int64_t, elementary::Isa); \
  template void solve(const System&, T*, const T*, const T*, int64_t, elementary::Isa);
ANVIL_INTERLEAVED(float)
ANVIL_INTERLEAVED(double)
#undef ANVIL_INTERLEAVED

}  // namespace anvil::interleaved
