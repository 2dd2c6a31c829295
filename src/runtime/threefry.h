// Random bits: the Threefry-2x32 block function with 20 rounds (Salmon, Moraes, Dror, Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", 2011), and XLA's scheme that fills a tensor
// with its blocks. The formula is generic, so that numbers and generated code share it.
#pragma once
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace anvil::runtime {

constexpr uint32_t rotate_left(uint32_t x, int count) { return std::rotl(x, count); }

// The two words of the block of a counter (c0 low, c1 high) under the key (k0, k1). Word has
// +, ^, + uint32_t, ^ uint32_t and rotate_left.
template <class Word>
constexpr std::pair<Word, Word> threefry(Word k0, Word k1, Word c0, Word c1) {
  const Word key[3] = {k0, k1, (k0 ^ k1) ^ uint32_t(0x1BD11BDA)};
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Word x0 = c0 + k0, x1 = c1 + k1;
  for (uint32_t i = 0; i < 5; ++i) {
    for (int r : rotations[i % 2]) {
      x0 = x0 + x1;
      x1 = rotate_left(x1, r) ^ x0;
    }
    x0 = x0 + key[(i + 1) % 3];
    x1 = (x1 + key[(i + 2) % 3]) + (i + 1);
  }
  return {x0, x1};
}
constexpr std::pair<uint32_t, uint32_t> threefry(uint64_t key, uint64_t counter) {
  return threefry<uint32_t>(static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32),
                            static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32));
}

// Which block, and which of its words, an element takes. A 64-bit element takes a block of its
// own; narrower ones share it in pairs along one axis: the first of even size, else the first
// of the largest. Blocks are counted row-major (the last dimension fastest), whatever the
// order of memory. The element at `index` takes block sum(stride[d] * index[d]), with half the
// index along the axis, and there the word index % 2.
struct BitLayout {
  int64_t axis = -1;            // that pairs lie along; -1: none
  std::vector<int64_t> stride;  // of the block's number, per dimension
  int64_t blocks = 1;
};
inline BitLayout bit_layout(const Shape& shape, DType dtype) {
  BitLayout layout;
  Shape halves = shape;
  if (size_of(dtype) < 8 && !shape.empty()) {
    size_t axis = 0;
    for (size_t d = 1; d < shape.size() && shape[axis] % 2 != 0; ++d)
      if (shape[d] % 2 == 0 || shape[d] > shape[axis]) axis = d;
    layout.axis = static_cast<int64_t>(axis);
    halves[axis] = (shape[axis] + 1) / 2;
  }
  layout.stride.resize(shape.size());
  if (elements(shape) == 0) {
    layout.blocks = 0;
    return layout;
  }
  for (size_t d = shape.size(); d-- > 0; layout.blocks *= halves[d]) layout.stride[d] = layout.blocks;
  return layout;
}

// The bits of one element, in the low bits for dtypes of 32 bits and less.
inline uint64_t random_bits(uint64_t key, uint64_t counter, const BitLayout& layout, bool wide,
                            const std::vector<int64_t>& index) {
  uint64_t block = counter;
  bool second = false;
  for (size_t d = 0; d < index.size(); ++d) {
    bool paired = static_cast<int64_t>(d) == layout.axis;
    if (paired) second = index[d] % 2 != 0;
    block += static_cast<uint64_t>(layout.stride[d] * (paired ? index[d] / 2 : index[d]));
  }
  auto [x0, x1] = threefry(key, block);
  return wide ? x0 | uint64_t(x1) << 32 : second ? x1 : x0;
}

}  // namespace anvil::runtime
