// The special functions of statistics: error functions, those around gamma, zeta and Bessel's.
#include <limits>
#include <numbers>

#include "primitives/families/families.h"
#include "primitives/vocabulary/elementwise.h"

namespace anvil::primitives {
namespace {

using elementary::Function;
constexpr Domain gamma_domain = {0.2, 20};
constexpr double two_over_root_pi = 2 * std::numbers::inv_sqrtpi;
constexpr double half_root_pi = 1 / two_over_root_pi;

// The slope of erf. It is 0 in every dtype where |x| > 28; taken at 28 there, its own slopes are 0, too, rather than 0 times
// an infinite x.
Var bell(const Var& x) {
  Var within = select(abs(x) > 28.0, literal(x, 28), x);
  return two_over_root_pi * exp(-(within * within));
}

// e^-|x| I_0(x), for which StableHLO has no operator, by Horner's scheme: the power series (DLMF
// 10.25.2) and from `limit` on Hankel's expansion (10.40.1), as many terms as the dtype needs.
Var bessel_i0e(const Var& x) {
  const bool single = compute_type(x.dtype()) == DType::f32;
  const double limit = single ? 12 : 24;
  const int terms = single ? 22 : 40, large_terms = single ? 12 : 21;
  Var size = abs(x), is_small = size < limit, edge = literal(x, limit);
  Var small = select(is_small, size, edge), inverse = 1.0 / select(is_small, edge, size);
  Var z = small * small, series = literal(x, 1), expansion = series;
  for (int k = terms; k > 0; --k) series = 1.0 + series * (z * (0.25 / (k * k)));
  for (int k = large_terms; k > 0; --k)
    expansion = 1.0 + expansion * (inverse * ((2 * k - 1) * (2 * k - 1) / (8. * k)));
  series = series * exp(-small);
  return select(is_small, series, expansion * sqrt(inverse * (0.5 * std::numbers::inv_pi)));
}
// I_1' = I_0 - I_1 / x; I_1(x) / x tends to 1/2.
Var bessel_i1e_slope(const Var& x, const Var& y) {
  Var at_zero = x == 0.0;
  Var ratio = select(at_zero, literal(x, 0.5), y / select(at_zero, literal(x, 1), x));
  return bessel_i0e(x) - (abs(y) + ratio);
}

// With the operands' usual names.
Primitive called(std::vector<std::string> operands, Primitive p) {
  p.operands = std::move(operands);
  return p;
}

}  // namespace

// One statement a primitive, laid out by hand.
// clang-format off
void register_special(Registry& r) {
  r.add(function("erf", "chlo.erf", Function::erf, [](const Var& x, const Var&, const Var& g) { return g * bell(x); }, {-3, 3}));
  r.add(function("erfc", "chlo.erfc", Function::erfc, [](const Var& x, const Var&, const Var& g) { return -(g * bell(x)); }, {-3, 3}));
  r.add(function("erf_inv", "chlo.erf_inv", Function::erf_inv,
                 [](const Var&, const Var& y, const Var& g) { return g * (half_root_pi * exp(y * y)); }, {-0.95, 0.95}));
  r.add(function("lgamma", "chlo.lgamma", Function::lgamma,
                 [](const Var& x, const Var&, const Var& g) { return g * digamma(x); }, gamma_domain));
  r.add(function("digamma", "chlo.digamma", Function::digamma,
                 [](const Var& x, const Var&, const Var& g) { return g * polygamma(literal(x, 1), x); }, gamma_domain));
  // the order n is a whole number, there is nothing to differentiate by
  r.add(called({"n", "x"}, function("polygamma", "chlo.polygamma", Function::polygamma, flat,
                 [](const Var& n, const Var& x, const Var&, const Var& g) { return g * polygamma(n + 1.0, x); }, {1, 1}, gamma_domain)));
  // the derivative by s is none of our functions: NaN, rather than a zero that it is not
  r.add(called({"s", "a"}, function("zeta", "chlo.zeta", Function::zeta,
                 [](const Var&, const Var&, const Var&, const Var& g) { return g * std::numeric_limits<double>::quiet_NaN(); },
                 [](const Var& s, const Var& a, const Var&, const Var& g) { return -(g * (s * record("zeta", {s + 1.0, a}))); }, {2.5, 2.5}, {0.2, 10})));
  r.add(function("bessel_i1e", "chlo.bessel_i1e", Function::bessel_i1e,
                 [](const Var& x, const Var& y, const Var& g) { return g * bessel_i1e_slope(x, y); }, {-30, 30}));
}
// clang-format on

}  // namespace anvil::primitives
