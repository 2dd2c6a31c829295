// QR in LAPACK's packed form, and the orthogonal factor made of it. Reflections H = 1 - tau v v' (Golub and Van Loan,
// Matrix Computations, 5.1):
//
//   geqrf: for k = 0, 1, ...: H_k makes zeros below the diagonal of column k; v_k takes their place, v_k[k] = 1
//   householder_product: Q = H_0 H_1 ... applied to the identity, the last one first
//
// Each is one function of the runtime. Derivatives, and text, are those of loops that make a reflection a step. Where a
// matrix has an element that is no number, or infinite, all that is made of it is NaN.
#include <algorithm>

#include "primitives/families/control.h"
#include "primitives/families/factorisations.h"
#include "primitives/families/families.h"
#include "primitives/vocabulary/batching.h"

namespace anvil::primitives {
namespace {

using Values = std::vector<ValuePtr>;

// Matrices side by side, and step k of a loop over their columns.
struct ColumnStep {
  graph::Graph& graph;
  Var k;
  size_t rank;  // of the matrices
  int64_t rows_dim() const { return static_cast<int64_t>(rank) - 2; }
  int64_t columns_dim() const { return static_cast<int64_t>(rank) - 1; }

  // Where the elements of a matrix lie: in row k, below it, ...
  Var row(const Shape& shape) const { return iota(graph, rows_dim(), DType::i64, shape); }
  Var column(const Shape& shape) const { return iota(graph, columns_dim(), DType::i64, shape); }
  Var here(const Shape& shape) const { return broadcast_in_dim(k, shape, {}); }
  // [..., m, 1]
  Var column_k(const Var& a) const {
    Shape one = a.shape();
    one.back() = 1;
    return reshape(element(a, columns_dim(), k), one);
  }
  Var spread(const Var& x, const Shape& shape) const {
    Ints dims;
    for (size_t d = 0; d < rank; ++d) dims.push_back(static_cast<int64_t>(d));
    return broadcast_in_dim(x, shape, dims);
  }
  // (1 - tau v v') a, of a vector [..., m, 1] and a number [..., 1, 1] each
  Var reflected(const Var& a, const Var& v, const Var& tau) const {
    const Var along = spread(v, a.shape());
    const Var dots = reduce_sum(along * a, {rows_dim()}, false);
    return a - along * spread(spread(tau, dots.shape()) * dots, a.shape());
  }
};

// A loop of so many steps.
Values repeated(graph::Graph& to, int64_t steps, const Vars& state, const CountedStep& step) {
  Values results;
  for (const Var& v : counting_loop(to, literal(to, steps, {DType::i64, {}}), state, step)) results.push_back(v.value);
  return results;
}

struct Reflection {
  Var v, tau, beta;  // what remains on the diagonal
};
// Of column c, divided by its largest element so that no square is too large; none where nothing is to be done.
Reflection reflection(const ColumnStep& at, const Var& c) {
  const Var row = at.row(c.shape()), k = at.here(c.shape()), zero = zeros_like(c);
  const Var sizes = abs(select(row >= k, c, zero));
  const Var largest = record("stop_gradient", {reduce_max(sizes, {at.rows_dim()}, false)});
  const Var scale = select(largest == 0.0, literal(largest, 1), largest);
  const Var x = c / at.spread(scale, c.shape());
  const auto sum = [&](const Var& of) { return reduce_sum(of, {at.rows_dim()}, false); };
  const Var below = select(row > k, x, zero), alpha = sum(select(row == k, x, zero));
  const Var none = reduce_max(abs(below), {at.rows_dim()}, false) == 0.0;
  const Var one = literal(alpha, 1), squares = select(none, one, alpha * alpha + sum(below * below));
  const Var root = sqrt(squares), beta = select(alpha < 0.0, root, -root);
  const Var tau = select(none, zeros_like(alpha), (beta - alpha) / beta);
  const Var pivot = select(none, one, alpha - beta);
  const Var v = select(row == k, literal(c, 1), below / at.spread(pivot, c.shape()));
  return {v, tau, select(none, alpha, beta) * scale};
}

Shape leading(Shape shape) {
  shape.pop_back();
  return shape;
}

Values expand_geqrf(graph::Graph& to, const graph::Call& c) {
  const Var x{&to, c.inputs[0]};
  const Shape& shape = x.shape();
  const Var none = literal(to, 0.0, c.outputs[1]->type);
  if (elements(shape) == 0) return {x.value, none.value};
  const auto step = [&](graph::Graph& g, const Var& number, const Vars& now) {
    const ColumnStep at{g, number, shape.size()};
    const Var a = now[0], row = at.row(shape), column = at.column(shape), k = at.here(shape);
    const Reflection r = reflection(at, at.column_k(a));
    const Var packed = select(row == k, at.spread(r.beta, shape), select(row > k, at.spread(r.v, shape), a));
    const Var next = select(column > k, at.reflected(a, r.v, r.tau), select(column == k, packed, a));
    return Vars{next, with_element(now[1], at.rows_dim(), number, r.tau)};
  };
  return repeated(to, none.shape().back(), {x, none}, step);
}

Values expand_product(graph::Graph& to, const graph::Call& c) {
  const Var packed{&to, c.inputs[0]}, taus{&to, c.inputs[1]};
  const Shape& shape = packed.shape();
  const ColumnStep whole{to, {}, shape.size()};
  const Var identity = convert(whole.row(shape) == whole.column(shape), packed.dtype());
  if (elements(shape) == 0 || taus.shape().back() == 0) return {identity.value};
  const auto step = [&](graph::Graph& g, const Var& number, const Vars& now) {
    const ColumnStep at{g, static_cast<double>(taus.shape().back() - 1) - number, shape.size()};
    const Var matrix{&g, packed.value}, numbers{&g, taus.value};
    Shape one = taus.shape();
    one.back() = 1;
    one.push_back(1);
    const Var column = at.column_k(matrix), row = at.row(column.shape()), k = at.here(column.shape());
    const Var v = select(row == k, literal(column, 1), only_where(row > k, column));
    return Vars{at.reflected(now[0], v, reshape(element(numbers, at.rows_dim(), at.k), one))};
  };
  return repeated(to, taus.shape().back(), {identity}, step);
}

std::string suffix(const TensorType& t) { return compute_type(t.dtype) == DType::f32 ? "_f32" : "_f64"; }

Primitive make_geqrf() {
  Primitive p = make_primitive("linalg", "geqrf", {"operand"}, {});
  p.group = Group::floating;
  p.infer = [](const Types& t, const Params&) {
    check_matrix("operand", t[0]);
    TensorType taus = t[0];
    taus.shape = leading(t[0].shape);
    taus.shape.back() = std::min(taus.shape.back(), t[0].shape.back());
    return Types{t[0], taus};
  };
  p.batch = batch_leading;
  p.expand = expand_geqrf;
  p.lower = [](Lowering& l, const graph::Call& c) {
    const TensorType& t = c.inputs[0]->type;
    l.call(("geqrf" + suffix(t)).c_str(), c.outputs, c.inputs,
           {t.shape[t.shape.size() - 2], t.shape.back(), matrices(t.shape)});
  };
  return p;
}

Primitive make_householder_product() {
  Primitive p = make_primitive("linalg", "householder_product", {"packed", "taus"}, {});
  p.group = Group::floating;
  p.infer = [](const Types& t, const Params&) {
    check_matrix("packed", t[0]);
    check_same_dtype("packed", t[0], "taus", t[1]);
    const Shape &shape = t[0].shape, &taus = t[1].shape;
    if (shape.back() > shape[shape.size() - 2])
      throw Error("shape", "`packed` must not have more columns than rows.",
                  {"x Got shape " + in_parentheses(shape) + "."});
    const bool fits = taus.size() + 1 == shape.size() && std::equal(taus.begin(), taus.end() - 1, shape.begin()) &&
                      taus.back() <= shape.back();
    if (!fits)
      throw Error("shape", "`taus` must have one element for each of the first columns of `packed`.",
                  {"x Got shapes " + in_parentheses(shape) + " and " + in_parentheses(taus) + "."});
    return Types{t[0]};
  };
  p.batch = batch_leading;
  p.expand = expand_product;
  p.lower = [](Lowering& l, const graph::Call& c) {
    const TensorType& t = c.inputs[0]->type;
    l.call(("householder_product" + suffix(t)).c_str(), c.outputs, c.inputs,
           {t.shape[t.shape.size() - 2], t.shape.back(), c.inputs[1]->type.shape.back(), matrices(t.shape)});
  };
  return p;
}

}  // namespace

void register_reflections(Registry& r) {
  r.add(make_geqrf());
  r.add(make_householder_product());
}

}  // namespace anvil::primitives
