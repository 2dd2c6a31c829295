// Random bits.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {

// The operator draws integers, and XLA's only unsigned ones; other dtypes take their bits. The primitive knows one
// algorithm, which "DEFAULT" is not elsewhere.
DType drawn_bits(DType t) { return is_bool(t) ? t : unsigned_of_size(size_of(t)); }

Items rng_bit_generator(Writer& w, const Call& c) {
  const TensorType& type = c.outputs[1]->type;
  DType bits = drawn_bits(type.dtype);
  Items items = w.op("stablehlo.rng_bit_generator", w.use_all(c.inputs), {c.outputs[0]->type, typed(bits, type.shape)},
                     {"rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>"});
  if (bits != type.dtype) items[1] = w.op("stablehlo.bitcast_convert", {items[1]}, type);
  return items;
}

}  // namespace

void add_random_writers(WriteRules& rules) { add(rules, "rng_bit_generator", rng_bit_generator); }

}  // namespace anvil::stablehlo
