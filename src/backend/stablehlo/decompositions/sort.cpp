// Sorting and selection.
#include <limits>

#include "backend/stablehlo/decompositions/comparator.h"
#include "primitives/vocabulary/region.h"
#include "transform/simplify.h"

namespace anvil::stablehlo {
namespace {

using namespace primitives;
using Values = std::vector<ValuePtr>;

// A key that our order takes as `x` turned around.
Var turned_around(Var x) {
  if (is_float(x.dtype())) {
    Var one_zero = select(x == 0.0, zeros_like(x), x);
    Var nan = literal(x, std::numeric_limits<double>::quiet_NaN());
    x = total_order_key(select(x != x, nan, one_zero));
  }
  return !x;
}

// What the keys are for all elements; those that are operands are not computed.
Vars columns_of(Importer& in, const Graph& comparator, const std::vector<SortKey>& keys, const Vars& operands) {
  Graph function = comparator;
  function.outputs.clear();
  for (const SortKey& key : keys)
    if (key.operand < 0) function.outputs.push_back(key.left);
  transform::remove_dead_calls(function);
  Vars both;
  for (const Var& x : operands) both.insert(both.end(), {x, x});
  Vars computed = lift(in.graph(), function, both, operands[0].shape()), columns;
  auto next = computed.begin();
  for (const SortKey& key : keys)
    columns.push_back(key.operand >= 0 ? operands[static_cast<size_t>(key.operand)] : *next++);
  return columns;
}

// A sort of our own: by the keys of a comparator as tensors, those that are operands by their number.
Values sort_by_keys(Importer& in, const Graph& comparator, const std::vector<SortKey>& keys, const Vars& operands,
                    int64_t dim, bool is_stable) {
  bool descending = keys[0].descending;
  Vars found = columns_of(in, comparator, keys, operands), columns;
  constexpr size_t none = std::numeric_limits<size_t>::max();
  std::vector<size_t> place(operands.size(), none);  // of each operand in the columns
  for (size_t i = 0; i < keys.size(); ++i) {
    bool turned = keys[i].descending != descending;
    if (keys[i].operand >= 0 && !turned) {
      size_t& at = place[static_cast<size_t>(keys[i].operand)];
      if (at != none) continue;  // sorted by it already
      at = columns.size();
    }
    columns.push_back(turned ? turned_around(found[i]) : found[i]);
  }
  auto num_keys = static_cast<int64_t>(columns.size());
  for (size_t k = 0; k < operands.size(); ++k)
    if (place[k] == none) {
      place[k] = columns.size();
      columns.push_back(operands[k]);
    }
  Values sorted =
      in.record("sort", columns,
                {{"dim", dim, true}, {"descending", descending}, {"is_stable", is_stable}, {"num_keys", num_keys}});
  Values results;
  for (size_t k : place) results.push_back(sorted[k]);
  return results;
}

// A network computes the whole comparator for each of its steps.
constexpr size_t most_compared = 4096;
size_t size_of_region(const Graph& g) {
  size_t n = g.calls.size();
  for (const graph::Call& c : g.calls)
    for (const GraphPtr& inner : subgraphs(c)) n += size_of_region(*inner);
  return n;
}

Values sort(Importer& in, const Operation& op, const Vars& x) {
  if (x.empty()) refuse(op.at, "`stablehlo.sort` needs an operand");
  auto rank = static_cast<int64_t>(x[0].shape().size());
  int64_t dim = integer_or(op, "dimension", -1);
  if (dim < -rank || dim >= rank)
    refuse(op.at, "`dimension` of `stablehlo.sort` is " + std::to_string(dim) + ", but should be from " +
                      std::to_string(-rank) + " to " + std::to_string(rank - 1));
  if (dim < 0) dim += rank;
  std::vector<TensorType> arguments;
  for (const Var& v : x) {
    check_type(op.at, "operand of `stablehlo.sort`", {x[0].dtype(), v.shape()}, {x[0].dtype(), x[0].shape()});
    arguments.insert(arguments.end(), 2, {v.dtype(), {}});
  }
  GraphPtr comparator = in.region(op, 0, arguments);
  check_region("stablehlo.sort", *comparator, arguments, {{DType::boolean, {}}});
  std::vector<SortKey> keys = sort_keys(*comparator);
  if (keys.empty()) {
    if (size_of_region(*comparator) > most_compared)
      refuse(op.at, "a comparator of more than " + std::to_string(most_compared) +
                        " operations that compares no keys is not supported");
    return values(sort_by_network(in, *comparator, x, dim));
  }
  return sort_by_keys(in, *comparator, keys, x, dim, flag(op, "is_stable", false));
}

}  // namespace

void add_sort_rules(Rules& rules) { add(rules, "stablehlo.sort", sort); }

}  // namespace anvil::stablehlo
