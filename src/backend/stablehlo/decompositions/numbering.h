// Numbers for the values of a comparator: two values have the same number when they are the
// same calls on the same values, perhaps computed twice. Beside it each value has the number
// of its mirror image, the same calls on the other side's inputs. Calls are taken in their
// order, so that no depth of a program matters.
#pragma once
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {

class Numbering {
 public:
  // `comparator`: its inputs are left and right elements in turn.
  explicit Numbering(const Graph& comparator);
  // The calls of another graph, on values that have numbers or are of neither side.
  void add(const Graph&);

  // Which inputs a value is made of, as bits.
  enum Sides : uint8_t { neither = 0, left = 1, right = 2, both = 3 };
  struct Entry {
    int number, mirrored;
    uint8_t sides;
  };
  const Entry& of(const ValuePtr&);

 private:
  void add(const graph::Call&);
  int fresh() { return next_++; }
  int number_of(const std::string& key);

  std::unordered_map<ValuePtr, Entry> entries_;
  std::unordered_map<std::string, int> numbers_;
  int next_ = 0;
};

}  // namespace anvil::stablehlo
