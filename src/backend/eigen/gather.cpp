// Gather and scatter: the place of every element by its definition, one after the other.
#include <algorithm>

#include "backend/eigen/kernels.h"
#include "backend/eigen/odometer.h"
#include "base/interrupt.h"
#include "primitives/families/gather.h"

namespace anvil::eigen {
namespace {

using primitives::Layout;
using Place = std::vector<int64_t>;

// Index components; what has no room in an i64 is its largest number.
std::vector<int64_t> positions(const Tensor& indices) {
  std::vector<int64_t> list(static_cast<size_t>(elements(indices.type.shape)));
  for (size_t k = 0; k < list.size(); ++k) {
    worked(5);
    Scalar x = element(indices, static_cast<int64_t>(k));
    bool large = indices.type.dtype == DType::ui64 && x.as<uint64_t>() > uint64_t(INT64_MAX);
    list[k] = large ? INT64_MAX : x.as<int64_t>();
  }
  return list;
}

// The windows of a call: f(position of an element of the windows, start, offset), where start
// has the index of its step in the dimensions of `map` and offset the rest.
class Windows {
 public:
  Windows(Layout layout, const Shape& operand, const Tensor& indices, const Shape& windows)
      : layout_(std::move(layout)),
        rank_(operand.size()),
        shape_(windows),
        indices_(positions(indices)),
        strides_(strides(indices.type.shape)),
        window_strides_(strides(windows)) {}

  // Steps in row-major order, the elements of each window together.
  template <class F>
  void each(F f) const {
    if (elements(shape_) == 0) return;
    const auto& window = layout_.dims.window;
    primitives::Ints order = layout_.steps;  // slowest first
    order.insert(order.end(), window.begin(), window.end());
    std::reverse(order.begin(), order.end());
    Shape turned = primitives::take(shape_, order);
    Place at(order.size(), 0), element(order.size());
    do {
      int64_t position = 0;
      for (size_t k = 0; k < order.size(); ++k) {
        element[static_cast<size_t>(order[k])] = at[k];
        position += at[k] * window_strides_[static_cast<size_t>(order[k])];
      }
      f(position, start(element), offset(element));
      worked(200);
    } while (next_index(at, turned));
  }

 private:
  Place start(const Place& element) const {
    Place at(rank_, 0);
    int64_t first = 0;
    for (size_t k = 0; k < layout_.steps.size(); ++k)
      first += element[static_cast<size_t>(layout_.steps[k])] * strides_[static_cast<size_t>(layout_.indices_steps[k])];
    int64_t step = layout_.vectors ? strides_[static_cast<size_t>(layout_.dims.vector)] : 0;
    for (size_t k = 0; k < layout_.dims.map.size(); ++k)
      at[static_cast<size_t>(layout_.dims.map[k])] =
          indices_[static_cast<size_t>(first + static_cast<int64_t>(k) * step)];
    return at;
  }
  Place offset(const Place& element) const {
    Place at(rank_, 0);
    for (size_t k = 0; k < layout_.sliced.size(); ++k)
      at[static_cast<size_t>(layout_.sliced[k])] = element[static_cast<size_t>(layout_.dims.window[k])];
    for (size_t k = 0; k < layout_.dims.batch.size(); ++k)
      at[static_cast<size_t>(layout_.dims.batch[k])] = element[static_cast<size_t>(layout_.batch_step(k))];
    return at;
  }

  Layout layout_;
  size_t rank_;
  Shape shape_;
  std::vector<int64_t> indices_, strides_, window_strides_;
};

Tensors gather(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  const Shape &shape = in[0].type.shape, &slices = call.params.ints("slice_sizes");
  if (elements(shape) == 0) return {graph::full(out.type, 0)};  // nothing to read
  Layout layout(index_dims(call.params, primitives::of_gather), shape, in[1].type.shape);
  auto steps = strides(shape);
  Windows(layout, shape, in[1], out.type.shape).each([&](int64_t to, const Place& start, const Place& offset) {
    int64_t from = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      from += steps[d] * (offset[d] + std::clamp<int64_t>(start[d], 0, shape[d] - std::max<int64_t>(slices[d], 1)));
    set_element(out, to, element(in[0], from));
  });
  return {out};
}

struct Update {
  int64_t from, to;
};
// Updates inside the input, each with its place, in order.
std::vector<Update> updates_inside(const Layout& layout, const Shape& shape, const Tensor& indices,
                                   const Shape& windows) {
  std::vector<Update> list;
  auto steps = strides(shape);
  Windows(layout, shape, indices, windows).each([&](int64_t from, const Place& start, const Place& offset) {
    int64_t to = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (start[d] < -offset[d] || start[d] >= shape[d] - offset[d]) return;
      to += steps[d] * (start[d] + offset[d]);
    }
    list.push_back({from, to});
  });
  return list;
}

// The region takes tensors: in each round the first waiting update of every place.
std::vector<std::vector<Update>> rounds(const std::vector<Update>& updates) {
  std::vector<std::vector<Update>> list;
  std::unordered_map<int64_t, size_t> done;  // at each place
  for (const Update& u : updates) {
    worked(100);
    size_t round = done[u.to]++;
    if (round == list.size()) list.emplace_back();
    list[round].push_back(u);
  }
  return list;
}

Tensor copied(const Tensor& t) {
  Tensor copy = graph::allocate(t.type);
  copy_box(t.type.shape, t, whole(t), copy, whole(copy));
  return copy;
}

Tensors scatter(const Call& call, const Tensors& in, const Region& apply) {
  size_t n = primitives::inputs_of_scatter(in.size());
  const Shape& shape = in[0].type.shape;
  Layout layout(index_dims(call.params, primitives::of_scatter), shape, in[n].type.shape);
  Tensors out;
  for (size_t k = 0; k < n; ++k) out.push_back(copied(in[k]));
  const graph::Graph& region = *call.params.graph("update_computation");
  for (const auto& round : rounds(updates_inside(layout, shape, in[n], in[n + 1].type.shape))) {
    auto count = static_cast<int64_t>(round.size());
    Tensors arguments;
    for (size_t k = 0; k < 2 * n; ++k) {
      const Tensor& from = k < n ? out[k] : in[k + 1];
      arguments.push_back(graph::allocate({from.type.dtype, {count}}));
      for (int64_t i = 0; i < count; ++i) {
        worked(10);
        const Update& u = round[static_cast<size_t>(i)];
        set_element(arguments[k], i, element(from, k < n ? u.to : u.from));
      }
    }
    Tensors fresh = apply(region, arguments);
    for (size_t k = 0; k < n; ++k)
      for (int64_t i = 0; i < count; ++i) {
        worked(10);
        set_element(out[k], round[static_cast<size_t>(i)].to, element(fresh[k], i));
      }
  }
  return out;
}

}  // namespace

std::vector<NamedKernel> gather_kernels() { return {{"gather", gather}}; }
std::vector<NamedRegionKernel> scatter_kernels() { return {{"scatter", scatter}}; }

}  // namespace anvil::eigen
