// Elementwise primitives that change the dtype: convert, bitcast_convert, is_finite.
#include <climits>
#include <cstring>

#include "base/interrupt.h"
#include "primitives/families/families.h"
#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/elementwise.h"
#include "primitives/vocabulary/simplification.h"

namespace anvil::primitives {
namespace {

Primitive convert_primitive() {
  Primitive p = unary_form("convert", "convert", Group::any, {});
  p.parameters = {{"dtype", ParamSpec::Kind::dtype}, {"ambiguous", ParamSpec::Kind::flag}};
  p.view = true;
  p.op = loops::Op::convert;
  p.linear = Operands::all();                                   // between floats
  p.simplify = [](Simplification& s) { return s.operand(0); };  // where nothing changes
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
    graph::convert_to(out, *x[0]);
  };
  return p;
}

int64_t bit_width(DType t) { return is_bool(t) ? 1 : static_cast<int64_t>(CHAR_BIT * size_of(t)); }

// A wider dtype takes up the last dimension, a narrower one adds it: piece k holds the
// k-th lowest bits, as in the memory of a little-endian machine. A bool is one bit.
std::vector<TensorType> infer_bitcast(const std::vector<TensorType>& x, const Params& params) {
  DType from = x[0].dtype, to = params.dtype("dtype");
  Shape shape = x[0].shape;
  if (bit_width(to) < bit_width(from)) shape.push_back(bit_width(from) / bit_width(to));
  if (bit_width(to) > bit_width(from)) {
    int64_t pieces = bit_width(to) / bit_width(from);
    if (shape.empty() || shape.back() != pieces)
      throw Error("shape",
                  "The last dimension of `operand` must have size " + std::to_string(pieces) + " to make one <" +
                      std::string(name(to)) + "> of " + std::to_string(pieces) + " <" + std::string(name(from)) + ">.",
                  {"x Got shape " + in_parentheses(shape) + "."});
    shape.pop_back();
  }
  return {{to, shape, false}};
}

// The lowest bits of an unsigned integer as a number of dtype `to`.
Expr lowest_bits(loops::ExprPool& e, Expr x, DType to) {
  if (!is_bool(to)) return e.bitcast(e.convert(x, unsigned_of_size(size_of(to))), to);
  return e.convert(e.binary(loops::Op::bit_and, x, e.constant(Scalar(1), x->dtype)), to);
}
Expr piece_of(Lowering& l, const ValuePtr& x, Index i, DType to) {
  loops::ExprPool& e = l.exprs();
  DType whole = unsigned_of_size(size_of(x->type.dtype));
  Affine piece = i.back();
  i.pop_back();
  Expr count = e.convert(e.index(piece * bit_width(to)), whole);
  return lowest_bits(e, e.binary(loops::Op::shift_right_logical, e.bitcast(l.load(x, i), whole), count), to);
}
Expr joined_from(Lowering& l, const ValuePtr& x, Index i, DType to) {
  loops::ExprPool& e = l.exprs();
  DType from = x->type.dtype, whole = unsigned_of_size(size_of(to));
  Expr sum = nullptr;
  i.emplace_back();
  for (int64_t k = 0; k < x->type.shape.back(); ++k) {
    i.back().constant = k;
    Expr piece = l.load(x, i);
    if (!is_bool(from)) piece = e.bitcast(piece, unsigned_of_size(size_of(from)));
    piece = e.convert(piece, whole);
    if (k > 0) piece = e.binary(loops::Op::shift_left, piece, e.constant(Scalar(k * bit_width(from)), whole));
    sum = sum ? e.binary(loops::Op::bit_or, sum, piece) : piece;
  }
  return e.bitcast(sum, to);
}

// Of `pieces` bytes groups of one wide element; in the narrow tensor they are n elements apart.
void split(const Tensor& wide, const Tensor& narrow, bool join) {
  size_t size = size_of(narrow.type.dtype), pieces = size_of(wide.type.dtype) / size;
  auto n = static_cast<size_t>(elements(wide.type.shape));
  for (size_t i = 0; i < n; ++i, worked(static_cast<int64_t>(pieces)))
    for (size_t k = 0; k < pieces; ++k) {
      char* whole = wide.as<char>() + (i * pieces + k) * size;
      char* part = narrow.as<char>() + (i + k * n) * size;
      std::memcpy(join ? whole : part, join ? part : whole, size);
    }
}
// The same with one bit a piece.
void split_bits(const Tensor& wide, const Tensor& narrow, bool join) {
  size_t size = size_of(wide.type.dtype);
  auto n = static_cast<size_t>(elements(wide.type.shape));
  auto* bytes = wide.as<unsigned char>();
  if (join) std::memset(bytes, 0, n * size);
  for (size_t i = 0; i < n; ++i, worked(CHAR_BIT * static_cast<int64_t>(size)))
    for (size_t k = 0; k < CHAR_BIT * size; ++k) {
      unsigned char& byte = bytes[i * size + k / CHAR_BIT];
      bool& bit = narrow.as<bool>()[i + k * n];
      if (join)
        byte = static_cast<unsigned char>(byte | (bit ? 1U << k % CHAR_BIT : 0U));
      else
        bit = byte >> k % CHAR_BIT & 1;
    }
}

// The pieces of an element stay last.
void batch_bitcast(BatchStep& step) {
  Var x = operand(step, 0);
  const int64_t dims = rank(step, 0);
  const DType to = step.call.params.dtype("dtype");
  const bool joins = bit_width(to) > bit_width(x.dtype()), splits = bit_width(to) < bit_width(x.dtype());
  if (joins) x = moved(x, dims, dims - 1);
  Var y = record("bitcast_convert", {x}, step.call.params);
  set(step, {splits ? moved(y, dims, dims + 1) : y});
}

Primitive bitcast_primitive() {
  Primitive p = unary_form("bitcast_convert", "bitcast_convert", Group::any, {});
  p.as_stored = true;
  p.parameters = {{"dtype", ParamSpec::Kind::dtype}};
  p.acts = Acts::other;  // several elements of a narrow dtype are one of a wide one
  p.batch = batch_bitcast;
  p.zero_derivative = true;
  p.infer = infer_bitcast;
  p.lower = [](Lowering& l, const graph::Call& c) {
    l.map(c.outputs[0], [&l, x = c.inputs[0], to = c.outputs[0]->type.dtype](const Index& i) {
      DType from = x->type.dtype;
      if (bit_width(to) < bit_width(from)) return piece_of(l, x, i, to);
      if (bit_width(to) > bit_width(from)) return joined_from(l, x, i, to);
      return to == from ? l.load(x, i) : l.exprs().bitcast(l.load(x, i), to);
    });
  };
  p.elementwise = [](const std::vector<const Tensor*>& x, const Tensor& out, const Params&) {
    DType from = x[0]->type.dtype, to = out.type.dtype;
    bool join = bit_width(to) > bit_width(from);
    const Tensor &wide = join ? out : *x[0], &narrow = join ? *x[0] : out;
    (is_bool(from) != is_bool(to) ? split_bits : split)(wide, narrow, join);
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
