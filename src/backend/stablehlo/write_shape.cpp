// Primitives that make and move elements.
#include "backend/stablehlo/write.h"
#include "transform/simplify.h"

namespace anvil::stablehlo {
namespace {

// R's order is row-major order of the reversed dimensions.
Items reshape(Writer& w, const Call& c) {
  Item x = w.use(c.inputs[0]);
  const Shape& shape = c.outputs[0]->type.shape;
  TensorType type = typed(x.type.dtype, shape);
  if (transform::keeps_row_major(x.type.shape, shape)) return {w.op("stablehlo.reshape", {x}, type)};
  return {w.transposed(w.op("stablehlo.reshape", {w.transposed(x)}, typed(x.type.dtype, reversed(shape))))};
}

Items fill(Writer& w, const Call& c) {
  const TensorType& type = c.outputs[0]->type;
  return {w.number(c.params.get<Scalar>("value"), type.dtype, type.shape)};
}

Items iota(Writer& w, const Call& c) {
  const TensorType& type = c.outputs[0]->type;
  Item x = w.op("stablehlo.iota", {}, type, {"iota_dimension = " + std::to_string(c.params.integer("dim")) + " : i64"});
  int64_t start = c.params.integer("start");
  if (start == 0) return {x};
  return {w.op("stablehlo.add", {x, w.number(Scalar(start), type.dtype, type.shape)}, type)};
}

}  // namespace

void add_shape_writers(WriteRules& rules) {
  add(rules, "fill", fill);
  add(rules, "reshape", reshape);
  add(rules, "iota", iota);
}

}  // namespace anvil::stablehlo
