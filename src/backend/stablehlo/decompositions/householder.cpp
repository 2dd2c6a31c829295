// LAPACK's QR factorisation in its packed form, geqrf, and what makes Q of it, orgqr, as JAX calls them when it lowers
// for CPUs.
#include "backend/stablehlo/decompositions/lapack.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

Values geqrf(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  check_lapack_layouts(op, x);
  return primitives::record(in.graph(), primitives::registry().at("geqrf"), {x[0].value});
}

Values orgqr(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  check_lapack_layouts(op, x);
  const Shape shape = x[0].shape(), taus = x[1].shape();
  const bool fits = shape.size() >= 2 && taus.size() + 1 == shape.size() && taus.back() <= shape.back() &&
                    shape.back() <= shape[shape.size() - 2];
  if (!fits) refuse(op.at, "the reflections should be no more than the columns, and these no more than the rows");
  return primitives::record(in.graph(), primitives::registry().at("householder_product"), {x[0].value, x[1].value});
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
