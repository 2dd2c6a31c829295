// dot_general: products of tensors, summed over pairs of contracting dimensions, side by side
// over pairs of batching dimensions. The result has the batching dimensions, then the free
// ones of lhs, then those of rhs. Integers wrap; on bool it is "or" of "and"s.
#include <algorithm>

#include "primitives/family.h"

namespace anvil::primitives {
namespace {

using loops::Op;
using Pairs = std::vector<Ints>;

struct Dims {
  Ints lhs_contracting, rhs_contracting, lhs_batch, rhs_batch, lhs_free, rhs_free;
  Dims(const Shape& lhs, const Shape& rhs, const Params& params) {
    const Pairs &contracting = params.get<Pairs>("contracting_dims"), &batching = params.get<Pairs>("batching_dims");
    lhs_contracting = contracting.at(0), rhs_contracting = contracting.at(1);
    lhs_batch = batching.at(0), rhs_batch = batching.at(1);
    lhs_free = other_axes(lhs.size(), lhs_contracting, lhs_batch);
    rhs_free = other_axes(rhs.size(), rhs_contracting, rhs_batch);
  }
};

void check_pairs(const char* what, const Pairs& dims, const Types& t) {
  if (dims.size() != 2 || dims[0].size() != dims[1].size())
    throw Error("argument", "`" + std::string(what) + "` must name as many dimensions of `lhs` as of `rhs`.",
                {"x Got " + (dims.size() != 2 ? std::to_string(dims.size()) + " vectors"
                                              : std::to_string(dims[0].size()) + " and " + std::to_string(dims[1].size())) + "."});
  for (size_t k = 0; k < dims[0].size(); ++k) {
    check_axis(what, dims[0][k], static_cast<int64_t>(t[0].shape.size()));
    check_axis(what, dims[1][k], static_cast<int64_t>(t[1].shape.size()));
  }
  if (take(t[0].shape, dims[0]) != take(t[1].shape, dims[1]))
    throw Error("shape", "Can't perform dot general where shape(lhs) = " + in_parentheses(t[0].shape) + " and shape(rhs) = " +
                             in_parentheses(t[1].shape) + " because the sizes of the " + what + " don't match.",
                {"x The " + std::string(what) + " are " + one_based(dims[0]) + " of `lhs`, with sizes " + in_parentheses(take(t[0].shape, dims[0])) +
                 ", and " + one_based(dims[1]) + " of `rhs`, with sizes " + in_parentheses(take(t[1].shape, dims[1])) + "."});
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
  Shape shape = take(t[0].shape, d.lhs_batch);
  for (int64_t k : d.lhs_free) shape.push_back(t[0].shape[static_cast<size_t>(k)]);
  for (int64_t k : d.rhs_free) shape.push_back(t[1].shape[static_cast<size_t>(k)]);
  return {{t[0].dtype, shape}};
}

// The cotangent of one operand is the product of g and the other one over the other's free
// dimensions. It comes with the dimensions: batch, own free, contracted in the other's order.
Var cotangent_of(Var g, Var other, const Ints& g_other_free, const Ints& other_free, const Ints& other_batch, const Ints& other_contracting,
                 const Ints& own_batch, const Ints& own_free, const Ints& own_contracting) {
  Var product = dot_general(g, other, g_other_free, other_free, all_axes(own_batch.size()), other_batch);
  Ints order = all_axes(other_contracting.size());
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return other_contracting[static_cast<size_t>(a)] < other_contracting[static_cast<size_t>(b)];
  });
  Ints places = own_batch;  // of the product's dimensions in the operand
  places.insert(places.end(), own_free.begin(), own_free.end());
  for (int64_t k : order) places.push_back(own_contracting[static_cast<size_t>(k)]);
  return std::is_sorted(places.begin(), places.end()) ? product : transpose(product, inverse(places));
}

void reverse_dot(ReverseStep& step) {
  Var lhs = operand(step, 0), rhs = operand(step, 1), g = cotangent(step);
  Dims d(lhs.shape(), rhs.shape(), step.call.params);
  auto range = [](size_t first, size_t count) {
    Ints axes = all_axes(count);
    for (int64_t& a : axes) a += static_cast<int64_t>(first);
    return axes;
  };
  size_t batch = d.lhs_batch.size();
  if (step.required[0])
    set(step, 0, cotangent_of(g, rhs, range(batch + d.lhs_free.size(), d.rhs_free.size()), d.rhs_free, d.rhs_batch, d.rhs_contracting,
                              d.lhs_batch, d.lhs_free, d.lhs_contracting));
  if (step.required[1])
    set(step, 1, cotangent_of(g, lhs, range(batch, d.lhs_free.size()), d.lhs_free, d.lhs_batch, d.lhs_contracting,
                              d.rhs_batch, d.rhs_free, d.rhs_contracting));
}

// Large products of two plain matrices are the BLAS's. Everything else is a nest of loops,
// which fuses with its surroundings and is blocked by the compiler; so are products with a
// single row or column, which are bound by memory.
constexpr int64_t gemm_work = int64_t(1) << 18;

bool lower_to_gemm(Lowering& l, const graph::Call& c, const Dims& d) {
  const ValuePtr &lhs = c.inputs[0], &rhs = c.inputs[1];
  const Shape &a = lhs->type.shape, &b = rhs->type.shape;
  DType t = lhs->type.dtype;
  if (!is_float(t) || a.size() != 2 || b.size() != 2 || d.lhs_contracting.size() != 1 || !d.lhs_batch.empty() || is_literal(lhs) ||
      is_literal(rhs))
    return false;
  int64_t m = take(a, d.lhs_free)[0], n = take(b, d.rhs_free)[0], k = take(a, d.lhs_contracting)[0];
  if (m < 2 || n < 2 || k < 1 || static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) < gemm_work) return false;
  l.call(t == DType::f32 ? "gemm_f32" : "gemm_f64", {c.outputs[0]}, {lhs, rhs},
         {m, n, k, d.lhs_contracting[0] == 0, d.rhs_contracting[0] == 1});
  return true;
}

void lower_dot(Lowering& l, const graph::Call& c) {
  ValuePtr lhs = c.inputs[0], rhs = c.inputs[1];
  Dims d(lhs->type.shape, rhs->type.shape, c.params);
  if (lower_to_gemm(l, c, d)) return;
  bool logical = is_bool(lhs->type.dtype);
  l.reduce(c.outputs[0], take(lhs->type.shape, d.lhs_contracting), logical ? Op::bit_or : Op::add, 0,
           [&l, lhs, rhs, d, logical](const Index& o, const Index& r) {
             Index a(lhs->type.shape.size()), b(rhs->type.shape.size());
             auto put = [](Index& to, const Ints& places, auto from) {
               for (int64_t p : places) to[static_cast<size_t>(p)] = *from++;
             };
             auto lhs_free = o.begin() + static_cast<std::ptrdiff_t>(d.lhs_batch.size());
             put(a, d.lhs_batch, o.begin());
             put(b, d.rhs_batch, o.begin());
             put(a, d.lhs_free, lhs_free);
             put(b, d.rhs_free, lhs_free + static_cast<std::ptrdiff_t>(d.lhs_free.size()));
             put(a, d.lhs_contracting, r.begin());
             put(b, d.rhs_contracting, r.begin());
             return l.exprs().binary(logical ? Op::bit_and : Op::mul, l.load(lhs, a), l.load(rhs, b));
           });
}

Primitive make_dot_general() {
  Primitive p = make_primitive("contract", "dot_general", {"lhs", "rhs"},
                               {{"contracting_dims", Kind::axis_pairs}, {"batching_dims", Kind::axis_pairs}});
  p.infer = infer_dot;
  p.reverse = reverse_dot;
  p.hlo = {"stablehlo.dot_general", {}, "dot_general"};
  p.lower = lower_dot;
  return p;
}

}  // namespace

void register_contract(Registry& r) { r.add(make_dot_general()); }

}  // namespace anvil::primitives
