// LAPACK's QR factorisation in its packed form, geqrf, and what makes Q of it, orgqr, as JAX calls them when it lowers
// for CPUs. Reflections H = 1 - tau v v' (Golub and Van Loan, Matrix Computations, 5.1), one a step of a loop:
//
//   geqrf: for k = 0, 1, ...: H_k makes zeros below the diagonal of column k; v_k takes their place, v_k[k] = 1
//   orgqr: Q = H_0 H_1 ... applied to the identity, the last one first
#include <algorithm>

#include "backend/stablehlo/decompositions/lapack.h"
#include "primitives/families/control.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

// Matrices side by side, and step k of a loop over their columns.
struct Columns {
  Graph& graph;
  Var k;
  size_t rank;  // of the matrices
  int64_t rows_dim() const { return static_cast<int64_t>(rank) - 2; }
  int64_t columns_dim() const { return static_cast<int64_t>(rank) - 1; }

  // Where the elements of a matrix lie: in row k, below it, ...
  Var row(const Shape& shape) const { return primitives::iota(graph, rows_dim(), DType::i64, shape); }
  Var column(const Shape& shape) const { return primitives::iota(graph, columns_dim(), DType::i64, shape); }
  Var here(const Shape& shape) const { return broadcast_in_dim(k, shape, {}); }
  // [..., m, 1]
  Var column_k(Var a) const {
    Shape one = a.shape();
    one.back() = 1;
    return reshape(element(a, columns_dim(), k), one);
  }
  Var spread(Var x, const Shape& shape) const {
    Ints dims;
    for (size_t d = 0; d < rank; ++d) dims.push_back(static_cast<int64_t>(d));
    return broadcast_in_dim(x, shape, dims);
  }
  // (1 - tau v v') a, of a vector [..., m, 1] and a number [..., 1, 1] each
  Var reflected(Var a, Var v, Var tau) const {
    const Var along = spread(v, a.shape());
    const Var dots = reduce_sum(along * a, {rows_dim()}, false);
    return a - along * spread(spread(tau, dots.shape()) * dots, a.shape());
  }
};

// A loop of so many steps.
Values repeated(Graph& to, int64_t steps, const Vars& state, const primitives::CountedStep& step) {
  return values(counting_loop(to, primitives::literal(to, steps, {DType::i64, {}}), state, step));
}

struct Reflection {
  Var v, tau, beta;  // what remains on the diagonal
};
// Of column c, divided by its largest element so that no square is too large; none where nothing is to be done.
Reflection reflection(const Columns& at, Var c) {
  const Var row = at.row(c.shape()), k = at.here(c.shape()), zero = zeros_like(c);
  const Var sizes = primitives::abs(select(row >= k, c, zero));
  const Var largest = primitives::record("stop_gradient", {reduce_max(sizes, {at.rows_dim()}, false)});
  const Var scale = select(largest == 0.0, literal(largest, 1), largest);
  const Var x = c / at.spread(scale, c.shape());
  const auto sum = [&](Var of) { return reduce_sum(of, {at.rows_dim()}, false); };
  const Var below = select(row > k, x, zero), alpha = sum(select(row == k, x, zero));
  const Var none = reduce_max(primitives::abs(below), {at.rows_dim()}, false) == 0.0;
  const Var one = literal(alpha, 1), squares = select(none, one, alpha * alpha + sum(below * below));
  const Var root = primitives::sqrt(squares), beta = select(alpha < 0.0, root, -root);
  const Var tau = select(none, zeros_like(alpha), (beta - alpha) / beta);
  const Var pivot = select(none, one, alpha - beta);
  const Var v = select(row == k, literal(c, 1), below / at.spread(pivot, c.shape()));
  return {v, tau, select(none, alpha, beta) * scale};
}

Values geqrf(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  check_lapack_layouts(op, x);
  const Shape shape = x[0].shape();
  Shape taus(shape.begin(), shape.end() - 1);
  const int64_t steps = taus.back() = std::min(shape[shape.size() - 2], shape.back());
  const Var none = primitives::literal(in.graph(), 0.0, {x[0].dtype(), taus});
  if (elements(shape) == 0) return {x[0].value, none.value};
  const auto step = [&](Graph& g, Var number, const Vars& now) {
    const Columns at{g, number, shape.size()};
    const Var a = now[0], row = at.row(shape), column = at.column(shape), k = at.here(shape);
    const Reflection r = reflection(at, at.column_k(a));
    const Var packed = select(row == k, at.spread(r.beta, shape), select(row > k, at.spread(r.v, shape), a));
    const Var next = select(column > k, at.reflected(a, r.v, r.tau), select(column == k, packed, a));
    return Vars{next, with_element(now[1], at.rows_dim(), number, r.tau)};
  };
  return repeated(in.graph(), steps, {x[0], none}, step);
}

Values orgqr(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  check_lapack_layouts(op, x);
  const Shape shape = x[0].shape(), taus = x[1].shape();
  const bool fits = shape.size() >= 2 && taus.size() + 1 == shape.size() && taus.back() <= shape.back() &&
                    shape.back() <= shape[shape.size() - 2];
  if (!fits) refuse(op.at, "the reflections should be no more than the columns, and these no more than the rows");
  const Columns whole{in.graph(), {}, shape.size()};
  const Var identity = primitives::convert(whole.row(shape) == whole.column(shape), x[0].dtype());
  if (elements(shape) == 0 || taus.back() == 0) return {identity.value};
  const auto step = [&](Graph& g, Var number, const Vars& now) {
    const Columns at{g, static_cast<double>(taus.back() - 1) - number, shape.size()};
    const Var packed{&g, x[0].value}, numbers{&g, x[1].value};
    Shape one = taus;
    one.back() = 1;
    one.push_back(1);
    const Var c = at.column_k(packed), row = at.row(c.shape()), k = at.here(c.shape());
    const Var v = select(row == k, literal(c, 1), only_where(row > k, c));
    return Vars{at.reflected(now[0], v, reshape(element(numbers, at.rows_dim(), at.k), one))};
  };
  return repeated(in.graph(), taus.back(), {identity}, step);
}

}  // namespace

void add_householder_rules(Rules& rules) {
  for (const char* letter : {"s", "d"}) {
    const std::string lapack = std::string("custom_call @lapack_") + letter;
    add(rules, lapack + "geqrf_ffi", geqrf);
    add(rules, lapack + "orgqr_ffi", orgqr);
  }
}

}  // namespace anvil::stablehlo
