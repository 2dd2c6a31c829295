// Elementwise primitives that change the dtype: convert, bitcast_convert, is_finite.
#include <cstring>

#include "primitives/factories.h"

namespace anvil::primitives {
namespace {

Primitive convert_primitive() {
  Primitive p = unary_form("convert", "convert", Group::any, {});
  p.parameters = {{"dtype", ParamSpec::Kind::dtype}, {"ambiguous", ParamSpec::Kind::flag}};
  p.hlo.form = "convert";
  p.infer = [](const std::vector<TensorType>& x, const Params& params) -> std::vector<TensorType> {
    return {{params.dtype("dtype"), x[0].shape, params.flag("ambiguous")}};
  };
  // A detour over integers cuts the derivative off.
  p.reverse = [](ReverseStep& s) {
    Var x = operand(s, 0), g = cotangent(s);
    if (s.required[0] && is_float(x.dtype()) && is_float(g.dtype())) set(s, 0, convert(g, x.dtype()));
  };
  p.lower = [](Lowering& l, const graph::Call& c) {
    l.map(c.outputs[0], [&l, x = c.inputs[0], to = c.outputs[0]->type.dtype](const Index& i) {
      return l.exprs().convert(l.load(x, i), to);
    });
  };
  p.elementwise = [](const std::vector<const Tensor*>& x, const Tensor& out, const Params&) {
    visit(x[0]->type.dtype, [&]<class From>() {
      visit(out.type.dtype, [&]<class To>() {
        for (int64_t i = 0, n = elements(out.type.shape); i < n; ++i)
          out.as<To>()[i] = scalar::convert<To>(x[0]->as<From>()[i]);
      });
    });
  };
  return p;
}

DType unsigned_of_size(size_t bytes) {
  return bytes == 1 ? DType::ui8 : bytes == 2 ? DType::ui16 : bytes == 4 ? DType::ui32 : DType::ui64;
}
int64_t bits_of(DType t) { return static_cast<int64_t>(8 * size_of(t)); }

// A wider dtype takes up the last dimension, a narrower one adds it: piece k holds the
// k-th lowest bits, as in the memory of a little-endian machine.
std::vector<TensorType> infer_bitcast(const std::vector<TensorType>& x, const Params& params) {
  DType from = x[0].dtype, to = params.dtype("dtype");
  if (!is_numeric(to))
    throw Error("dtype", "`dtype` must not be bool.", {"i Use `nv_convert()` to compare with zero."});
  Shape shape = x[0].shape;
  if (size_of(to) < size_of(from)) shape.push_back(bits_of(from) / bits_of(to));
  if (size_of(to) > size_of(from)) {
    int64_t pieces = bits_of(to) / bits_of(from);
    if (shape.empty() || shape.back() != pieces)
      throw Error("shape",
                  "The last dimension of `operand` must have size " + std::to_string(pieces) + " to make one <" +
                      std::string(name(to)) + "> of " + std::to_string(pieces) + " <" + std::string(name(from)) + ">.",
                  {"x Got shape " + in_parentheses(shape) + "."});
    shape.pop_back();
  }
  return {{to, shape, false}};
}

Expr piece_of(Lowering& l, const ValuePtr& x, Index i, DType to) {
  loops::ExprPool& e = l.exprs();
  DType whole = unsigned_of_size(size_of(x->type.dtype)), part = unsigned_of_size(size_of(to));
  Affine piece = i.back();
  i.pop_back();
  Expr count = e.convert(e.index(piece * bits_of(to)), whole);
  Expr shifted = e.binary(loops::Op::shift_right_logical, e.bitcast(l.load(x, i), whole), count);
  return e.bitcast(e.convert(shifted, part), to);
}
Expr joined_from(Lowering& l, const ValuePtr& x, Index i, DType to) {
  loops::ExprPool& e = l.exprs();
  DType whole = unsigned_of_size(size_of(to)), part = unsigned_of_size(size_of(x->type.dtype));
  Expr sum = nullptr;
  i.emplace_back();
  for (int64_t k = 0; k < x->type.shape.back(); ++k) {
    i.back().constant = k;
    Expr piece = e.convert(e.bitcast(l.load(x, i), part), whole);
    if (k > 0) piece = e.binary(loops::Op::shift_left, piece, e.constant(Scalar(k * bits_of(x->type.dtype)), whole));
    sum = sum ? e.binary(loops::Op::bit_or, sum, piece) : piece;
  }
  return e.bitcast(sum, to);
}

// Of `pieces` bytes groups of one wide element; in the narrow tensor they are n elements apart.
void split(const Tensor& wide, const Tensor& narrow, bool join) {
  size_t size = size_of(narrow.type.dtype), pieces = size_of(wide.type.dtype) / size;
  auto n = static_cast<size_t>(elements(wide.type.shape));
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < pieces; ++k) {
      char* whole = wide.as<char>() + (i * pieces + k) * size;
      char* part = narrow.as<char>() + (i + k * n) * size;
      std::memcpy(join ? whole : part, join ? part : whole, size);
    }
}

Primitive bitcast_primitive() {
  Primitive p = unary_form("bitcast_convert", "bitcast_convert", Group::numeric, {});
  p.parameters = {{"dtype", ParamSpec::Kind::dtype}};
  p.hlo.form = "bitcast_convert";
  p.zero_derivative = true;
  p.infer = infer_bitcast;
  p.lower = [](Lowering& l, const graph::Call& c) {
    l.map(c.outputs[0], [&l, x = c.inputs[0], to = c.outputs[0]->type.dtype](const Index& i) {
      DType from = x->type.dtype;
      if (size_of(to) < size_of(from)) return piece_of(l, x, i, to);
      if (size_of(to) > size_of(from)) return joined_from(l, x, i, to);
      return l.exprs().bitcast(l.load(x, i), to);
    });
  };
  p.elementwise = [](const std::vector<const Tensor*>& x, const Tensor& out, const Params&) {
    bool join = size_of(out.type.dtype) > size_of(x[0]->type.dtype);
    join ? split(out, *x[0], true) : split(*x[0], out, false);
  };
  return p;
}

}  // namespace

void register_conversions(Registry& r) {
  r.add(convert_primitive());
  r.add(bitcast_primitive());
  Primitive finite = unary(
      "is_finite", "is_finite", floating, [](auto x) { return is_finite(x); }, flat);
  finite.infer = [](const std::vector<TensorType>& x, const Params&) -> std::vector<TensorType> {
    return {{DType::boolean, x[0].shape, false}};
  };
  r.add(std::move(finite));
}

}  // namespace anvil::primitives
