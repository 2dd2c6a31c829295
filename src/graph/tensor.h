// Types of values, and tensors with data. Data are column-major and contiguous; the
// owner of the memory (an R vector, a pool block) hides in the shared pointer.
#pragma once
#include <memory>
#include <string>

#include "base/dtype.h"
#include "base/scalar.h"
#include "base/shape.h"

namespace anvil::graph {

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool ambiguous = false;  // the dtype came from an R literal, nobody chose it
  bool tape = false;       // no number but the handle of what a loop recorded
  bool operator==(const TensorType&) const = default;
};
inline bool same_type(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.tape == b.tape;
}
inline const TensorType tape_type{DType::ui64, {}, false, true};

std::string text(const TensorType&);      // f32?[2, 3]
std::string hlo_text(const TensorType&);  // tensor<2x3xf32>

struct Tensor {
  TensorType type;
  std::shared_ptr<void> data;
  template <class T>
  T* as() const {
    return static_cast<T*>(data.get());
  }
  explicit operator bool() const { return data != nullptr; }
};
Tensor allocate(const TensorType&);  // uninitialised, 64-byte aligned
Tensor full(const TensorType&, Scalar value);
Scalar element(const Tensor&, int64_t i);  // column-major position
void set_element(const Tensor&, int64_t i, Scalar);
Tensor converted(const Tensor&, DType);
void convert_to(const Tensor& to, const Tensor& from);  // of one shape

}  // namespace anvil::graph
