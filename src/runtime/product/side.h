// The operands of a product as its blocks go over them: panels of lines, which are packed or read where they lie, and
// what of them is fetched before it is needed.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/product/pack.h"
#include "runtime/product/product.h"

namespace anvil::product {

// Lines of a side of C that the kernel takes together; at an edge it takes more than there are.
struct Panel {
  int64_t first, count, taken;
  size_t kernel;  // which one takes so many
  bool packed;    // else they are read where they lie
  int64_t in_c;   // of rows, how many of them follow each other there; of columns, their spacing
};

// How often a panel that is read where it lies is fetched ahead of its tiles.
enum class Ahead : uint8_t { never, once, always };

// Panels of an operand up to `end`, for some steps of the depth. A panel is packed when the first tile
// needs it; before, while other tiles are made, it is fetched.
template <class T>
class Side {
 public:
  Side(const void* data, const Places& lines, int64_t end, const Places& depth, const int64_t* steps,
       const std::vector<Panel>& panels, Ahead ahead)
      : data_(static_cast<const T*>(data)),
        lines_(lines),
        end_(end),
        depth_(depth),
        steps_(steps),
        panels_(panels),
        ahead_(ahead) {}
  const Places& depth() const { return depth_; }
  const Panel& of(int64_t k) const { return panels_[size_t(k)]; }
  Places lines(int64_t k) const { return lines_.from(of(k).first, of(k).count); }
  bool needs(int64_t k) {
    if (k < ready_) return false;
    ready_ = k + 1;
    return of(k).packed;
  }
  bool goes_on(int64_t k) const { return k < end_; }
  // Panel k, `together` elements at each offset; nothing if it need not be fetched.
  Fetch<T> fetch(int64_t k, int64_t together) {
    const Ahead often = !goes_on(k) ? Ahead::never : of(k).packed ? Ahead::once : ahead_;
    if (often == Ahead::never || (often == Ahead::once && k <= fetched_)) return {};
    fetched_ = std::max(fetched_, k);
    const Places some = lines(k);
    const T* const from = data_ + some[0] + in_line<T> - 1;
    if (some.run(0) > 1) return {from + depth_[0] - steps_[0], steps_};
    if (lines_.at != nullptr || some.count != offsets_of_) find_offsets(some, together);
    return {from, offsets_};
  }

 private:
  // Of lines apart from each other, whose steps lie together more or less. What stays of earlier ones is in memory as well.
  void find_offsets(const Places& some, int64_t together) {
    offsets_of_ = some.count;
    if (parts_ == 0) {
      std::fill_n(offsets_, depth_.count, 0);
      for (int64_t q = 0; q < depth_.count; q += together) part_[parts_++] = depth_[q];
    }
    int64_t* to = offsets_;
    const int64_t lines = std::min(some.count, depth_.count / parts_);
    for (int64_t line = 0; line < lines; ++line, to += parts_) {
      const int64_t first = some[line] - some[0];
      for (int64_t q = 0; q < parts_; ++q) to[q] = first + part_[q];
    }
  }

  const T* data_;
  const Places& lines_;
  int64_t end_;
  Places depth_;
  const int64_t* steps_;
  const std::vector<Panel>& panels_;
  Ahead ahead_;
  int64_t ready_ = 0, fetched_ = 0;
  int64_t parts_ = 0, part_[depth_block(sizeof(T))];  // of the depth, as far from each other as is fetched at once
  int64_t offsets_of_ = 0, offsets_[depth_block(sizeof(T))];  // of panels of so many lines
};

}  // namespace anvil::product
