// The memory of an interpreted loop program: numbers, and beside each the term that says where it
// comes from, by place in memory. So an alias sees what was stored through another view, a swap
// takes the terms with it, and a temporary that shares its bytes with another one has lost what
// the other one overwrote. An element that was not stored to, or not as a whole, has no term.
#pragma once
#include <optional>
#include <vector>

#include "graph/tensor.h"
#include "support/terms.h"

namespace anvil::test {

struct Traced {
  Scalar number;
  Term term;
};

class LoopMemory {
 public:
  // `unit`: the size of its elements, 1 for an arena of temporaries of any dtype.
  LoopMemory(std::shared_ptr<void> data, int64_t bytes, int64_t unit);
  void write(int64_t at, DType, const Traced&);  // `at`: bytes from the start
  // Nothing when that element was never stored to.
  std::optional<Traced> read(int64_t at, DType) const;
  void set_term(int64_t at, DType, const Term&);
  void* address(int64_t at) const { return static_cast<char*>(data_.get()) + at; }

 private:
  struct Cell {
    Term term;
    uint8_t size = 0, part = 0;  // of the element that it is a part of; 0: not stored to
  };
  std::shared_ptr<void> data_;
  int64_t unit_;
  std::vector<Cell> cells_;
};

}  // namespace anvil::test
