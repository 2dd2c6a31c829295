// The one walk that all index-remapping primitives share: over a box of indices, in
// column-major order, with the offset of each index in two strided tensors. A stride of 0
// repeats, a negative one runs backwards.
#pragma once
#include <cstring>

#include "base/bits.h"
#include "base/interrupt.h"
#include "graph/tensor.h"

namespace anvil::eigen {

struct View {
  int64_t offset = 0;            // of index 0, in elements
  std::vector<int64_t> strides;  // one per dimension of the box
};

inline View whole(const graph::Tensor& t) { return {0, strides(t.type.shape)}; }

// A stride of `by` elements, each `step` apart. Where there is one index only it may be anything.
inline int64_t scaled(int64_t step, int64_t by) {
  return static_cast<int64_t>(static_cast<uint64_t>(step) * static_cast<uint64_t>(by));
}

// visit(offset in a, offset in b) for every index of `box`; polls now and then.
template <class F>
void walk(const Shape& box, const View& a, const View& b, F&& visit) {
  for (int64_t size : box)
    if (size <= 0) return;
  if (box.empty()) {
    visit(a.offset, b.offset);
    return;
  }
  std::vector<int64_t> index(box.size(), 0);
  int64_t at_a = a.offset, at_b = b.offset;
  while (true) {
    in_pieces(box[0], 1, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) visit(at_a + i * a.strides[0], at_b + i * b.strides[0]);
    });
    size_t d = 1;
    for (; d < box.size(); ++d) {
      at_a += a.strides[d];
      at_b += b.strides[d];
      if (++index[d] < box[d]) break;
      at_a -= box[d] * a.strides[d];
      at_b -= box[d] * b.strides[d];
      index[d] = 0;
    }
    if (d == box.size()) return;
  }
}

// Copies a box of elements of one size from one strided tensor to another.
inline void copy_box(const Shape& box, const void* from, const View& source, void* to, const View& target,
                     size_t size) {
  visit_bits(size, [&]<class Bits>() {
    auto in = static_cast<const Bits*>(from);
    auto out = static_cast<Bits*>(to);
    walk(box, source, target, [&](int64_t i, int64_t o) { out[o] = in[i]; });
  });
}
inline void copy_box(const Shape& box, const graph::Tensor& from, const View& source, const graph::Tensor& to,
                     const View& target) {
  copy_box(box, from.data.get(), source, to.data.get(), target, size_of(from.type.dtype));
}

}  // namespace anvil::eigen
