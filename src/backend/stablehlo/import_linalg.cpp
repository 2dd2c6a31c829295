// Factorisations and triangular systems.
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

Values cholesky(Importer&, const Operation& op, const Vars& x) {
  return {primitives::record("cholesky", x, {{"lower", flag(op, "lower", false)}}).value};
}

Values triangular_solve(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  std::string transpose = word(op, "transpose_a");
  return {primitives::triangular_solve(x[0], x[1], flag(op, "left_side", true), flag(op, "lower", true),
                                       flag(op, "unit_diagonal", false),
                                       transpose == "TRANSPOSE" || transpose == "ADJOINT")
              .value};
}

}  // namespace

void add_linalg_rules(Rules& rules) {
  rules.emplace("stablehlo.cholesky", cholesky);
  rules.emplace("stablehlo.triangular_solve", triangular_solve);
}

}  // namespace anvil::stablehlo
