// Slices with starts known only at run time, gather and scatter.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {

// The operands, the indices from position `first` on counted from 0.
Items zero_based(Writer& w, const Call& c, size_t first) {
  Items items;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const ValuePtr& v = c.inputs[i];
    if (i >= first && v->kind == graph::Value::Kind::literal) {
      items.push_back(w.number(Scalar(v->literal.as<int64_t>() - 1), v->type.dtype));
      continue;
    }
    items.push_back(w.use(v));
    if (i < first) continue;
    Item one = w.number(Scalar(1), v->type.dtype);
    items[i] = w.op("stablehlo.subtract", {items[i], one}, v->type);
  }
  return items;
}

Items dynamic_slice(Writer& w, const Call& c) {
  auto items = zero_based(w, c, 1);
  return {w.op("stablehlo.dynamic_slice", items, c.outputs[0]->type,
               {"slice_sizes = " + array(c.params.ints("slice_sizes"))})};
}

Items dynamic_update_slice(Writer& w, const Call& c) {
  auto items = zero_based(w, c, 2);
  return {w.op("stablehlo.dynamic_update_slice", items, c.outputs[0]->type)};
}

}  // namespace

void add_index_writers(WriteRules& rules) {
  rules.emplace("dynamic_slice", dynamic_slice);
  rules.emplace("dynamic_update_slice", dynamic_update_slice);
}

}  // namespace anvil::stablehlo
