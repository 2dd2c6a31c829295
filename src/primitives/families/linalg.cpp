// Factorisations and triangular systems. The last two dimensions are the matrix, the ones
// before count matrices that are treated side by side.
#include "primitives/families/families.h"
#include "primitives/families/matrices.h"
#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/simplification.h"

namespace anvil::primitives {
namespace {

// ---- Cholesky ---------------------------------------------------------------------------

void reverse_cholesky(ReverseStep& step) {
  set(step, 0, record("cholesky_reverse", {result(step), cotangent(step)}, step.call.params));
}

// A select of zeros for the triangle that StableHLO leaves open: in our factor they are there.
bool mask_triangle(graph::Call& cholesky, const graph::Call& reader, const Maker& maker) {
  if (primitive_of(reader).name != "select" || reader.inputs[1] != cholesky.outputs[0]) return false;
  const auto zero = splat(reader.inputs[2]);
  const graph::Call* mask = maker(reader.inputs[0]);
  if (!zero || !(*zero == Scalar(0.0)) || mask == nullptr) return false;
  if (primitive_of(*mask).op != (cholesky.params.flag("lower") ? loops::Op::ge : loops::Op::le)) return false;
  const auto counts = [&maker](const ValuePtr& v, size_t dim) {  // 0, 1, ... without passing its dtype's largest number
    const graph::Call* iota = maker(v);
    if (iota == nullptr || primitive_of(*iota).name != "iota" || iota->params.integer("start") != 0) return false;
    const DType t = v->type.dtype;
    const int64_t n = v->type.shape.at(dim);
    const bool fits = is_float(t) ? n <= int64_t(1) << descriptor(t).mantissa_bits
                                  : t == DType::ui64 || n <= highest(t).as<int64_t>();
    return fits && iota->params.integer("dim") == static_cast<int64_t>(dim);
  };
  const size_t rank = reader.outputs[0]->type.shape.size();
  return counts(mask->inputs[0], rank - 2) && counts(mask->inputs[1], rank - 1);
}

Primitive make_cholesky() {
  Primitive p = make_primitive("linalg", "cholesky", {"operand"}, {{"lower", Kind::flag}});
  p.key = "chol";
  p.group = Group::floating;
  p.infer = [](const Types& t, const Params&) {
    check_square("operand", t[0]);
    return Types{t[0]};
  };
  p.batch = batch_leading;
  p.reverse = reverse_cholesky;
  p.hlo = {"stablehlo.cholesky", {{"lower", "lower", Attribute::boolean, "", 0}}};
  p.absorb = mask_triangle;
  p.lower = [](Lowering& l, const graph::Call& c) {
    const TensorType& t = c.inputs[0]->type;
    l.call(compute_type(t.dtype) == DType::f32 ? "cholesky_f32" : "cholesky_f64", {c.outputs[0]}, {c.inputs[0]},
           {t.shape.back(), c.params.flag("lower"), matrices(t.shape)});
  };
  return p;
}

// ---- what comes back through a factor -----------------------------------------------------

// With A = L L' and S the symmetric matrix whose lower triangle is half that of L' g, a symmetric
// A has the cotangent L^-T S L^-1. An upper factor is the transpose of L. As one triangle of A is
// read, each of its elements stands for two, and the other triangle gets nothing: that is what
// differences by single elements give, and with a symmetric A the same for whatever made it.
std::vector<ValuePtr> expand_cholesky_reverse(graph::Graph& graph, const graph::Call& c) {
  const Var factor{&graph, c.inputs[0]}, g{&graph, c.inputs[1]};
  bool lower = c.params.flag("lower");
  Var m = lower ? product(factor, 0, g, 0) : product(factor, 1, g, 1);
  Var s = select(row_numbers(m) >= column_numbers(m), m, transposed(m)) * 0.5;
  Var left = triangular_solve(factor, s, true, lower, false, lower);
  Var both = triangular_solve(factor, left, false, lower, false, !lower);
  Var row = row_numbers(both), column = column_numbers(both), once = row == column;
  Var read = lower ? row > column : row < column;
  return {select(once, both, only_where(read, both * 2.0)).value};
}

Primitive make_cholesky_reverse() {
  Primitive p = make_primitive("linalg", "cholesky_reverse", {"factor", "cotangent"}, {{"lower", Kind::flag}});
  p.key = "chol_reverse";
  p.group = Group::floating;
  p.linear = Operands::only(1);
  p.infer = [](const Types& t, const Params&) {
    check_same_dtype("factor", t[0], "cotangent", t[1]);
    check_square("factor", t[0]);
    if (t[0].shape != t[1].shape)
      throw Error("shape", "`factor` and `cotangent` must have the same shape.",
                  {"x Got shapes " + in_parentheses(t[0].shape) + " and " + in_parentheses(t[1].shape) + "."});
    return Types{t[1]};
  };
  p.batch = batch_leading;
  p.expand = expand_cholesky_reverse;
  p.lower = [](Lowering& l, const graph::Call& c) {
    const TensorType& t = c.inputs[0]->type;
    l.call(compute_type(t.dtype) == DType::f32 ? "cholesky_reverse_f32" : "cholesky_reverse_f64", {c.outputs[0]},
           {c.inputs[0], c.inputs[1]}, {t.shape.back(), c.params.flag("lower"), matrices(t.shape)});
  };
  return p;
}

// ---- triangular systems: op(A) X = B, or X op(A) = B ------------------------------------

// dB solves the transposed system for g; op(A) gets -dB X' (right: -X' dB), within the
// triangle that is read.
void reverse_solve(ReverseStep& step) {
  Var a = operand(step, 0), x = result(step), g = cotangent(step);
  const Params& params = step.call.params;
  bool left = params.flag("left_side"), lower = params.flag("lower"), unit = params.flag("unit_diagonal");
  bool transpose_a = params.flag("transpose_a");
  Var db = triangular_solve(a, g, left, lower, unit, !transpose_a);
  set(step, 1, db);
  if (!step.required[0]) return;
  int64_t summed = left ? 1 : 0;
  Var da = left != transpose_a ? product(db, summed, x, summed) : product(x, summed, db, summed);
  Var row = row_numbers(da), column = column_numbers(da);
  Var read = lower ? (unit ? row > column : row >= column) : (unit ? row < column : row <= column);
  set(step, 0, only_where(read, -da));
}

// One matrix for all examples: their right sides stand side by side.
void batch_solve(BatchStep& step) {
  if (step.batched[0] || rank(step, 0) != 2) return batch_leading(step);
  const bool left = step.call.params.flag("left_side");
  const auto solved = [&](const Var& b, Shape joined) {
    const Var x = record("triangular_solve", {operand(step, 0), reshape(b, std::move(joined))}, step.call.params);
    return reshape(x, b.shape());
  };
  Var b = operand(step, 1);
  const Shape& n = b.shape();
  if (left) return set(step, {solved(b, {n[0], n[1] * n[2]})});
  set(step, {transpose(solved(transpose(b, {0, 2, 1}), {n[0] * n[2], n[1]}), {0, 2, 1})});
}

Primitive make_triangular_solve() {
  Primitive p = make_primitive(
      "linalg", "triangular_solve", {"a", "b"},
      {{"left_side", Kind::flag}, {"lower", Kind::flag}, {"unit_diagonal", Kind::flag}, {"transpose_a", Kind::flag}});
  p.group = Group::floating;
  p.linear = Operands::only(1);
  p.infer = [](const Types& t, const Params& params) { return infer_system(t, params.flag("left_side")); };
  p.batch = batch_solve;
  p.reverse = reverse_solve;
  p.hlo = {"stablehlo.triangular_solve", {}, special};
  p.lower = [](Lowering& l, const graph::Call& c) {
    const TensorType& t = c.inputs[0]->type;
    const Shape& b = c.inputs[1]->type.shape;
    const Params& params = c.params;
    bool left = params.flag("left_side");
    l.call(compute_type(t.dtype) == DType::f32 ? "triangular_solve_f32" : "triangular_solve_f64", {c.outputs[0]},
           {c.inputs[0], c.inputs[1]},
           {t.shape.back(), b[b.size() - (left ? 1 : 2)], matrices(t.shape), left, params.flag("lower"),
            params.flag("unit_diagonal"), params.flag("transpose_a")});
  };
  return p;
}

}  // namespace

void check_matrix(const char* argument, const TensorType& t) {
  if (t.shape.size() < 2)
    throw Error("shape", "`" + std::string(argument) + "` must have at least 2 dimensions.",
                {"x Got shape " + in_parentheses(t.shape) + "."});
}
void check_square(const char* argument, const TensorType& t) {
  check_matrix(argument, t);
  if (t.shape[t.shape.size() - 2] != t.shape.back())
    throw Error("shape", "`" + std::string(argument) + "` must be a square matrix.",
                {"x Got shape " + in_parentheses(t.shape) + "."});
}

Types infer_system(const Types& t, bool left) {
  const Shape &a = t[0].shape, &b = t[1].shape;
  check_same_dtype("a", t[0], "b", t[1]);
  check_square("a", t[0]);
  std::string got = "x Got shapes " + in_parentheses(a) + " and " + in_parentheses(b) + ".";
  if (a.size() != b.size()) throw Error("shape", "`a` and `b` must have the same number of dimensions.", {got});
  if (!std::equal(a.begin(), a.end() - 2, b.begin()))
    throw Error("shape", "All dimensions of `a` and `b` but the last two must have the same sizes.", {got});
  if (a.back() != b[b.size() - (left ? 2 : 1)])
    throw Error(
        "shape",
        std::string("`b` must have as many ") + (left ? "rows as `a`." : "columns as `a` when `left_side` is FALSE."),
        {got});
  return {{t[1].dtype, b, t[0].ambiguous && t[1].ambiguous}};
}

void register_linalg(Registry& r) {
  r.add(make_cholesky());
  r.add(make_cholesky_reverse());
  r.add(make_triangular_solve());
}

}  // namespace anvil::primitives
