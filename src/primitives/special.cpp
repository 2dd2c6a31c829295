// The special functions of statistics: error functions, and those around gamma.
#include <numbers>

#include "primitives/factories.h"

namespace anvil::primitives {
namespace {

using elementary::Function;
constexpr Domain gamma_domain = {0.2, 20};
constexpr double two_over_root_pi = 2 * std::numbers::inv_sqrtpi;
constexpr double half_root_pi = 1 / two_over_root_pi;

Var bell(Var x) { return two_over_root_pi * exp(-(x * x)); }

}  // namespace

// One statement a primitive, laid out by hand.
// clang-format off
void register_special(Registry& r) {
  r.add(function("erf", "chlo.erf", Function::erf, [](Var x, Var, Var g) { return g * bell(x); }, {-3, 3}));
  r.add(function("erfc", "chlo.erfc", Function::erfc, [](Var x, Var, Var g) { return -(g * bell(x)); }, {-3, 3}));
  r.add(function("erf_inv", "chlo.erf_inv", Function::erf_inv,
                 [](Var, Var y, Var g) { return g * (half_root_pi * exp(y * y)); }, {-0.95, 0.95}));
  r.add(function("lgamma", "chlo.lgamma", Function::lgamma,
                 [](Var x, Var, Var g) { return g * digamma(x); }, gamma_domain));
  r.add(function("digamma", "chlo.digamma", Function::digamma,
                 [](Var x, Var, Var g) { return g * polygamma(literal(x, 1), x); }, gamma_domain));
  // the order n is a whole number, there is nothing to differentiate by
  r.add(function("polygamma", "chlo.polygamma", Function::polygamma, flat,
                 [](Var n, Var x, Var, Var g) { return g * polygamma(n + 1.0, x); }, {1, 1}, gamma_domain));
}
// clang-format on

}  // namespace anvil::primitives
