// The state of lowering: which buffer holds each value, where statements go. The loop
// rules of primitives see it as Lowering; control flow has its own file.
//
// A value is stored by one nest, the last dimension outermost; dimensions of size 1 have
// no loop. All nests share one variable per dimension (and per reduced dimension), so that
// equal accesses are equal expressions:
//
//   %1: f32[3, 4] = add (%x1, %x2)        for j in 0..4 {
//                                           for i in 0..3 {
//                                             t1[i, j] = x1[i, j] + x2[i, j]
//
// A graph inside a call of control flow becomes a block. What leaves a graph (results,
// the next state of a loop) is written to its destination at once where a call of that
// graph makes it, if only to be reshaped, and copied there otherwise.
#pragma once
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "loops/program.h"
#include "primitives/vocabulary/lowering.h"
#include "primitives/vocabulary/primitive.h"

namespace anvil::compiler {

using graph::Graph;
using graph::Value;
using graph::ValuePtr;
using loops::Affine;
using loops::Block;
using loops::BufferId;
using loops::Expr;
using loops::Index;
using loops::Op;
using loops::Stmt;
using loops::Variable;

class Lowerer final : public primitives::Lowering {
 public:
  loops::Program run(const Graph&);

  loops::ExprPool& exprs() override { return program_.exprs; }
  Expr load(const ValuePtr&, const Index&) override;
  void map(const ValuePtr& result, std::function<Expr(const Index&)> element) override;
  void reduce(const ValuePtr& result, const Shape& extents, Op, Scalar initial,
              std::function<Expr(const Index&, const Index&)> element) override;
  void scan(const ValuePtr& result, int64_t axis, Op, Scalar initial,
            std::function<Expr(const Index&)> element) override;
  void fold(const std::vector<ValuePtr>& results, const Shape& extents, std::function<Exprs(const Index&)> initial,
            std::function<Exprs(const Index&, const Index&, const Exprs&)> next) override;
  void running(const std::vector<ValuePtr>& results, int64_t axis, std::function<Exprs(const Index&)> initial,
               std::function<Exprs(const Index&, const Exprs&)> next) override;
  void parts(const ValuePtr& result, std::vector<Part>, const ValuePtr& base) override;
  void update(const std::vector<ValuePtr>& results, const std::vector<ValuePtr>& bases, const Updates&) override;
  void alias(const ValuePtr& result, const ValuePtr& operand) override;
  Affine parameter(Expr value, int64_t low, int64_t high) override;
  Expr let(Expr value) override;
  void call(const char* function, const std::vector<ValuePtr>& results, const std::vector<ValuePtr>& operands,
            const std::vector<int64_t>& numbers) override;

 private:
  static constexpr int forever = std::numeric_limits<int>::max();

  // A graph while its calls are lowered.
  struct Region {
    int id;
    std::unordered_map<const Value*, int> last_use;      // position of the last call that reads it
    std::unordered_map<const Value*, BufferId> targets;  // where a value of this graph shall be stored
    int position = 0;                                    // of the call that is lowered
    std::vector<std::pair<BufferId, int>> tapes = {};    // that end with it, and the locations of their loops
  };
  // Who may write over a buffer (the region that made it) and when (after the last use).
  struct Ownership {
    int region = -1;
    int last_use = forever;
  };

  // ---- lower.cpp ----
  BufferId make_buffer(loops::Buffer::Kind, const graph::TensorType&, int position = -1);
  BufferId result_buffer(const ValuePtr&);  // the target of a value or a new temporary
  BufferId buffer_of(const ValuePtr&);      // memory with the value; literals are written to a temporary
  void bind(const ValuePtr&, BufferId);     // says where a value is; copies when it has a target elsewhere
  void place(const ValuePtr&, BufferId);    // says where a value is
  BufferId root(BufferId) const;
  Variable dimension(size_t d);
  Variable reduced(size_t d);
  Index index(const Shape&, Variable (Lowerer::*)(size_t));
  void nest(const Shape&, Variable (Lowerer::*)(size_t), Block body);
  void emit(Stmt s) { block_->push_back(std::move(s)); }
  void emit(Block statements);
  Stmt stored(BufferId, Index, Expr value);                  // rounded to what the buffer holds
  Expr evaluate(const std::function<Expr()>&, Block& body);  // with the parameters that it makes put into `body`
  void copy(BufferId to, const ValuePtr& from);
  void store_box(BufferId to, const Part&);
  bool dead_after_this_call(const ValuePtr&) const;
  bool store_around(BufferId result, const Part&, const ValuePtr& base);

  // ---- lower_calls.cpp ----
  bool is_in(BufferId, const ValuePtr&) const;  // the value is in the same memory
  BufferId view(BufferId, const Shape&);        // the same memory in another shape
  void lower_call(const graph::Call&);
  void add_origin(BufferId memory, int location);
  // Lowers the calls of a graph; targets[k] is the destination of output k (-1: none).
  void lower_calls(const Graph&, const std::vector<BufferId>& targets);
  void copy_outputs(const Graph&, const std::vector<BufferId>& targets);

  // ---- fold.cpp ----
  using Locals = std::vector<loops::LocalId>;
  Locals declare(const std::vector<ValuePtr>& results, const std::function<Exprs()>& initial);
  Exprs values_of(const Locals&);
  void assign(const Locals&, const std::function<Exprs()>& next);
  void store(const std::vector<BufferId>& to, const Index&, const Locals&);

  // ---- scatter.cpp ----
  struct Walk;  // one nest over updates
  BufferId start_as(const ValuePtr& result, const ValuePtr& base, bool in_place);
  bool only_operand(const ValuePtr&) const;
  void finish_in_place(const ValuePtr& result, BufferId);
  Affine bound_parameter(Expr value, int64_t low, int64_t high, Block& body);
  Block change(const Walk&, const Index& place, Block body);
  Block update_loops(const Walk&, const std::vector<int64_t>& dims, Block body);
  Block whole_window(const Walk&);
  Block partial_window(const Walk&);
  void store_updates(const Walk&);

  // ---- branch.cpp ----
  void lower_if(const graph::Call&);
  ValuePtr changed_in_place(const graph::Call&, size_t k) const;
  void lend(BufferId, const Graph&);

  // ---- control.cpp ----
  struct Loop {
    loops::While statement;
    std::vector<BufferId> state;
  };
  void lower_while(const graph::Call&);
  void lower_tape_scan(const graph::Call&);
  void leave_loop(const graph::Call&, const std::vector<BufferId>& state);
  void make_tapes(const graph::Call&);
  void leave_tape(const ValuePtr&);
  void push_records(const graph::Call&);
  std::vector<BufferId> enter_state(const graph::Call&, const std::vector<ValuePtr>& initial,
                                    const std::function<bool(size_t)>& written_anyway);
  std::vector<BufferId> next_state(const std::vector<BufferId>& state);
  void open_region(const Graph&, const std::vector<BufferId>& inputs);
  void close_region();
  void replace_state(const Graph& body, const std::vector<BufferId>& state, std::vector<BufferId> next);
  void runtime_call(const char* function, std::vector<BufferId> buffers, std::vector<Expr> numbers);
  std::vector<Expr> record_numbers(const std::vector<graph::TensorType>& layout);
  Expr number(int64_t x) { return exprs().constant(x, DType::i64); }

  loops::Program program_;
  Block* block_ = nullptr;
  Block* parameters_ = nullptr;  // of the body that is being made, null between nests
  const graph::Call* call_ = nullptr;
  const primitives::Primitive* rule_ = nullptr;  // whose rule ran last
  std::vector<Region> regions_;
  int next_region_ = 0;
  std::unordered_map<const Value*, BufferId> places_;
  std::vector<Ownership> owners_;  // by root buffer
  std::vector<Variable> dimensions_, reduced_;
  int temporaries_ = 0;
};

}  // namespace anvil::compiler
