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
  int64_t count, taken;
  size_t kernel;  // which one takes so many
  bool packed;    // else they are read where they lie
  int64_t in_c;   // of rows, how many of them follow each other there; of columns, their spacing
};

// The lines of an operand up to `end`, for some steps of the depth. Those of a panel are packed when the first tile
// needs them; before, while other tiles are made, they are fetched. What is read where it lies is so again and again
// if it is `large`.
template <class T>
class Side {
 public:
  Side(const void* data, const Places& lines, int64_t end, const Places& depth, const int64_t* steps,
       const std::vector<Panel>& panels, int64_t height, bool large)
      : data_(static_cast<const T*>(data)),
        lines_(lines),
        end_(end),
        depth_(depth),
        steps_(steps),
        panels_(panels),
        height_(height),
        large_(large) {}
  const Places& depth() const { return depth_; }
  const Panel& of(int64_t line) const { return panels_[size_t(line / height_)]; }
  Places panel(int64_t line) const { return lines_.from(line, height_); }
  bool needs(int64_t line) {
    if (line < ready_) return false;
    ready_ = line + height_;
    return of(line).packed;
  }
  bool goes_on(int64_t line) const { return line < end_; }
  // The panel from `line` on, `together` elements at each offset; nothing if it need not be fetched.
  Fetch<T> fetch(int64_t line, int64_t together) {
    if (!goes_on(line) || (of(line).packed ? line <= fetched_ : !large_)) return {};
    fetched_ = line;
    const Places some = panel(line);
    const T* const from = data_ + some[0];
    if (!of(line).packed || some.run(0) == some.count) return {from + depth_[0] - steps_[0], steps_};
    int64_t p = 0;
    for (int64_t k = 0; k < some.count; ++k)
      for (int64_t q = 0; q < depth_.count && p < depth_.count; q += together)
        offsets_[p++] = some[k] - some[0] + depth_[q];
    std::fill(offsets_ + p, offsets_ + depth_.count, offsets_[p - 1]);
    return {from, offsets_};
  }

 private:
  const T* data_;
  const Places& lines_;
  int64_t end_;
  Places depth_;
  const int64_t* steps_;
  const std::vector<Panel>& panels_;
  int64_t height_;
  bool large_;
  int64_t ready_ = 0, fetched_ = 0;  // lines
  int64_t offsets_[depth_block];
};

}  // namespace anvil::product
