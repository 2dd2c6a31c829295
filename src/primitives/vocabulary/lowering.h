// What a primitive's loop rule may say: "each element is this expression", "each element
// is this reduction", "these parts are written one after the other", "the same memory in
// another shape", "a function of the runtime makes it". The compiler implements it; rules
// never see buffers, nests or order. Nor do they see small floats, unless their primitive asks
// how elements are stored: what they load is of a compute type, and what they give is rounded
// to the dtype of the result.
#pragma once
#include <functional>

#include "graph/graph.h"
#include "loops/expression.h"
#include "primitives/vocabulary/primitive.h"

namespace anvil::primitives {

using loops::Affine;
using loops::Expr;
using loops::Index;

class Lowering {
 public:
  virtual ~Lowering() = default;
  virtual loops::ExprPool& exprs() = 0;

  // The element of an operand at an index; a literal is a constant of its dtype.
  virtual Expr load(const graph::ValuePtr&, const Index&) = 0;

  // result[i] = element(i)
  virtual void map(const graph::ValuePtr& result, std::function<Expr(const Index& i)> element) = 0;

  // result[o] = initial op element(o, r) op ... over all r in `extents`; op is add, mul,
  // minimum, maximum, bit_and or bit_or. The order is free.
  virtual void reduce(const graph::ValuePtr& result, const Shape& extents, loops::Op op, Scalar initial,
                      std::function<Expr(const Index& o, const Index& r)> element) = 0;

  // A running reduction along `axis`: result[.., i, ..] = initial op element(0) op ... op element(i), grouped as is fast.
  virtual void scan(const graph::ValuePtr& result, int64_t axis, loops::Op op, Scalar initial,
                    std::function<Expr(const Index& i)> element) = 0;

  // Accumulators, one per result, which start as initial(o) and become next(o, r, accumulators)
  // for all r in `extents` one after the other, the last dimension of r fastest: results[k][o]
  // is what accumulator k ends as.
  using Exprs = std::vector<Expr>;
  virtual void fold(const std::vector<graph::ValuePtr>& results, const Shape& extents,
                    std::function<Exprs(const Index& o)> initial,
                    std::function<Exprs(const Index& o, const Index& r, const Exprs& accumulators)> next) = 0;
  // The same along `axis` of the results: results[k][i] is accumulator k after step i of that axis.
  // What is given for `initial` has index 0 there.
  virtual void running(const std::vector<graph::ValuePtr>& results, int64_t axis,
                       std::function<Exprs(const Index& o)> initial,
                       std::function<Exprs(const Index& i, const Exprs& accumulators)> next) = 0;

  // Parts of one result, each a box of `extents` with its own places; together they cover
  // it, later ones win. `base`, where given, is a value of the same type that fills what
  // the parts leave, in place when nobody needs it any more.
  struct Part {
    Shape extents;
    std::function<Index(const Index& i)> place;
    std::function<Expr(const Index& i)> element;
  };
  virtual void parts(const graph::ValuePtr& result, std::vector<Part>, const graph::ValuePtr& base = nullptr) = 0;

  // Elements of `bases` changed one after the other. Result k is base k at first, in place when
  // nobody needs it any more; then, for each index u of `extents`, the elements of the results
  // at start(u) + offset(u) become element(u, those elements), unless that place is outside.
  // Dimensions of u other than `window` run slowest, the last of them fastest; indices that
  // differ in `window` only have different places, and one start.
  struct Updates {
    Shape extents;
    std::vector<int64_t> window;                             // dimensions of u
    Shape sizes;                                             // offset(u)[d] < sizes[d]
    std::function<std::vector<Expr>(const Index& u)> start;  // i64 per dimension; null is 0 and means: never outside
    std::function<Index(const Index& u)> offset;
    std::function<Exprs(const Index& u, const Exprs& old)> element;
    bool any_order = false;  // all that updates do is to add to what is there, or the like
  };
  virtual void update(const std::vector<graph::ValuePtr>& results, const std::vector<graph::ValuePtr>& bases,
                      const Updates&) = 0;

  // result is the operand's memory in another shape (the same elements in column-major order).
  virtual void alias(const graph::ValuePtr& result, const graph::ValuePtr& operand) = 0;

  // An integer known only at run time, as a parameter for indices: value, clamped to [low, high].
  virtual Affine parameter(Expr value, int64_t low, int64_t high) = 0;

  // The same value under a name, computed where the rule is: cuts an expression that has become deep.
  virtual Expr let(Expr value) = 0;

  // Calls runtime function `function` (runtime/functions.h) with these results, operands and numbers.
  virtual void call(const char* function, const std::vector<graph::ValuePtr>& results,
                    const std::vector<graph::ValuePtr>& operands, const std::vector<int64_t>& numbers) = 0;
};

// An element as the rule of a primitive gets it, and what a rule made as an element of dtype `stored`.
inline Expr widened(loops::ExprPool& e, const Primitive* rule, Expr element) {
  return rule && rule->computes() ? e.convert(element, compute_type(element->dtype)) : element;
}
inline Expr narrowed(loops::ExprPool& e, Expr value, DType stored) {
  return compute_type(stored) == value->dtype ? e.convert(value, stored) : value;
}

// The results of a region (region.h) for these scalars.
std::vector<Expr> lower_region(Lowering&, const graph::Graph& region, const std::vector<Expr>& arguments);

}  // namespace anvil::primitives
