// The rank of an element: an unsigned number that is in order where the elements are, made from its bits.
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/bits.h"
#include "base/dtype.h"

namespace anvil::sorting {

template <class U>
class Ranks {
 public:
  // From the largest to the smallest if `descending`.
  explicit Ranks(DType t, bool descending = false)
      : top_(is_unsigned_integer(t) || is_bool(t) ? U(0) : sign),
        floats_(is_float(t) ? all : U(0)),
        infinity_(is_float(t) ? U(((U(1) << descriptor(t).exponent_bits) - 1) << descriptor(t).mantissa_bits) : all),
        flip_(descending ? all : U(0)) {}

  // Without a branch: signs come in no order.
  U total(U bits) const { return U(bits ^ ((ones_if_signed(bits) & floats_) | top_) ^ flip_); }
  U bits(U rank) const {
    rank ^= flip_;
    return U(rank ^ ((ones_if_signed(U(~rank)) & floats_) | top_));
  }
  // The same for elements that are equal: zeros, and NaNs, which are above all others.
  U equal(U bits) const {
    if (is_nan(bits)) return U(all ^ flip_);
    return total(is_zero(bits) ? U(0) : bits);
  }
  bool is_nan(U bits) const { return U(bits & ~sign) > infinity_; }
  bool is_zero(U bits) const { return U(bits & ~(floats_ & sign)) == 0; }

 private:
  static constexpr U all = std::numeric_limits<U>::max(), sign = U(U(1) << (8 * sizeof(U) - 1));
  static U ones_if_signed(U bits) { return U(std::make_signed_t<U>(bits) >> (8 * sizeof(U) - 1)); }
  U top_, floats_, infinity_, flip_;
};

}  // namespace anvil::sorting
