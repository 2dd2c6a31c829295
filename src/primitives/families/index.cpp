// Slices of a tensor, with bounds that are fixed or known only at run time.
#include <algorithm>

#include "primitives/families/families.h"
#include "primitives/families/gather.h"
#include "primitives/vocabulary/simplification.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

// ---- fixed bounds -----------------------------------------------------------------------

Types infer_slice(const Types& t, const Params& params) {
  const Ints &start = params.ints("start_indices"), &limit = params.ints("limit_indices"),
             &stride = params.ints("strides");
  auto rank = static_cast<int64_t>(t[0].shape.size());
  check_length("start_indices", start, rank);
  check_length("limit_indices", limit, rank);
  check_length("strides", stride, rank);
  TensorType result = t[0];
  for (size_t d = 0; d < start.size(); ++d) {
    std::string dimension = " dimension " + std::to_string(d + 1);
    if (stride[d] < 1)
      throw Error("argument", "`strides` must be at least 1.",
                  {"x Got " + std::to_string(stride[d]) + " in" + dimension + "."});
    if (start[d] < 0 || start[d] > limit[d] || limit[d] > t[0].shape[d])
      throw Error("argument",
                  "`start_indices` and `limit_indices` must lie within `operand`, the start not after the limit.",
                  {"x Got " + std::to_string(start[d] + 1) + " to " + std::to_string(limit[d]) + " in" + dimension +
                   ", which has size " + std::to_string(t[0].shape[d]) + "."});
    result.shape[d] = limit[d] == start[d] ? 0 : (limit[d] - start[d] - 1) / stride[d] + 1;
  }
  return {result};
}

void reverse_slice(ReverseStep& step) {
  Var g = cotangent(step);
  const Shape& from = operand(step, 0).shape();
  const Params& params = step.call.params;
  const Ints &start = params.ints("start_indices"), &stride = params.ints("strides");
  // of the box from the first element that is taken to the last one
  Ints none(from.size(), 0), interior(from.size()), end(from.size()), after(from.size());
  for (size_t d = 0; d < from.size(); ++d) {
    const int64_t n = g.shape()[d];
    interior[d] = stride[d] - 1;
    end[d] = start[d] + (n == 0 ? 0 : (n - 1) * stride[d] + 1);
    after[d] = from[d] - end[d];
  }
  const Var zero = literal(step.graph, 0, {g.dtype(), {}});
  if (const auto sum = sum_so_far(step, 0)) {
    std::vector<Var> at;
    for (int64_t s : start) at.push_back(literal(step.graph, s, {DType::i64, {}}));
    const Var box = interior == none ? g : pad(g, zero, none, none, interior);
    const Var part = slice(*sum, start, end, Ints(from.size(), 1)) + box;
    return set(step, 0, dynamic_update_slice(*sum, part, at));
  }
  set(step, 0, pad(g, zero, start, after, interior));
}

// A slice takes elements of what its operand was sliced from, or, where all are of one part that the operand was
// joined of, of that part.
ValuePtr simplify_slice(Simplification& s) {
  Params& params = s.call.params;
  Ints start = params.ints("start_indices"), stride = params.ints("strides"), limit = params.ints("limit_indices");
  const Shape& shape = s.type().shape;
  if (elements(shape) == 0) return nullptr;
  const auto last = [&](size_t d) { return start[d] + (shape[d] - 1) * stride[d]; };
  const auto read = [&](const ValuePtr& x) {
    s.call.inputs[0] = x;
    params.set("start_indices", start);
    params.set("strides", stride);
    params.set("limit_indices", limit);
  };
  if (const graph::Call* inner = s.inner()) {
    const Ints &first = inner->params.ints("start_indices"), &step = inner->params.ints("strides");
    for (size_t d = 0; d < shape.size(); ++d) {
      start[d] = first[d] + start[d] * step[d];
      stride[d] = stride[d] * step[d];
      limit[d] = last(d) + 1;
    }
    read(inner->inputs[0]);
  } else if (const graph::Call* joined = s.inner(0, "concatenate")) {
    const auto d = static_cast<size_t>(joined->params.integer("dimension"));
    int64_t first = 0;
    for (const ValuePtr& part : joined->inputs) {
      const int64_t end = first + part->type.shape[d];
      if (start[d] >= first && last(d) < end && part->type.ambiguous == s.type().ambiguous) {
        limit[d] = std::min(limit[d], end) - first;
        start[d] -= first;
        read(part);
        break;
      }
      first = end;
    }
  }
  return s.operand(0)->type.shape == shape ? s.operand(0) : nullptr;
}

Primitive make_slice() {
  Primitive p =
      make_view("index", "static_slice", {"operand"},
                {{"start_indices", Kind::starts}, {"limit_indices", Kind::limits}, {"strides", Kind::sizes, false, 1}},
                Axes::kept);
  p.infer = infer_slice;
  p.simplify = simplify_slice;
  p.reverse = reverse_slice;
  p.hlo = {"stablehlo.slice",
           {{"start_indices", "start_indices", Attribute::i64_array},
            {"limit_indices", "limit_indices", Attribute::i64_array},
            {"strides", "strides", Attribute::i64_array, "", 1}}};
  p.lower = [](Lowering& l, const graph::Call& c) {
    ValuePtr x = c.inputs[0];
    l.map(c.outputs[0], [&l, x, at = strided(c.params.ints("start_indices"), c.params.ints("strides"))](
                            const Index& i) { return l.load(x, at(i)); });
  };
  return p;
}

// ---- starts known at run time -----------------------------------------------------------
// A start is a scalar integer tensor, counted from 0, and clamped so that the slice lies inside
// the operand.

void check_starts(const Types& t, size_t first) {
  size_t rank = t[0].shape.size();
  if (t.size() - first != rank)
    throw Error("argument", "`operand` needs one start index for each of its dimensions.",
                {"x Got " + std::to_string(t.size() - first) + " for shape " + in_parentheses(t[0].shape) + "."});
  for (size_t k = first; k < t.size(); ++k) {
    std::string start = "Start index " + std::to_string(k - first + 1);
    if (!t[k].shape.empty())
      throw Error("shape", start + " must be a scalar, but has shape " + in_parentheses(t[k].shape) + ".");
    if (!is_integer(t[k].dtype))
      throw Error("dtype", start + " must have dtype " + name(Group::integer) + ".",
                  {"x Got <" + std::string(name(t[k].dtype)) + ">."});
    if (t[k].dtype != t[first].dtype)
      throw Error("dtype", "All start indices must have the same dtype.",
                  {"x Got <" + std::string(name(t[first].dtype)) + "> and <" + std::string(name(t[k].dtype)) + ">."});
  }
}

void check_fits(const char* argument, const Shape& part, const Shape& whole) {
  for (size_t d = 0; d < whole.size(); ++d)
    if (part[d] > whole[d])
      throw Error("shape", "`" + std::string(argument) + "` must not be larger than `operand`.",
                  {"x Dimension " + std::to_string(d + 1) + " has size " + std::to_string(part[d]) +
                   ", that of `operand` has " + std::to_string(whole[d]) + "."});
}

std::vector<Var> starts(ReverseStep& step, size_t first) {
  std::vector<Var> list;
  for (size_t k = first; k < step.call.inputs.size(); ++k) list.push_back(operand(step, k));
  return list;
}

// The place of a slice's first element, clamped.
Index corner(Lowering& l, const graph::Call& c, size_t first, const Shape& part) {
  const Shape& whole = c.inputs[0]->type.shape;
  Index at(whole.size());
  for (size_t d = 0; d < at.size(); ++d) {
    if (part[d] == whole[d]) continue;
    const ValuePtr& start = c.inputs[first + d];
    at[d] = l.parameter(position(l, l.load(start, {})), 0, whole[d] - part[d]);
  }
  return at;
}
std::function<Index(const Index&)> shifted(Index by) {
  return [by = std::move(by)](Index i) {
    for (size_t d = 0; d < i.size(); ++d) i[d] = i[d] + by[d];
    return i;
  };
}

Primitive make_dynamic_slice() {
  Primitive p = make_view("index", "dynamic_slice", {"operand", "..."}, {{"slice_sizes", Kind::sizes}}, Axes::kept);
  p.linear = Operands::only(0);
  p.indices = Operands::from(1);
  p.batch = batch_dynamic_slice;
  p.infer = [](const Types& t, const Params& params) {
    const Shape& sizes = params.ints("slice_sizes");
    check_starts(t, 1);
    check_length("slice_sizes", sizes, static_cast<int64_t>(t[0].shape.size()));
    check_shape(sizes, "slice_sizes");
    check_fits("slice_sizes", sizes, t[0].shape);
    return Types{{t[0].dtype, sizes, t[0].ambiguous}};
  };
  p.reverse = [](ReverseStep& step) {
    if (!step.required[0]) return;
    Var part = cotangent(step);
    auto sum = sum_so_far(step, 0);
    if (sum) part = dynamic_slice(*sum, starts(step, 1), part.shape()) + part;
    set(step, 0, dynamic_update_slice(sum ? *sum : zeros_like(operand(step, 0)), part, starts(step, 1)));
  };
  p.hlo = {"stablehlo.dynamic_slice", {{"slice_sizes", "slice_sizes", Attribute::i64_array, "sizes"}}};
  p.lower = [](Lowering& l, const graph::Call& c) {
    ValuePtr x = c.inputs[0];
    auto at = shifted(corner(l, c, 1, c.outputs[0]->type.shape));
    l.map(c.outputs[0], [&l, x, at](const Index& i) { return l.load(x, at(i)); });
  };
  return p;
}

Types infer_update(const Types& t, const Params&) {
  check_same_dtype("operand", t[0], "update", t[1]);
  if (t[1].shape.size() != t[0].shape.size())
    throw Error("shape", "`operand` and `update` must have the same number of dimensions.",
                {"x Got shapes " + in_parentheses(t[0].shape) + " and " + in_parentheses(t[1].shape) + "."});
  check_starts(t, 2);
  check_fits("update", t[1].shape, t[0].shape);
  return {{t[0].dtype, t[0].shape, t[0].ambiguous && t[1].ambiguous}};
}

void lower_update(Lowering& l, const graph::Call& c) {
  ValuePtr result = c.outputs[0], x = c.inputs[0], update = c.inputs[1];
  const Shape& part = update->type.shape;
  if (elements(part) == 0) return lower_identity(l, result, x);
  if (part == x->type.shape) return lower_identity(l, result, update);
  auto element = [&l](const ValuePtr& v) { return [&l, v](const Index& i) { return l.load(v, i); }; };
  std::vector<Lowering::Part> parts;
  if (is_literal(x)) parts.push_back({x->type.shape, shifted(Index(part.size())), element(x)});
  parts.push_back({part, shifted(corner(l, c, 2, part)), element(update)});
  l.parts(result, std::move(parts), is_literal(x) ? nullptr : x);
}

Primitive make_dynamic_update_slice() {
  Primitive p = make_primitive("index", "dynamic_update_slice", {"operand", "update", "..."}, {});
  p.as_stored = true;
  p.acts = Acts::moves;
  p.axes = Axes::kept;
  p.linear = Operands::range(0, 2);
  p.indices = Operands::from(2);
  p.updates = true;
  p.batch = batch_dynamic_update_slice;
  p.infer = infer_update;
  p.reverse = [](ReverseStep& step) {
    Var g = cotangent(step), update = operand(step, 1);
    // the part is read before it becomes zero, which then happens in place
    if (step.required[1]) set(step, 1, dynamic_slice(g, starts(step, 2), update.shape()));
    if (step.required[0]) set(step, 0, dynamic_update_slice(g, zeros_like(update), starts(step, 2)));
  };
  p.hlo = {"stablehlo.dynamic_update_slice", {}};
  p.lower = lower_update;
  return p;
}

}  // namespace

void register_index(Registry& r) {
  r.add(make_slice());
  r.add(make_dynamic_slice());
  r.add(make_dynamic_update_slice());
}

}  // namespace anvil::primitives
