// Sorting: the positions of each line in order by comparing elements, then the elements.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "backend/eigen/kernels.h"
#include "base/interrupt.h"

namespace anvil::eigen {
namespace {

// NaN is above all numbers.
template <class T>
bool below(T a, T b) {
  if constexpr (is_real_number<T>)
    if (a != a || b != b) return b != b && a == a;
  return a < b;
}
// The total order of floats: of NaNs and zeros, those with a sign are the smaller ones.
template <class T>
bool totally_below(T a, T b) {
  if constexpr (is_real_number<T>) {
    using Bits = Unsigned<T>;
    auto x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
    constexpr auto sign = static_cast<Bits>(Bits(1) << (8 * sizeof(T) - 1));
    bool a_negative = x & sign, b_negative = y & sign;
    if (a_negative != b_negative) return a_negative;
    if (a != a && b != b) {
      return a_negative ? y < x : x < y;
    }
    if (a != a || b != b) return (a != a) == a_negative;
  }
  return a < b;
}

// The places of the lines along dimension `dim`: where each begins, and the step in it.
struct Lines {
  Lines(const Shape& shape, size_t dim) : n(shape[dim]), step(strides(shape)[dim]) {
    for (int64_t outer = 0, all = elements(shape); outer < all; outer += n * step)
      for (int64_t inner = 0; inner < step; ++inner) first.push_back(outer + inner);
  }
  int64_t n, step;
  std::vector<int64_t> first;
};

using Order = std::vector<int64_t>;

// The places of a line as they follow each other.
void put_in_order(Order& order, const std::function<bool(int64_t, int64_t)>& precedes) {
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    worked(20);
    return precedes(i, j);
  });
}

// The first `n` of them.
void take(const Tensor& to, const Tensor& from, const Lines& lines, int64_t first, const Order& order, int64_t n) {
  visit(from.type.dtype, [&]<class T>() {
    in_pieces(n, 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to.as<T>()[first + i * lines.step] = from.as<T>()[first + order[static_cast<size_t>(i)] * lines.step];
    });
  });
}

Tensors sort(const Call& call, const Tensors& in) {
  const graph::Params& params = call.params;
  bool descending = params.flag("descending");
  auto keys = static_cast<size_t>(params.integer("num_keys"));
  const Tensors out = make_results(call);
  if (elements(in[0].type.shape) == 0) return out;
  Lines lines(in[0].type.shape, static_cast<size_t>(params.integer("dim")));
  Order order(static_cast<size_t>(lines.n));
  for (int64_t first : lines.first) {
    put_in_order(order, [&](int64_t i, int64_t j) {
      for (size_t k = 0; k < keys; ++k) {
        int way = visit(in[k].type.dtype, [&]<class T>() {
          T a = in[k].as<T>()[first + i * lines.step], b = in[k].as<T>()[first + j * lines.step];
          return below(a, b) ? -1 : below(b, a) ? 1 : 0;
        });
        if (way != 0) return descending ? way > 0 : way < 0;
      }
      return false;
    });
    for (size_t k = 0; k < in.size(); ++k) take(out[k], in[k], lines, first, order, lines.n);
  }
  return out;
}

Tensors top_k(const Call& call, const Tensors& in) {
  Tensor values = make_result(call, 0), indices = make_result(call, 1);
  const Shape& shape = in[0].type.shape;
  if (elements(shape) == 0) return {values, indices};
  Lines lines(shape, shape.size() - 1);
  Order order(static_cast<size_t>(lines.n));
  const int64_t k = call.params.integer("k");
  for (int64_t first : lines.first) {
    put_in_order(order, [&](int64_t i, int64_t j) {
      return visit(in[0].type.dtype, [&]<class T>() {
        const T* x = in[0].as<T>() + first;
        return totally_below(x[j * lines.step], x[i * lines.step]);
      });
    });
    take(values, in[0], lines, first, order, k);
    for (int64_t i = 0; i < k; ++i)
      indices.as<int32_t>()[first + i * lines.step] = static_cast<int32_t>(order[static_cast<size_t>(i)]);
  }
  return {values, indices};
}

}  // namespace

std::vector<NamedKernel> sort_kernels() { return {{"sort", sort}, {"top_k", top_k}}; }

}  // namespace anvil::eigen
