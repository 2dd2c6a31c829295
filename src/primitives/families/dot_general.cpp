// dot_general: products of tensors, summed over pairs of contracting dimensions, side by side
// over pairs of batching dimensions. The result has the batching dimensions, then the free
// ones of lhs, then those of rhs. Integers wrap; on bool it is "or" of "and"s.
#include <algorithm>

#include "primitives/families/families.h"
#include "primitives/vocabulary/structured.h"

namespace anvil::primitives {
namespace {

using loops::Op;
using Pairs = graph::IntegerLists;

// One operand's dimensions; pairs stand at the same position of both operands' lists.
struct Side {
  Ints contracting, batch, free;
};
struct Dims {
  Side lhs, rhs;
  Dims(const Shape& a, const Shape& b, const Params& params) {
    const Pairs &contracting = params.get<Pairs>("contracting_dims"), &batching = params.get<Pairs>("batching_dims");
    lhs = {contracting[0], batching[0], other_axes(a.size(), contracting[0], batching[0])};
    rhs = {contracting[1], batching[1], other_axes(b.size(), contracting[1], batching[1])};
  }
};

void check_pairs(const char* what, const Pairs& dims, const Types& t) {
  if (dims.size() != 2 || dims[0].size() != dims[1].size())
    throw Error("argument", "`" + std::string(what) + "` must name as many dimensions of `lhs` as of `rhs`.",
                {"x Got " +
                 (dims.size() != 2 ? std::to_string(dims.size()) + " vectors"
                                   : std::to_string(dims[0].size()) + " and " + std::to_string(dims[1].size())) +
                 "."});
  for (size_t k = 0; k < dims[0].size(); ++k) {
    check_axis(what, dims[0][k], static_cast<int64_t>(t[0].shape.size()), "`lhs`");
    check_axis(what, dims[1][k], static_cast<int64_t>(t[1].shape.size()), "`rhs`");
  }
  if (take(t[0].shape, dims[0]) != take(t[1].shape, dims[1]))
    throw Error("shape",
                "Can't perform dot general where shape(lhs) = " + in_parentheses(t[0].shape) + " and shape(rhs) = " +
                    in_parentheses(t[1].shape) + " because the sizes of the " + what + " don't match.",
                {"x The " + std::string(what) + " are " + one_based(dims[0]) + " of `lhs`, with sizes " +
                 in_parentheses(take(t[0].shape, dims[0])) + ", and " + one_based(dims[1]) + " of `rhs`, with sizes " +
                 in_parentheses(take(t[1].shape, dims[1])) + "."});
}

Types infer_dot(const Types& t, const Params& params) {
  const Pairs &contracting = params.get<Pairs>("contracting_dims"), &batching = params.get<Pairs>("batching_dims");
  check_same_dtype("lhs", t[0], "rhs", t[1]);
  check_pairs("contracting_dims", contracting, t);
  check_pairs("batching_dims", batching, t);
  for (size_t side = 0; side < 2; ++side) {
    Ints both = contracting[side];
    both.insert(both.end(), batching[side].begin(), batching[side].end());
    std::string argument = std::string("contracting_dims` and `batching_dims` of `") + (side == 0 ? "lhs" : "rhs");
    check_axes(argument.c_str(), both, static_cast<int64_t>(t[side].shape.size()));
  }
  Dims d(t[0].shape, t[1].shape, params);
  Shape shape = take(t[0].shape, d.lhs.batch);
  for (int64_t k : d.lhs.free) shape.push_back(t[0].shape[static_cast<size_t>(k)]);
  for (int64_t k : d.rhs.free) shape.push_back(t[1].shape[static_cast<size_t>(k)]);
  return {{t[0].dtype, shape}};
}

// g times x, summed over the free dimensions of x; with ones, a sum.
Var product_over_free(const Side& own, const Var& g, const Ints& summed, const Var& x, const Side& other) {
  if (!is_literal(x.value) || x.value->literal != Scalar(1))
    return dot_general(g, x, summed, other.free, all_axes(own.batch.size()), other.batch);
  Ints contracting = other.contracting;
  std::sort(contracting.begin(), contracting.end());
  Var sum = summed.empty() ? g : reduce_sum(g, summed);
  Shape shape = sum.shape();
  for (int64_t k : contracting) shape.push_back(x.shape()[static_cast<size_t>(k)]);
  return broadcast_in_dim(sum, shape, all_axes(sum.shape().size()));
}

// The cotangent of one operand is the product of g with the other one over the other's free
// dimensions, which g has from `first` on. It comes with the dimensions: batch, own free,
// contracted in the other's order.
Var cotangent_of(const Side& own, const Var& g, size_t first, const Var& x, const Side& other) {
  Ints summed = all_axes(other.free.size());
  for (int64_t& axis : summed) axis += static_cast<int64_t>(first);
  Var product = product_over_free(own, g, summed, x, other);
  Ints order = all_axes(other.contracting.size());
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return other.contracting[static_cast<size_t>(a)] < other.contracting[static_cast<size_t>(b)];
  });
  Ints places = own.batch;  // of the product's dimensions in the operand
  places.insert(places.end(), own.free.begin(), own.free.end());
  for (int64_t k : order) places.push_back(own.contracting[static_cast<size_t>(k)]);
  return std::is_sorted(places.begin(), places.end()) ? product : transpose(product, inverse(places));
}

void reverse_dot(ReverseStep& step) {
  Var lhs = operand(step, 0), rhs = operand(step, 1), g = cotangent(step);
  Dims d(lhs.shape(), rhs.shape(), step.call.params);
  size_t batch = d.lhs.batch.size();
  if (step.required[0]) set(step, 0, cotangent_of(d.lhs, g, batch + d.lhs.free.size(), rhs, d.rhs));
  if (step.required[1]) set(step, 1, cotangent_of(d.rhs, g, batch, lhs, d.lhs));
}

void lower_dot(Lowering& l, const graph::Call& c) {
  ValuePtr lhs = c.inputs[0], rhs = c.inputs[1];
  Dims d(lhs->type.shape, rhs->type.shape, c.params);
  bool logical = is_bool(lhs->type.dtype);
  l.reduce(c.outputs[0], take(lhs->type.shape, d.lhs.contracting), logical ? Op::bit_or : Op::add, 0,
           [&l, lhs, rhs, d, logical](const Index& o, const Index& r) {
             Index a(lhs->type.shape.size()), b(rhs->type.shape.size());
             auto put = [](Index& to, const Ints& places, auto from) {
               for (int64_t p : places) to[static_cast<size_t>(p)] = *from++;
             };
             auto lhs_free = o.begin() + static_cast<std::ptrdiff_t>(d.lhs.batch.size());
             put(a, d.lhs.batch, o.begin());
             put(b, d.rhs.batch, o.begin());
             put(a, d.lhs.free, lhs_free);
             put(b, d.rhs.free, lhs_free + static_cast<std::ptrdiff_t>(d.lhs.free.size()));
             put(a, d.lhs.contracting, r.begin());
             put(b, d.rhs.contracting, r.begin());
             return l.exprs().binary(logical ? Op::bit_and : Op::mul, l.load(lhs, a), l.load(rhs, b));
           });
}

Primitive make_dot_general() {
  Primitive p = make_primitive("contract", "dot_general", {"lhs", "rhs"},
                               {{"contracting_dims", Kind::axis_pairs}, {"batching_dims", Kind::axis_pairs}});
  p.acts = Acts::contracts;
  p.axes = Axes::paired;
  p.bilinear = true;
  p.products = [](const graph::Call& c) {
    const Shape& lhs = c.inputs[0]->type.shape;
    return elements(take(lhs, Dims(lhs, c.inputs[1]->type.shape, c.params).lhs.contracting));
  };
  p.infer = infer_dot;
  p.reverse = reverse_dot;
  p.hlo = {"stablehlo.dot_general", {}, special};
  p.lower = lower_dot;
  return p;
}

}  // namespace

void register_contract(Registry& r) { r.add(make_dot_general()); }

}  // namespace anvil::primitives
