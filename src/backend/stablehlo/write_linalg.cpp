// Factorisations and triangular systems.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {

// StableHLO leaves the other triangle open; ours is zero.
Items cholesky(Writer& w, const Call& c) {
  Item x = w.use(c.inputs[0]);
  bool lower = c.params.flag("lower");
  Item y = w.op("stablehlo.cholesky", {x}, x.type, {"lower = " + boolean(lower)});
  auto rank = static_cast<int64_t>(x.type.shape.size());
  TensorType index = typed(DType::i32, x.type.shape);
  Item row = w.op("stablehlo.iota", {}, index, {"iota_dimension = " + std::to_string(rank - 2) + " : i64"});
  Item column = w.op("stablehlo.iota", {}, index, {"iota_dimension = " + std::to_string(rank - 1) + " : i64"});
  Item keep = w.compared(lower ? "GE" : "LE", row, column);
  Item zero = w.number(Scalar(0), x.type.dtype, x.type.shape);
  return {w.op("stablehlo.select", {keep, y, zero}, x.type)};
}

Items triangular_solve(Writer& w, const Call& c) {
  return {w.op("stablehlo.triangular_solve", w.use_all(c.inputs), c.outputs[0]->type,
               {"left_side = " + boolean(c.params.flag("left_side")), "lower = " + boolean(c.params.flag("lower")),
                "unit_diagonal = " + boolean(c.params.flag("unit_diagonal")),
                std::string("transpose_a = #stablehlo<transpose ") +
                    (c.params.flag("transpose_a") ? "TRANSPOSE>" : "NO_TRANSPOSE>")})};
}

}  // namespace

void add_linalg_writers(WriteRules& rules) {
  add(rules, "cholesky", cholesky);
  add(rules, "triangular_solve", triangular_solve);
}

}  // namespace anvil::stablehlo
