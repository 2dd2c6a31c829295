// Sorting: the positions of each line in the order of its elements' keys, then the elements.
#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/eigen/kernels.h"
#include "base/interrupt.h"

namespace anvil::eigen {
namespace {

using Keys = std::vector<uint64_t>;

// Numbers that are in the order of elements. Of floats: those with a sign have all bits turned, others that of the sign.
template <class T>
uint64_t total_key(T x) {
  if constexpr (is_real_number<T>) {
    using Bits = Unsigned<T>;
    constexpr auto sign = static_cast<Bits>(Bits(1) << (8 * sizeof(T) - 1));
    const auto bits = std::bit_cast<Bits>(x);
    return static_cast<Bits>(bits & sign ? ~bits : bits | sign);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(static_cast<int64_t>(x)) ^ uint64_t(1) << 63;
  } else {
    return static_cast<uint64_t>(x);
  }
}
// The same where zeros are equal, and NaNs, which are above all numbers.
template <class T>
uint64_t key(T x) {
  if constexpr (is_real_number<T>) {
    if (x != x) return UINT64_MAX;
    if (x == T(0)) return total_key(T(0));
  }
  return total_key(x);
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

// Of the elements of a line; turned where the largest come first.
Keys keys_of(const Tensor& t, const Lines& lines, int64_t first, bool total, bool descending) {
  Keys keys(static_cast<size_t>(lines.n));
  visit(t.type.dtype, [&]<class T>() {
    const T* const x = t.as<T>() + first;
    in_pieces(lines.n, 5, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t k = total ? total_key(x[i * lines.step]) : key(x[i * lines.step]);
        keys[static_cast<size_t>(i)] = descending ? ~k : k;
      }
    });
  });
  return keys;
}

// The places of a line as they follow each other: those of equal elements as they come.
Order in_order(const std::vector<Keys>& keys) {
  const Keys& first = keys[0];
  std::vector<std::pair<uint64_t, int64_t>> places(first.size());
  for (size_t i = 0; i < first.size(); ++i) places[i] = {first[i], static_cast<int64_t>(i)};
  std::sort(places.begin(), places.end(), [&](const auto& a, const auto& b) {
    worked(5);
    if (a.first != b.first) return a.first < b.first;
    for (size_t k = 1; k < keys.size(); ++k) {
      const uint64_t x = keys[k][static_cast<size_t>(a.second)], y = keys[k][static_cast<size_t>(b.second)];
      if (x != y) return x < y;
    }
    return a.second < b.second;
  });
  Order order(first.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = places[i].second;
  return order;
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
  const bool descending = params.flag("descending");
  std::vector<Keys> keys(static_cast<size_t>(params.integer("num_keys")));
  const Tensors out = make_results(call);
  if (elements(in[0].type.shape) == 0) return out;
  Lines lines(in[0].type.shape, static_cast<size_t>(params.integer("dim")));
  for (int64_t first : lines.first) {
    for (size_t k = 0; k < keys.size(); ++k) keys[k] = keys_of(in[k], lines, first, false, descending);
    const Order order = in_order(keys);
    for (size_t k = 0; k < in.size(); ++k) take(out[k], in[k], lines, first, order, lines.n);
  }
  return out;
}

Tensors top_k(const Call& call, const Tensors& in) {
  Tensor values = make_result(call, 0), indices = make_result(call, 1);
  const Shape& shape = in[0].type.shape;
  if (elements(shape) == 0) return {values, indices};
  Lines lines(shape, shape.size() - 1);
  const int64_t k = call.params.integer("k");
  for (int64_t first : lines.first) {
    const Order order = in_order({keys_of(in[0], lines, first, true, true)});
    take(values, in[0], lines, first, order, k);
    for (int64_t i = 0; i < k; ++i)
      indices.as<int32_t>()[first + i * lines.step] = static_cast<int32_t>(order[static_cast<size_t>(i)]);
  }
  return {values, indices};
}

}  // namespace

std::vector<NamedKernel> sort_kernels() { return {{"sort", sort}, {"top_k", top_k}}; }

}  // namespace anvil::eigen
