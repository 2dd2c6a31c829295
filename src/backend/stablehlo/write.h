// Graph to StableHLO text. The writer keeps the names of values and writes constants where
// they are first used; how a primitive is written is said by one rule for each that has a
// form of its own, in write_<family>.cpp, found by the primitive's name. The others are
// written from the data of their HloForm.
#pragma once
#include <string_view>
#include <unordered_map>

#include "backend/stablehlo/text_writer.h"
#include "primitives/vocabulary/primitive.h"

namespace anvil::stablehlo {

using graph::Call;
using graph::Graph;
using Items = std::vector<Item>;

// As deep as the reader follows.
constexpr int deepest_regions = 190;

class Writer : public TextWriter {
 public:
  Item use(const ValuePtr&);
  Items use_all(const std::vector<ValuePtr>&);
  void calls(const Graph&);
  // An operator with the operands and results of a call.
  Items same_operands(const std::string& name, const Call&, const std::vector<std::string>& attributes = {});

  // ---- what rules share ----
  Item transposed(const Item&);  // dimensions reversed
  // `direction` is LT, GE, ...
  Item compared(const char* direction, const Item&, const Item&);
  // A region with these block arguments that runs a graph and returns what it gives.
  std::function<void()> region(const graph::GraphPtr&);
  // A region of two scalars that one operator combines.
  std::function<void()> reducer(const std::string& operation, DType);

 private:
  void call(const Call&);
  Items plain(const Call&);

  int depth_ = 0;  // of regions in regions
};

using WriteRule = Items (*)(Writer&, const Call&);
using WriteRules = std::unordered_map<std::string_view, WriteRule>;
// A rule by the name of its primitive; there is one of a name.
inline void add(WriteRules& rules, std::string_view primitive, WriteRule rule) {
  if (!rules.emplace(primitive, rule).second)
    throw InternalError("stablehlo: there are two ways to write " + std::string(primitive));
}
Items reduce_by_monoid(Writer&, const Call&);  // all primitives with a monoid
void add_elementwise_writers(WriteRules&);
void add_shape_writers(WriteRules&);
void add_index_writers(WriteRules&);
void add_reduce_writers(WriteRules&);
void add_window_writers(WriteRules&);
void add_contract_writers(WriteRules&);
void add_sort_writers(WriteRules&);
void add_linalg_writers(WriteRules&);
void add_random_writers(WriteRules&);
void add_control_writers(WriteRules&);
void add_custom_writers(WriteRules&);

std::vector<TensorType> result_types(const Call&);

}  // namespace anvil::stablehlo
