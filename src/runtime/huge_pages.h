// Whether to ask for huge pages: a mapping's first one is timed. Most systems find it many times as fast as the small
// ones in its place. A virtual machine that gives unused ones back to its host gets each anew from there, four kilobytes
// at a time; small ones, which it keeps, take an eighth of that then.
#pragma once

namespace anvil::runtime {

class HugePages {
 public:
  // Of the next mapping: whether its first huge page is to be tried.
  bool to_be_tried() {
    if (left_out_ == 0) return true;
    --left_out_;
    return false;
  }
  // It took so many seconds: whether the others are to be huge as well.
  bool are_fast(double seconds) {
    if (seconds <= most_seconds) return true;
    left_out_ = mappings_without;
    return false;
  }

  static constexpr double most_seconds = 2e-3;  // what small ones take in its place, at most
  static constexpr int mappings_without = 15;   // until the next one is tried

 private:
  int left_out_ = 0;
};

}  // namespace anvil::runtime
