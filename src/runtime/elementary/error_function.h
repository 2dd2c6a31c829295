// erf and erfc.
#pragma once
#include "runtime/elementary/building_blocks.h"

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

// ---- erf -----------------------------------------------------------------------
// |x| < 1: x + x p(x^2), degree 13 (f32) or 23 (f64). Beyond, f32: 1 - p^2, p of
// degree 11 in |x| - 3/2 (squaring saves five degrees, and its rounding); f64:
// 1 - 2^-(|x| q(|x|)), which needs no accurate exponential, as 1 - erf is small
// there; |x| q is never rounded.
// Largest error: f32 1.00 ulp at 0x1.f45d28p-1; f64 1.09 ulp at 0x1.fa8a2e0eb2ed7p-1.
template <class V>
V erf(V x) {
  using T = table<V>;
  using L = layout<V>;
  V ax = abs(x);
  V near = fma(last_steps_apart(x * x, T::erf_near), x, x);
  V y = lesser(V(L::erf_high), ax);
  V far;
  if constexpr (single<V>) {
    V root = polynomial(y - V(1.5), T::erf_far);
    far = fma(-root, root, V(1));
  } else {
    V q = last_steps_apart(y, T::erf_far);
    V shifted = fma(-y, q, V(L::shifter));
    V r = fma(-y, q, V(L::shifter) - shifted);
    V p = fma(polynomial(r, T::exp2), r, V(1));
    far = V(1) - as_number(as_bits(p) + (as_bits(shifted) << L::fraction));
  }
  return select(V(1) <= ax, with_sign(far, x), near);
}

// ---- erfc -----------------------------------------------
// erfc(x) for |x| >= 1/2, with x^2 given as a sum of two numbers: exp(-x^2) t q(t),
// t = 1/(|x| + 2) (the variable of Shepherd and Laframboise 1981; degree 12 in f32,
// 25 in f64), or 2 minus that for negative x.
template <class V>
V erfc_far(V x, V square, V square_low) {
  using T = table<V>;
  using L = layout<V>;
  mask<V> beyond = V(L::erfc_square_high) < square;
  square = select(beyond, V(L::erfc_square_high), square);
  square_low = select(beyond, V(0), square_low);
  V ax = lesser(V(L::erfc_high), abs(x));
  V d = ax + V(2);
  V d_low = ax - (d - V(2));
  V t = V(1) / d;
  V t_low = t * fma(-t, d_low, fma(-t, d, V(1)));
  V u = t - V(0.1875);
  V slope = polynomial_from<1>(u, T::erfc);
  V q = fma(u, slope, V(T::erfc[0]));
  V q_low = fma(u, slope, V(T::erfc[0]) - q) + V(T::erfc_low);
  auto [g, g_error] = two_product(t, q);
  V g_low = fma(t_low, fma(t, slope, q), fma(t, q_low, g_error));  // t_low moves q, too
  auto [k, code] = nearest(square, -T::log2e, 2 * L::bias);
  V r = fma(k, V(-T::ln2[1]), fma(k, V(-T::ln2[0]), -square)) - square_low;
  V tail = fma(r * r, polynomial(r, T::exp), r);
  V far = scale(g + fma(g, tail, g_low), code);
  return select(x < V(0), V(2) - far, far);
}
// Largest error: f32 2.76 ulp at 0x1.f80b2ap+2; f64 2.90 ulp at 0x1.9c3187c7235e4p+4.
template <class V>
V erfc(V x) {
  V near = fma(-x, last_steps_apart(x * x, table<V>::erf_near), V(1) - x);
  auto [square, square_low] = two_product(x, x);
  return select(V(0.5) <= abs(x), erfc_far(x, square, square_low), near);
}

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
