// Random bits.
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;

Values rng_bit_generator(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  if (op.result_types.size() != 2) refuse(op.at, "`stablehlo.rng_bit_generator` has two results");
  std::string algorithm = word(op, "rng_algorithm");
  if (algorithm.empty()) algorithm = word(op, "algorithm");
  return primitives::record(
      in.graph(), primitives::registry().at("rng_bit_generator"), {x[0].value},
      {{"rng_algorithm", algorithm}, {"dtype", op.result_types[1].dtype}, {"shape", op.result_types[1].shape}});
}

}  // namespace

void add_random_rules(Rules& rules) { rules.emplace("stablehlo.rng_bit_generator", rng_bit_generator); }

}  // namespace anvil::stablehlo
