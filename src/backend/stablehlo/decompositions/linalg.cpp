// Factorisations and triangular systems: StableHLO's own, and LAPACK's as JAX calls them when
// it lowers for CPUs.
#include "backend/stablehlo/import.h"
#include "primitives/vocabulary/infer.h"

namespace anvil::stablehlo {
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

// One of LAPACK's letters, such as uplo: whether it is the first of `two`, or the second.
bool is_first(const Operation& op, const char* letter, const char* two) {
  const Attribute* config = find(op, {"mhlo.backend_config"});
  if (!config || !std::holds_alternative<std::shared_ptr<Dictionary>>(config->value))
    config = &need(op, "backend_config");
  int64_t code = integer_field(op, fields(op, *config), letter);
  if (code != two[0] && code != two[1])
    refuse(op.at, std::string("`") + letter + "` of the call should be " + two[0] + " or " + two[1] + " (" +
                      std::to_string(two[0]) + " or " + std::to_string(two[1]) + "), not " + std::to_string(code));
  return code == two[0];
}

// LAPACK sees matrices column by column, whatever order the batch has.
void check_layouts(const Operation& op, const Vars& x) {
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

// The other triangle stays as it was. `info` is 0 where there is a factor and 1 where there is
// none; which minor is not positive is not known.
Values potrf(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  check_layouts(op, x);
  bool lower = is_first(op, "uplo", "LU");
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
  check_layouts(op, x);
  const Attribute* config = find(op, {"mhlo.backend_config"});
  // the conjugate transpose of real matrices is the transpose
  bool conjugate = config && std::holds_alternative<std::shared_ptr<Dictionary>>(config->value) &&
                   integer_field(op, fields(op, *config), "trans_x") == 'C';
  return {primitives::triangular_solve(x[0], x[1], is_first(op, "side", "LR"), is_first(op, "uplo", "LU"),
                                       is_first(op, "diag", "UN"), conjugate || is_first(op, "trans_x", "TN"))
              .value};
}

// LAPACK's other routines, by the factorisation that they stand for.
struct Missing {
  const char *routine, *what;
};
constexpr Missing missing[] = {{"getrf", "LU factorisation"},
                               {"geqrf", "QR factorisation"},
                               {"geqp3", "QR factorisation with pivots"},
                               {"orgqr", "QR factorisation"},
                               {"ungqr", "QR factorisation"},
                               {"ormqr", "QR factorisation"},
                               {"gesdd", "singular value decomposition"},
                               {"gesvd", "singular value decomposition"},
                               {"syevd", "eigendecomposition of symmetric matrices"},
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
  for (const char* name : {"lu", "qr", "eigh", "svd"})
    add(rules, std::string("custom_call @anvil.") + name,
        [name](Importer& in, const Operation& op, const Vars& x) -> Values {
          need_operands(op, 1);
          return in.record(name, x);
        });
  auto lapack = [](char letter, const char* routine, const char* suffix) {
    return std::string("custom_call @lapack_") + letter + routine + suffix;
  };
  for (char letter : {'s', 'd'}) {
    add(rules, lapack(letter, "potrf", "_ffi"), potrf);
    add(rules, lapack(letter, "trsm", "_ffi"), trsm);
  }
  for (const Missing& m : missing)
    for (char letter : {'s', 'd', 'c', 'z'})
      for (const char* suffix : {"_ffi", ""})
        add(rules, lapack(letter, m.routine, suffix), [m](Importer&, const Operation& op, const Vars&) -> Values {
          refuse(op.at, "`" + word(op, "call_target_name") + "` needs a " + m.what + ", which is not supported");
        });
}

}  // namespace anvil::stablehlo
