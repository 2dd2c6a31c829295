// Some of our primitives are several operations in StableHLO: a reduction that keeps its
// dimensions is a reduction and a reshape. Here such a group becomes one call again, so that
// a program that was written and read prints as before; what others write in the same way
// is found as well. The calls that the group needed are left dead.
#include <algorithm>

#include "backend/stablehlo/import.h"

namespace anvil::stablehlo {

using graph::Call;
using graph::Value;
using Values = std::vector<ValuePtr>;

const Call* recent(const Graph& g, const ValuePtr& v, size_t window) {
  size_t n = g.calls.size();
  for (size_t k = 0; k < std::min(window, n); ++k) {
    const Call& c = g.calls[n - 1 - k];
    if (std::find(c.outputs.begin(), c.outputs.end(), v) != c.outputs.end()) return &c;
  }
  return nullptr;
}

static const Call* recent(const Graph& g, const ValuePtr& v, std::string_view primitive) {
  const Call* c = recent(g, v);
  return c != nullptr && c->primitive->name == primitive ? c : nullptr;
}

namespace {

bool is_literal(const ValuePtr& v, Scalar x) {
  return v->kind == Value::Kind::literal && v->literal.rounded_to(v->type.dtype) == x.rounded_to(v->type.dtype);
}

// reshape(reduce_sum [dims, drop = TRUE] (x)) with a 1 for each of dims. Only side by side:
// the call must not change its place among others.
Values reduction_that_keeps(Importer& in, const Call& reshape) {
  const Call* reduction = recent(in.graph(), reshape.inputs[0], 2);
  if (reduction == nullptr || !reduction->primitive->name.starts_with("reduce_") || reduction->inputs.size() != 1 ||
      reduction->params.find("drop") == nullptr || !reduction->params.flag("drop"))
    return {};
  Shape kept = reduction->inputs[0]->type.shape;
  for (int64_t d : reduction->params.ints("dims")) kept[static_cast<size_t>(d)] = 1;
  if (kept != reshape.outputs[0]->type.shape) return {};
  graph::Params params = reduction->params;
  for (graph::Param& p : params.items)
    if (p.name == "drop") p.value = false;
  return primitives::record(in.graph(), primitives::primitive_of(*reduction), reduction->inputs, params);
}

// iota + start, where no number in between is rounded.
Values iota_with_start(Importer& in, const Call& add) {
  for (size_t k : {0, 1}) {
    const Call* iota = recent(in.graph(), add.inputs[k], 2);
    const ValuePtr& start = add.inputs[1 - k];
    if (iota == nullptr || iota->primitive->name != "iota" || iota->params.integer("start") != 0) continue;
    if (start->kind != Value::Kind::literal) continue;
    DType t = start->type.dtype;
    int64_t first = start->literal.as<int64_t>(), size = iota->outputs[0]->type.shape.at(iota->params.integer("dim"));
    int64_t room = (t == DType::f32 ? int64_t(1) << 24 : int64_t(1) << 53) - size;
    if (!is_literal(start, Scalar(first)) || first > room || first < -room) continue;
    return {primitives::iota(in.graph(), iota->params.integer("dim"), t, iota->outputs[0]->type.shape, first).value};
  }
  return {};
}

// The triangle of a Cholesky factor that StableHLO leaves open; ours is zero already.
Values masked_cholesky(Importer& in, const Call& select) {
  const Graph& g = in.graph();
  const Call* factor = recent(g, select.inputs[1], "cholesky");
  const Call* mask = recent(g, select.inputs[0]);
  if (factor == nullptr || mask == nullptr || !is_literal(select.inputs[2], Scalar(0))) return {};
  if (mask->primitive->name != (factor->params.flag("lower") ? "greater_equal" : "less_equal")) return {};
  const Call *row = recent(g, mask->inputs[0], "iota"), *column = recent(g, mask->inputs[1], "iota");
  auto rank = static_cast<int64_t>(select.outputs[0]->type.shape.size());
  auto counts = [](const Call* iota) {  // 0, 1, ... without passing the largest number of its dtype
    const TensorType& type = iota->outputs[0]->type;
    int64_t n = type.shape.at(static_cast<size_t>(iota->params.integer("dim"))), room = int64_t(1) << 24;
    if (!is_float(type.dtype)) room = highest(type.dtype).as<int64_t>();
    return iota->params.integer("start") == 0 && (n <= room || type.dtype == DType::ui64);
  };
  if (row == nullptr || column == nullptr || !counts(row) || !counts(column)) return {};
  if (row->params.integer("dim") != rank - 2 || column->params.integer("dim") != rank - 1) return {};
  return {factor->outputs[0]};
}

// Random bits in another dtype. The state comes from the new call too, so that the old one is dead.
Values random_bits_as(Importer& in, const Call& bitcast) {
  const Call* bits = recent(in.graph(), bitcast.inputs[0], "rng_bit_generator");
  DType to = bitcast.outputs[0]->type.dtype;
  if (bits == nullptr || bits != &in.graph().calls[in.graph().calls.size() - 2] ||
      bitcast.inputs[0] != bits->outputs[1] || !is_unsigned_integer(bits->outputs[1]->type.dtype) ||
      size_of(to) != size_of(bits->outputs[1]->type.dtype))
    return {};
  size_t old = in.graph().calls.size() - 2;
  graph::Params params = bits->params;
  for (graph::Param& p : params.items)
    if (p.name == "dtype") p.value = to;
  Values results = primitives::record(in.graph(), primitives::primitive_of(*bits), bits->inputs, params);
  std::swap(in.graph().calls[old].outputs[0], in.graph().calls.back().outputs[0]);
  return {results[1]};
}

}  // namespace

Values joined(Importer& in, Values results) {
  using Idiom = Values (*)(Importer&, const Call&);
  static const std::unordered_map<std::string_view, Idiom> idioms = {{"reshape", reduction_that_keeps},
                                                                     {"add", iota_with_start},
                                                                     {"select", masked_cholesky},
                                                                     {"bitcast_convert", random_bits_as}};
  const std::vector<Call>& calls = in.graph().calls;
  if (results.size() != 1 || calls.empty() || calls.back().outputs != results) return results;
  auto idiom = idioms.find(calls.back().primitive->name);
  if (idiom == idioms.end()) return results;
  const Call latest = calls.back();
  Values one = idiom->second(in, latest);
  return one.empty() ? results : one;
}

}  // namespace anvil::stablehlo
