// Derivatives of the factorisations, for stacks of matrices: g is a cotangent, ' the transpose. Forward
// mode of LU and QR follows from their reverse rules.
#include <cmath>
#include <limits>

#include "primitives/families/factorisations.h"

namespace anvil::primitives {
namespace {

Var times(const Var& a, const Var& b) { return product(a, 1, b, 0); }
Var transposed_times(const Var& a, const Var& b) { return product(a, 0, b, 0); }
Var times_transposed(const Var& a, const Var& b) { return product(a, 1, b, 1); }

Var strictly_lower(const Var& x) { return only_where(row_numbers(x) > column_numbers(x), x); }
Var upper(const Var& x) { return only_where(row_numbers(x) <= column_numbers(x), x); }
Var on_diagonal(const Var& x) { return row_numbers(x) == column_numbers(x); }

// Rows [top, bottom) and columns [left, right).
Var part(const Var& x, int64_t top, int64_t bottom, int64_t left, int64_t right) {
  Ints from(x.shape().size(), 0), to = x.shape(), by(x.shape().size(), 1);
  const auto row = static_cast<size_t>(row_axis(x));
  from[row] = top, to[row] = bottom;
  from[row + 1] = left, to[row + 1] = right;
  return slice(x, from, to, by);
}

// Each vector as the columns, or rows, of a matrix of this shape.
Var along_rows(const Var& v, const Shape& shape) {  // element (i, j) is v[j]
  Ints dims = all_axes(shape.size() - 1);
  dims.back() += 1;
  return broadcast_in_dim(v, shape, dims);
}
Var along_columns(const Var& v, const Shape& shape) {  // element (i, j) is v[i]
  return broadcast_in_dim(v, shape, all_axes(shape.size() - 1));
}
Shape square(const Var& v) {
  Shape shape = v.shape();
  shape.push_back(shape.back());
  return shape;
}
Var diagonal(const Var& v) {
  const Var columns = along_rows(v, square(v));
  return only_where(on_diagonal(columns), columns);
}
Var skew(const Var& x) { return x - transposed(x); }
// What a symmetric cotangent is of the elements of one triangle, each of which stands for two.
Var of_lower(const Var& both) {
  const Var row = row_numbers(both), column = column_numbers(both);
  return select(row == column, both, only_where(row > column, both * 2.0));
}

// What values are like 0 beside: differences of equal ones but for rounding.
Var rounding_of(const Var& v, const Shape& shape) {
  const int64_t last = static_cast<int64_t>(v.shape().size()) - 1;
  const double ulp = std::ldexp(1.0, -descriptor(v.dtype()).mantissa_bits);
  const Var error = reduce_max(abs(v), {last}) * (static_cast<double>(v.shape().back()) * ulp);
  return broadcast_in_dim(error, shape, all_axes(v.shape().size() - 1));
}
// 1 / d. Where d is 0 but for rounding there is no derivative: NaN where a vector is `used` that it is of.
// Not 0: for functions of the vectors that do not change when these are turned, such as V f(w) V',
// what is divided is 0, too, and the quotient is not.
Var one_over(const Var& d, const Var& error, std::optional<Var> used) {
  const Var vanishes = abs(d) <= error;
  Var none = literal(d, Scalar(std::numeric_limits<double>::quiet_NaN()));
  if (used) none = only_where(*used, none);
  return select(vanishes, none, 1.0 / select(vanishes, literal(d, 1), d));
}
// 1 / (v[j] - v[i]), and 1 / (v[j] + v[i]), beside the diagonal. `used` says which vectors are.
Var one_over_pairs(const Var& v, bool differences, std::optional<Var> used) {
  const Shape shape = square(v);
  const Var left = along_columns(v, shape), right = along_rows(v, shape);
  if (used) used = along_columns(*used, shape) | along_rows(*used, shape);
  const Var d = differences ? right - left : right + left;
  return only_where(!on_diagonal(d), one_over(d, rounding_of(v, shape), used));
}
// Each column divided by its value.
Var over_columns(const Var& x, const Var& v, std::optional<Var> used) {
  return x * along_rows(one_over(v, rounding_of(v, v.shape()), used), x.shape());
}
// Whether a column has elements other than 0.
Var used_columns(const Var& g) { return reduce_max(convert(g != 0.0, g.dtype()), {row_axis(g)}) != 0.0; }
Var diagonal_of(const Var& x) { return reduce_sum(only_where(on_diagonal(x), x), {column_axis(x)}); }
// x less what lies in the space of the columns of u.
Var outside(const Var& u, const Var& x) { return x - times(u, transposed_times(u, x)); }

}  // namespace

// With L U = P A, all square: d(PA) = L^-T (tril(L' gL, -1) + triu(gU U')) U^-T. Where A is wide, with
// U = (U1 U2), A's right columns are L U2, and where it is tall its lower rows are L2 U: their
// parts are taken from the square's. (Differentials as in Giles 2008; tril of strictly lower ones.)
void reverse_lu(ReverseStep& step) {
  const Var packed = result(step, 0), g = cotangent(step, 0);
  const int64_t m = rows(packed), n = columns(packed), k = std::min(m, n);
  if (elements(packed.shape()) == 0 || !flows(step, 0)) return;
  const Var factors = part(packed, 0, k, 0, k), gk = part(g, 0, k, 0, k);
  const Var l = select(on_diagonal(factors), literal(factors, 1), strictly_lower(factors)), u = upper(factors);
  const auto by_u = [&](const Var& x) { return triangular_solve(factors, x, false, false, false, true); };  // x U^-T
  const auto by_l = [&](const Var& x) { return triangular_solve(factors, x, true, true, true, true); };     // L^-T x
  Var below = transposed_times(l, strictly_lower(gk)), above = times_transposed(upper(gk), u);
  if (n > k) below = below - times_transposed(part(g, 0, k, k, n), part(packed, 0, k, k, n));
  if (m > k) above = above - transposed_times(part(packed, k, m, 0, k), part(g, k, m, 0, k));
  Var da = by_l(by_u(strictly_lower(below) + upper(above)));
  if (n > k) da = concatenate({da, by_l(part(g, 0, k, k, n))}, column_axis(da));
  if (m > k) da = concatenate({da, by_u(part(g, k, m, 0, k))}, row_axis(da));
  set(step, 0, rows_to(da, result(step, 2)));
}

// dA = (gQ + Q C) R^-T, with C the symmetric matrix whose lower triangle is that of M = R gR' - gQ' Q
// (Walter and Lehmann 2018; Seeger et al. 2017). Of a wide A = (A1 A2), Q and R1 are the factors of A1
// and R2 = Q' A2.
void reverse_qr(ReverseStep& step) {
  const Var q = result(step, 0), r = result(step, 1), gr = upper(cotangent(step, 1));
  const int64_t k = rows(r), n = columns(r);
  if (elements(operand(step, 0).shape()) == 0) return;
  Var gq = cotangent(step, 0);
  const Var r1 = part(r, 0, k, 0, k), gr2 = part(gr, 0, k, k, n);
  if (n > k) gq = gq + times_transposed(part(operand(step, 0), 0, k, k, n), gr2);
  const Var m = times_transposed(r1, part(gr, 0, k, 0, k)) - transposed_times(gq, q);
  const Var c = select(row_numbers(m) >= column_numbers(m), m, transposed(m));
  Var da = triangular_solve(r1, gq + times(q, c), false, false, false, true);
  if (n > k) da = concatenate({da, times(q, gr2)}, column_axis(da));
  set(step, 0, da);
}

// With A = V diag(w) V' the symmetric cotangent is V (diag(gw) + F o skew(V' gV) / 2) V', where
// F[i, j] = 1 / (w[j] - w[i]) (Giles 2008, 3.1). As one triangle of A is read, each of its elements
// stands for two, as for the Cholesky factor.
void reverse_eigh(ReverseStep& step) {
  const Var w = result(step, 0), v = result(step, 1), gv = cotangent(step, 1);
  if (elements(v.shape()) == 0) return;
  Var inner = diagonal(cotangent(step, 0));
  if (flows(step, 1)) inner = inner + one_over_pairs(w, true, used_columns(gv)) * skew(transposed_times(v, gv)) * 0.5;
  set(step, 0, of_lower(times_transposed(times(v, inner), v)));
}

// The same for w alone, where V was kept.
void reverse_eigh_values(ReverseStep& step) {
  const Var v = residual(step, 0);
  if (elements(v.shape()) == 0) return;
  set(step, 0, of_lower(times_transposed(times(v, diagonal(cotangent(step))), v)));
}

// With P = V' dA V: dw = diag(P), dV = V (F o P).
bool forward_eigh(ForwardStep& step) {
  const Var w = result(step, 0), v = result(step, 1), t = tangent(step, 0);
  if (elements(v.shape()) == 0) return true;
  const Var da = select(row_numbers(t) >= column_numbers(t), t, transposed(t));
  const Var p = transposed_times(v, times(da, v));
  step.results = {diagonal_of(p).value, times(v, one_over_pairs(w, true, {}) * p).value};
  return true;
}

// U and V' were kept.
void reverse_svd_values(ReverseStep& step) {
  if (elements(operand(step, 0).shape()) == 0) return;
  set(step, 0, times(times(residual(step, 0), diagonal(cotangent(step))), residual(step, 1)));
}

// With X = skew(U' gU), Y = skew(V' gV) and all sums and differences of singular values, dA is
//   U (diag(gs) + (X + Y) / (2 (s[j] - s[i])) + (X - Y) / (2 (s[j] + s[i]))) V'
//   + (I - U U') gU S^-1 V' + U S^-1 gV' (I - V V')
// which is the rule of Townsend 2016 with (X s[j] + s[i] Y) / (s[j]^2 - s[i]^2) in two parts.
void reverse_svd(ReverseStep& step) {
  const Var u = result(step, 0), s = result(step, 1), v = transposed(result(step, 2));
  if (elements(operand(step, 0).shape()) == 0) return;
  Var inner = diagonal(cotangent(step, 1));
  if (!flows(step, 0) && !flows(step, 2)) return set(step, 0, times_transposed(times(u, inner), v));
  const Var gu = cotangent(step, 0), gv = transposed(cotangent(step, 2));
  const Var used = used_columns(gu) | used_columns(gv);
  const Var x = skew(transposed_times(u, gu)), y = skew(transposed_times(v, gv));
  inner = inner + (one_over_pairs(s, true, used) * (x + y) + one_over_pairs(s, false, used) * (x - y)) * 0.5;
  Var left = times(u, inner);
  if (rows(u) > columns(u)) left = left + outside(u, over_columns(gu, s, used));
  Var da = times_transposed(left, v);
  if (rows(v) > columns(v)) da = da + times_transposed(u, outside(v, over_columns(gv, s, used)));
  set(step, 0, da);
}

// With P = U' dA V: ds = diag(P), dU = U K + (I - U U') dA V S^-1 and dV = V L + (I - V V') dA' U S^-1, where
// K + L = (P + P') / (s[j] - s[i]) and K - L = (P - P') / (s[j] + s[i]).
bool forward_svd(ForwardStep& step) {
  const Var u = result(step, 0), s = result(step, 1), v = transposed(result(step, 2)), da = tangent(step, 0);
  if (elements(da.shape()) == 0) return true;
  const Var to_u = times(da, v), to_v = transposed_times(da, u), p = transposed_times(u, to_u);
  const Var sum = one_over_pairs(s, true, {}) * (p + transposed(p)) * 0.5,
            difference = one_over_pairs(s, false, {}) * skew(p) * 0.5;
  Var du = times(u, sum + difference), dv = times(v, sum - difference);
  if (rows(u) > columns(u)) du = du + outside(u, over_columns(to_u, s, {}));
  if (rows(v) > columns(v)) dv = dv + outside(v, over_columns(to_v, s, {}));
  step.results = {du.value, diagonal_of(p).value, transposed(dv).value};
  return true;
}

}  // namespace anvil::primitives
