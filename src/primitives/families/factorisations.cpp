// LU, QR, symmetric eigenvalue and singular value decompositions, and systems of equations. Each
// is a stack of matrices side by side, computed by a function of the runtime; matrices with an
// element that is no number, or infinite, have NaN for all results.
#include "primitives/families/factorisations.h"

#include "primitives/families/families.h"
#include "primitives/vocabulary/batching.h"

namespace anvil::primitives {
namespace {

// The shape of a stack of matrices with other sizes.
Shape stacked(Shape shape, std::initializer_list<int64_t> last) {
  shape.resize(shape.size() - 2);
  shape.insert(shape.end(), last);
  return shape;
}
int64_t rank_at_most(const Shape& shape) { return std::min(shape[shape.size() - 2], shape.back()); }
// Of a product that gives A: its first factor, as wide as the shorter side of A is long, its last one, as high, and
// what is as long.
struct Factors {
  explicit Factors(const TensorType& a) : left(a), right(a), between(a) {
    check_matrix("operand", a);
    const int64_t k = rank_at_most(a.shape);
    left.shape = stacked(a.shape, {a.shape[a.shape.size() - 2], k});
    right.shape = stacked(a.shape, {k, a.shape.back()});
    between.shape = stacked(a.shape, {k});
  }
  TensorType left, right, between;
};

Primitive factorisation(const char* name) {
  Primitive p = make_primitive("linalg", name, {"operand"}, {});
  p.group = Group::floating;
  p.batch = batch_leading;
  p.hlo.op = std::string("custom_call @anvil.") + name;  // LAPACK's are told apart by version, and have no permutation
  p.lower = [name = std::string(name)](Lowering& l, const graph::Call& c) {
    const TensorType& t = c.inputs[0]->type;
    const char* suffix = compute_type(t.dtype) == DType::f32 ? "_f32" : "_f64";
    l.call((name + suffix).c_str(), c.outputs, c.inputs,
           {t.shape[t.shape.size() - 2], t.shape.back(), matrices(t.shape)});
  };
  return p;
}

// (packed, pivots, permutation): `packed` holds the unit lower triangular L, without its diagonal,
// and the upper triangular U of L U = P A with rows exchanged for the largest pivot. Row i was
// exchanged with row pivots[i], in order; row i of P A is row permutation[i] of A.
Primitive make_lu() {
  Primitive p = factorisation("lu");
  p.index_results = {1, 2};
  p.infer = [](const Types& t, const Params&) {
    check_matrix("operand", t[0]);
    const Shape& s = t[0].shape;
    check_counts_in_i32("The number of rows of `operand`", s[s.size() - 2]);
    Shape pivots = stacked(s, {rank_at_most(s)}), order = stacked(s, {s[s.size() - 2]});
    return Types{t[0], {DType::i32, pivots}, {DType::i32, order}};
  };
  p.reverse = reverse_lu;
  return p;
}

// (q, r): q has orthonormal columns, as many as the shorter side is long, and r is upper triangular.
Primitive make_qr() {
  Primitive p = factorisation("qr");
  p.infer = [](const Types& t, const Params&) {
    const Factors f(t[0]);
    return Types{f.left, f.right};
  };
  p.reverse = reverse_qr;
  return p;
}

// (values, vectors), ascending, of the symmetric matrix that the lower triangle says.
Primitive make_eigh() {
  Primitive p = factorisation("eigh");
  p.infer = [](const Types& t, const Params&) {
    check_square("operand", t[0]);
    return Types{{t[0].dtype, stacked(t[0].shape, {t[0].shape.back()}), t[0].ambiguous}, t[0]};
  };
  p.reverse = reverse_eigh;
  p.forward = forward_eigh;
  return p;
}

// (u, s, vt): u diag(s) vt, with s descending and as many of each as the shorter side is long.
Primitive make_svd() {
  Primitive p = factorisation("svd");
  p.infer = [](const Types& t, const Params&) {
    const Factors f(t[0]);
    return Types{f.left, f.between, f.right};
  };
  p.reverse = reverse_svd;
  p.forward = forward_svd;
  return p;
}

// The values alone, which are result `at` of the whole; where somebody differentiates, the vectors are kept, in order.
Primitive values_of(const char* whole, const char* name, size_t at, void (*reverse)(ReverseStep&)) {
  Primitive p = factorisation(name);
  p.infer = [=](const Types& t, const Params& params) { return Types{registry().at(whole).infer(t, params)[at]}; };
  p.augment = [=](graph::Graph& g, const graph::Call& c) {
    std::vector<ValuePtr> all = record(g, registry().at(whole), {c.inputs[0]});
    std::swap(all[0], all[at]);
    return all;
  };
  p.reverse = reverse;
  return p;
}

// ---- systems of equations ---------------------------------------------------------------

// x with the factors that it was found by, which the way back solves with once more.
std::vector<ValuePtr> solve_with_factors(graph::Graph& g, const graph::Call& c) {
  const std::vector<ValuePtr> lu = record(g, registry().at("lu"), {c.inputs[0]});
  const Var packed{&g, lu[0]}, permutation{&g, lu[2]}, b{&g, c.inputs[1]};
  return {solve_by_lu(packed, permutation, b, false).value, lu[0], lu[2]};
}

// With A X = B: dB solves A' dB = g, and dA = -dB X' (Giles 2008, 2.3.1).
void reverse_system(ReverseStep& step) {
  const Var x = result(step), db = solve_by_lu(residual(step, 0), residual(step, 1), cotangent(step), true);
  set(step, 1, db);
  if (step.required[0]) set(step, 0, -product(db, 1, x, 1));
}

// One matrix for all examples is factorised once: their right sides stand side by side.
void batch_system(BatchStep& step) {
  if (step.batched[0] || rank(step, 0) != 2) return batch_leading(step);
  const Var b = operand(step, 1);
  const Shape& n = b.shape();
  set(step, {reshape(record("solve", {operand(step, 0), reshape(b, {n[0], n[1] * n[2]})}), n)});
}

Primitive make_solve() {
  Primitive p = make_primitive("linalg", "solve", {"a", "b"}, {});
  p.group = Group::floating;
  p.infer = [](const Types& t, const Params&) { return infer_system(t, true); };
  p.expand = [](graph::Graph& g, const graph::Call& c) {
    return std::vector<ValuePtr>{solve_with_factors(g, c).front()};
  };
  p.batch = batch_system;
  p.augment = solve_with_factors;
  p.reverse = reverse_system;
  return p;
}

}  // namespace

// Of a gather and a scatter of whole rows.
static IndexDims whole_rows(const Var& x) {
  const Ints batch = all_axes(x.shape().size() - 2);
  return {{column_axis(x)}, {row_axis(x)}, batch, batch, {row_axis(x)}, column_axis(x)};
}
Var rows_from(const Var& x, const Var& order) {
  if (elements(x.shape()) == 0) return x;
  Shape one(x.shape().size(), 1);
  one.back() = columns(x);
  return gather(x, order, one, whole_rows(x));
}
Var rows_to(const Var& x, const Var& order) {
  return elements(x.shape()) == 0 ? x : scatter(zeros_like(x), order, x, whole_rows(x), "", true);
}

Var solve_by_lu(const Var& packed, const Var& permutation, const Var& b, bool transpose_a) {
  if (transpose_a) {
    const Var y = triangular_solve(packed, b, true, false, false, true);
    return rows_to(triangular_solve(packed, y, true, true, true, true), permutation);
  }
  const Var y = triangular_solve(packed, rows_from(b, permutation), true, true, true, false);
  return triangular_solve(packed, y, true, false, false, false);
}

void register_factorisations(Registry& r) {
  r.add(make_lu());
  r.add(make_qr());
  r.add(make_eigh());
  r.add(make_svd());
  r.add(values_of("eigh", "eigh_values", 0, reverse_eigh_values));
  r.add(values_of("svd", "svd_values", 1, reverse_svd_values));
  r.add(make_solve());
}

}  // namespace anvil::primitives
