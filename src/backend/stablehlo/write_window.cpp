// Primitives that slide a window over a tensor.
#include "backend/stablehlo/write.h"
#include "primitives/vocabulary/region.h"

namespace anvil::stablehlo {
namespace {

using Lines = std::vector<std::string>;

std::string padding(const Ints& low, const Ints& high) {
  std::string pairs;
  for (size_t d = 0; d < low.size(); ++d)
    pairs += (d ? ", [" : "[") + std::to_string(low[d]) + ", " + std::to_string(high[d]) + "]";
  return "padding = dense<" + (pairs.empty() ? pairs : "[" + pairs + "]") + "> : tensor<" + std::to_string(low.size()) +
         "x2xi64>";
}

// ---- running reductions: windows that grow along one axis ---------------------------------

Lines growing_window(const Shape& shape, size_t axis, bool from_end = false) {
  Ints window(shape.size(), 1), ones(shape.size(), 1), none(shape.size(), 0), all = none;
  window[axis] = shape[axis];
  all[axis] = shape[axis] - 1;
  return {"window_dimensions = " + array(window), "window_strides = " + array(ones), "base_dilations = " + array(ones),
          "window_dilations = " + array(ones), from_end ? padding(none, all) : padding(all, none)};
}

Items cumsum(Writer& w, const Call& c) {
  Item x = w.use(c.inputs[0]);
  auto axis = static_cast<size_t>(c.params.integer("dim"));
  if (x.type.shape[axis] == 0) return {x};
  Item initial = w.number(Scalar(0), x.type.dtype);
  return w.op_with_regions("stablehlo.reduce_window", {x, initial}, {x.type},
                           {w.reducer("stablehlo.add", x.type.dtype)}, growing_window(x.type.shape, axis));
}

Item reversed(Writer& w, const Item& x, size_t axis) {
  return w.op("stablehlo.reverse", {x}, x.type, {"dimensions = " + array({static_cast<int64_t>(axis)})});
}

// Where the order counts, a longer run goes from the end, on what is reversed: where windows grow from the start, XLA
// (that of JAX 0.10.2) combines blocks of so many elements the wrong way round.
constexpr int64_t xla_block = 16;
Items cumulative(Writer& w, const Call& c) {
  Items operands = w.use_all(c.inputs);
  const Shape& shape = operands[0].type.shape;
  auto axis = static_cast<size_t>(c.params.integer("dim"));
  if (shape[axis] == 0) return {operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(c.outputs.size())};
  const graph::GraphPtr body = c.params.graph("body");
  const bool from_end = shape[axis] > xla_block && !primitives::single_operation(*body);
  if (from_end)
    for (size_t k = 0; k < c.outputs.size(); ++k) operands[k] = reversed(w, operands[k], axis);
  Items found = w.op_with_regions("stablehlo.reduce_window", operands, result_types(c),
                                  {w.region(from_end ? primitives::flipped(*body) : body)},
                                  growing_window(shape, axis, from_end));
  if (from_end)
    for (Item& x : found) x = reversed(w, x, axis);
  return found;
}

// ---- windows ------------------------------------------------------------------------------

// The parameters of these names, which are attributes of the same name.
Lines lists(const Call& c, std::initializer_list<const char*> names) {
  Lines lines;
  for (const char* name : names) lines.push_back(std::string(name) + " = " + array(c.params.ints(name)));
  return lines;
}

Items reduce_window(Writer& w, const Call& c) {
  Lines lines = lists(c, {"window_dimensions", "window_strides", "base_dilations", "window_dilations"});
  lines.push_back(padding(c.params.ints("padding_low"), c.params.ints("padding_high")));
  return w.op_with_regions("stablehlo.reduce_window", w.use_all(c.inputs), result_types(c),
                           {w.region(c.params.graph("body"))}, lines);
}

Items select_and_scatter(Writer& w, const Call& c) {
  Lines lines = lists(c, {"window_dimensions", "window_strides"});
  lines.push_back(padding(c.params.ints("padding_low"), c.params.ints("padding_high")));
  return w.op_with_regions("stablehlo.select_and_scatter", w.use_all(c.inputs), result_types(c),
                           {w.region(c.params.graph("select")), w.region(c.params.graph("scatter"))}, lines);
}

// [b, 0, 1, f]: the letters at the first two of `dims`, the numbers of the spatial dimensions at the others.
std::string dimensions(const Ints& dims, const char* first, const char* second) {
  std::vector<std::string> names(dims.size());
  for (size_t k = 0; k < dims.size(); ++k)
    names[static_cast<size_t>(dims[k])] = k == 0 ? first : k == 1 ? second : std::to_string(k - 2);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return "[" + list + "]";
}

Items convolution(Writer& w, const Call& c) {
  const graph::Params& p = c.params;
  std::string reversed;
  for (size_t k = 0; k < p.ints("window_strides").size(); ++k) {
    const Ints& dims = p.ints("reversed");
    bool is = std::find(dims.begin(), dims.end(), static_cast<int64_t>(k)) != dims.end();
    reversed += (k ? ", " : ": ") + boolean(is);
  }
  Lines lines = lists(c, {"window_strides", "lhs_dilation", "rhs_dilation"});
  lines.push_back(padding(p.ints("padding_low"), p.ints("padding_high")));
  lines.push_back("window_reversal = array<i1" + reversed + ">");
  lines.push_back("dimension_numbers = #stablehlo.conv<" + dimensions(p.ints("input_dims"), "b", "f") + "x" +
                  dimensions(p.ints("kernel_dims"), "o", "i") + "->" + dimensions(p.ints("output_dims"), "b", "f") +
                  ">");
  for (const char* name : {"feature_group_count", "batch_group_count"})
    lines.push_back(std::string(name) + " = " + std::to_string(p.integer(name)) + " : i64");
  return w.same_operands("stablehlo.convolution", c, lines);
}

}  // namespace

void add_window_writers(WriteRules& rules) {
  add(rules, "cumsum", cumsum);
  add(rules, "cumulative", cumulative);
  add(rules, "reduce_window", reduce_window);
  add(rules, "select_and_scatter", select_and_scatter);
  add(rules, "convolution", convolution);
}

}  // namespace anvil::stablehlo
