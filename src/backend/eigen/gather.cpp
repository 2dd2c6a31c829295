// Gather and scatter: the place of every element by its definition, one after the other.
#include <algorithm>
#include <type_traits>

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
  visit(indices.type.dtype, [&]<class T>() {
    const T* const x = indices.as<T>();
    in_pieces(static_cast<int64_t>(list.size()), 1, [&](int64_t first, int64_t end) {
      for (auto k = static_cast<size_t>(first); k < static_cast<size_t>(end); ++k) {
        if constexpr (std::is_same_v<T, uint64_t>)
          list[k] = static_cast<int64_t>(std::min<uint64_t>(x[k], INT64_MAX));
        else
          list[k] = static_cast<int64_t>(x[k]);
      }
    });
  });
  return list;
}

// The windows of a call, one for each step through the indices.
class Windows {
 public:
  Windows(Layout layout, const Shape& operand, const Tensor& indices, const Shape& windows)
      : layout_(std::move(layout)),
        rank_(operand.size()),
        shape_(windows),
        indices_(positions(indices)),
        strides_(strides(indices.type.shape)),
        window_strides_(strides(windows)),
        sizes_(layout_.window_sizes(windows, rank_)) {
    if (elements(shape_) > 0) add_elements(strides(operand));
  }

  // An element of every window: how far from the first one it is in the tensor of windows and in the operand, and
  // where in each dimension of that.
  struct Element {
    int64_t in_windows, in_operand;
    Place at;
  };
  const std::vector<Element>& window() const { return window_; }
  const Shape& sizes() const { return sizes_; }  // in the dimensions of the operand

  // f(position of the first element in the tensor of windows, start in the operand), steps in row-major order.
  template <class F>
  void each(F f) const {
    if (elements(shape_) == 0) return;
    const primitives::Ints order(layout_.steps.rbegin(), layout_.steps.rend());  // fastest first
    const Shape turned = primitives::take(shape_, order);
    Place at(order.size(), 0), start(rank_, 0);
    do {
      int64_t position = 0, first = 0;
      for (size_t k = 0, last = order.size() - 1; k < order.size(); ++k) {
        position += at[k] * window_strides_[static_cast<size_t>(order[k])];
        first += at[k] * strides_[static_cast<size_t>(layout_.indices_steps[last - k])];
      }
      const int64_t step = layout_.vectors ? strides_[static_cast<size_t>(layout_.dims.vector)] : 0;
      for (size_t k = 0; k < layout_.dims.map.size(); ++k)
        start[static_cast<size_t>(layout_.dims.map[k])] =
            indices_[static_cast<size_t>(first + static_cast<int64_t>(k) * step)];
      for (size_t k = 0; k < layout_.dims.batch.size(); ++k) {
        const auto of_batch = std::find(order.begin(), order.end(), layout_.batch_step(k)) - order.begin();
        start[static_cast<size_t>(layout_.dims.batch[k])] = at[static_cast<size_t>(of_batch)];
      }
      f(position, start);
      worked(20 + static_cast<int64_t>(window_.size()));
    } while (next_index(at, turned));
  }

 private:
  // In row-major order as well.
  void add_elements(const std::vector<int64_t>& operand_strides) {
    const primitives::Ints order(layout_.dims.window.rbegin(), layout_.dims.window.rend());
    const Shape turned = primitives::take(shape_, order);
    Place at(order.size(), 0);
    do {
      Element e{0, 0, Place(rank_, 0)};
      for (size_t k = 0, last = order.size() - 1; k < order.size(); ++k) {
        const auto d = static_cast<size_t>(layout_.sliced[last - k]);
        e.in_windows += at[k] * window_strides_[static_cast<size_t>(order[k])];
        e.in_operand += at[k] * operand_strides[d];
        e.at[d] = at[k];
      }
      window_.push_back(std::move(e));
      worked(50);
    } while (next_index(at, turned));
  }

  Layout layout_;
  size_t rank_;
  Shape shape_;
  std::vector<int64_t> indices_, strides_, window_strides_;
  Shape sizes_;
  std::vector<Element> window_;
};

Tensors gather(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  const Shape &shape = in[0].type.shape, &slices = call.params.ints("slice_sizes");
  if (elements(shape) == 0) return {graph::full(out.type, 0)};  // nothing to read
  const Layout layout = primitives::layout_of_gather(call);
  const auto steps = strides(shape);
  const Windows windows(layout, shape, in[1], out.type.shape);
  visit_bits(size_of(out.type.dtype), [&]<class Bits>() {
    const auto* const from = static_cast<const Bits*>(in[0].data.get());
    auto* const to = static_cast<Bits*>(out.data.get());
    windows.each([&](int64_t position, const Place& start) {
      int64_t first = 0;
      for (size_t d = 0; d < shape.size(); ++d)
        first += steps[d] * std::clamp<int64_t>(start[d], 0, shape[d] - std::max<int64_t>(slices[d], 1));
      for (const auto& e : windows.window()) to[position + e.in_windows] = from[first + e.in_operand];
    });
  });
  return {out};
}

struct Update {
  int64_t from, to;
};
// Updates inside the input, each with its place, in order.
std::vector<Update> updates_inside(const Windows& windows, const Shape& shape) {
  std::vector<Update> list;
  const auto steps = strides(shape);
  windows.each([&](int64_t position, const Place& start) {
    bool whole = true;
    int64_t first = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t size = windows.sizes()[d];
      if (start[d] <= -size || start[d] >= shape[d]) return;
      whole = whole && start[d] >= 0 && start[d] <= shape[d] - size;
      first += steps[d] * start[d];
    }
    const auto inside = [&](const Place& at) {
      for (size_t d = 0; d < shape.size(); ++d)
        if (start[d] < -at[d] || start[d] >= shape[d] - at[d]) return false;
      return true;
    };
    for (const auto& e : windows.window())
      if (whole || inside(e.at)) list.push_back({position + e.in_windows, first + e.in_operand});
  });
  return list;
}

// The region takes tensors: in each round the first waiting update of every place.
std::vector<std::vector<Update>> rounds(const std::vector<Update>& updates, int64_t places) {
  std::vector<std::vector<Update>> list;
  std::vector<uint32_t> done(static_cast<size_t>(places), 0);
  for (const Update& u : updates) {
    worked(5);
    const size_t round = done[static_cast<size_t>(u.to)]++;
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

// to[target(i)] = from[source(i)] for i < n
template <class S, class T>
void move(int64_t n, const Tensor& from, S source, const Tensor& to, T target) {
  visit_bits(size_of(from.type.dtype), [&]<class Bits>() {
    const auto* const in = static_cast<const Bits*>(from.data.get());
    auto* const out = static_cast<Bits*>(to.data.get());
    in_pieces(n, 2, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) out[target(i)] = in[source(i)];
    });
  });
}

Tensors scatter(const Call& call, const Tensors& in, const Region& apply) {
  size_t n = primitives::inputs_of_scatter(in.size());
  const Shape& shape = in[0].type.shape;
  const Layout layout = primitives::layout_of_scatter(call);
  Tensors out;
  for (size_t k = 0; k < n; ++k) out.push_back(copied(in[k]));
  const graph::Graph& region = *call.params.graph("update_computation");
  const Windows windows(layout, shape, in[n], in[n + 1].type.shape);
  const auto itself = [](int64_t i) { return i; };
  for (const auto& round : rounds(updates_inside(windows, shape), elements(shape))) {
    auto count = static_cast<int64_t>(round.size());
    const auto place = [&](int64_t i) { return round[static_cast<size_t>(i)].to; };
    Tensors arguments;
    for (size_t k = 0; k < 2 * n; ++k) {
      const Tensor& from = k < n ? out[k] : in[k + 1];
      arguments.push_back(graph::allocate({from.type.dtype, {count}}));
      const auto source = [&](int64_t i) { return k < n ? place(i) : round[static_cast<size_t>(i)].from; };
      move(count, from, source, arguments[k], itself);
    }
    Tensors fresh = apply(region, arguments);
    for (size_t k = 0; k < n; ++k) move(count, fresh[k], itself, out[k], place);
  }
  return out;
}

}  // namespace

std::vector<NamedKernel> gather_kernels() { return {{"gather", gather}}; }
std::vector<NamedRegionKernel> scatter_kernels() { return {{"scatter", scatter}}; }

}  // namespace anvil::eigen
