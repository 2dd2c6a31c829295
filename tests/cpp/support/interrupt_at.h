// A user who wants to stop: the check says so when it is asked the n-th time, and counts.
#pragma once
#include "base/interrupt.h"

namespace anvil::test {

class InterruptAt {
 public:
  explicit InterruptAt(int n, int pause = 0) {
    left_ = n, asked_ = 0;
    set_interrupt_check([] { return ++asked_ == left_; }, pause);
  }
  ~InterruptAt() { set_interrupt_check(nullptr); }
  InterruptAt(const InterruptAt&) = delete;
  InterruptAt& operator=(const InterruptAt&) = delete;
  int asked() const { return asked_; }

 private:
  static inline int left_ = 0, asked_ = 0;
};

}  // namespace anvil::test
