// Regions of scalars for tests of reductions: one operation, or anything written with Vars.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "primitives/vocabulary/var.h"

namespace anvil::test {

using primitives::Var;
using Region = std::function<std::vector<Var>(const std::vector<Var>&)>;

inline graph::GraphPtr region(const std::vector<DType>& inputs, const Region& f) {
  auto g = std::make_shared<graph::Graph>();
  std::vector<Var> arguments;
  for (DType t : inputs) {
    g->inputs.push_back(graph::make_value(graph::Value::Kind::input, {t, {}}));
    arguments.push_back({g.get(), g->inputs.back()});
  }
  for (const Var& v : f(arguments)) g->outputs.push_back(v.value);
  return g;
}
inline graph::GraphPtr operation(const char* name, DType t) {
  return region({t, t}, [&](const std::vector<Var>& x) {
    return std::vector<Var>{primitives::record(name, {x[0], x[1]})};
  });
}
// log(exp(a) + exp(b)), with the larger one in front.
inline graph::GraphPtr log_sum_exp(DType t) {
  return region({t, t}, [](const std::vector<Var>& x) {
    Var high = primitives::maximum(x[0], x[1]), low = primitives::minimum(x[0], x[1]);
    return std::vector<Var>{high + primitives::log(primitives::exp(low - high) + 1.0)};
  });
}
// (value, place) of the first largest of two.
inline graph::GraphPtr first_largest(DType value, DType place) {
  return region({value, place, value, place}, [](const std::vector<Var>& x) {
    Var keep = (x[0] > x[2]) | ((x[0] == x[2]) & (x[1] <= x[3]));
    return std::vector<Var>{primitives::select(keep, x[0], x[2]), primitives::select(keep, x[1], x[3])};
  });
}

// All results of a call.
inline std::vector<Var> call(const char* primitive, const std::vector<Var>& operands, graph::Params params) {
  std::vector<graph::ValuePtr> values;
  for (const Var& v : operands) values.push_back(v.value);
  std::vector<Var> results;
  for (const auto& v : primitives::record(*operands[0].graph, primitives::registry().at(primitive), values, params))
    results.push_back({operands[0].graph, v});
  return results;
}

}  // namespace anvil::test
