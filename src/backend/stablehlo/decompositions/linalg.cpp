// Factorisations and triangular systems: StableHLO's own, and LAPACK's as JAX calls them when
// it lowers for CPUs.
#include "backend/stablehlo/decompositions/lapack.h"
#include "primitives/vocabulary/infer.h"

namespace anvil::stablehlo {

void check_lapack_layouts(const Operation& op, const Vars& x) {
  for (const char* name : {"operand_layouts", "result_layouts"}) {
    const Attribute* a = find(op, name);
    if (!a) continue;
    auto items = std::get_if<std::vector<Attribute>>(&a->value);
    if (!items || items->empty()) refuse(a->at, std::string("`") + name + "` should be a list of lists of dimensions");
    Ints order = ints(op, (*items)[0]);
    auto rank = static_cast<int64_t>(x[0].shape().size());
    if (rank < 2 || order.size() != static_cast<size_t>(rank) || order[0] != rank - 2 || order[1] != rank - 1)
      refuse(a->at, "only matrices that are stored by columns are supported");
  }
}

namespace {

using Values = std::vector<ValuePtr>;

Values triangular_solve(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  std::string transpose = word(op, "transpose_a");
  bool transposed = transpose == "TRANSPOSE" || transpose == "ADJOINT";
  if (!transposed && transpose != "NO_TRANSPOSE")
    refuse(op.at, "`transpose_a` should be NO_TRANSPOSE, TRANSPOSE or ADJOINT, not `" + transpose + "`");
  return {primitives::triangular_solve(x[0], x[1], flag(op, "left_side", true), flag(op, "lower", true),
                                       flag(op, "unit_diagonal", false), transposed)
              .value};
}

// ---- LAPACK -----------------------------------------------------------------------------------

// One of LAPACK's letters, such as uplo: which one of `known` it is.
char letter(const Operation& op, const char* name, std::string_view known) {
  const Attribute* config = find(op, "mhlo.backend_config");
  if (!config || !std::holds_alternative<std::shared_ptr<Dictionary>>(config->value))
    config = &need(op, "backend_config");
  const int64_t code = integer_field(op, fields(op, *config), name);
  std::string letters, codes;
  for (size_t k = 0; k < known.size(); ++k) {
    if (code == known[k]) return known[k];
    const char* between = k == 0 ? "" : k + 1 < known.size() ? ", " : " or ";
    letters += between + std::string(1, known[k]);
    codes += between + std::to_string(known[k]);
  }
  refuse(op.at, std::string("`") + name + "` of the call should be " + letters + " (" + codes + "), not " +
                    std::to_string(code));
}

// The other triangle stays as it was. `info` is 0 where there is a factor and 1 where there is
// none; which minor is not positive is not known.
Values potrf(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  check_lapack_layouts(op, x);
  bool lower = letter(op, "uplo", "LU") == 'L';
  Var a = x[0], factor = primitives::record("cholesky", {a}, {{"lower", lower}});
  auto rank = static_cast<int64_t>(a.shape().size());
  Var row = primitives::iota(in.graph(), rank - 2, DType::i32, a.shape()),
      column = primitives::iota(in.graph(), rank - 1, DType::i32, a.shape());
  Var result = primitives::select(lower ? row >= column : row <= column, factor, a);
  Shape batch(a.shape().begin(), a.shape().end() - 2), one = a.shape();
  if (a.shape().back() == 0) return {result.value, primitives::literal(in.graph(), 0, {DType::i32, batch}).value};
  std::fill(one.end() - 2, one.end(), 1);
  Var corner = primitives::reshape(primitives::slice(factor, Ints(one.size(), 0), one, Ints(one.size(), 1)), batch);
  return {result.value, primitives::convert(corner != corner, DType::i32).value};
}

Values trsm(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  check_lapack_layouts(op, x);
  const Attribute* config = find(op, "mhlo.backend_config");
  // the conjugate transpose of real matrices is the transpose
  bool conjugate = config && std::holds_alternative<std::shared_ptr<Dictionary>>(config->value) &&
                   integer_field(op, fields(op, *config), "trans_x") == 'C';
  return {primitives::triangular_solve(x[0], x[1], letter(op, "side", "LR") == 'L', letter(op, "uplo", "LU") == 'L',
                                       letter(op, "diag", "UN") == 'U', conjugate || letter(op, "trans_x", "TN") == 'T')
              .value};
}

Var transposed(const Var& x) {
  Ints permutation;
  for (size_t d = 0; d < x.shape().size(); ++d) permutation.push_back(static_cast<int64_t>(d));
  std::swap(permutation[permutation.size() - 2], permutation.back());
  return primitives::transpose(x, permutation);
}
Shape without_last(const Var& x) { return Shape(x.shape().begin(), x.shape().end() - 1); }

// Whether the first one of some numbers is NaN, as `info` says that there are no values.
ValuePtr failed(Importer& in, const Var& numbers) {
  const Shape batch = without_last(numbers);
  if (numbers.shape().back() == 0) return primitives::literal(in.graph(), 0, {DType::i32, batch}).value;
  Shape one = numbers.shape();
  one.back() = 1;
  const Var first = primitives::slice(numbers, Ints(one.size(), 0), one, Ints(one.size(), 1));
  return primitives::reshape(primitives::convert(first != first, DType::i32), batch).value;
}

// Rows count from 1, and `info` is the first zero on the diagonal of U, or 0.
Values getrf(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  check_lapack_layouts(op, x);
  const Values lu = in.record("lu", {x[0]});
  const Var packed = in.var(lu[0]), pivots = in.var(lu[1]);
  const auto rank = static_cast<int64_t>(packed.shape().size());
  const Var row = primitives::iota(in.graph(), rank - 2, DType::i32, packed.shape()),
            column = primitives::iota(in.graph(), rank - 1, DType::i32, packed.shape());
  const double none = std::numeric_limits<int32_t>::max();
  const Var far = primitives::literal(row, none);
  const Var zero = primitives::select((row == column) & (packed == 0.0), row + 1.0, far);
  const Var first = -primitives::reduce_max(-zero, {rank - 2, rank - 1});
  const Var info = primitives::select(first == none, primitives::zeros_like(first), first);
  return {lu[0], (pivots + 1.0).value, elements(packed.shape()) == 0 ? primitives::zeros_like(info).value : info.value};
}

Values syevd(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  check_lapack_layouts(op, x);
  const Var a = letter(op, "uplo", "LU") == 'L' ? x[0] : transposed(x[0]);
  if (letter(op, "mode", "VN") == 'N') {  // what is in the place of the vectors is of no use to anybody
    const Var values = primitives::record("eigh_values", {a});
    return {x[0].value, values.value, failed(in, values)};
  }
  const Values eigh = in.record("eigh", {a});
  return {eigh[1], eigh[0], failed(in, in.var(eigh[0]))};
}

// What LAPACK leaves in the operand's place is of no use to anybody: the operand stays.
Values gesdd(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  check_lapack_layouts(op, x);
  const Shape& shape = x[0].shape();
  const char mode = letter(op, "mode", "SAN");
  if (mode == 'A' && shape[shape.size() - 2] != shape.back())
    refuse(op.at, "singular vectors beyond those of the thin decomposition are not supported");
  if (mode == 'N') {  // there are results for the vectors, of any size
    if (op.result_types.size() != 5) refuse(op.at, "`" + word(op, "call_target_name") + "` has five results");
    const Var values = primitives::record("svd_values", {x[0]});
    const auto none = [&](size_t k) { return primitives::literal(in.graph(), Scalar(0), op.result_types[k]).value; };
    return {x[0].value, values.value, none(2), none(3), failed(in, values)};
  }
  const Values svd = in.record("svd", {x[0]});
  return {x[0].value, svd[1], svd[0], svd[2], failed(in, in.var(svd[1]))};
}

// LAPACK's other routines, by the factorisation that they stand for.
struct Missing {
  const char *routine, *what;
};
constexpr Missing missing[] = {{"geqp3", "QR factorisation with pivots"},
                               {"ungqr", "QR factorisation of complex matrices"},
                               {"ormqr", "product with the Q of a QR factorisation"},
                               {"gesvd", "singular value decomposition"},
                               {"heevd", "eigendecomposition of Hermitian matrices"},
                               {"geev", "eigendecomposition"},
                               {"gees", "Schur decomposition"},
                               {"gehrd", "reduction to Hessenberg form"},
                               {"sytrd", "reduction to tridiagonal form"},
                               {"hetrd", "reduction to tridiagonal form"},
                               {"gtsv", "solution of tridiagonal systems"}};

}  // namespace

void add_linalg_rules(Rules& rules) {
  add(rules, "stablehlo.triangular_solve", triangular_solve);
  auto lapack = [](char letter, const char* routine, const char* suffix) {
    return std::string("custom_call @lapack_") + letter + routine + suffix;
  };
  for (char letter : {'s', 'd'}) {
    add(rules, lapack(letter, "potrf", "_ffi"), potrf);
    add(rules, lapack(letter, "trsm", "_ffi"), trsm);
    add(rules, lapack(letter, "getrf", "_ffi"), getrf);
    add(rules, lapack(letter, "syevd", "_ffi"), syevd);
    add(rules, lapack(letter, "gesdd", "_ffi"), gesdd);
  }
  for (const Missing& m : missing)
    for (char letter : {'s', 'd', 'c', 'z'})
      for (const char* suffix : {"_ffi", ""})
        add(rules, lapack(letter, m.routine, suffix), [m](Importer&, const Operation& op, const Vars&) -> Values {
          refuse(op.at, "`" + word(op, "call_target_name") + "` needs a " + m.what + ", which is not supported");
        });
}

}  // namespace anvil::stablehlo
