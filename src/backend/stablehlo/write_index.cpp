// Slices with starts known only at run time, gather and scatter. StableHLO counts indices from 0.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {

using Lines = std::vector<std::string>;

// Indices counted from 0. Narrow and unsigned ones, which have no room below their smallest
// value, become wider first; of those that cannot, 0 becomes 1 where indices are clamped anyway.
Item zero_based(Writer& w, const ValuePtr& v, bool clamped) {
  DType t = v->type.dtype;
  if (v->kind == graph::Value::Kind::literal && !(v->literal.rounded_to(t) == lowest(t)) && elements(v->type.shape) > 0)
    return w.number(Scalar(v->literal.as<uint64_t>() - 1).rounded_to(t), t, v->type.shape);
  if (v->kind == graph::Value::Kind::constant && elements(v->type.shape) > 1) {
    auto [entry, fresh] = w.decremented.try_emplace(v.get());
    auto less = fresh ? moved(v->constant, -1) : std::nullopt;
    if (less) entry->second = graph::make_constant(*less);
    if (entry->second) return w.use(entry->second);
  }
  Item x = w.use(v);
  DType wide = size_of(t) < 4 ? DType::i32 : t == DType::ui32 ? DType::i64 : t;
  if (wide != t) x = w.op("stablehlo.convert", {x}, typed(wide, v->type.shape));
  if (t == DType::ui64 && clamped) x = w.op("stablehlo.maximum", {x, w.number(Scalar(1), t, v->type.shape)}, x.type);
  return w.op("stablehlo.subtract", {x, w.number(Scalar(1), wide, v->type.shape)}, x.type);
}

// The operands, the start indices from position `first` on. These have one type in StableHLO as well.
Items with_starts(Writer& w, const Call& c, size_t first) {
  Items items;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    items.push_back(i < first ? w.use(c.inputs[i]) : zero_based(w, c.inputs[i], true));
  for (size_t i = first; i < items.size(); ++i)
    for (size_t k = first; k < items.size(); ++k)
      if (size_of(items[k].type.dtype) > size_of(items[i].type.dtype))
        items[i] = w.op("stablehlo.convert", {items[i]}, items[k].type);
  return items;
}

Items dynamic_slice(Writer& w, const Call& c) {
  Items items = with_starts(w, c, 1);
  return {w.op("stablehlo.dynamic_slice", items, c.outputs[0]->type,
               {"slice_sizes = " + array(c.params.ints("slice_sizes"))})};
}

Items dynamic_update_slice(Writer& w, const Call& c) {
  Items items = with_starts(w, c, 2);
  return {w.op("stablehlo.dynamic_update_slice", items, c.outputs[0]->type)};
}

// ---- gather and scatter -------------------------------------------------------------------

// #stablehlo.gather<offset_dims = [1], ...>: `required` always, of the others those that are not empty.
std::string dimension_numbers(const Call& c, const char* structure, const std::vector<const char*>& lists,
                              const std::vector<const char*>& optional) {
  std::string text;
  for (const char* name : lists) {
    const Ints& dims = c.params.ints(name);
    if (dims.empty() && std::find(optional.begin(), optional.end(), name) != optional.end()) continue;
    text += std::string(name) + " = " + brackets(dims) + ", ";
  }
  return "#stablehlo." + std::string(structure) + "<" + text +
         "index_vector_dim = " + std::to_string(c.params.integer("index_vector_dim")) + ">";
}

Items gather(Writer& w, const Call& c) {
  static const std::vector<const char*> batch = {"operand_batching_dims", "start_indices_batching_dims"};
  Item x = w.use(c.inputs[0]), indices = zero_based(w, c.inputs[1], true);
  return {
      w.op("stablehlo.gather", {x, indices}, c.outputs[0]->type,
           {"dimension_numbers = " +
                dimension_numbers(
                    c, "gather", {"offset_dims", "collapsed_slice_dims", batch[0], batch[1], "start_index_map"}, batch),
            "slice_sizes = " + array(c.params.ints("slice_sizes")),
            "indices_are_sorted = " + boolean(c.params.flag("indices_are_sorted"))})};
}

Items scatter(Writer& w, const Call& c) {
  static const std::vector<const char*> batch = {"input_batching_dims", "scatter_indices_batching_dims"};
  Items operands;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    operands.push_back(2 * i + 1 == c.inputs.size() ? zero_based(w, c.inputs[i], false) : w.use(c.inputs[i]));
  Lines lines = {
      "scatter_dimension_numbers = " + dimension_numbers(c, "scatter",
                                                         {"update_window_dims", "inserted_window_dims", batch[0],
                                                          batch[1], "scatter_dims_to_operand_dims"},
                                                         batch),
      "indices_are_sorted = " + boolean(c.params.flag("indices_are_sorted")),
      "unique_indices = " + boolean(c.params.flag("unique_indices"))};
  return w.op_with_regions("stablehlo.scatter", operands, result_types(c),
                           {w.region(c.params.graph("update_computation"))}, lines);
}

}  // namespace

void add_index_writers(WriteRules& rules) {
  rules.emplace("dynamic_slice", dynamic_slice);
  rules.emplace("dynamic_update_slice", dynamic_update_slice);
  rules.emplace("gather", gather);
  rules.emplace("scatter", scatter);
}

}  // namespace anvil::stablehlo
