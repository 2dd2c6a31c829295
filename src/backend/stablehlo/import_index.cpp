// Gather and scatter.
#include "backend/stablehlo/import_fold.h"

namespace anvil::stablehlo {
namespace {

using graph::Params;
using Values = std::vector<ValuePtr>;

// ---- gather and scatter -------------------------------------------------------------------

// The dimension numbers under the names of the parameters that are lists.
Params dimension_params(const Operation& op, const char* attribute, std::initializer_list<const char*> lists) {
  const Dictionary& d = fields(op, need(op, attribute));
  Params params;
  for (const char* name : lists) params.items.push_back({name, field(op, d, name), true});
  params.items.push_back({"index_vector_dim", integer_field(op, d, "index_vector_dim"), true});
  for (const char* name : {"indices_are_sorted", "unique_indices"})
    params.items.push_back({name, flag(op, name, false)});
  return params;
}

Values gather(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  Params params = dimension_params(op, "dimension_numbers",
                                   {"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                                    "start_indices_batching_dims", "start_index_map"});
  params.items.insert(params.items.begin(), {"slice_sizes", ints(op, need(op, "slice_sizes"))});
  return in.record("gather", x, std::move(params));
}

Values scatter(Importer& in, const Operation& op, const Vars& x) {
  if (x.size() % 2 == 0 || x.size() < 3)
    refuse(op.at, "`stablehlo.scatter` takes inputs, indices and as many updates as inputs, not " +
                      std::to_string(x.size()) + " operands");
  size_t n = x.size() / 2;
  Params params = dimension_params(op, "scatter_dimension_numbers",
                                   {"update_window_dims", "inserted_window_dims", "input_batching_dims",
                                    "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"});
  Vars operands = x;
  std::vector<TensorType> arguments = widen(need_region(op, 0), operands, n + 1);
  params.items.push_back({"update_computation", in.region(op, 0, arguments)});
  return in.record("scatter", operands, std::move(params));
}

}  // namespace

void add_index_rules(Rules& rules) {
  add(rules, "stablehlo.gather", gather);
  add(rules, "stablehlo.scatter", scatter);
}

}  // namespace anvil::stablehlo
