// A loop program: buffers, and a tree of loops, stores and scalar statements that runs
// from top to bottom as one native function. Memory is column-major; an access gives one
// affine index per dimension of its buffer.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/shape.h"
#include "loops/expression.h"

namespace anvil::loops {

struct Buffer {
  enum class Kind : uint8_t { input, constant, output, temporary };
  Kind kind = Kind::temporary;
  DType dtype = DType::f32;
  Shape shape;
  int position = -1;    // input, constant, output: which one
  BufferId alias = -1;  // the same memory as another buffer, seen in another shape
  int64_t offset = -1;  // temporary: bytes from the start of the arena, set by the buffers pass
  std::string name;     // "x1", "c1", "t3", "out1": for people
  bool own = false;     // temporary: each task of a parallel loop has its own, `offset` from the start of its memory
};

struct VariableInfo {
  std::string name;  // "i", "j"; parameters print as "$n"
  bool parameter = false;
  int64_t low = 0, high = 0;  // parameter: every value that it can take
};
struct LocalInfo {
  std::string name;
  DType dtype;
};

struct Stmt;
using Block = std::vector<Stmt>;

struct For {
  // parallel: each step is a task; threads do them at once, in any order
  enum class Kind : uint8_t { serial, vector, unroll, parallel };
  Variable variable;
  int64_t begin = 0, end = 0;
  Kind kind = Kind::serial;
  int width = 1;                   // vector: lanes
  int copies = 1;                  // vector, unroll: how many are in flight at once (register blocking)
  bool reduction = false;          // the body updates a local declared outside
  std::vector<BufferId> own = {};  // parallel: temporaries of which no step reads what another wrote
  Block body;
};
struct Store {
  BufferId buffer;
  Index place;
  Expr value;
  bool around_caches = false;  // nobody reads it soon; vectors of whole cache lines, aligned as the buffer is
};
struct Let {
  LocalId local;
  Expr value;
};  // assigned here and never again
struct Declare {
  LocalId local;
  Expr value;
};               // a local that updates may change
struct Update {  // local = local op value; op add, mul, minimum, maximum, bit_and, bit_or
  LocalId local;
  Op op;  // Op::local: plain assignment; of fma(a, b, local): a sum of products
  Expr value;
  bool running = false;  // of a vector loop: what comes after it sees, in each lane, the value of that step
};
struct Bind {
  Variable parameter;
  Expr value;
};  // $n = value, an i64
struct If {
  Expr condition;
  Block yes, no;
};
struct While {
  Block before;
  Expr condition;
  Block body;
};             // before runs ahead of every test
struct Call {  // of a function of the runtime, see runtime/functions.h
  std::string function;
  std::vector<BufferId> buffers;  // outputs first
  std::vector<Expr> numbers;      // each an i64
};
struct Swap {
  BufferId first, second;
};                                  // exchange the memory of two buffers of one type
constexpr int64_t cache_line = 64;  // bytes that come from memory together
struct Prefetch {
  BufferId buffer;
  Index place;
  int64_t bytes;
};  // so much memory from a place on comes near the processor, if it likes; changes nothing
// buffer[place] = sum of `product` over the axes that place does not depend on, for each step of the
// others: products of matrices in any layout, side by side, that run over packed blocks
// (runtime/product). The sum starts at 0, or `adds` to what is there, and has no order.
struct Contraction {
  struct Axis {
    Variable variable;
    int64_t extent;
  };
  std::vector<Axis> axes;  // outermost first
  BufferId buffer;
  Index place;
  // of loads of other buffers, the left one also times a weight, a load that depends on some of what both do and on
  // nothing that only one does; small floats are all three, computed with what they are widened to, without weights
  Expr product;
  bool adds = false;  // no small floats, of which each sum is rounded once
  // Products of the same left operand, and weight, with other right ones. All axes but those of the columns, which move
  // the result and the right operand only, take the steps of the first product in these as well.
  struct Beside {
    std::vector<Axis> columns;
    BufferId buffer;
    Index place;
    Expr operand;  // as in `product`
    Expr right() const { return loaded(operand); }
  };
  std::vector<Beside> beside = {};
  // Of products of a row and a column alone, without others beside them: nobody reads elements where this difference of
  // their steps, and what the loops around give, is negative. What they become is open.
  std::optional<Affine> wanted = {};
  bool is_row(Variable) const;     // moves the result and the left operand only
  bool is_column(Variable) const;  // of the first product
  // f(axis) for each, those of all columns too.
  template <class F>
  void each_axis(F&& f) const {
    for (const Axis& x : axes) f(x);
    for (const Beside& b : beside)
      for (const Axis& x : b.columns) f(x);
  }
  Expr left_operand() const { return weight() ? product->args[0]->args[0] : product->args[0]; }
  Expr left() const { return loaded(left_operand()); }
  Expr right() const { return loaded(product->args[1]); }
  Expr weight() const { return product->args[0]->op == Op::mul ? product->args[0]->args[1] : nullptr; }
  static Expr loaded(Expr operand) { return operand->op == Op::convert ? operand->args[0] : operand; }
};

using Origins = std::vector<int>;  // graph::Call::location of the calls that it computes, sorted: loops/origins.h

struct Stmt {
  std::variant<For, Store, Let, Declare, Update, Bind, If, While, Call, Swap, Prefetch, Contraction> is;
  Origins origins = {};
};

struct Program {
  std::vector<Buffer> buffers;
  std::vector<VariableInfo> variables;
  std::vector<LocalInfo> locals;
  Block body;
  ExprPool exprs;
  int64_t arena_bytes = 0;
  int inputs = 0, constants = 0, outputs = 0;
};

Affine linear(const Program&, BufferId, const Index&);           // offset of an access, in elements
int64_t step(const Program&, BufferId, const Index&, Variable);  // from one step of a loop to the next
int64_t step(const Program&, Expr load, Variable);
std::string print(const Program&);
// With comments above the nests: what `comment` says of their origins, line by line; "" for none.
using Comment = std::function<std::string(const Origins&)>;
std::string print(const Program&, const Comment& comment);
std::string schedule_text(const For&);  // "vector 16 x 4", "unroll 6", "" for a serial loop
std::string print(const Program&, Expr);
// Throws InternalError: unknown buffers and locals, a variable used outside its loop, an
// access that can leave its buffer, a dtype that does not fit, temporaries that tasks use in the same memory.
void verify(const Program&);

}  // namespace anvil::loops
