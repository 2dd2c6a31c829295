// What a walk keeps of each expression that it meets: a table with open addressing (Knuth, The Art of Computer
// Programming, volume 3, 6.4, linear probing), since most walks meet few and end soon. Those need no memory of the heap.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "loops/expression.h"

namespace anvil::loops {

template <class T>
class ExprMap {
 public:
  struct Slot {
    Expr key = nullptr;
    [[no_unique_address]] T value{};
  };
  // The place of what is kept of an expression, and whether it is new there. Holds until the next call.
  std::pair<T*, bool> insert(Expr e) {
    if (4 * count_ >= 3 * capacity_) grow();
    Slot& s = slot(e);
    if (s.key == e) return {&s.value, false};
    s.key = e;
    ++count_;
    return {&s.value, true};
  }
  const T* find(Expr e) {
    const Slot& s = slot(e);
    return s.key == e ? &s.value : nullptr;
  }
  void clear() { *this = ExprMap(); }

 private:
  Slot* slots() { return many_.empty() ? few_.data() : many_.data(); }
  Slot& slot(Expr e) {
    const uint64_t hash = reinterpret_cast<uintptr_t>(e) * 0x9e3779b97f4a7c15U;  // 2^64 / the golden ratio
    for (size_t i = hash >> 32;; ++i) {
      Slot& s = slots()[i & (capacity_ - 1)];
      if (s.key == e || s.key == nullptr) return s;
    }
  }
  void grow() {
    ExprMap larger;
    larger.many_.resize(capacity_ * 4);
    larger.capacity_ = capacity_ * 4;
    larger.count_ = count_;
    for (size_t i = 0; i < capacity_; ++i)
      if (slots()[i].key != nullptr) larger.slot(slots()[i].key) = std::move(slots()[i]);
    *this = std::move(larger);
  }

  static constexpr size_t few = 32;  // a power of two
  std::array<Slot, few> few_;
  std::vector<Slot> many_;
  size_t capacity_ = few, count_ = 0;
};

class ExprSet {
 public:
  bool insert(Expr e) { return met_.insert(e).second; }  // whether it is new
  bool contains(Expr e) { return met_.find(e) != nullptr; }

 private:
  struct Nothing {};
  ExprMap<Nothing> met_;
};

}  // namespace anvil::loops
