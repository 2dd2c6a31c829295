// erf, erfc and the inverse of erf.
#pragma once
#include "runtime/elementary/exponential.h"
#include "runtime/elementary/logarithm.h"

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

// ---- erfc ------------------------------------------------------------------------
// erfc(x) for |x| >= 1/2, with x^2 given as a sum of two numbers: exp(-x^2) t (c + q(t)), t = 1/(|x| + 3/4), a constant
// c and a small quotient q, all in sums of two numbers; or 2 minus that for negative x.
template <class V>
V erfc_far(V x, V square, V square_low) {
  using F = fit<V>;
  using L = layout<V>;
  mask<V> beyond = V(L::erfc_square_high) < square;
  square = select(beyond, V(-L::exp_low), square);  // no underflow, see building_blocks.h
  square_low = select(beyond, V(0), square_low);
  V ax = lesser(V(L::erfc_high), abs(x));
  V d = ax + V(F::erfc_shift);
  V d_low = ax - (d - V(F::erfc_shift));
  V t = V(1) / d;
  V t_low = t * fma(-t, d_low, fma(-t, d, V(1)));
  auto [q, q_low] = fast_two_sum(V(F::erfc_offset), quotient(t, F::erfc_n, F::erfc_d));
  auto [g, g_error] = two_product(t, q);
  V slope = fma(t, V(-0.38f), V(0.42f));  // of q, crudely
  V g_low = fma(t_low, fma(t, slope, q), fma(t, q_low, g_error));
  auto [p, p_low, k] = exp_in_two(-square, -square_low);
  auto [product, error] = two_product(g, p);
  V far = scale(product + fma(g, p_low, fma(g_low, p, error)), k);
  return select(x < V(0), V(2) - far, far);
}
// Largest error: f32 1.03 ulp at 0x1.086936p+3; f64 1.09 ulp at 0x1.8026d1f014a32p+4.
template <class V>
V erfc(V x) {
  V most = V(1) - x;
  V near = most + fma(-x, last_steps_apart(x * x, table<V>::erf_near), (V(1) - most) - x);
  auto [square, square_low] = two_product(x, x);
  return select(V(0.5) <= abs(x), erfc_far(x, square, square_low), near);
}

// ---- the inverse of erf ------------------------------------------------------------
// x (sqrt(pi)/2 + x^2 q(c - x^2)) for x^2 <= c; beyond, r + q(r) for r = sqrt(-log((1 - |x|)/2)) as a sum of two
// numbers. Both q are a constant and a small quotient (the variables of Wichura 1988, AS 241).
// Largest error: f32 1.00 ulp at 0x1.1e9926p-125; f64 1.00 ulp at 0x1.6dfcb66e0ff7ap-1021.
template <class V>
V erf_inv(V x) {
  using F = fit<V>;
  V ax = abs(x), z = x * x;
  V v = fma(-x, x, V(F::erf_inv_square));
  auto [most, most_low] = two_product(ax, V(F::half_root_pi[0]));
  V near_rest = fma(ax, V(F::half_root_pi[1]), most_low);
  V slope = V(F::erf_inv_slope) + quotient(v, F::erf_inv_near_n, F::erf_inv_near_d);
  V near = most + fma(ax * z, slope, near_rest);

  Pair<V> log = log_sum(fma(V(-0.5), ax, V(0.5)));
  V r = sqrt(-log.high);
  V r_low = (fma(-r, r, -log.high) - log.low) * (V(0.59f) / r);  // a half, and the slope of q where it counts
  V q = quotient(r - V(F::erf_inv_root), F::erf_inv_far_n, F::erf_inv_far_d);
  auto [shifted, shifted_low] = fast_two_sum(r, V(F::erf_inv_offset));
  V far = shifted + (q + (shifted_low + r_low));

  V result = with_sign(select(V(0) <= v, near, far), x);
  result = select(ax == V(1), with_sign(V(infinity), x), result);
  return select(ax <= V(1), result, select(V(1) < ax, V(nan), x));
}

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
