// Gather and scatter.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {

using Lines = std::vector<std::string>;

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
  return {
      w.op("stablehlo.gather", w.use_all(c.inputs), c.outputs[0]->type,
           {"dimension_numbers = " +
                dimension_numbers(
                    c, "gather", {"offset_dims", "collapsed_slice_dims", batch[0], batch[1], "start_index_map"}, batch),
            "slice_sizes = " + array(c.params.ints("slice_sizes")),
            "indices_are_sorted = " + boolean(c.params.flag("indices_are_sorted"))})};
}

Items scatter(Writer& w, const Call& c) {
  static const std::vector<const char*> batch = {"input_batching_dims", "scatter_indices_batching_dims"};
  Lines lines = {
      "scatter_dimension_numbers = " + dimension_numbers(c, "scatter",
                                                         {"update_window_dims", "inserted_window_dims", batch[0],
                                                          batch[1], "scatter_dims_to_operand_dims"},
                                                         batch),
      "indices_are_sorted = " + boolean(c.params.flag("indices_are_sorted")),
      "unique_indices = " + boolean(c.params.flag("unique_indices"))};
  return w.op_with_regions("stablehlo.scatter", w.use_all(c.inputs), result_types(c),
                           {w.region(c.params.graph("update_computation"))}, lines);
}

}  // namespace

void add_index_writers(WriteRules& rules) {
  add(rules, "gather", gather);
  add(rules, "scatter", scatter);
}

}  // namespace anvil::stablehlo
