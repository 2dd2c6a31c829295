// What programs check while they run, as the options anvil.check_nan and anvil.check_index say: of the first, the
// core puts the checks in; of the second, R records them (R/index-check.R).
#include "primitives/vocabulary/composite.h"
#include "r_common.h"
#include "transform/check_values.h"

namespace anvil::r {
namespace {

// NA for what is no flag.
int flag_of(SEXP option) {
  return TYPEOF(option) == LGLSXP && XLENGTH(option) == 1 ? LOGICAL_ELT(option, 0) : NA_LOGICAL;
}

std::optional<transform::Faults> faults_wanted() {
  SEXP option = Rf_GetOption1(names.check_nan);
  if (option == R_NilValue) return std::nullopt;
  if (TYPEOF(option) == STRSXP && XLENGTH(option) == 1 && text_of(option, "anvil.check_nan") == "inf")
    return transform::Faults::not_finite;
  const int flag = flag_of(option);
  if (flag == NA_LOGICAL) throw wrong_argument("options(anvil.check_nan = )", "TRUE, FALSE or \"inf\"", option);
  return flag ? std::optional(transform::Faults::nan) : std::nullopt;
}

}  // namespace

int64_t checks_wanted() {
  const auto faults = faults_wanted();
  SEXP index = Rf_GetOption1(names.check_index);
  const int indices = index == R_NilValue ? FALSE : flag_of(index);
  if (indices == NA_LOGICAL) throw wrong_argument("options(anvil.check_index = )", "TRUE or FALSE", index);
  return (faults ? 1 + static_cast<int64_t>(*faults) : 0) + (indices ? 4 : 0);
}

void add_checks(Graph& g) {
  if (const auto faults = faults_wanted()) transform::check_values(g, *faults);
}

std::vector<Tensor> evaluate_graph(const Graph& g, const std::vector<Tensor>& inputs) {
  if (!faults_wanted()) return eigen::evaluate(g, inputs);
  graph::Substitution map;
  const GraphPtr checked = graph::clone(*primitives::expand(g, primitives::Reader::backend), map);
  add_checks(*checked);
  return eigen::evaluate(*checked, inputs);
}

}  // namespace anvil::r
