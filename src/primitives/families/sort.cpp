// sort and top_k. `sort` orders all its operands along one dimension by the first num_keys of
// them, the first one first; elements with equal keys keep their order. NaN is above all
// numbers and equal to every other NaN, -0 equals 0; `descending` turns exactly that around.
// `top_k` gives the largest elements along the last dimension and their indices, floats in
// their total order (build.h); among equals the first one comes first.
#include "primitives/families/families.h"
#include "primitives/families/gather.h"
#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

// ---- sort -------------------------------------------------------------------------------

Types infer_sort(const Types& t, const Params& params) {
  if (t.empty()) throw Error("argument", "`operands` must not be empty.");
  for (size_t i = 1; i < t.size(); ++i)
    if (t[i].shape != t[0].shape)
      throw Error("shape", "All `operands` must have the same shape.",
                  {"x Operand 1 has shape " + in_parentheses(t[0].shape) + ", operand " + std::to_string(i + 1) +
                   " has shape " + in_parentheses(t[i].shape) + "."});
  check_axis("dim", params.integer("dim"), static_cast<int64_t>(t[0].shape.size()), "each of `operands`");
  int64_t keys = params.integer("num_keys");
  if (keys < 1 || keys > static_cast<int64_t>(t.size()))
    throw Error("argument", "`num_keys` must be between 1 and the number of `operands`.",
                {"x Got " + std::to_string(keys) + ", with " + std::to_string(t.size()) + " operands."});
  return t;
}

// Zeros of `shape`, but g at the indices along `dim`.
Var put_back(const Var& g, const Var& indices, int64_t dim, const Shape& shape) {
  Var zeros = literal(*g.graph, 0, {g.dtype(), shape});
  return scatter(zeros, indices, g, places_along(dim, shape.size()), "", true);
}

// Equal elements, which stand side by side in y, share their cotangents; NaN gets none. The runs
// of equal elements are numbered, the cotangents of each added at its number.
Var shared_by_equals(const Var& y, Var g, int64_t dim) {
  auto d = static_cast<size_t>(dim);
  const Shape& shape = y.shape();
  int64_t n = shape[d];
  if (n > 1) {
    Ints zero(shape.size(), 0), one(shape.size(), 1), second = zero, last = shape;
    Shape edge = shape;
    second[d] = edge[d] = 1;
    last[d] = n - 1;
    Var before = slice(y, zero, last, one), after = slice(y, second, shape, one);
    Var begins = concatenate({literal(*y.graph, true, {DType::boolean, edge}), before != after}, dim);
    Var run = cumsum(convert(begins, DType::i64), dim) - 1.0, nothing = zeros_like(g);
    IndexDims dims = places_along(dim, shape.size());
    Var sum = scatter(nothing, run, g, dims, "add"), count = scatter(nothing, run, literal(g, 1), dims, "add");
    g = gather(sum / maximum(count, literal(g, 1)), run, one, dims);
  }
  return only_where(y == y, g);
}

// Sorted with the other operands, the places along `dim` say where each element came from.
std::vector<ValuePtr> sort_with_places(graph::Graph& g, const graph::Call& c) {
  const Shape& shape = c.inputs[0]->type.shape;
  const int64_t dim = c.params.integer("dim");
  const bool small = shape[static_cast<size_t>(dim)] <= std::numeric_limits<int32_t>::max();
  std::vector<ValuePtr> operands = c.inputs;
  operands.push_back(iota(g, dim, small ? DType::i32 : DType::i64, shape).value);
  return record(g, primitive_of(c), operands, c.params);
}

// The order of equal first keys is a kink of the first operand, and of no other: those are carried along.
void reverse_sort(ReverseStep& step) {
  const int64_t dim = step.call.params.integer("dim");
  const Shape& shape = step.call.inputs[0]->type.shape;
  if (elements(shape) == 0) return;
  for (size_t i = 0; i < step.required.size(); ++i) {
    if (!step.required[i] || !flows(step, i)) continue;
    Var g = cotangent(step, i);
    set(step, i, put_back(i == 0 ? shared_by_equals(result(step, 0), g, dim) : g, residual(step), dim, shape));
  }
}

void lower_sort(Lowering& l, const graph::Call& c) {
  const Shape& shape = c.inputs[0]->type.shape;
  auto dim = static_cast<size_t>(c.params.integer("dim"));
  if (shape[dim] <= 1) {
    for (size_t i = 0; i < c.inputs.size(); ++i) lower_identity(l, c.outputs[i], c.inputs[i]);
    return;
  }
  auto product = [&](size_t from, size_t to) {
    return elements(
        Shape(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.begin() + static_cast<std::ptrdiff_t>(to)));
  };
  Ints numbers = {static_cast<int64_t>(c.inputs.size()),
                  c.params.integer("num_keys"),
                  c.params.flag("descending"),
                  shape[dim],
                  product(0, dim),
                  product(dim + 1, shape.size())};
  for (const ValuePtr& v : c.inputs) numbers.push_back(static_cast<int64_t>(v->type.dtype));
  l.call("sort", c.outputs, c.inputs, numbers);
}

Primitive make_sort() {
  Primitive p = make_primitive(
      "sort", "sort", {"operands", "..."},
      {{"dim", Kind::axis}, {"descending", Kind::flag}, {"is_stable", Kind::flag}, {"num_keys", Kind::integer}});
  p.as_stored = true;
  p.infer = infer_sort;
  p.batch = batch_alongside;
  p.rearranges = true;
  p.augment = sort_with_places;
  p.reverse = reverse_sort;
  p.hlo = {"stablehlo.sort", {}, special};
  p.lower = lower_sort;
  return p;
}

// ---- top_k ------------------------------------------------------------------------------

Types infer_top_k(const Types& t, const Params& params) {
  const Shape& shape = t[0].shape;
  if (shape.empty()) throw Error("shape", "`operand` must have at least 1 dimension.");
  int64_t k = params.integer("k");
  if (k < 0 || k > shape.back())
    throw Error("argument", "`k` must not be larger than the last dimension of `operand`.",
                {"x Got " + std::to_string(k) + ", but that dimension has size " + std::to_string(shape.back()) + "."});
  check_counts_in_i32("The last dimension of `operand`", shape.back());
  Shape some = shape;
  some.back() = k;
  return {{t[0].dtype, some, t[0].ambiguous}, {DType::i32, some}};
}

// As for sort; only the least element that is left may have equals that are left out.
void reverse_top_k(ReverseStep& step) {
  Var x = operand(step, 0), y = result(step), g = cotangent(step);
  const Shape& shape = x.shape();
  auto dim = static_cast<int64_t>(shape.size()) - 1;
  if (elements(y.shape()) == 0) return;
  Ints first(shape.size(), 0), one(shape.size(), 1);
  first.back() = y.shape().back() - 1;
  Var least = slice(y, first, y.shape(), one);
  Var is_least = y == broadcast_in_dim(least, y.shape(), all_axes(shape.size()));
  Var equals_least = x == broadcast_in_dim(least, shape, all_axes(shape.size()));
  Var above = select(is_least, zeros_like(g), shared_by_equals(y, g, dim));
  Var sum = reduce_sum(only_where(is_least, g), {dim}, false);
  Var count = reduce_sum(convert(equals_least, x.dtype()), {dim}, false);
  Var share = broadcast_in_dim(sum / maximum(count, literal(count, 1)), shape, all_axes(shape.size()));
  Var of_least = select(equals_least, share, zeros_like(x));
  set(step, 0, of_least + put_back(above, result(step, 1), dim, shape));
}

void batch_top_k(BatchStep& step) {
  const int64_t last = rank(step, 0);
  const Var x = moved(operand(step, 0), last, last - 1);
  for (const ValuePtr& v : record(step.graph, primitive_of(step.call), {x.value}, step.call.params))
    set(step, {moved({&step.graph, v}, last - 1, last)});
}

Primitive make_top_k() {
  Primitive p = make_primitive("sort", "top_k", {"operand"}, {{"k", Kind::integer}});
  p.as_stored = true;
  p.index_results = {1};
  p.selects = true;
  p.batch = batch_top_k;
  p.infer = infer_top_k;
  p.reverse = reverse_top_k;
  p.hlo = {"chlo.top_k", {{"k", "k", Attribute::i64}}};
  p.lower = [](Lowering& l, const graph::Call& c) {
    const TensorType& t = c.inputs[0]->type;
    l.call("top_k", c.outputs, c.inputs,
           {t.shape.back(), c.params.integer("k"), elements(Shape(t.shape.begin(), t.shape.end() - 1)),
            static_cast<int64_t>(t.dtype)});
  };
  return p;
}

}  // namespace

std::vector<Var> sort(const std::vector<Var>& x, int64_t dim, bool descending, int64_t num_keys) {
  std::vector<ValuePtr> operands;
  for (const Var& v : x) operands.push_back(v.value);
  std::vector<Var> results;
  graph::Graph& g = *x.at(0).graph;
  for (const ValuePtr& v :
       record(g, registry().at("sort"), operands,
              {{"dim", dim, true}, {"descending", descending}, {"is_stable", true}, {"num_keys", num_keys}}))
    results.push_back({&g, v});
  return results;
}

void register_sort(Registry& r) {
  r.add(make_sort());
  r.add(make_top_k());
}

}  // namespace anvil::primitives
