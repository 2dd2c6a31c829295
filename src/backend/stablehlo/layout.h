// Row-major StableHLO text beside column-major tensors: the order of dense literals, and
// numbers in text.
#pragma once
#include <optional>
#include <string>

#include "graph/tensor.h"

namespace anvil::stablehlo {

// The column-major position of the k-th element in row-major order, for k = 0, 1, ...
class RowMajorWalk {
 public:
  explicit RowMajorWalk(const Shape& shape) : shape_(shape), steps_(strides(shape)), index_(shape.size(), 0) {}
  int64_t position() const { return position_; }
  void next() {
    for (size_t d = shape_.size(); d-- > 0;) {
      position_ += steps_[d];
      if (++index_[d] < shape_[d]) return;
      position_ -= steps_[d] * shape_[d];
      index_[d] = 0;
    }
  }

 private:
  Shape shape_;
  std::vector<int64_t> steps_, index_;
  int64_t position_ = 0;
};

// One element as a dense literal spells it: 9 or 17 significant digits, bit patterns for
// NaN and infinities, true and false.
std::string dense_number(Scalar, DType);
// dense<...> of a whole tensor, nested by rows; one number when all elements are equal.
std::string dense_literal(const graph::Tensor&);

}  // namespace anvil::stablehlo
