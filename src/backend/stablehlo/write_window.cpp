// Primitives that slide a window over a tensor.
#include "backend/stablehlo/write.h"

namespace anvil::stablehlo {
namespace {

Items cumsum(Writer& w, const Call& c) {
  Item x = w.use(c.inputs[0]);
  auto axis = static_cast<size_t>(c.params.integer("dim"));
  size_t rank = x.type.shape.size();
  if (x.type.shape[axis] == 0) return {x};
  Item initial = w.number(Scalar(0), x.type.dtype);
  Ints window(rank, 1), ones(rank, 1);
  window[axis] = x.type.shape[axis];
  std::string padding;
  for (size_t d = 0; d < rank; ++d) padding += (d ? ", [" : "[") + std::to_string(window[d] - 1) + ", 0]";
  return w.op_with_regions("stablehlo.reduce_window", {x, initial}, {x.type},
                           {w.reducer("stablehlo.add", x.type.dtype)},
                           {"window_dimensions = " + array(window), "window_strides = " + array(ones),
                            "base_dilations = " + array(ones), "window_dilations = " + array(ones),
                            "padding = dense<[" + padding + "]> : tensor<" + std::to_string(rank) + "x2xi64>"});
}

}  // namespace

void add_window_writers(WriteRules& rules) { rules.emplace("cumsum", cumsum); }

}  // namespace anvil::stablehlo
