// The scalar expressions of a loop program: a hash-consed DAG, so that equal expressions
// are one node and are computed once. Indices are affine in loop indices and named
// parameters ($n: integers that are known only when the program runs).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/scalar.h"

namespace anvil::loops {

using Variable = int;  // a loop index or a parameter, see Program::variables
using BufferId = int;
using LocalId = int;

struct Term {
  Variable variable;
  int64_t factor;
  bool operator==(const Term&) const = default;
};
// constant + sum of factor * variable; terms are sorted by variable, none has factor 0.
struct Affine {
  int64_t constant = 0;
  std::vector<Term> terms;
  bool operator==(const Affine&) const = default;
};
Affine variable(Variable);
Affine operator+(const Affine&, const Affine&);
Affine operator*(const Affine&, int64_t);
inline Affine operator+(Affine a, int64_t c) {
  a.constant += c;
  return a;
}
int64_t factor(const Affine&, Variable);  // 0 when absent
using Index = std::vector<Affine>;        // one per dimension of a buffer

enum class Op : uint8_t {
  constant,
  load,
  index,
  local,  // leaves
  add,
  sub,
  mul,
  divide,
  remainder,
  power,
  minimum,
  maximum,  // integers wrap; x/0 = -1, x%0 = x, MIN/-1 = MIN; minimum and maximum keep NaN
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right_logical,
  shift_right_arithmetic,  // counts >= width give 0 or the sign
  eq,
  ne,
  lt,
  le,
  gt,
  ge,  // give bool; unsigned order for bool and unsigned
  negate,
  bit_not,
  abs,
  sign,
  popcnt,
  sqrt,
  floor,
  ceil,
  trunc,
  round_even,
  round_away,
  is_finite,
  convert,
  bitcast,  // to Node::dtype; bitcast keeps the width
  select,
  fma,      // select(bool, a, b); a * b + c rounded once
  function  // an elementary function: Node::name, one to three arguments
};
const char* name(Op);
// What it takes: about as much as an addition, several times that, or a call.
enum class Effort : uint8_t { little, several, call };
Effort effort(Op);
Scalar identity(Op, DType);  // x op identity = x, bit for bit, for the operations of updates

struct Node {
  Op op = Op::constant;
  DType dtype = DType::f32;
  std::array<const Node*, 3> args = {nullptr, nullptr, nullptr};
  Scalar constant;        // constant
  BufferId buffer = -1;   // load
  Index place;            // load: one entry per dimension; index: the single entry is the value, of dtype i64
  LocalId local = -1;     // local
  const char* name = "";  // function: a name of runtime/elementary, with static storage
  int argument_count() const { return args[2] ? 3 : args[1] ? 2 : args[0] ? 1 : 0; }
};
using Expr = const Node*;

// Makes nodes, each once. Nodes live as long as the pool.
class ExprPool {
 public:
  ExprPool();
  ~ExprPool();
  ExprPool(ExprPool&&) noexcept;
  ExprPool& operator=(ExprPool&&) noexcept;
  Expr constant(Scalar, DType);
  Expr load(BufferId, DType, Index);
  Expr index(Affine);  // an index as a number of dtype i64
  Expr local(LocalId, DType);
  Expr unary(Op, Expr);         // dtype of the argument, bool for is_finite
  Expr binary(Op, Expr, Expr);  // dtype of the first, bool for comparisons
  Expr convert(Expr, DType);
  Expr bitcast(Expr, DType);
  Expr select(Expr condition, Expr yes, Expr no);
  Expr fma(Expr, Expr, Expr);
  Expr function(const char* name, Expr, Expr second = nullptr, Expr third = nullptr);
  Expr node(Node);  // any of these; folds nothing
  size_t size() const;

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

}  // namespace anvil::loops
