// Lanes that lie two to four elements apart. What lies between comes from memory with them anyway, so they are picked
// from whole vectors rather than loaded one by one:
//
//   for i vector 4 { y[i] = x[2 * i] }  ->  a = x[2 * i .. 2 * i + 3], b = x[2 * i + 3 .. 2 * i + 6]
//                                           y[i .. i + 3] = a0 a2 b1 b3
//
// The last vector ends with the last lane: nothing behind it is read. Stores put lanes where they belong in whole
// vectors and leave the rest by a mask, where the processor stores so at once (AVX-512; others take as long as for
// single lanes, or longer).
#include "backend/llvm/emitter.h"
#include "loops/lanes.h"

namespace anvil::llvm_backend {

namespace {

constexpr int masked_vector_bytes = 64;

// Where lane l lies, counted from the lowest one.
int64_t lane_place(int l, int lanes, int64_t stride) { return stride > 0 ? l * stride : (l + 1 - lanes) * stride; }

}  // namespace

Emitter::Value Emitter::load_near(BufferId b, DType t, const Affine& offset, const Coordinate& c, int64_t stride) {
  const int n = lanes();
  const int64_t apart = std::abs(stride), span = (n - 1) * apart + 1, low = std::min<int64_t>(0, (n - 1) * stride);
  Value picked = nullptr;
  llvm::SmallVector<int, 64> from(size_t(n), -1);  // the places of lanes in `picked`
  for (int64_t k = 0; k < apart; ++k) {
    const int64_t begin = std::min(k * n, span - n);
    Value next = b_.CreateAlignedLoad(ops_.memory_type(t, n), pointer(b, offset, c, low + begin),
                                      llvm::Align(size_of(t)), program_.buffers[size_t(b)].name);
    for (int l = 0; l < n; ++l)
      if (const int64_t q = lane_place(l, n, stride); from[size_t(l)] < 0 && q >= begin && q < begin + n)
        from[size_t(l)] = int(q - begin) + (k > 0 ? n : 0);
    if (k == 0) {
      picked = next;
      continue;
    }
    picked = b_.CreateShuffleVector(picked, next, from);
    for (int l = 0; l < n; ++l)
      if (from[size_t(l)] >= 0) from[size_t(l)] = l;
  }
  return picked;
}

bool Emitter::stores_near(std::optional<int64_t> stride, DType t) const {
  return stride && loops::lie_near(*stride, lanes(), t) && machine_.settings().vector_bytes >= masked_vector_bytes;
}

void Emitter::store_near(BufferId b, DType t, const Affine& offset, const Coordinate& c, int64_t stride, Value x,
                         int done) {
  const int n = lanes();
  const int64_t low = std::min<int64_t>(0, (n - 1) * stride);
  for (int64_t k = 0; k < std::abs(stride); ++k) {
    llvm::SmallVector<int, 64> from(size_t(n), -1);
    for (int l = done; l < n; ++l)
      if (const int64_t q = lane_place(l, n, stride) - k * n; q >= 0 && q < n) from[size_t(q)] = l;
    llvm::SmallVector<llvm::Constant*, 64> mask;
    for (int l : from) mask.push_back(b_.getInt1(l >= 0));
    b_.CreateMaskedStore(b_.CreateShuffleVector(x, from), pointer(b, offset, c, low + k * n), llvm::Align(size_of(t)),
                         llvm::ConstantVector::get(mask));
  }
}

}  // namespace anvil::llvm_backend
