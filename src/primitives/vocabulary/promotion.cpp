// Common dtypes of mixed operands, and common shapes.
#include "primitives/vocabulary/promotion.h"

#include <algorithm>
#include <numeric>

#include "primitives/vocabulary/var.h"

namespace anvil::primitives {
namespace {

// Both known: bool yields to all, floats win over integers, the wider one wins within a
// kind. Signed with unsigned gives a signed dtype that holds both, at most i64; of floats of
// one size neither holds the other, f32 holds both.
DType promoted(DType a, DType b) {
  if (a == b || is_bool(b)) return a;
  if (is_bool(a)) return b;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (is_float(a) && size_of(a) == size_of(b)) return compute_type(a);
  if (is_signed_integer(a) == is_signed_integer(b)) return size_of(a) > size_of(b) ? a : b;
  DType with_sign = is_signed_integer(a) ? a : b, without = is_signed_integer(a) ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  return signed_of_size(std::min<size_t>(2 * size_of(without), 8));
}

// 0 bool, 1 integer, 2 float: an ambiguous dtype only wins with a higher kind.
int kind(DType t) { return is_bool(t) ? 0 : is_float(t) ? 2 : 1; }

// Integers take literals that are in their range and have no fraction.
bool representable(Scalar x, DType t) {
  if (!is_integer(t)) return true;
  return visit(t, [x]<class T>() {
    T y = x.as<T>();
    if (x.is_real()) return static_cast<double>(y) == x.as<double>();
    bool negative = x.as<double>() < 0;
    return x.as<uint64_t>() == static_cast<uint64_t>(y) && negative == (y < T(0));
  });
}

ValuePtr convert(graph::Graph& graph, const ValuePtr& v, CommonType to) {
  if (v->kind == graph::Value::Kind::literal) {
    if (!representable(v->literal, to.dtype))
      throw Error(
          "dtype",
          "The literal " + v->literal.text(v->type.dtype) + " is no number of dtype " + std::string(name(to.dtype)) +
              ".",
          {"i The dtype comes from the other operands. Use `nv_convert()` on them, or `nv_scalar()` with a dtype."});
    return graph::make_literal(v->literal, {to.dtype, v->type.shape, to.ambiguous});
  }
  return convert(Var{&graph, v}, to.dtype, to.ambiguous).value;
}

// Scalars and dimensions of size 1 repeated up to a shape.
std::vector<ValuePtr> stretched(graph::Graph& graph, std::vector<ValuePtr> values, const Shape& shape) {
  for (auto& v : values) {
    if (v->type.shape == shape) continue;
    std::vector<int64_t> dims(v->type.shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    v = broadcast_in_dim({&graph, v}, shape, dims).value;
  }
  return values;
}

}  // namespace

CommonType common_dtype(CommonType a, CommonType b) {
  if (a.ambiguous == b.ambiguous) return {promoted(a.dtype, b.dtype), a.ambiguous};
  if (b.ambiguous) std::swap(a, b);  // now a is the ambiguous one
  if (kind(a.dtype) > kind(b.dtype)) return a;
  return b;
}

std::vector<ValuePtr> promote(graph::Graph& graph, std::vector<ValuePtr> values) {
  if (values.empty()) throw Error("argument", "No arguments provided.");
  auto type_of = [](const ValuePtr& v) { return CommonType{v->type.dtype, v->type.ambiguous}; };
  CommonType common = type_of(values[0]);
  for (const auto& v : values) common = common_dtype(common, type_of(v));
  return promote(graph, std::move(values), common);
}

std::vector<ValuePtr> promote(graph::Graph& graph, std::vector<ValuePtr> values, CommonType common) {
  for (auto& v : values)
    if (v->type.dtype != common.dtype) v = convert(graph, v, common);
  return values;
}

namespace {

std::string shapes_text(const std::vector<ValuePtr>& values) {
  std::vector<std::string> shapes;
  for (const auto& v : values)
    if (!v->type.shape.empty()) shapes.push_back(in_parentheses(v->type.shape));
  std::string list = shapes[0];
  for (size_t i = 1; i < shapes.size(); ++i) list += (i + 1 < shapes.size() ? ", " : " and ") + shapes[i];
  return list;
}

// How a vector goes with the dimension of a matrix that has its size: if neither has, or both have, the columns come first.
std::string lined_up(const std::vector<ValuePtr>& values) {
  int64_t size = -1;
  const Shape* matrix = nullptr;
  for (const auto& v : values) {
    const Shape& shape = v->type.shape;
    if (shape.size() == 1) size = shape[0];
    if (shape.size() == 2) matrix = &shape;
  }
  const bool rows = matrix != nullptr && (*matrix)[0] == size, columns = matrix == nullptr || (*matrix)[1] == size;
  if (rows && !columns) return "`sweep(x, 1, v, \"+\")` adds `v`, lined up with the rows of `x`.";
  return "`sweep(x, 2, v, \"+\")` adds `v`, lined up with the columns of `x`" +
         std::string(rows ? ", `sweep(x, 1, v, \"+\")` with its rows." : ".");
}

// What to write where shapes do not fit.
std::vector<std::string> fixes(const std::vector<ValuePtr>& values) {
  std::optional<Shape> common;
  bool same = true;
  for (const auto& v : values) {
    Shape shape = v->type.shape;
    if (shape.empty()) continue;
    std::erase(shape, 1);
    same = same && shape == common.value_or(shape);
    common = shape;
  }
  bool vectors = true;
  for (const auto& v : values) vectors = vectors && v->type.shape.size() < 2;
  if (vectors) return {"i Tensors are not recycled: `x[1:n]` takes a part, and `rep(v, length.out = n)` repeats."};
  if (same) return {"i `drop()` leaves dimensions of size 1 out: `v - drop(x %*% w)` for a vector `v`."};
  return {"i Tensors are not recycled: " + lined_up(values),
          "i Means and other reductions keep their dimension with `drop = FALSE`."};
}

}  // namespace

std::vector<ValuePtr> broadcast_scalars(graph::Graph& graph, std::vector<ValuePtr> values) {
  const Shape* common = nullptr;
  bool equal = true;
  for (const auto& v : values) {
    if (v->type.shape.empty()) continue;
    if (common == nullptr) common = &v->type.shape;
    equal = equal && v->type.shape == *common;
  }
  if (common == nullptr) return values;
  if (!equal)
    throw Error(
        "shape", "All non-scalar tensors must have the same shape.",
        {"x Got shapes " + shapes_text(values) + ".", "i Use `nv_broadcast_tensors()` for general broadcasting."});
  return stretched(graph, std::move(values), Shape(*common));
}

std::vector<ValuePtr> broadcast_operands(graph::Graph& graph, std::vector<ValuePtr> values) {
  Shape common;
  bool fits = true;
  for (const auto& v : values) {
    const Shape& shape = v->type.shape;
    if (common.empty()) common = shape;
    fits = fits && (shape.empty() || shape.size() == common.size());
    for (size_t d = 0; fits && d < shape.size(); ++d) {
      fits = shape[d] == common[d] || shape[d] == 1 || common[d] == 1;
      if (common[d] == 1) common[d] = shape[d];
    }
  }
  if (!fits) {
    std::vector<std::string> details = fixes(values);
    details.insert(details.begin(), "x Got shapes " + shapes_text(values) + ".");
    throw Error("shape", "All non-scalar tensors must have the same shape, but for dimensions of size 1.", details);
  }
  return stretched(graph, std::move(values), common);
}

}  // namespace anvil::primitives
