// Random gathers and scatters: what each dimension of an operand means, and indices, some of
// which lie outside.
#pragma once
#include <algorithm>
#include <functional>
#include <random>

#include "primitives/vocabulary/infer.h"
#include "primitives/vocabulary/var.h"

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

  // Components from 0 to the last place, now and then a little beyond. `whole`: slices that are inside
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
      int64_t x = whole     ? (outside && below(4) == 0 ? size : 0) + below(places)
                  : outside ? below(size + 5) - 2
                            : below(size);
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

// A program around one gather or scatter, with inputs to run it on: what it reads may be a
// temporary, what reads it may join its loops.
struct RandomIndexed {
  graph::Graph graph;
  std::vector<graph::Tensor> inputs;

  explicit RandomIndexed(unsigned seed, bool whole = false) : random_(seed) {
    auto below = [this](int n) { return pick(n); };
    Shape shape;
    for (int d = 1 + pick(3); d > 0; --d) shape.push_back(1 + pick(pick(3) ? 6 : 40));
    RandomIndex index(shape, below);
    constexpr DType kinds[] = {DType::i32, DType::i64, DType::ui8, DType::ui64, DType::i16};
    DType t = kinds[pick(5)], dtype = pick(2) ? DType::f64 : DType::f32;
    Var x = input(numbers({dtype, shape})), places = input(index.values(t, shape, below, whole));
    if (pick(2)) x = x * 2.0;  // a temporary
    if (pick(3) == 0) {
      Var y = gather(x, places, index.slice_sizes, index.dims);
      graph.outputs = {(y + 1.0).value};
      if (pick(2)) graph.outputs.push_back(y.value);
      return;
    }
    Var like = gather(x, literal(places, 1), index.slice_sizes, index.dims);
    Var update = input(numbers(like.type()));
    if (pick(2)) update = pick(2) ? update * update : update + like;
    constexpr const char* combiners[] = {"add", "", "mul", "maximum", "sub"};
    Var y = scatter(x, places, update, index.dims, combiners[pick(5)]);
    graph.outputs = {(pick(2) ? y : y * 3.0).value};
    if (pick(2)) graph.outputs.push_back(x.value);
  }

 private:
  using Var = primitives::Var;
  int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  Var input(const graph::Tensor& t) {
    inputs.push_back(t);
    graph.inputs.push_back(graph::make_value(graph::Value::Kind::input, t.type));
    return {&graph, graph.inputs.back()};
  }
  graph::Tensor numbers(const graph::TensorType& type) {
    graph::Tensor t = graph::allocate(type);
    for (int64_t i = 0; i < elements(type.shape); ++i) graph::set_element(t, i, Scalar(0.25 * (pick(9) - 4)));
    return t;
  }
  std::mt19937 random_;
};

}  // namespace anvil::test
