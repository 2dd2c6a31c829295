// Products of tensors.
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

Values dot_general(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  std::vector<Ints> contracting = {{}, {}}, batching = {{}, {}};
  if (const Attribute* a = find(op, {"dot_dimension_numbers"})) {
    auto d = std::get_if<std::shared_ptr<Dictionary>>(&a->value);
    if (!d) refuse(op.at, "`dot_dimension_numbers` is malformed");
    batching = {field(op, **d, "lhs_batching_dimensions"), field(op, **d, "rhs_batching_dimensions")};
    contracting = {field(op, **d, "lhs_contracting_dimensions"), field(op, **d, "rhs_contracting_dimensions")};
  } else {
    auto pair = [&](const char* name, std::vector<Ints>& into) {
      const Attribute* p = find(op, {name});
      if (!p) return;
      auto items = std::get_if<std::vector<Attribute>>(&p->value);
      if (!items || items->size() != 2) refuse(op.at, std::string("`") + name + "` is malformed");
      into = {ints(op, (*items)[0]), ints(op, (*items)[1])};
    };
    pair("batching_dims", batching);
    pair("contracting_dims", contracting);
  }
  return {primitives::dot_general(x[0], x[1], contracting[0], contracting[1], batching[0], batching[1]).value};
}

}  // namespace

void add_contract_rules(Rules& rules) { rules.emplace("stablehlo.dot_general", dot_general); }

}  // namespace anvil::stablehlo
