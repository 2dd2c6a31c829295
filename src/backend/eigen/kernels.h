// The structured primitives of the evaluator: one function each, found by name. A kernel
// gives one tensor per result of the call; operands are dense and column-major.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "primitives/vocabulary/properties.h"

namespace anvil::eigen {

using graph::Call;
using graph::Tensor;
using Tensors = std::vector<Tensor>;
using Kernel = Tensors (*)(const Call&, const Tensors& operands);

struct NamedKernel {
  std::string_view name;
  Kernel kernel;
};
Kernel find_kernel(std::string_view primitive);  // null when there is none

// Those that apply a region to elements get it as a function of tensors of one shape.
using Region = std::function<Tensors(const graph::Graph& region, const Tensors& arguments)>;
using RegionKernel = Tensors (*)(const Call&, const Tensors& operands, const Region& apply);
struct NamedRegionKernel {
  std::string_view name;
  RegionKernel kernel;
};
RegionKernel find_region_kernel(std::string_view primitive);  // null when there is none

Tensors reduce_by_monoid(const Call&, const Tensors& operands);  // reduce.cpp, for all primitives with a monoid
// reduce.cpp: running combinations along a dimension, in its compute type.
Tensor running_by_monoid(const primitives::Monoid&, const Tensor&, int64_t dim, const Tensor& initial);

std::vector<NamedKernel> shape_kernels();          // shape.cpp
std::vector<NamedKernel> reduce_kernels();         // reduce.cpp
std::vector<NamedKernel> linalg_kernels();         // linalg.cpp
std::vector<NamedKernel> factorisation_kernels();  // factorisations.cpp
std::vector<NamedKernel> random_kernels();         // random.cpp
std::vector<NamedKernel> gather_kernels();         // gather.cpp
std::vector<NamedKernel> sort_kernels();           // sort.cpp
std::vector<NamedKernel> window_kernels();         // window.cpp
std::vector<NamedKernel> function_kernels();       // functions.cpp

std::vector<NamedRegionKernel> scatter_kernels();  // gather.cpp
std::vector<NamedRegionKernel> fold_kernels();     // window.cpp

// The tensor of the i-th result of a call, and those of all, uninitialised.
inline Tensor make_result(const Call& call, size_t i = 0) { return allocate(call.outputs.at(i)->type); }
inline Tensors make_results(const Call& call) {
  Tensors results;
  for (size_t i = 0; i < call.outputs.size(); ++i) results.push_back(make_result(call, i));
  return results;
}

}  // namespace anvil::eigen
