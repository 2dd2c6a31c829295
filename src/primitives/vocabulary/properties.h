// What a primitive is, as data: which layers ask instead of knowing primitives by name. Each
// field of Primitive that is of one of these types says how it is filled in.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "loops/expression.h"

namespace anvil::primitives {

struct ReverseStep;

// Dtypes.
enum class Group : uint8_t { any, numeric, floating, integer, signed_or_float, integer_or_bool, boolean };
constexpr bool contains(Group group, DType t) {
  switch (group) {
    case Group::any: return true;
    case Group::numeric: return is_numeric(t);
    case Group::floating: return is_float(t);
    case Group::integer: return is_integer(t);
    case Group::signed_or_float: return is_float(t) || is_signed_integer(t);
    case Group::integer_or_bool: return is_integer(t) || is_bool(t);
    case Group::boolean: return is_bool(t);
  }
  return false;
}
std::string name(Group);  // for messages: "i8 to i64, f16, f32 or f64"

// Where the elements of the results come from.
enum class Acts : uint8_t {
  other,
  per_element,  // from the elements in the same place; scalar operands stand in every place
  moves,        // each is an element of an operand, unchanged
  reduces,      // from all elements along some dimensions
  contracts     // sums of products
};

// How the dimensions of operands and results belong together.
enum class Axes : uint8_t {
  other,
  kept,       // dimension d of the operands, but for scalars, is d of the results
  spread,     // the operand's become those in the parameter `broadcast_dimensions`; constants have none
  reduced,    // those in the parameter `dims` go
  regrouped,  // the elements keep their order in memory, whatever the dimensions are
  permuted,   // the parameter `permutation` says
  paired      // those in `batching_dims`, then the free ones of both operands, as dot_general has them
};

// Some of a call's operands.
class Operands {
 public:
  static Operands none() { return {0, 0}; }
  static Operands all() { return {0, SIZE_MAX}; }
  static Operands only(size_t k) { return {k, k + 1}; }
  static Operands range(size_t first, size_t end) { return {first, end}; }
  static Operands from(size_t first) { return {first, SIZE_MAX}; }
  // After n tensors, before as many others: the positions of a scatter.
  static Operands middle() { return {SIZE_MAX, 0}; }
  bool contains(size_t k, size_t count) const {
    return first_ == SIZE_MAX ? k == (count - 1) / 2 : first_ <= k && k < end_;
  }
  bool empty() const { return first_ == 0 && end_ == 0; }

 private:
  Operands(size_t first, size_t end) : first_(first), end_(end) {}
  size_t first_, end_;
};

// An operation with its reduction: one row of the table in reduce.cpp.
struct Monoid {
  const char* reduction;  // the primitive that reduces dimensions by it: "reduce_sum"
  const char* operation;  // the primitive that joins two elements, and so the operator in text: "add"
  const char* on_bool;    // the same for bool
  loops::Op op, op_on_bool;
  Scalar (*start)(DType);         // what nothing reduces to
  Group group;                    // that it is for
  void (*reverse)(ReverseStep&);  // of the reduction; null: there is no derivative
  bool idempotent;                // x with x is x
  bool only_bool() const { return group == Group::boolean; }
};

// ---- inner graphs -----------------------------------------------------------------------
enum class Control : uint8_t {
  none,    // inner graphs, if any, are functions of scalars that the primitive applies
  once,    // an inner graph without inputs; differentiated, it runs again on the way back
  branch,  // one of the inner graphs runs
  loop,    // a condition and a body, as long as the condition says so; may record a tape
  scan     // a body, once for each record of a tape
};

// Value number `from` of one list is number `to` of another.
struct Flow {
  size_t from, to;
};
// How values enter an inner graph that control flow runs, and leave it.
struct Region {
  graph::GraphPtr graph;
  std::vector<Flow> enter;  // operand -> input
  std::vector<Flow> carry;  // output of the last region -> input, the next time it runs
  std::vector<Flow> leave;  // output -> result
  std::vector<Flow> pass;   // input -> result: of a loop that ends, or what it records
};

}  // namespace anvil::primitives
