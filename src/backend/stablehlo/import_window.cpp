// Operators that slide a window over a tensor.
#include "backend/stablehlo/decompositions/product.h"
#include "backend/stablehlo/import_fold.h"
#include "primitives/vocabulary/region.h"

namespace anvil::stablehlo {
namespace {

using graph::Params;
using Values = std::vector<ValuePtr>;

// The attributes of a window over tensors of `rank` dimensions.
struct Window {
  Ints sizes, strides, base_dilations, dilations, low, high;

  Window(const Operation& op, size_t rank, const char* base, const char* window)
      : sizes(ints_or(op, "window_dimensions", Ints(rank, 1))),
        strides(ints_or(op, "window_strides", Ints(rank, 1))),
        base_dilations(ints_or(op, base, Ints(rank, 1))),
        dilations(ints_or(op, window, Ints(rank, 1))) {
    for (auto [before, after] : pairs_or(op, "padding", Pairs(rank, {0, 0}))) {
      low.push_back(before);
      high.push_back(after);
    }
  }
};

// ---- reduce_window ------------------------------------------------------------------------

// Windows that grow along one axis, from its start or towards its end, are running reductions;
// windows of one element are those along no axis.
struct Running {
  int64_t axis = -1;
  bool from_end = false;
};
std::optional<Running> running(const Window& w, const Shape& shape) {
  Ints ones(shape.size(), 1);
  if (w.strides != ones || w.base_dilations != ones || w.dilations != ones || w.sizes.size() != shape.size() ||
      w.low.size() != shape.size())
    return std::nullopt;
  Running found;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t all = w.sizes[d] - 1;
    if (w.sizes[d] == 1 && w.low[d] == 0 && w.high[d] == 0) continue;
    bool forward = w.low[d] == all && w.high[d] == 0, backward = w.low[d] == 0 && w.high[d] == all;
    if (found.axis >= 0 || w.sizes[d] != shape[d] || (!forward && !backward)) return std::nullopt;
    found = {static_cast<int64_t>(d), !forward};
  }
  return found;
}

Vars run(Importer& in, const FoldOperands& f, const Running& r) {
  Vars operands = f.operands;
  if (r.axis < 0) return primitives::fold(f.operands, f.initial, {}, f.body);
  if (r.from_end)
    for (Var& x : operands) x = in.run_backwards(x, {r.axis});
  const auto commutative = primitives::single_operation(*f.body);
  const bool sum = commutative == loops::Op::add;
  Vars results;
  if (operands.size() == 1 && sum && !is_bool(operands[0].dtype())) {
    results = {primitives::cumsum(operands[0], r.axis)};
  } else {
    operands.insert(operands.end(), f.initial.begin(), f.initial.end());
    const GraphPtr body = r.from_end && !commutative ? primitives::flipped(*f.body) : f.body;
    for (const ValuePtr& v : in.record("cumulative", operands, {{"dim", r.axis, true}, {"body", body}}))
      results.push_back(in.var(v));
  }
  if (r.from_end)
    for (Var& x : results) x = in.run_backwards(x, {r.axis});
  return results;
}

// The padding is initial values, too: with another than the neutral element they count.
bool starts_neutral(const FoldOperands& f) {
  for (size_t k = 0; k < f.initial.size(); ++k) {
    const ValuePtr& v = f.initial[k].value;
    const DType t = v->type.dtype;
    const primitives::Monoid* m = primitives::monoid_of(*f.body, t);
    if (m && primitives::known(v) != m->start(t).rounded_to(t)) return false;
  }
  return true;
}

Values reduce_window(Importer& in, const Operation& op, const Vars& x) {
  FoldOperands f = fold_operands(in, op, x);
  primitives::check_fold("reduce_window", f.types(), *f.body);
  const Shape& shape = f.operands[0].shape();
  need(op, "window_dimensions");
  Window w(op, shape.size(), "base_dilations", "window_dilations");
  if (auto r = running(w, shape); r && starts_neutral(f)) return values(run(in, f, *r));
  Vars all = f.operands;
  all.insert(all.end(), f.initial.begin(), f.initial.end());
  return in.record("reduce_window", all,
                   {{"window_dimensions", w.sizes},
                    {"window_strides", w.strides},
                    {"base_dilations", w.base_dilations},
                    {"window_dilations", w.dilations},
                    {"padding_low", w.low},
                    {"padding_high", w.high},
                    {"body", f.body}});
}

// ---- select_and_scatter -------------------------------------------------------------------

// A comparison of numbers as one of the same numbers in a wider dtype.
GraphPtr of_wider(const GraphPtr& select, DType wide) {
  return primitives::inner_graph({{wide, {}}, {wide, {}}}, [&](Graph& g, Vars x) {
    for (size_t k = 0; k < x.size(); ++k) x[k] = primitives::convert(x[k], select->inputs[k]->type.dtype);
    return inlined(*select, x, g);
  });
}

// What is selected may be added up in a wider type, which is that of the result.
Values select_and_scatter(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 3);
  need(op, "window_dimensions");
  Window w(op, x[0].shape().size(), "", "");
  TensorType scalar{x[0].dtype(), {}}, sum = scalar;
  for (const Var& v : x) need_one_dtype(op, x[0], v);
  const Region& scatter = need_region(op, 1);
  if (!scatter.arguments.empty() && widens(scalar.dtype, scatter.arguments[0].type.dtype))
    sum.dtype = scatter.arguments[0].type.dtype;
  GraphPtr select = in.region(op, 0, {scalar, scalar});
  Vars operands;
  for (const Var& v : x) operands.push_back(primitives::convert(v, sum.dtype));
  return in.record("select_and_scatter", operands,
                   {{"window_dimensions", w.sizes},
                    {"window_strides", w.strides},
                    {"padding_low", w.low},
                    {"padding_high", w.high},
                    {"select", sum == scalar ? select : of_wider(select, sum.dtype)},
                    {"scatter", in.region(op, 1, {sum, sum})}});
}

// ---- convolution --------------------------------------------------------------------------

Ints with_spatial(int64_t first, int64_t second, const Ints& spatial) {
  Ints dims = {first, second};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

// Where the result is wider than the operands, sums have its room.
Var widened(const Var& x, DType to) { return widens(x.dtype(), to) ? primitives::convert(x, to) : x; }

Values convolution(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 2);
  need_one_dtype(op, x[0], x[1]);
  ConvDimensions d = conv_dimensions(op);
  size_t spatial = d.input_spatial.size();
  if (d.kernel_spatial.size() != spatial || d.output_spatial.size() != spatial || x[0].shape().size() != spatial + 2)
    refuse(op.at, "`dimension_numbers` of `stablehlo.convolution` do not fit operands of " +
                      std::to_string(x[0].shape().size()) + " dimensions");
  Window w(op, spatial, "lhs_dilation", "rhs_dilation");
  Ints reversal = ints_or(op, "window_reversal", Ints(spatial, 0)), reversed;
  if (reversal.size() != spatial) refuse(op.at, "`window_reversal` should have an entry for each spatial dimension");
  for (size_t k = 0; k < spatial; ++k)
    if (reversal[k] != 0) reversed.push_back(static_cast<int64_t>(k));
  return in.record(
      "convolution", {widened(x[0], result_type(op).dtype), widened(x[1], result_type(op).dtype)},
      {{"window_strides", w.strides},
       {"padding_low", w.low},
       {"padding_high", w.high},
       {"lhs_dilation", w.base_dilations},
       {"rhs_dilation", w.dilations},
       {"reversed", reversed, true},
       {"input_dims", with_spatial(d.input_batch, d.input_feature, d.input_spatial), true},
       {"kernel_dims", with_spatial(d.kernel_output_feature, d.kernel_input_feature, d.kernel_spatial), true},
       {"output_dims", with_spatial(d.output_batch, d.output_feature, d.output_spatial), true},
       {"feature_group_count", integer_or(op, "feature_group_count", 1)},
       {"batch_group_count", integer_or(op, "batch_group_count", 1)}});
}

}  // namespace

void add_window_rules(Rules& rules) {
  add(rules, "stablehlo.reduce_window", reduce_window);
  add(rules, "stablehlo.select_and_scatter", select_and_scatter);
  add(rules, "stablehlo.convolution", convolution);
}

}  // namespace anvil::stablehlo
