// Random gathers and scatters: what each dimension of an operand means, and indices, some of
// which lie outside.
#pragma once
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "primitives/build.h"
#include "primitives/infer.h"

namespace anvil::test {

struct RandomIndex {
  using Ints = std::vector<int64_t>;
  using Below = std::function<int(int)>;  // a number from 0 to n - 1

  primitives::IndexDims dims;
  Shape slice_sizes, indices;

  // Of an operand without empty dimensions.
  RandomIndex(const Shape& operand, const Below& below) {
    draw_operand(operand, below);
    draw_indices(operand, below);
    size_t steps = indices.size() - (static_cast<size_t>(dims.vector) < indices.size());
    Ints all = primitives::all_axes(steps + operand.size() - dims.collapsed.size() - dims.batch.size());
    shuffle(all, below);
    dims.window.assign(all.begin() + static_cast<std::ptrdiff_t>(steps), all.end());
    std::sort(dims.window.begin(), dims.window.end());
  }

  // Components from 1 to the size, now and then a little beyond. `whole`: slices that are inside
  // or outside as a whole; what XLA does with others is its own way.
  graph::Tensor values(DType dtype, const Shape& operand, const Below& below, bool whole = false) const {
    graph::Tensor t = graph::allocate({dtype, indices});
    bool outside = below(3) == 0;
    auto position = strides(indices);
    for (int64_t i = 0; i < elements(indices); ++i) {
      auto v = static_cast<size_t>(dims.vector);
      int64_t k = v < indices.size() ? i / position[v] % indices[v] : 0;
      auto axis = static_cast<size_t>(dims.map[static_cast<size_t>(k)]);
      auto size = static_cast<int>(operand[axis]), places = size + 1 - static_cast<int>(slice_sizes[axis]);
      int64_t x = whole     ? (outside && below(4) == 0 ? size + 1 : 1) + below(places)
                  : outside ? below(size + 5) - 1
                            : 1 + below(size);
      graph::set_element(t, i, Scalar(is_unsigned_integer(dtype) ? std::max<int64_t>(x, 0) : x));
    }
    return t;
  }

 private:
  static void shuffle(Ints& list, const Below& below) {
    for (size_t k = list.size(); k > 1; --k)
      std::swap(list[k - 1], list[static_cast<size_t>(below(static_cast<int>(k)))]);
  }
  void draw_operand(const Shape& operand, const Below& below) {
    for (size_t d = 0; d < operand.size(); ++d) {
      auto axis = static_cast<int64_t>(d);
      int role = below(6);
      bool single = role <= 2;
      slice_sizes.push_back(single ? 1 : 1 + below(static_cast<int>(operand[d])));
      if (role == 0)
        dims.batch.push_back(axis);
      else if (single)
        dims.collapsed.push_back(axis);
      if ((role == 1 || role == 2 || role == 3) && below(8) > 0) dims.map.push_back(axis);
      if (role == 5) slice_sizes[d] = operand[d];
    }
    shuffle(dims.map, below);
  }
  void draw_indices(const Shape& operand, const Below& below) {
    for (int k = below(3); k > 0; --k) indices.push_back(1 + below(4));
    for (int64_t axis : dims.batch) {
      auto at = below(static_cast<int>(indices.size()) + 1);
      indices.insert(indices.begin() + at, operand[static_cast<size_t>(axis)]);
      for (int64_t& other : dims.indices_batch) other += other >= at;
      dims.indices_batch.push_back(at);
    }
    dims.vector = below(static_cast<int>(indices.size()) + 1);
    if (dims.map.size() == 1 && below(2)) {
      dims.vector = static_cast<int64_t>(indices.size());
      return;
    }
    indices.insert(indices.begin() + dims.vector, static_cast<int64_t>(dims.map.size()));
    for (int64_t& axis : dims.indices_batch) axis += axis >= dims.vector;
  }
};

}  // namespace anvil::test
