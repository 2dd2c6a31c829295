// What the rules of products share: stablehlo.dot, dot_general, einsum,
// convolution and chlo.ragged_dot.
#pragma once
#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {

struct Dimensions {
  Ints lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};
// From the fields of dot_dimension_numbers and its kin.
Dimensions dimensions(const Operation&, const Dictionary&);

// The product in the dtype of the operation's result; where that is another than the
// operands', in the wider of the two. Every precision that a text can ask for is met so.
Var product(const Operation&, Var, Var, const Dimensions&);
void need_one_dtype(const Operation&, const Var&, const Var&);
// Refuses a precision_config that makes no sense.
void check_precision(const Operation&);

void add_ragged_rules(Rules&);

}  // namespace anvil::stablehlo
