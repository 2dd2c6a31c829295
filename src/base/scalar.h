// A number of any dtype that keeps its full value until its dtype is known: literals,
// bounds, initial values of reductions. Equality is by bits, so NaN equals itself and
// 0 differs from -0.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "base/dtype.h"

namespace anvil {

// Float to integer as generated code does it: towards zero, saturating, NaN is 0.
template <class To, class From>
constexpr To convert_number(From x) {
  if constexpr (is_small_float<From> && !std::is_same_v<To, From>)
    return convert_number<To>(static_cast<float>(x));
  else if constexpr (std::is_same_v<To, bool>)
    return x != From(0);
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (x != x) return To(0);
    constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
    // 2^bits is a number of every float type, the largest integer is not
    constexpr From beyond = static_cast<From>(uint64_t(1) << (std::numeric_limits<To>::digits - 1)) * From(2);
    if (x <= low) return std::numeric_limits<To>::min();
    if (x >= beyond) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
  } else
    return static_cast<To>(x);
}

class Scalar {
 public:
  Scalar() = default;
  Scalar(bool x) : kind_(Kind::integer), integer_(x) {}
  Scalar(double x) : kind_(Kind::real), real_(x) {}
  Scalar(float x) : Scalar(static_cast<double>(x)) {}
  template <int e, int m>
  Scalar(SmallFloat<e, m> x) : Scalar(static_cast<float>(x)) {}
  template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
  Scalar(I x) : kind_(std::is_signed_v<I> ? Kind::integer : Kind::natural), integer_(static_cast<int64_t>(x)) {}

  template <class T>
  T as() const {
    if (kind_ == Kind::real) return convert_number<T>(real_);
    if (kind_ == Kind::natural) return convert_number<T>(static_cast<uint64_t>(integer_));
    return convert_number<T>(integer_);
  }
  bool is_real() const { return kind_ == Kind::real; }
  // Rounded to a dtype: the value that a tensor of it would hold.
  Scalar rounded_to(DType t) const {
    return visit(t, [this]<class T>() { return Scalar(as<T>()); });
  }
  bool operator==(const Scalar& o) const {
    return kind_ == o.kind_ && (kind_ == Kind::real ? std::bit_cast<uint64_t>(real_) == std::bit_cast<uint64_t>(o.real_)
                                                    : integer_ == o.integer_);
  }
  size_t hash() const {
    return (kind_ == Kind::real ? std::bit_cast<uint64_t>(real_) : static_cast<uint64_t>(integer_)) *
               0x9e3779b97f4a7c15u +
           static_cast<size_t>(kind_);
  }
  // As R prints it: 15 significant digits, "1e+06", "TRUE" for bool, "NaN", "Inf".
  std::string text(DType) const;

 private:
  enum class Kind : uint8_t { integer, natural, real };
  Kind kind_ = Kind::integer;
  int64_t integer_ = 0;
  double real_ = 0;
};

// Whether a whole number is one of the numbers of a dtype.
inline bool holds(DType t, int64_t x) {
  return (x >= 0 || t != DType::ui64) && Scalar(x).rounded_to(t).as<int64_t>() == x;
}

Scalar lowest(DType);   // -Inf, FALSE, smallest integer
Scalar highest(DType);  // Inf, TRUE, largest integer

}  // namespace anvil
