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

// StableHLO has no operators for these. The names are our own: what LAPACK calls do is told apart by
// backend and version, and has no permutation.
Items factorisation(Writer& w, const Call& c) {
  return w.same_operands("stablehlo.custom_call", c,
                         {"call_target_name = \"anvil." + c.primitive->name + "\"", "api_version = 4 : i32"});
}

// Our functions take and give column-major memory: the first dimension is the minor one.
std::string column_major(const std::vector<ValuePtr>& values) {
  std::string list;
  for (const ValuePtr& v : values) {
    const auto rank = static_cast<int64_t>(v->type.shape.size());
    Ints order;
    for (int64_t d = 0; d < rank; ++d) order.push_back(d);
    list += (list.empty() ? "" : ", ") + ("dense<" + (rank > 0 ? brackets(order) : "") + "> : tensor<") +
            std::to_string(rank) + "xindex>";
  }
  return "[" + list + "]";
}
Items custom_call(Writer& w, const Call& c) {
  return w.same_operands(
      "stablehlo.custom_call", c,
      {"call_target_name = \"" + c.params.string("name") + "\"", "api_version = 4 : i32",
       "has_side_effect = " + boolean(primitives::primitive_of(c).effect),
       "operand_layouts = " + column_major(c.inputs), "result_layouts = " + column_major(c.outputs)});
}

}  // namespace

void add_linalg_writers(WriteRules& rules) {
  add(rules, "cholesky", cholesky);
  add(rules, "triangular_solve", triangular_solve);
  add(rules, "custom_call", custom_call);
  for (const char* name : {"lu", "qr", "eigh", "svd"}) add(rules, name, factorisation);
}

}  // namespace anvil::stablehlo
